"""The state of a run before its first iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from olprouting.compiling import as_records
from olprouting.engine.state import (
    NOW,
    REQUEST,
    SERIES_CHUNK,
    SERIES_COLUMNS,
    WORKER,
    ByAge,
    Lookahead,
    Settings,
    State,
    WorkerQueues,
)
from olprouting.errors import InputError, shown
from olprouting.instances._checks import require_memory
from olprouting.options import Dispatch, KvMode, Oversize

if TYPE_CHECKING:
    from olprouting.forecasts.live_kernels import LiveForecast
    from olprouting.instances import Cluster, Trace
    from olprouting.options import KvOptions

    Ints = npt.NDArray[np.int64]

MAX_DECODE_TOKENS: Final = 100_000_000
CALENDAR_SLOTS: Final = 1024


def new_state(
    trace: Trace,
    cluster: Cluster,
    decode_lengths: Ints,
    live: LiveForecast | None,
    settings: Settings,
    kv: KvOptions,
    dispatch: Dispatch,
) -> State:
    """Return the state before the first iteration.

    Parameters
    ----------
    trace, cluster, settings, kv, dispatch
        The run.
    decode_lengths
        Forecast decode lengths, shape (N,).
    live
        The forecast, if it changes with age.

    Raises
    ------
    InputError
        If a decode length is beyond what a run can hold, or a request more than a worker can.
    """
    requests, workers = len(trace), cluster.workers
    longest = int(trace.decode_tokens.max(initial=1))
    longest_forecast = int(decode_lengths.max(initial=1)) if settings.horizon else 1
    if max(longest, longest_forecast) > MAX_DECODE_TOKENS:
        raise InputError(
            f"decode_tokens up to {longest} do not fit a run; the limit is {MAX_DECODE_TOKENS}"
        )
    window = settings.horizon + 1
    roster = 0 if live is None else int(cluster.slots.max())
    calendar = min(longest + 2, CALENDAR_SLOTS)
    numbers = calendar + 3 * window + 5 * roster + 2 * (settings.signal_delay + 1) + SERIES_CHUNK
    require_memory(
        f"{workers} workers x {int(cluster.slots.max())} slots, horizon {settings.horizon}, "
        f"signal_delay {shown(settings.signal_delay)}",
        8 * (workers * numbers + longest_forecast + cluster.total_slots)
        + requests * (REQUEST.itemsize + 48),
    )
    now = np.zeros(1, NOW)
    now["waiting_from"] = -1
    now["refreshed"] = -(2**60)
    queues = _queues(requests, workers, settings) if dispatch is Dispatch.ARRIVAL else None
    queued = np.zeros((settings.signal_delay + 1, workers if queues is not None else 0), np.int64)
    return State(
        now=as_records(now),
        requests=as_records(_requests(trace, cluster, decode_lengths, settings, kv, dispatch)),
        workers=as_records(_workers(cluster)),
        offered=cluster.slots.copy(),
        kv_free=np.zeros(workers if settings.kv_limited else 0, np.int64),
        queue=np.empty(requests, np.int64),
        queue_prompt=np.empty(requests, np.int64),
        queue_kv=np.empty(requests if settings.kv_limited else 0, np.int64),
        calendar=np.full((workers, calendar), -1, np.int64),
        projected=np.zeros(workers * window),
        lookahead=_lookahead(settings, requests, cluster, longest_forecast, live),
        seen_load=np.zeros((settings.signal_delay + 1, workers)),
        seen_active=np.zeros((settings.signal_delay + 1, workers), np.int64),
        seen_queued_requests=queued,
        seen_queued_tokens=queued.copy(),
        queues=queues,
        series=np.empty((SERIES_CHUNK, len(SERIES_COLUMNS))),
        series_load=np.empty((SERIES_CHUNK, workers), np.int64),
    )


def _lookahead(
    settings: Settings, requests: int, cluster: Cluster, longest: int, live: LiveForecast | None
) -> Lookahead | None:
    if settings.horizon == 0:
        return None
    window = settings.horizon + 1
    by_age = None
    if live is not None:
        roster = np.empty((5, cluster.workers, int(cluster.slots.max())), np.int64)
        request, own, base, began, cutoff = roster
        by_age = ByAge(live, request, own, base, began, cutoff, np.empty(window), np.empty(window))
    return Lookahead(
        fresh=np.empty(requests, np.int64),
        leave_head=np.full(longest + settings.prefill_steps + window + 1, -1, np.int64),
        leaving_base=np.zeros((cluster.workers, window)),
        leaving_count=np.zeros((cluster.workers, window)),
        by_age=by_age,
    )


def _queues(requests: int, workers: int, settings: Settings) -> WorkerQueues:
    return WorkerQueues(
        first=np.full(workers, -1, np.int64),
        last=np.full(workers, -1, np.int64),
        requests=np.zeros(workers, np.int64),
        tokens=np.zeros(workers, np.int64),
        following=np.empty(requests, np.int64),
        kv_tokens=np.empty(requests if settings.kv_limited else 0, np.int64),
        total=np.zeros(1, np.int64),
        sums=np.zeros(2, np.int64),
    )


def _requests(
    trace: Trace,
    cluster: Cluster,
    decode_lengths: Ints,
    settings: Settings,
    kv: KvOptions,
    dispatch: Dispatch,
) -> npt.NDArray[np.void]:
    records = np.zeros(len(trace), REQUEST)
    records["prompt"] = trace.prompt_tokens
    records["decode"] = trace.decode_tokens
    records["forecast"] = decode_lengths + settings.prefill_steps
    records["reserved"] = reserved = _reserved(trace, decode_lengths, kv)
    records["oversize"] = _oversize(trace, cluster, reserved, settings, kv, dispatch)
    if trace.arrival_s is not None:
        records["arrival_s"] = trace.arrival_s
    if trace.release_iteration is not None:
        records["arrival_iteration"] = trace.release_iteration
    for name in ("worker", "admission", "release", "rejection", "first_token", "finish"):
        records[name] = -1
    for name in ("release_s", "admission_s", "first_token_s", "finish_s"):
        records[name] = np.nan
    return records


def _workers(cluster: Cluster) -> npt.NDArray[np.void]:
    records = np.zeros(cluster.workers, WORKER)
    records["slots"] = records["free"] = cluster.slots
    records["ends_s"] = np.inf
    records["newest"] = -1
    if cluster.kv_tokens is not None:
        records["kv_limit"] = cluster.kv_tokens
    return records


def _reserved(trace: Trace, decode_lengths: Ints, kv: KvOptions) -> Ints:
    """Return the KV tokens set aside for every request, shape (N,)."""
    if kv.mode is not KvMode.RESERVE:
        return np.zeros(len(trace), np.int64)
    output = decode_lengths if kv.max_output_tokens is None else kv.max_output_tokens
    return trace.prompt_tokens + output


def _oversize(
    trace: Trace,
    cluster: Cluster,
    reserved: Ints,
    settings: Settings,
    kv: KvOptions,
    dispatch: Dispatch,
) -> npt.NDArray[np.bool_]:
    """Mark the requests that a worker cannot hold to their last age, shape (N,).

    That is the largest worker; under dispatch on arrival the smallest, for a request that was sent
    there could never leave.
    """
    if cluster.kv_tokens is None:
        return np.zeros(len(trace), np.bool_)
    last_age = trace.decode_tokens + settings.prefill_steps - 1
    most = np.maximum(trace.prompt_tokens + last_age + settings.age_offset, reserved)
    most = -(-most // settings.block_tokens) * settings.block_tokens
    arrival = dispatch is Dispatch.ARRIVAL
    which = "smallest" if arrival else "largest"
    limit = int(cluster.kv_tokens.min() if arrival else cluster.kv_tokens.max())
    oversize: npt.NDArray[np.bool_] = most > limit
    if oversize.any() and kv.oversize is Oversize.ERROR:
        row = int(np.argmax(oversize))
        raise InputError(
            f"request {row} needs up to {most[row]} KV tokens, the {which} worker has {limit} "
            f"({int(oversize.sum())} such requests); give workers more, or reject them: "
            "KvOptions(oversize='reject')"
        )
    return oversize
