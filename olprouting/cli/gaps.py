"""`olprouting gaps`: how far each routing rule is from the proven optimum."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olprouting.cli import options as o
from olprouting.cli.command import command, take
from olprouting.cli.saving import FOR_VERIFY, Saving, own_folder
from olprouting.cli.tables import print_table
from olprouting.files import replacing
from olprouting.options import ClusterOptions, ForecastOptions, GapOptions, PolicyOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olprouting.gaps import GapReport, PolicyGaps

CERTIFICATES = "certificates.jsonl"

PoliciesOption = Annotated[
    str | None,
    typer.Option(help="Comma-separated rules, or FILE.py:function; all built-in ones by default."),
]
OutOption = Annotated[
    Path | None,
    typer.Option(help="Folder for tables, figure and certificates.", show_default=False),
]
Rules = Annotated[
    PolicyOptions,
    take(
        *("horizon", "beta", "gamma", "r_max", "s_greedy", "br_growth", "growth", "ties"),
        *("solver", "formulation"),
    ),
]
Judging = Annotated[
    GapOptions,
    take(
        *("decisions", "judged_by", "time_limit_s"),
        decisions={"default": 30},
        time_limit_s={"default": 2.0},
    ),
]


@command
def gaps(
    context: typer.Context,
    *,
    workload: o.RequestsReleased,
    cluster: Annotated[ClusterOptions, take("workers", "slots", "step_time")],
    policies: PoliciesOption = None,
    rules: Rules,
    forecast: Annotated[ForecastOptions, take("forecast")],
    projecting: o.Projecting,
    judging: Judging,
    seed: o.SeedOption = 0,
    out: OutOption = None,
    as_json: o.JsonOption = False,
) -> None:
    """Run each rule on a trace, solve its decisions exactly, and report the gaps.

    Without arguments: 2,000 requests drawn from the embedded profile of the Azure 2023
    conversation trace.
    """
    folder = None if out is None else own_folder(context, out)
    from olprouting.cli.progress import announce_compilation, progress_bar
    from olprouting.forecasts import make_forecast
    from olprouting.gaps import DEFAULT_POLICIES, measure_gaps

    trace, history, backlog = o.load_workload(workload, seed)
    known = make_forecast(forecast.name, history, horizon=rules.horizon, seed=seed)
    announce_compilation()
    with progress_bar() as advance:
        report = measure_gaps(
            trace,
            cluster.cluster(),
            o.names(policies) or DEFAULT_POLICIES,
            options=replace(rules, time_limit_s=judging.time_limit_s),
            backlog=backlog,
            forecast=known,
            **asdict(projecting),
            **asdict(judging),
            seed=seed,
            on_progress=advance,
        )
    saving = Saving()
    if folder is not None:
        (folder / CERTIFICATES).unlink(missing_ok=True)  # an earlier run's
        if report.records:
            saving.save(lambda: report.write(folder))
    if as_json:
        typer.echo(json.dumps(report.to_document()))
    else:
        _print(report)
    interrupted = report.interrupted or saving.interrupted
    if folder is not None and report.judged and not interrupted:
        _certify(saving, report, folder / CERTIFICATES)
    saving.end(report.failures, interrupted=interrupted)


def _certify(saving: Saving, report: GapReport, path: Path) -> None:
    """Write the certificates of a finished report; Ctrl-C keeps those proven until then."""
    from olprouting.certificates import write_certificates
    from olprouting.cli.progress import progress_bar

    solved = [(one.decision, one.result, one.choice()) for one in report.judged]

    def write() -> list[Path]:
        with replacing(path) as unfinished, progress_bar() as advance, saving.part():
            write_certificates(solved, unfinished, advance)
        return [path]

    saving.save(write, FOR_VERIFY)


def _print(report: GapReport) -> None:
    settings = report.settings
    typer.echo(
        f"{settings['trace']}: {settings['requests']} requests, {len(settings['slots'])} workers "
        f"x {max(settings['slots'])} slots, judged by {settings['solver']}"
    )
    rows = report.policies
    _table(
        "Shares of the sampled decisions",
        {
            "mean imbalance": [f"{row.mean_imbalance_tokens:,.0f}" for row in rows],
            "solved": [f"{row.sampled}/{row.decisions}" for row in rows],
            "proven": [f"{row.share_proven:.1%}" for row in rows],
            "optimal": [f"{row.share_optimal:.1%}" for row in rows],
            "captured": [
                "-" if row.share_captured is None else f"{row.share_captured:.1%}" for row in rows
            ],
        },
        rows,
        "captured: part of JSQ's excess over the optimum avoided on the same states",
    )
    _table(
        "Gap of a decision",
        {
            f"{name}{unit}": [f"{getattr(row, f'gap_{name}{field}'):{form}}" for row in rows]
            for field, unit, form in (("_tokens", "", ",.0f"), ("", " %", ".1%"))
            for name in ("mean", "median", "p95", "max")
        },
        rows,
        "in tokens, and as a share of the decision's own value; against the bound where unproven",
    )
    compared = [row for row in rows if row.share_compared is not None]
    if compared:
        _table(
            "Forecast error and heuristic error",
            {
                "gap by forecast": [f"{row.gap_mean_tokens:,.0f}" for row in compared],
                "true gap": [f"{row.true_gap_mean_tokens:,.0f}" for row in compared],
                "forecast's": [f"{row.forecast_error_mean_tokens:,.0f}" for row in compared],
                "heuristic's": [f"{row.heuristic_error_mean_tokens:,.0f}" for row in compared],
                "compared": [f"{row.share_compared:.1%}" for row in compared],
            },
            compared,
            "mean tokens of a decision; true: by the program that knows all lengths; forecast's: "
            "what the exact policy loses by trusting the forecast; heuristic's: the rest",
        )
    _table(
        "Times",
        {
            "route p50 us": [f"{row.dispatch_p50_s * 1e6:.1f}" for row in rows],
            "route p99 us": [f"{row.dispatch_p99_s * 1e6:.1f}" for row in rows],
            "solve p50 ms": [f"{row.solve_p50_s * 1e3:.1f}" for row in rows],
            "solve p99 ms": [f"{row.solve_p99_s * 1e3:.1f}" for row in rows],
        },
        rows,
        "a routing call, its call from Python included; an exact solve, model building included",
    )
    for notice in settings["notices"]:
        typer.echo(f"note: {notice}", err=True)
    if report.interrupted:
        typer.echo("interrupted: the tables hold what was finished", err=True)


def _table(
    title: str, columns: dict[str, list[str]], rows: Sequence[PolicyGaps], caption: str
) -> None:
    labels = {"policy": [row.policy for row in rows], "H": [str(row.horizon) for row in rows]}
    print_table(title, labels, columns, caption)
