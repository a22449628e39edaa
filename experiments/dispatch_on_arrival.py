"""Measure policies under dispatch on arrival and under a central queue, on the same requests.

python experiments/dispatch_on_arrival.py --out experiments/results

`--trace FILE` adds a trace of conversations, such as Azure 2023's; `--reduced` runs a small form in
seconds.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from long_outputs import long_outputs

import olprouting as olp
from olprouting.files import write_table
from olprouting.options import WorkloadOptions
from olprouting.traces import load_workload
from olprouting.traces.arrivals import poisson_by_period

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FCFS = ("random", "round-robin", "power-of-two", "jsq", "least-load")
ON_ARRIVAL = (*FCFS, "least-imbalance")
CENTRAL = (*FCFS, "br0", "brh")
LOOKAHEAD = olp.PolicyOptions(horizon=80, beta=43, gamma=0.86)
PER_WORKER = 36
"""Requests in flight per worker at which JSQ's imbalance here is about the published one."""

OLD = 20
"""Age of the counts in the setting with old ones, in iterations."""

Draw = "Callable[[int, int], olp.Trace]"
"""Requests of (how many, seed)."""


@dataclass(frozen=True)
class Setting:
    """Requests, and the cluster they meet.

    Attributes
    ----------
    workload, situation
        What tables call them.
    workers, slots, in_flight
        G, slots per worker, and requests in flight of the closed loop.
    per_period
        Requests that arrive per iteration on average (Poisson), instead of the closed loop; None
        for that.
    signal_delay
        Age of the counts and loads that policies see, in iterations.
    kv_tokens
        KV tokens per worker; None for no limit.
    warm_up, iterations
        Iterations before those measured, and both together.
    requests
        How many there are: more than a run uses.
    """

    workload: str
    situation: str
    workers: int
    slots: int
    in_flight: int
    per_period: float | None = None
    signal_delay: int = 0
    kv_tokens: int | None = None
    warm_up: int = 3000
    iterations: int = 12_000
    requests: int = 8000

    def reduced(self) -> Setting:
        """Return a small form."""
        return replace(self, warm_up=1100, iterations=1500, requests=2000)


def draw_30002(requests: int, seed: int) -> olp.Trace:
    """Return geometric lengths with the means of the balance paper's trace 30002."""
    options = WorkloadOptions(source="ratio:3197:1185:4382", requests=requests)
    return load_workload(options, seed).trace


def draw_long(requests: int, seed: int) -> olp.Trace:
    """Return requests like the paper's Azure 2024: outputs of 1,000 tokens and a few more."""
    table = long_outputs(requests, seed)
    return olp.Trace(table.num_prefill_tokens, table.num_decode_tokens, name="long-outputs")


def settings() -> Iterator[Setting]:
    """Yield all settings of drawn requests."""
    for workers in (4, 8, 16):
        many = workers * PER_WORKER
        yield Setting("30002 means", "slots never fill", workers, many, many)
    # a mean of 288 in service, by Little's law
    yield Setting("30002 means", "slots never fill, Poisson", 8, 2000, 288, 288 / 1185)
    yield Setting("30002 means", "as many slots as requests", 8, PER_WORKER, 288)
    yield Setting("30002 means", "a quarter more requests than slots", 8, PER_WORKER, 360)
    yield Setting("30002 means", "slots never fill, old counts", 8, 288, 288, signal_delay=OLD)
    yield Setting("long outputs", "slots never fill, Poisson", 8, 2000, 288, 288 / 1052)
    yield Setting("long outputs", "a quarter more requests than slots", 8, PER_WORKER, 360)


def settings_of_trace(name: str) -> Iterator[Setting]:
    """Yield the settings of a trace of short outputs."""
    short = {"warm_up": 1000, "iterations": 5000}
    yield Setting(name, "slots never fill", 8, 288, 288, **short)
    yield Setting(name, "as many slots as requests", 8, PER_WORKER, 288, **short)
    yield Setting(name, "a quarter more requests than slots", 8, PER_WORKER, 360, **short)


def runs(setting: Setting, draw: Any, seeds: int) -> Iterator[dict[str, Any]]:
    """Yield a row per way of dispatch, policy and seed."""
    for seed in range(seeds):
        trace = draw(setting.requests, seed)
        released: dict[str, Any] = {"in_flight": setting.in_flight}
        if setting.per_period is not None:
            trace = poisson_by_period(trace, setting.per_period, np.random.default_rng([seed, 2]))
            released = {}
        released["signal_delay"] = setting.signal_delay
        worlds = {"arrival": ON_ARRIVAL, "central": CENTRAL}
        if setting.signal_delay:  # which lookahead does not take
            worlds = {"arrival": FCFS}
        for dispatch, policies in worlds.items():
            for name in policies:
                yield {
                    "workload": setting.workload,
                    "situation": setting.situation,
                    "workers": setting.workers,
                    "slots": setting.slots,
                    "dispatch": dispatch,
                    "policy": name,
                    "seed": seed,
                } | measured(
                    setting, trace, policy_of(name, setting), seed, dispatch=dispatch, **released
                )


def policy_of(name: str, setting: Setting) -> olp.Policy:
    """Return the policy of that name, with the lookahead of this experiment."""
    return olp.make_policy(name, setting.workers, LOOKAHEAD)


def measured(
    setting: Setting, trace: olp.Trace, policy: olp.Policy, seed: int, **options: Any
) -> dict[str, float]:
    """Run a policy and return what it achieved after the warm-up.

    Raises
    ------
    ValueError
        If the requests do not last.
    """
    run = olp.simulate(
        trace,
        olp.Cluster.homogeneous(setting.workers, setting.slots, kv_tokens=setting.kv_tokens),
        policy,
        seed=seed,
        series_every=1,
        max_iterations=setting.iterations,
        **options,
    )
    if (run.release_iteration < 0).sum() == 0:
        raise ValueError(f"{setting}: all requests were released before the end")
    series = run.series_frame()[setting.warm_up :]
    admitted = run.admission_iteration > setting.warm_up
    waited = (run.admission_iteration - run.release_iteration)[admitted]
    return {
        "imbalance_tokens": series.imbalance_tokens.mean(),
        "tokens_per_s": series.active_requests.sum() / series.step_s.sum(),
        "active_requests": series.active_requests.mean(),
        "wait_mean_iterations": waited.mean(),
        "wait_p99_iterations": np.quantile(waited, 0.99),
    }


def trace_of(file: Path) -> Callable[[int, int], olp.Trace]:
    """Return what draws requests of a trace file, in order, at random."""

    def draw(requests: int, seed: int) -> olp.Trace:
        options = WorkloadOptions(source=str(file), requests=requests, rows="random")
        trace = load_workload(options, seed).trace
        return trace.replace(arrival_s=None)

    return draw


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all settings and write their table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--trace", type=Path, help="a trace file of short outputs")
    parser.add_argument("--reduced", action="store_true")
    options = parser.parse_args(arguments)
    draws = {"30002 means": draw_30002, "long outputs": draw_long}
    wanted = list(settings())
    if options.trace is not None:
        draws[options.trace.stem] = trace_of(options.trace)
        wanted += settings_of_trace(options.trace.stem)
    rows = []
    for setting in wanted:
        one = setting.reduced() if options.reduced else setting
        rows += runs(one, draws[one.workload], 1 if options.reduced else 30)
    options.out.mkdir(parents=True, exist_ok=True)
    write_table(pd.DataFrame(rows).round(2), options.out / "dispatch_on_arrival.csv")


if __name__ == "__main__":
    main()
