"""The state of a run as plain arrays, shared by the compiled and the plain Python loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError

if TYPE_CHECKING:
    from olprouting.instances import Cluster, Trace

    Ints = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

BY_TIME: Final = 0
BY_ITERATION: Final = 1
BACKLOG: Final = 2

# Where a request stands in the projection of completions.
FRESH: Final = 0  # admitted since the forecast was last refreshed: outlasts the window
FAR: Final = 1  # forecast to complete beyond the window
IN_WINDOW: Final = 2
OVERDUE: Final = 3  # outlived its forecast: counts at offset 0 only
GONE: Final = 4

MAX_DECODE_TOKENS: Final = 100_000_000
SERIES_CHUNK: Final = 4096

NOW = np.dtype(
    [
        ("iteration", np.int64),
        ("clock_s", np.float64),
        ("released", np.int64),  # requests that have joined the queue
        ("head", np.int64),  # first waiting entry of the queue
        ("tail", np.int64),  # one past the last
        ("active", np.int64),
        ("finished", np.int64),
        ("refreshed", np.int64),  # iteration of the last forecast refresh
        ("window_end", np.int64),  # last iteration the forecast covers
        ("fresh", np.int64),  # length of the list of fresh requests
        ("busy_iterations", np.int64),
        ("idle_iterations", np.int64),
        ("imbalance_tokens", np.int64),  # sum over busy iterations
        ("idle_share", np.float64),  # sum over busy iterations
        ("decode_tokens", np.int64),
        ("energy_j", np.float64),
        ("series_rows", np.int64),  # rows filled in the current chunk
    ]
)

SERIES_COLUMNS: Final = (
    "iteration",
    "start_s",
    "step_s",
    "imbalance_tokens",
    "max_load_tokens",
    "mean_load_tokens",
    "active_requests",
    "waiting_requests",
    "admitted_requests",
)


class Rules(NamedTuple):
    """What stays fixed during a run.

    Step-time and power coefficients are in seconds, tokens and watts; `backlog` is the number of
    visible waiting requests, `horizon` the lookahead of views, `refresh_iterations` the age at
    which a forecast is renewed, `signal_delay` the age of the loads and counts a policy sees.
    """

    release_mode: int
    backlog: int
    horizon: int
    refresh_iterations: int
    signal_delay: int
    series_every: int
    fixed_s: float
    per_token_s: float
    per_slot_s: float
    shared_per_token_s: float
    idle_w: float
    peak_w: float
    power_exponent: float


class State(NamedTuple):
    """Everything that changes during a run, and the trace it reads.

    Per request (N): trace columns, forecast lengths, and what happened to it. Per worker (G):
    load and counts. Linked lists (`*_head` per iteration modulo its length, `*_next` per request)
    hold the requests that complete, or are forecast to leave, at an iteration. A request's
    workload at iteration k is base + k with base = prompt - admission; `lasting_*` sum base and
    number of the requests not overdue, `leaving_*` those forecast to leave, per iteration of the
    window modulo its length. `projected` is shape (G, H+1), flat.
    """

    now: npt.NDArray[np.void]
    prompt: Ints
    decode: Ints
    forecast: Ints
    arrival_s: Floats
    arrival_iteration: Ints
    slots: Ints
    load: Ints
    active: Ints
    free: Ints
    queue: Ints
    queue_prompt: Ints
    admitted: Ints
    worker: Ints
    admission: Ints
    release: Ints
    release_s: Floats
    first_token_s: Floats
    finish_s: Floats
    complete_head: Ints
    complete_next: Ints
    standing: npt.NDArray[np.int8]
    fresh: Ints
    leave_head: Ints
    leave_next: Ints
    leaving_base: Ints
    leaving_count: Ints
    lasting_base: Ints
    lasting_count: Ints
    projected: Floats
    seen_load: Floats
    seen_active: Ints
    series: Floats
    series_load: Ints


def new_state(
    trace: Trace,
    cluster: Cluster,
    forecast: Ints,
    horizon: int,
    signal_delay: int,
) -> State:
    """Return the state before the first iteration.

    Columns of the trace are copied: read-only arrays are another type to compiled code, which
    would be compiled once more for every mixture.

    Raises
    ------
    InputError
        If a decode length is beyond what a run can hold.
    """
    requests, workers = len(trace), cluster.workers
    longest = int(trace.decode_tokens.max(initial=1))
    longest_forecast = int(forecast.max(initial=1)) if horizon else 1
    if max(longest, longest_forecast) > MAX_DECODE_TOKENS:
        raise InputError(
            f"decode_tokens up to {longest} do not fit a run; the limit is {MAX_DECODE_TOKENS}"
        )
    none = np.full(requests, -1, np.int64)
    window = horizon + 1
    now = np.zeros(1, NOW)
    now["refreshed"] = -(2**60)
    return State(
        now=now,
        prompt=trace.prompt_tokens.copy(),
        decode=trace.decode_tokens.copy(),
        forecast=forecast.copy(),
        arrival_s=np.array([] if trace.arrival_s is None else trace.arrival_s, np.float64),
        arrival_iteration=np.array(
            [] if trace.release_iteration is None else trace.release_iteration, np.int64
        ),
        slots=cluster.slots.copy(),
        load=np.zeros(workers, np.int64),
        active=np.zeros(workers, np.int64),
        free=cluster.slots.copy(),
        queue=np.empty(requests, np.int64),
        queue_prompt=np.empty(requests, np.int64),
        admitted=np.empty(cluster.total_slots, np.int64),
        worker=none.copy(),
        admission=none.copy(),
        release=none.copy(),
        release_s=np.full(requests, np.nan),
        first_token_s=np.full(requests, np.nan),
        finish_s=np.full(requests, np.nan),
        complete_head=np.full(longest + 1, -1, np.int64),
        complete_next=none.copy(),
        standing=np.zeros(requests, np.int8),
        fresh=np.empty(requests if horizon else 0, np.int64),
        leave_head=np.full(longest_forecast + window + 1, -1, np.int64),
        leave_next=none.copy() if horizon else none[:0],
        leaving_base=np.zeros((workers, window), np.int64),
        leaving_count=np.zeros((workers, window), np.int64),
        lasting_base=np.zeros(workers, np.int64),
        lasting_count=np.zeros(workers, np.int64),
        projected=np.zeros(workers * window),
        seen_load=np.zeros((signal_delay + 1, workers)),
        seen_active=np.zeros((signal_delay + 1, workers), np.int64),
        series=np.empty((SERIES_CHUNK, len(SERIES_COLUMNS))),
        series_load=np.empty((SERIES_CHUNK, workers), np.int64),
    )
