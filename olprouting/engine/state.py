"""The state of a run as plain arrays, shared by the compiled and the plain Python loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from olprouting.structs import Struct

if TYPE_CHECKING:
    from olprouting.forecasts.live_kernels import LiveForecast

    Ints = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

BY_TIME: Final = 0
BY_ITERATION: Final = 1
BACKLOG: Final = 2
IN_FLIGHT: Final = 3

# Where a request stands in the projection of completions.
FRESH: Final = 0  # admitted since the forecast was last refreshed: outlasts the window
FAR: Final = 1  # forecast to complete beyond the window
IN_WINDOW: Final = 2
OVERDUE: Final = 3  # outlived its forecast: counts at offset 0 only
GONE: Final = 4
SPREAD: Final = 5  # spread over the window by the probability that it is still active

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
        ("rejected", np.int64),
        ("stalled", np.int64),  # iterations in a row with nothing active and nothing admitted
        ("preemptions", np.int64),
        ("preempting_steps", np.int64),  # steps before which requests were preempted
        ("recomputed_tokens", np.int64),  # tokens whose KV entries preemption threw away
        ("refreshed", np.int64),  # iteration of the last forecast refresh
        ("window_end", np.int64),  # last iteration the forecast covers
        ("fresh", np.int64),  # length of the list of fresh requests
        ("busy_iterations", np.int64),
        ("idle_iterations", np.int64),
        ("imbalance_tokens", np.int64),  # sum over busy iterations
        ("idle_share", np.float64),  # sum over busy iterations
        ("waiting_from", np.int64),  # busy iterations before all slots were taken, or -1
        ("tokens_before_waiting", np.int64),  # imbalance summed over them
        ("admitting_until", np.int64),  # busy iterations up to the last that admitted
        ("tokens_until_admitted", np.int64),  # imbalance summed over them
        ("decode_tokens", np.int64),
        ("energy_j", np.float64),
        ("series_rows", np.int64),  # rows filled in the current chunk
    ]
)

REQUEST = np.dtype(
    [
        ("prompt", np.int64),  # preemption turns generated tokens into prompt: prompt, decode
        ("decode", np.int64),  # and forecast are those of what is left
        ("forecast", np.int64),  # active iterations, prefill included
        ("reserved", np.int64),  # KV tokens charged at least
        ("oversize", np.int64),  # 1 if it is to be rejected on arrival
        ("arrival_s", np.float64),
        ("arrival_iteration", np.int64),
        ("worker", np.int64),
        ("admission", np.int64),  # iteration of the run
        ("admission_s", np.float64),  # the first time, where preempted
        ("began", np.int64),  # iteration of its worker
        ("release", np.int64),
        ("rejection", np.int64),  # iteration in which it was turned away
        ("release_s", np.float64),
        ("first_token", np.int64),
        ("first_token_s", np.float64),
        ("finish", np.int64),
        ("finish_s", np.float64),
        ("preempted", np.int64),  # how often
        ("older", np.int64),  # neighbours among the residents of its worker
        ("newer", np.int64),
        ("complete_next", np.int64),  # neighbours in its worker's calendar
        ("complete_previous", np.int64),
        ("standing", np.int64),  # in the projection
        ("seat", np.int64),  # in the roster of its worker
        ("leave_next", np.int64),  # next one forecast to leave in the same iteration
    ]
)

WORKER = np.dtype(
    [
        ("slots", np.int64),
        ("kv_limit", np.int64),
        ("load", np.int64),
        ("active", np.int64),
        ("free", np.int64),
        ("own_iteration", np.int64),  # how many it has run
        ("ends_s", np.float64),  # when the step it runs ends; infinite between steps
        ("newest", np.int64),  # resident admitted last
        ("kv_peak", np.int64),
        ("lasting_base", np.float64),  # of residents not overdue: sum of base, see State
        ("lasting_count", np.float64),
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


@dataclass(frozen=True, eq=False)
class Settings(Struct):
    """What stays fixed during a run.

    Step-time and power coefficients are in seconds, tokens and watts; `backlog` is the number of
    visible waiting requests, `in_flight` that of requests in a closed loop, `horizon` the lookahead
    of views, `refresh_iterations` the age at which a forecast is renewed, `by_expectation` whether
    a request whose forecast changes with age counts by its probability of being active rather than
    until its forecast is over, `signal_delay` the age of the loads and counts a policy sees,
    `last_iteration` the period T after which a run stops, `max_stalled` how many iterations in a
    row may pass idle although requests wait.

    `barrier` tells the clock: all workers in lockstep, or each at its own pace. `exact_number`
    holds where a policy must admit all it can, `may_reject` where it is not maximal. A request of
    prompt s and age theta holds max(s + theta + `age_offset`, reserved) KV tokens, rounded up to
    `block_tokens`; where `kv_counts_tokens` nothing is reserved or rounded. It spends
    `prefill_steps` iterations (0 or 1) before its first token.
    """

    release_mode: int
    barrier: bool
    exact_number: bool
    may_reject: bool
    last_iteration: int
    max_stalled: int
    prefill_steps: int
    kv_limited: bool
    kv_counts_tokens: bool
    block_tokens: int
    age_offset: int
    backlog: int
    in_flight: int
    horizon: int
    refresh_iterations: int
    by_expectation: bool
    signal_delay: int
    series_every: int
    fixed_s: float
    per_token_s: float
    per_slot_s: float
    shared_per_token_s: float
    idle_w: float
    peak_w: float
    power_exponent: float


@dataclass(frozen=True, eq=False)
class ByAge(Struct):
    """What the projection knows where forecasts change with age.

    `live` is the forecast. The `roster_*`, shape (G, most slots), hold the residents of every
    worker side by side: their rows in the trace, what is their own in `live`, their base, the
    iteration of their worker in which they began, and room for their cutoffs. `spread_*`, shape
    (H+1,), are room to add up spread loads.
    """

    live: LiveForecast
    roster_request: Ints
    roster_own: Ints
    roster_base: Ints
    roster_began: Ints
    roster_cutoff: Ints
    spread_base: Floats
    spread_count: Floats


@dataclass(frozen=True, eq=False)
class Lookahead(Struct):
    """What the projection of loads over the window rests on.

    `fresh` lists the requests admitted since the last refresh. `leave_head` per iteration modulo
    its length begins the list of requests forecast to leave at that iteration. A request's
    workload at iteration k is base + k with base = prompt - admission; a worker's `lasting_*` sum
    base and number of its requests not overdue, `leaving_*`, shape (G, H+1), those forecast to
    leave, per iteration of the window modulo its length. `by_age` is None where every request has
    one forecast length.
    """

    fresh: Ints
    leave_head: Ints
    leaving_base: Floats
    leaving_count: Floats
    by_age: ByAge | None


@dataclass(frozen=True, eq=False)
class WorkerQueues(Struct):
    """The requests that were dispatched on arrival and wait for a slot of their worker.

    Per worker, shape (G,), `first` and `last` are the ends of its queue (-1 where it is empty),
    `requests` and `tokens` what is in it: how many, and their prompts. Per request, shape (N,),
    `following` is the next one in the queue; `kv_tokens` is what it needs room for, empty without
    KV limits. `total`, shape (1,), counts the requests in all queues; `sums`, shape (2,), adds up
    over busy iterations these and the free slots that they could fill elsewhere.
    """

    first: Ints
    last: Ints
    requests: Ints
    tokens: Ints
    following: Ints
    kv_tokens: Ints
    total: Ints
    sums: Ints


@dataclass(frozen=True, eq=False)
class State(Struct):
    """Everything that changes during a run, and the trace it reads.

    `offered` is how many requests each worker can be given now: its free slots if it is between
    steps, else 0; under dispatch on arrival all that wait. The queue is
    its part from head to tail, with prompt sizes and KV tokens beside it; `kv_free` and `queue_kv`
    are empty without KV limits. `queues` is None and `seen_queued_*` are empty under a central
    queue. `calendar` is the workers' calendars, see worker_kernels.py.
    `projected` is shape (G, H+1), flat; `lookahead` is None where H = 0: kernels then contain
    nothing of it.
    """

    now: npt.NDArray[np.void]
    requests: npt.NDArray[np.void]
    workers: npt.NDArray[np.void]
    offered: Ints
    kv_free: Ints
    queue: Ints
    queue_prompt: Ints
    queue_kv: Ints
    calendar: Ints
    projected: Floats
    lookahead: Lookahead | None
    seen_load: Floats
    seen_active: Ints
    seen_queued_requests: Ints
    seen_queued_tokens: Ints
    queues: WorkerQueues | None
    series: Floats
    series_load: Ints
