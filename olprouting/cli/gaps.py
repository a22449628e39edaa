"""`olprouting gaps`: how far each routing rule is from the proven optimum."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olprouting.cli import options as o
from olprouting.cli.saving import FOR_VERIFY, Saving, own_folder
from olprouting.cli.tables import print_table
from olprouting.files import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olprouting.gaps import GapReport, PolicyGaps

CERTIFICATES = "certificates.jsonl"

PoliciesOption = Annotated[
    str | None,
    typer.Option(help="Comma-separated rules, or FILE.py:function; all built-in ones by default."),
]
DecisionsOption = Annotated[str, typer.Option(help="Decisions to solve per rule, or all.")]
JudgedByOption = Annotated[
    str,
    typer.Option(
        help="Program that judges: own (H=0 for rules without lookahead), myopic, horizon, both."
    ),
]
TimeLimitOption = Annotated[float, typer.Option(min=0.0, help="Seconds per exact solve.")]
OutOption = Annotated[
    Path | None,
    typer.Option(help="Folder for tables, figure and certificates.", show_default=False),
]


def gaps(
    context: typer.Context,
    trace: o.TraceOption = o.DEFAULT_TRACE,
    columns: o.ColumnsOption = None,
    policies: PoliciesOption = None,
    workers: o.WorkersOption = 8,
    slots: o.SlotsOption = 72,
    requests: o.RequestsOption = None,
    waiting: o.WaitingOption = 32,
    arrivals: o.ArrivalsOption = "backlog",
    horizon: o.HorizonOption = 80,
    beta: o.BetaOption = 43.0,
    gamma: o.GammaOption = 0.86,
    r_max: o.RMaxOption = 4,
    s_greedy: o.SGreedyOption = 7,
    br_growth: o.BrGrowthOption = "frozen",
    growth: o.GrowthOption = "growing",
    forecast: o.ForecastOption = "oracle",
    projection: o.ProjectionOption = "cutoff",
    history: o.HistoryOption = 0,
    refresh: o.RefreshOption = "iteration",
    ties: o.TiesOption = "random",
    decisions: DecisionsOption = "30",
    judged_by: JudgedByOption = "own",
    solver: o.SolverOption = "auto",
    formulation: o.FormulationOption = None,
    time_limit: TimeLimitOption = 2.0,
    step_time: o.StepTimeOption = "balance-authors",
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
    from olprouting.policies import PolicyOptions

    rule_options = PolicyOptions(
        ties=ties,
        horizon=horizon,
        beta=beta,
        gamma=gamma,
        r_max=r_max,
        s_greedy=s_greedy,
        br_growth=br_growth,
        solver=solver,
        formulation=formulation,
        time_limit_s=time_limit,
        growth=growth,
    )
    workload = o.load_workload(trace, requests, arrivals, waiting, seed, history, columns=columns)
    known = make_forecast(forecast, workload.history, horizon=horizon, seed=seed)
    announce_compilation()
    with progress_bar() as advance:
        report = measure_gaps(
            workload.trace,
            o.make_cluster(workers, slots, step_time),
            o.names(policies) or DEFAULT_POLICIES,
            options=rule_options,
            decisions=o.number_or_all("--decisions", decisions),
            judged_by=judged_by,
            backlog=workload.backlog,
            forecast=known,
            projection=projection,
            refresh=refresh,
            time_limit_s=time_limit,
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
