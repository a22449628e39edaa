"""`olprouting simulate`: replay a trace under a routing policy."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from olprouting.cli import options as o
from olprouting.cli.command import command, take
from olprouting.cli.saving import Saving, own_file, own_folder
from olprouting.cli.tables import read_table, show_report
from olprouting.errors import PolicyError
from olprouting.files import write_table, write_text
from olprouting.options import (
    BidPriceOptions,
    ClockOptions,
    ClusterOptions,
    DispatchOptions,
    ForecastOptions,
    KvOptions,
    PeriodOptions,
    PolicyOptions,
    RunOptions,
)

PolicyOption = Annotated[
    str,
    typer.Option(
        help="random, round-robin, power-of-two, jsq, least-load, vllm, sglang, llm-d, dynamo, "
        "least-imbalance, br0, brh, exact, bid-price, bid-price-exact, prices-0, lp-rounding, "
        "period-integer, reward-density, or FILE.py:function."
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
PerfettoOption = Annotated[
    Path | None,
    typer.Option(
        help="Write the run as a .json that ui.perfetto.dev opens: slots, loads, waiting.",
        show_default=False,
    ),
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
    period: Annotated[PeriodOptions, take("classes")],
    bid_price: Annotated[BidPriceOptions, take("reject_after")],
    forecast: Annotated[ForecastOptions, take("forecast")],
    projecting: o.Projecting,
    time: Annotated[ClockOptions, take("clock", "batching")],
    dispatching: Annotated[DispatchOptions, take("dispatch")],
    running: Running,
    kv: Annotated[KvOptions, take("mode", "oversize")],
    seed: o.SeedOption = 0,
    series: SeriesOption = None,
    every: EveryOption = 1,
    requests_out: RequestsOutOption = None,
    perfetto: PerfettoOption = None,
    replay: ReplayOption = None,
    out: o.FolderOption = None,
    details: o.DetailsOption = False,
    as_json: o.JsonOption = False,
    strict: o.StrictOption = False,
) -> None:
    """Replay a trace under a routing policy and report every metric of the run."""
    from olprouting.traces.writing import writable_target

    model = forecast.name.removeprefix("learned:")
    read = (workload.source, replay, model, policy.rpartition(":")[0])
    if series is not None:
        series = own_file(context, writable_target(series), (*read, requests_out))
    if requests_out is not None:
        requests_out = own_file(context, writable_target(requests_out), read)
    if perfetto is not None:
        perfetto = own_file(context, perfetto, (*read, series, requests_out))
        from olprouting.run_report import check_perfetto

        check_perfetto(barrier=time.clock == "barrier", whole=every == 1)
    folder = None if out is None else own_folder(context, out)
    from olprouting.cli.progress import progress_bar, warn_if_interpreted
    from olprouting.engine import replay_policy
    from olprouting.engine import simulate as run
    from olprouting.forecasts import make_forecast
    from olprouting.policies import ExactPolicy, make_policy
    from olprouting.run_report import RunReport, to_perfetto
    from olprouting.versions import versions

    if replay is not None:  # as we have written them
        workload = replace(workload, source=str(replay), arrivals="recorded", columns=None)
    requests = o.load_workload(workload, seed, classes=period.classes)
    trace = requests.trace
    policy_options = replace(policy_options, period=period, bid_price=bid_price)
    made = (
        make_policy(policy, cluster.workers, policy_options)
        if replay is None
        else replay_policy(read_table(replay), dispatching.dispatch)
    )
    known = make_forecast(
        forecast.name, requests.history, horizon=policy_options.horizon, seed=seed
    )
    warn_if_interpreted()
    try:
        with progress_bar() as advance:
            result = run(
                trace,
                cluster.cluster(),
                made,
                **requests.release,
                forecast=known,
                **asdict(projecting),
                **asdict(time),
                **asdict(dispatching),
                **asdict(running),
                kv=kv,
                seed=seed,
                series_every=None if series is folder is perfetto is None else every,
                on_progress=lambda done, total: advance(f"run {made.name}", done, total),
            )
    except PolicyError as error:
        if series is requests_out is perfetto is folder is None:
            raise
        raise PolicyError(f"{error}; nothing of this run is saved") from None
    solves = made.results if isinstance(made, ExactPolicy) else None
    report = RunReport(
        result=result,
        exact=None if solves is None else (len(solves), sum(solve.proven for solve in solves)),
        settings={
            "trace": trace.name,
            "requests": len(trace),
            "waiting": requests.backlog,
            "in_flight": requests.in_flight,
            **asdict(cluster),
            "policy_options": asdict(policy_options),
            **asdict(projecting),
            **asdict(time),
            **asdict(dispatching),
            **asdict(running),
            "kv": asdict(kv),
            "seed": seed,
            "every": every,
            "versions": versions(),
        },
        interrupted=result.interrupted,
    )
    saving = Saving()
    if series is not None:
        saving.save(lambda: [write_table(result.series_frame(), series)])
    if requests_out is not None:
        saving.save(lambda: [write_table(result.to_frame(), requests_out)])
    if perfetto is not None:
        saving.save(lambda: [write_text(perfetto, to_perfetto(result))])
    if folder is not None:
        with progress_bar() as advance:
            advance("write", 0, 1)
            saving.save(lambda: report.write(folder))
    show_report(report, as_json=as_json, details=details)
    misleading = report.warnings() if strict else ()
    saving.end(interrupted=result.interrupted, misleading=misleading)
