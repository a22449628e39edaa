"""`olprouting hindsight`: what any router could have collected on a trace, and what some did."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olprouting.cli import options as o
from olprouting.cli.command import command, option, take
from olprouting.cli.hindsight_imbalance import least_imbalance
from olprouting.cli.saving import Saving, own_folder
from olprouting.cli.tables import show_report, show_warnings
from olprouting.errors import Failures, InputError, unknown_name
from olprouting.options import (
    ClusterOptions,
    HindsightOptions,
    PeriodOptions,
    PolicyOptions,
    WorkloadOptions,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from olprouting.hindsight import HindsightResult
    from olprouting.hindsight.reward.report import RatedRun
    from olprouting.instances import Cluster, Trace
    from olprouting.progress import OnProgress

DEFAULTS = {"reward": (300, 4, 16), "imbalance": (9, 2, 2)}
"""Requests, workers and slots of every objective."""

POLICIES = {"reward": "jsq,prices-0,bid-price", "imbalance": "jsq,br0"}
"""Policies that run beside every objective's bound where none are named."""

CLAIRVOYANT = {"hindsight-price": False, "hindsight-price-timed": True}
"""Policies with the prices of the bound, and whether they wait for the best start."""
OF_THE_REWARD = ("weights", "classes", "t1", "t2", "kv_tokens", "periods", "gap")
"""Parameters that mean nothing for the imbalance."""

ObjectiveOption = Annotated[
    str,
    typer.Option(
        help="reward, or imbalance: of a whole small run without KV limits. It has no --weights, "
        "--t1, --t2, --kv-tokens, --periods and --gap."
    ),
]
RequestsOption = Annotated[
    int | None, option(WorkloadOptions, "requests", show_default="300; imbalance: 9")
]
WorkersOption = Annotated[
    int | None,
    option(
        *(ClusterOptions, "workers", "--workers"),
        help="Workers G, all alike.",
        show_default="4; imbalance: 2",
    ),
]
SlotsOption = Annotated[
    int | None,
    option(ClusterOptions, "slots", help="Slots per worker B.", show_default="16; imbalance: 2"),
]
KvOption = Annotated[int, option(ClusterOptions, "kv_tokens", help="KV tokens per worker M.")]
PoliciesOption = Annotated[
    str | None,
    typer.Option(
        help="Comma-separated policies to run on the same trace; none, if empty. For the reward "
        "also hindsight-price, which knows the bound's prices, and hindsight-price-timed, which "
        "waits for the best start at them.",
        show_default="jsq,prices-0,bid-price; imbalance: jsq,br0",
    ),
]
Period = Annotated[
    PeriodOptions,
    take("weights", "classes", "t1", "t2", "periods", periods={"help": "T, the last period."}),
]


@command
def hindsight(
    context: typer.Context,
    *,
    objective: ObjectiveOption = "reward",
    workload: Annotated[WorkloadOptions, o.by_period()],
    requests: RequestsOption = None,
    workers: WorkersOption = None,
    slots: SlotsOption = None,
    kv_tokens: KvOption = 20_000,
    period: Period,
    policies: PoliciesOption = None,
    search: Annotated[HindsightOptions, take("time_limit_s", "gap")],
    seed: o.SeedOption = 0,
    out: o.FolderOption = None,
    details: o.DetailsOption = False,
    as_json: o.JsonOption = False,
    strict: o.StrictOption = False,
) -> None:
    """Bound what any router could have achieved on a trace, show a run close to it, rate policies.

    Without arguments: the reward of 300 requests drawn from the embedded profile of the Azure 2023
    conversation trace, at 0.4 requests per period. ``--objective imbalance``: the least total
    imbalance of 9 of them. ``--out`` saves a result that ``olprouting verify`` checks.
    """
    if objective not in DEFAULTS:
        raise unknown_name("objective", objective, DEFAULTS)
    given = (requests, workers, slots)
    requests, workers, slots = (
        usual if value is None else value
        for value, usual in zip(given, DEFAULTS[objective], strict=True)
    )
    workload = replace(workload, requests=requests)
    names = o.names(POLICIES[objective] if policies is None else policies)
    if objective == "imbalance":
        _refuse_given(context, OF_THE_REWARD)
        from olprouting.instances import Cluster

        least_imbalance(
            o.load_workload(workload, seed).trace,
            Cluster.homogeneous(workers, slots),
            names,
            time_limit_s=search.time_limit_s,
            seed=seed,
            folder=None if out is None else own_folder(context, out),
            details=details,
            as_json=as_json,
            strict=strict,
        )
        return
    folder = None if out is None else own_folder(context, out)
    from olprouting.cli.progress import progress_bar, warn_if_interpreted
    from olprouting.engine.arguments import check_policy
    from olprouting.hindsight import hindsight as bound_and_schedule
    from olprouting.hindsight.reward.report import HindsightReport
    from olprouting.instances import Cluster
    from olprouting.policies import make_policy

    cluster = Cluster.homogeneous(workers, slots, kv_tokens=kv_tokens)
    options = PolicyOptions(period=period)
    for name in names:  # what cannot run is an error now, not after the search
        if name in CLAIRVOYANT:
            continue
        policy = make_policy(name, workers, options)
        check_policy(cluster, policy, policy.horizon, "iteration", 0)
    trace = o.load_workload(workload, seed, classes=period.classes).trace
    warn_if_interpreted()
    with progress_bar() as advance:
        found = bound_and_schedule(
            trace,
            cluster,
            period.reward_weights,
            periods=period.periods,
            t1=period.t1,
            t2=period.t2,
            **asdict(search),
            seed=seed,
            on_progress=advance,
        )
        saving, failures = Saving(), Failures()
        report = HindsightReport(found=found, settings=_settings(trace, cluster, period, seed))
        if folder is not None:  # a policy may fail, or take long
            saving.save(lambda: report.write(folder))
        interrupted = saving.interrupted or found.stop_reason == "interrupted"
        runs: list[RatedRun] = []
        rewards = {}
        if not interrupted:
            try:
                for name in names:
                    with failures.kept():
                        run, rewards[name] = _rated(
                            name, trace, cluster, options, found, seed, advance
                        )
                        runs.append(run)
            except KeyboardInterrupt:
                interrupted = True
        report = replace(
            report, runs=tuple(runs), rewards=rewards, failures=tuple(failures.messages)
        )
        if folder is not None and runs:
            advance("write", 0, 1)
            saving.save(lambda: report.write(folder))
    if as_json:
        typer.echo(json.dumps(report.results()))
        show_warnings(report)
    else:
        show_report(report, as_json=False, details=details)
    misleading = report.warnings() if strict else ()
    saving.end(failures.messages, interrupted=interrupted, misleading=misleading)


def _settings(trace: Trace, cluster: Cluster, period: PeriodOptions, seed: int) -> dict[str, Any]:
    from olprouting.versions import versions

    return {
        "trace": trace.name,
        "requests": len(trace),
        "slots": cluster.slots.tolist(),
        "kv_tokens": None if cluster.kv_tokens is None else cluster.kv_tokens.tolist(),
        "weights": period.reward_weights.to_document(),
        "t1": period.t1,
        "t2": period.t2,
        "periods": period.periods,
        "seed": seed,
        "versions": versions(),
    }


def _refuse_given(context: typer.Context, parameters: tuple[str, ...]) -> None:
    for parameter in parameters:
        source = context.get_parameter_source(parameter)
        if source is not None and source.name == "COMMANDLINE":
            option = parameter.replace("_", "-")
            raise InputError(f"--{option} belongs to --objective reward; imbalance has none")


def _rated(
    name: str,
    trace: Trace,
    cluster: Cluster,
    options: PolicyOptions,
    found: HindsightResult,
    seed: int,
    advance: OnProgress,
) -> tuple[RatedRun, npt.NDArray[np.float64]]:
    """Run a policy; return its certified ratio, and what the start of each request counts."""
    from olprouting.engine import KvOptions, simulate
    from olprouting.hindsight import certified_ratio, hindsight_price
    from olprouting.hindsight.reward.report import RatedRun
    from olprouting.instances.request_curves import Batching
    from olprouting.policies import make_policy
    from olprouting.price_report.run_outcome import rewards_of

    policy = (
        hindsight_price(found, options, timed=CLAIRVOYANT[name])
        if name in CLAIRVOYANT
        else make_policy(name, cluster.workers, options)
    )
    run = simulate(
        trace,
        cluster,
        policy,
        seed=seed,
        periods=options.period.periods,
        kv=KvOptions(oversize="reject"),
        on_progress=lambda done, total: advance(f"run {name}", done, total),
    )
    if run.interrupted:
        raise KeyboardInterrupt
    ratio = certified_ratio(run, found)
    rewards = rewards_of(run, options.period, Batching.DECODE)
    rated = RatedRun(
        **asdict(ratio),
        reward_of_all_starts=math.fsum(rewards),
        never_admitted=int(((run.admission_iteration < 0) & ~run.rejected).sum()),
    )
    return rated, rewards * (run.preemptions == 0)
