"""`olprouting gaps`: how far each routing policy is from the proven optimum."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olprouting.cli import options as o
from olprouting.cli.command import command, take
from olprouting.cli.saving import FOR_VERIFY, Saving, own_folder
from olprouting.cli.tables import show_report
from olprouting.files import replacing
from olprouting.options import (
    ClusterOptions,
    DispatchOptions,
    ForecastOptions,
    GapOptions,
    PolicyOptions,
    RunOptions,
)

if TYPE_CHECKING:
    from olprouting.gaps import GapReport

CERTIFICATES = "certificates.jsonl"

PoliciesOption = Annotated[
    str | None,
    typer.Option(
        help="Comma-separated policies, or FILE.py:function; all built-in ones by default."
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(help="Folder for tables, figure and certificates.", show_default=False),
]
PolicyChoices = Annotated[
    PolicyOptions,
    take(
        *("horizon", "beta", "gamma", "r_max", "s_greedy", "br_growth", "growth", "ties"),
        *("solver", "formulation"),
    ),
]
Judging = Annotated[
    GapOptions,
    take(
        *("decisions", "states", "judged_by", "time_limit_s", "replications"),
        decisions={"default": 100},
        time_limit_s={"default": 2.0},
        replications={"default": 10},
    ),
]
Running = Annotated[RunOptions, take("max_iterations")]


@command
def gaps(
    context: typer.Context,
    *,
    workload: o.RequestsReleased,
    cluster: Annotated[ClusterOptions, take("workers", "slots", "step_time")],
    policies: PoliciesOption = None,
    policy_options: PolicyChoices,
    forecast: Annotated[ForecastOptions, take("forecast")],
    projecting: o.Projecting,
    dispatching: Annotated[DispatchOptions, take("dispatch")],
    judging: Judging,
    running: Running,
    seed: o.SeedOption = 0,
    out: OutOption = None,
    details: o.DetailsOption = False,
    as_json: o.JsonOption = False,
    strict: o.StrictOption = False,
) -> None:
    """Run each policy on a trace, solve decisions exactly, and report imbalance and gaps.

    Without arguments: 2,000 requests drawn from the embedded profile of the Azure 2023
    conversation trace.
    """
    folder = None if out is None else own_folder(context, out)
    from olprouting.cli.progress import progress_bar, warn_if_interpreted
    from olprouting.forecasts import make_forecast
    from olprouting.gaps import measure_gaps

    requests = o.load_workload(workload, seed)
    known = make_forecast(
        forecast.name, requests.history, horizon=policy_options.horizon, seed=seed
    )
    warn_if_interpreted()
    with progress_bar() as advance:
        report = measure_gaps(
            requests.trace,
            cluster.cluster(),
            o.names(policies) or None,
            options=replace(policy_options, time_limit_s=judging.time_limit_s),
            **requests.release,
            forecast=known,
            **asdict(projecting),
            **asdict(dispatching),
            **asdict(judging),
            max_iterations=running.max_iterations,
            seed=seed,
            on_progress=advance,
        )
    saving = Saving()
    if folder is not None:
        (folder / CERTIFICATES).unlink(missing_ok=True)  # an earlier run's
        if report.records:
            with progress_bar() as advance:
                advance("write", 0, 1)
                saving.save(lambda: report.write(folder))
    show_report(report, as_json=as_json, details=details)
    interrupted = report.interrupted or saving.interrupted
    if folder is not None and report.judged and not interrupted:
        _certify(saving, report, folder / CERTIFICATES)
    misleading = report.warnings() if strict else ()
    saving.end(report.failures, interrupted=interrupted, misleading=misleading)


def _certify(saving: Saving, report: GapReport, path: Path) -> None:
    """Write the certificates of a finished report; Ctrl-C keeps those proven until then."""
    from olprouting.certificates import write_certificates
    from olprouting.cli.progress import progress_bar

    def write() -> list[Path]:
        with replacing(path) as unfinished, progress_bar() as advance, saving.part():
            write_certificates(report.solved(), unfinished, advance)
        return [path]

    saving.save(write, FOR_VERIFY)
