"""`olprouting simulate`: replay a trace under a routing rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olprouting.cli import options as o
from olprouting.cli.saving import Saving, own_file
from olprouting.cli.tables import read_table
from olprouting.errors import PolicyError
from olprouting.files import write_table

if TYPE_CHECKING:
    from olprouting.engine import SimulationResult
    from olprouting.instances import DecisionResult

PolicyOption = Annotated[
    str,
    typer.Option(
        help="random, round-robin, power-of-two, jsq, least-load, br0, brh, exact, bid-price, "
        "bid-price-exact, lp-rounding, period-integer, or FILE.py:function."
    ),
]
SeriesOption = Annotated[
    Path | None,
    typer.Option(help="Write a row per iteration to this .parquet or .csv.", show_default=False),
]
EveryOption = Annotated[int, typer.Option(min=1, help="Keep every k-th iteration of the series.")]
RequestsOutOption = Annotated[
    Path | None,
    typer.Option(help="Write a row per request to this .parquet or .csv.", show_default=False),
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(help="Repeat the admissions of a --requests-out file.", show_default=False),
]
DelayOption = Annotated[int, typer.Option(min=0, help="Age of loads and counts, in iterations.")]
ClockOption = Annotated[
    str,
    typer.Option(help="barrier (workers step together) or independent (each at its own pace)."),
]
KernelOption = Annotated[
    str, typer.Option(help="decode, or mixed: an iteration of prefill before the first token.")
]
KvTokensOption = Annotated[
    int | None, typer.Option(min=1, help="KV limit per worker, tokens.", show_default=False)
]
KvModeOption = Annotated[
    str, typer.Option(help="How KV is counted: tokens, blocks, or reserve (prompt + longest).")
]
PeriodsOption = Annotated[
    int | None, typer.Option(min=1, help="Stop after period T.", show_default=False)
]
MaxIterationsOption = Annotated[
    int | None, typer.Option(min=0, help="Stop after so many iterations.", show_default=False)
]
TimeLimitOption = Annotated[float, typer.Option(min=0.0, help="Seconds per solve of exact.")]


def simulate(
    context: typer.Context,
    policy: PolicyOption = "br0",
    trace: o.TraceOption = o.DEFAULT_TRACE,
    columns: o.ColumnsOption = None,
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
    subset_search: o.SearchOption = "auto",
    growth: o.GrowthOption = "growing",
    forecast: o.ForecastOption = "oracle",
    projection: o.ProjectionOption = "cutoff",
    history: o.HistoryOption = 0,
    refresh: o.RefreshOption = "iteration",
    signal_delay: DelayOption = 0,
    ties: o.TiesOption = "random",
    solver: o.SolverOption = "auto",
    formulation: o.FormulationOption = None,
    time_limit: TimeLimitOption = 10.0,
    clock: ClockOption = "barrier",
    kernel: KernelOption = "decode",
    kv_tokens: KvTokensOption = None,
    kv_mode: KvModeOption = "tokens",
    oversize: o.OversizeOption = "error",
    step_time: o.StepTimeOption = "balance-authors",
    reject_after: o.RejectAfterOption = None,
    periods: PeriodsOption = None,
    max_iterations: MaxIterationsOption = None,
    seed: o.SeedOption = 0,
    series: SeriesOption = None,
    every: EveryOption = 1,
    requests_out: RequestsOutOption = None,
    replay: ReplayOption = None,
    as_json: o.JsonOption = False,
) -> None:
    """Replay a trace under a routing rule and report every metric of the run."""
    from olprouting.traces.writing import writable_target

    read = (trace, replay, forecast.removeprefix("learned:"), policy.rpartition(":")[0])
    if series is not None:
        series = own_file(context, writable_target(series), (*read, requests_out))
    if requests_out is not None:
        requests_out = own_file(context, writable_target(requests_out), read)
    from olprouting.cli.progress import announce_compilation, progress_bar
    from olprouting.engine import KvOptions, replay_policy
    from olprouting.engine import simulate as run
    from olprouting.forecasts import make_forecast
    from olprouting.policies import BidPriceOptions, ExactPolicy, PolicyOptions, make_policy

    rule_options = PolicyOptions(
        ties=ties,
        horizon=horizon,
        beta=beta,
        gamma=gamma,
        r_max=r_max,
        s_greedy=s_greedy,
        br_growth=br_growth,
        subset_search=subset_search,
        solver=solver,
        formulation=formulation,
        time_limit_s=time_limit,
        growth=growth,
        bid_price=BidPriceOptions(reject_after=reject_after),
    )
    if replay is not None:
        trace, arrivals, columns = str(replay), "recorded", None  # as we have written them
    workload = o.load_workload(trace, requests, arrivals, waiting, seed, history, columns=columns)
    rule = (
        make_policy(policy, workers, rule_options)
        if replay is None
        else replay_policy(read_table(replay))
    )
    known = make_forecast(forecast, workload.history, horizon=horizon, seed=seed)
    announce_compilation()
    try:
        with progress_bar() as advance:
            result = run(
                workload.trace,
                o.make_cluster(workers, slots, step_time, kv_tokens),
                rule,
                backlog=workload.backlog,
                forecast=known,
                projection=projection,
                refresh=refresh,
                signal_delay=signal_delay,
                clock=clock,
                kernel=kernel,
                kv=KvOptions(mode=kv_mode, oversize=oversize),
                periods=periods,
                seed=seed,
                max_iterations=max_iterations,
                series_every=every if series is not None else None,
                on_progress=lambda done, total: advance(rule.name, done, total),
            )
    except PolicyError as error:
        if series is None and requests_out is None:
            raise
        raise PolicyError(f"{error}; nothing of this run is saved") from None
    saving = Saving()
    if series is not None:
        saving.save(lambda: [write_table(result.series_frame(), series)])
    if requests_out is not None:
        saving.save(lambda: [write_table(result.to_frame(), requests_out)])
    _print(result, rule.results if isinstance(rule, ExactPolicy) else None, as_json)
    saving.end(interrupted=result.interrupted)


def _print(result: SimulationResult, solves: list[DecisionResult] | None, as_json: bool) -> None:
    row: dict[str, Any] = {
        "policy": result.policy,
        "forecast": result.forecast,
        **result.metrics.to_row(),
        "run_s": result.wall_s,
    }
    if solves is not None:
        row["decisions"] = len(solves)
        row["decisions_proven"] = sum(solve.proven for solve in solves)
    if as_json:
        typer.echo(json.dumps(row))
        return
    typer.echo(f"policy {result.policy} on {result.trace.name}, forecast {result.forecast}")
    typer.echo(result.summary())
    for name in ("run_s", "decisions", "decisions_proven"):
        if name in row:
            typer.echo(f"{name}  {row[name]}")
    for notice in result.trace.notices:
        typer.echo(f"note: {notice}", err=True)
    if result.metrics.censored:
        typer.echo("note: unfinished requests are missing from the latencies", err=True)
