"""From the final state of a run to its metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.engine.metrics import (
    KvMetrics,
    Metrics,
    PeriodMetrics,
    PeriodQuantiles,
    Quantiles,
    QueueMetrics,
    WaitingWindow,
)
from olprouting.engine.state import BY_TIME

if TYPE_CHECKING:
    from olprouting.engine.state import Settings, State, WorkerQueues
    from olprouting.instances import Trace


def measure(trace: Trace, settings: Settings, state: State) -> Metrics:
    """Return the metrics of the run that ended in `state`."""
    now = {name: state.now[name][0] for name in state.now.dtype.names or ()}
    finished = ~np.isnan(state.requests["finish_s"])
    tokens = trace.decode_tokens[finished]
    finish_s = state.requests["finish_s"][finished]
    first_s = state.requests["first_token_s"][finished]
    release_s = state.requests["release_s"][finished]
    waited_s = state.requests["admission_s"] - state.requests["release_s"]
    several = tokens > 1
    idle = int(now["idle_iterations"])
    busy = int(now["busy_iterations"] if settings.barrier else state.workers["own_iteration"].sum())
    began_s = (
        float(np.nanmin(state.requests["release_s"], initial=np.inf)) if now["released"] else 0.0
    )
    makespan_s = float(now["clock_s"]) - began_s
    unfinished = len(trace) - int(now["finished"]) - int(now["rejected"])
    return Metrics(
        arrived=len(trace),
        finished=int(now["finished"]),
        rejected=int(now["rejected"]),
        unfinished=unfinished,
        censored=unfinished > 0,
        iterations=busy,
        idle_iterations=idle,
        mean_imbalance_tokens=_barrier(settings, now["imbalance_tokens"], busy),
        mean_imbalance_with_idle_tokens=_barrier(settings, now["imbalance_tokens"], busy + idle),
        while_waiting=_waiting_window(state) if settings.barrier else None,
        mean_idle_share=_barrier(settings, now["idle_share"], busy),
        makespan_s=makespan_s,
        decode_tokens=int(now["decode_tokens"]),
        throughput_tokens_per_s=_ratio(now["decode_tokens"], makespan_s),
        requests_per_s=_ratio(now["finished"], makespan_s),
        tpot=Quantiles.of((finish_s - first_s)[several] / (tokens[several] - 1)),
        waiting_time=Quantiles.of(waited_s[~np.isnan(waited_s)]),
        ttft=Quantiles.of(first_s - release_s),
        end_to_end=Quantiles.of(finish_s - release_s),
        single_token_requests=int((~several).sum()),
        energy_j=float(now["energy_j"]) if settings.barrier else None,
        periods=_period_metrics(state, busy + idle) if settings.barrier else None,
        kv=_kv_metrics(state, busy) if settings.kv_limited else None,
        queues=None if state.queues is None else _queue_metrics(settings, state, state.queues),
    )


def _waiting_window(state: State) -> WaitingWindow | None:
    now = state.now[0]
    iterations = int(now["admitting_until"] - now["waiting_from"])
    if now["waiting_from"] < 0 or iterations < 1:
        return None
    tokens = now["tokens_until_admitted"] - now["tokens_before_waiting"]
    return WaitingWindow(iterations, _ratio(tokens, iterations))


def _period_metrics(state: State, periods: int) -> PeriodMetrics:
    admitted = state.requests["first_token"] > 0
    finished = state.requests["finish"] > 0
    return PeriodMetrics(
        ttft=PeriodQuantiles.of(
            (state.requests["first_token"] - state.requests["release"])[admitted]
        ),
        end_to_end=PeriodQuantiles.of(
            (state.requests["finish"] + 1 - state.requests["release"])[finished]
        ),
        tokens_per_period=_ratio(state.now["decode_tokens"][0], periods),
        requests_per_period=_ratio(state.now["finished"][0], periods),
    )


def _kv_metrics(state: State, steps: int) -> KvMetrics:
    return KvMetrics(
        preemptions=int(state.now["preemptions"][0]),
        preempted_requests=int((state.requests["preempted"] > 0).sum()),
        recomputed_tokens=int(state.now["recomputed_tokens"][0]),
        preempting_step_share=_ratio(state.now["preempting_steps"][0], steps),
        peak_tokens=tuple(state.workers["kv_peak"].tolist()),
        peak_share=float((state.workers["kv_peak"] / state.workers["kv_limit"]).max()),
    )


def _queue_metrics(settings: Settings, state: State, queues: WorkerQueues) -> QueueMetrics:
    requests = state.requests
    waited_s = requests["admission_s"] - requests["release_s"]
    before_s = np.zeros(len(requests))
    if settings.release_mode == BY_TIME:
        before_s = requests["release_s"] - requests["arrival_s"]
    steps = state.now["busy_iterations"][0]
    return QueueMetrics(
        before_dispatch=Quantiles.of(before_s[requests["worker"] >= 0]),
        after_dispatch=Quantiles.of(waited_s[~np.isnan(waited_s)]),
        mean_queued_requests=_ratio(queues.sums[0], steps),
        mean_stranded_slots=_ratio(queues.sums[1], steps),
    )


def _barrier(settings: Settings, total: float, count: float) -> float | None:
    return _ratio(total, count) if settings.barrier else None


def _ratio(total: float, count: float) -> float:
    return float(total / count) if count else 0.0
