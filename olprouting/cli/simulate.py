"""`olprouting simulate`: replay a trace under a routing policy."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olprouting.cli import options as o
from olprouting.cli.command import command, take
from olprouting.cli.saving import Saving, own_file
from olprouting.cli.tables import read_table
from olprouting.errors import PolicyError
from olprouting.files import write_table
from olprouting.options import (
    BidPriceOptions,
    ClockOptions,
    ClusterOptions,
    ForecastOptions,
    KvOptions,
    PolicyOptions,
    RunOptions,
)

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
PolicyChoices = Annotated[
    PolicyOptions,
    take(
        *("horizon", "beta", "gamma", "r_max", "s_greedy", "br_growth", "subset_search", "growth"),
        *("ties", "solver", "formulation", "time_limit_s"),
    ),
]
Running = Annotated[RunOptions, take("signal_delay", "periods", "max_iterations")]


@command
def simulate(
    context: typer.Context,
    *,
    policy: PolicyOption = "br0",
    workload: o.RequestsReleased,
    cluster: Annotated[ClusterOptions, take("workers", "slots", "kv_tokens", "step_time")],
    policy_options: PolicyChoices,
    bid_price: Annotated[BidPriceOptions, take("reject_after")],
    forecast: Annotated[ForecastOptions, take("forecast")],
    projecting: o.Projecting,
    time: Annotated[ClockOptions, take("clock", "batching")],
    running: Running,
    kv: Annotated[KvOptions, take("mode", "oversize")],
    seed: o.SeedOption = 0,
    series: SeriesOption = None,
    every: EveryOption = 1,
    requests_out: RequestsOutOption = None,
    replay: ReplayOption = None,
    as_json: o.JsonOption = False,
) -> None:
    """Replay a trace under a routing policy and report every metric of the run."""
    from olprouting.traces.writing import writable_target

    model = forecast.name.removeprefix("learned:")
    read = (workload.source, replay, model, policy.rpartition(":")[0])
    if series is not None:
        series = own_file(context, writable_target(series), (*read, requests_out))
    if requests_out is not None:
        requests_out = own_file(context, writable_target(requests_out), read)
    from olprouting.cli.progress import progress_bar, warn_if_interpreted
    from olprouting.engine import replay_policy
    from olprouting.engine import simulate as run
    from olprouting.forecasts import make_forecast
    from olprouting.policies import ExactPolicy, make_policy

    if replay is not None:  # as we have written them
        workload = replace(workload, source=str(replay), arrivals="recorded", columns=None)
    trace, history, backlog = o.load_workload(workload, seed)
    made = (
        make_policy(policy, cluster.workers, replace(policy_options, bid_price=bid_price))
        if replay is None
        else replay_policy(read_table(replay))
    )
    known = make_forecast(forecast.name, history, horizon=policy_options.horizon, seed=seed)
    warn_if_interpreted()
    try:
        with progress_bar() as advance:
            result = run(
                trace,
                cluster.cluster(),
                made,
                backlog=backlog,
                forecast=known,
                **asdict(projecting),
                **asdict(time),
                **asdict(running),
                kv=kv,
                seed=seed,
                series_every=every if series is not None else None,
                on_progress=lambda done, total: advance(made.name, done, total),
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
    _print(result, made.results if isinstance(made, ExactPolicy) else None, as_json)
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
