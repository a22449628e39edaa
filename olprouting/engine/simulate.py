"""Replay a trace under a routing policy."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from olprouting.engine.arguments import (
    check_clock,
    check_dispatch,
    check_forecast,
    check_numbers,
    check_policy,
    parse_clock,
    projects_by_expectation,
    release_mode,
)
from olprouting.engine.initial_state import new_state
from olprouting.engine.policy_call import timed_route
from olprouting.engine.policy_failure import policy_failure
from olprouting.engine.result import SimulationResult, collect
from olprouting.engine.state import BY_TIME, SERIES_CHUNK, Settings, State
from olprouting.errors import PolicyError, member_named
from olprouting.forecasts import LengthForecast, Oracle
from olprouting.instances.request_curves import Batching, default_age_offset, first_token_delay
from olprouting.options import (
    Clock,
    ClockOptions,
    Dispatch,
    DispatchOptions,
    KvMode,
    KvOptions,
    Projection,
    ProjectionOptions,
    RunOptions,
)
from olprouting.policies.policy import REJECT, CompiledPolicy, Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from olprouting.forecasts import Forecast
    from olprouting.forecasts.live_kernels import LiveForecast
    from olprouting.instances import Cluster, Trace
    from olprouting.policies.view import View
    from olprouting.policies.worker_view import WorkerView

NO_LIMIT: Final = 0
NEVER: Final = 2**60


@dataclass(frozen=True)
class DecisionEvent:
    """One routing decision as it happened: what the policy saw, chose, and how long it took.

    The arrays of `view` are those of the run: copy the view to keep it. `true_load_tokens(H)` is
    what its ``projected_load_tokens`` would be if all lengths were known, shape (G, H+1);
    `residents()` is the workers' view, for policies that need residents. Ask both before the call
    returns.
    """

    view: View
    position: npt.NDArray[np.int64]
    worker: npt.NDArray[np.int64]
    dispatch_s: float
    true_load_tokens: Callable[[int], npt.NDArray[np.float64]]
    residents: Callable[[], WorkerView]


def simulate(
    trace: Trace,
    cluster: Cluster,
    policy: Policy,
    *,
    backlog: int | None = None,
    in_flight: int | None = None,
    forecast: Forecast | None = None,
    projection: Projection | str = ProjectionOptions.projection,
    refresh: str = ProjectionOptions.refresh,
    signal_delay: int = RunOptions.signal_delay,
    seed: int = 0,
    max_iterations: int | None = RunOptions.max_iterations,
    series_every: int | None = None,
    view_horizon: int | None = None,
    clock: Clock | str = ClockOptions.clock,
    batching: Batching | str = ClockOptions.batching,
    dispatch: Dispatch | str = DispatchOptions.dispatch,
    kv: KvOptions | None = None,
    periods: int | None = RunOptions.periods,
    max_idle_iterations: int = RunOptions.max_idle_iterations,
    on_decision: Callable[[DecisionEvent], None] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> SimulationResult:
    """Run a trace through a cluster (balance paper, section 2; bid-price paper, section 2).

    Parameters
    ----------
    trace
        The requests. They are released by `release_iteration` where the trace has it, else by
        `arrival_s`, unless `backlog` or `in_flight` is given.
    cluster
        The workers. Where it has ``kv_tokens``, FCFS policies give the earliest request to a worker
        with room for its first iteration, and nobody overtakes a request that fits nowhere yet;
        before a step that would overflow, the newest residents of a worker are preempted. They go
        to the head of the queue with what they have generated.
    policy
        The routing policy (`make_policy`). Compiled policies run in a compiled loop.
    backlog
        Keep this many requests visible in the waiting queue, all known in order, instead of
        releasing them by time; >= 1.
    in_flight
        Closed loop: keep this many requests waiting or in service. Each that completes releases
        the next one of the trace, as clients of a load generator do; >= 1.
    forecast
        What lookahead policies know of decode lengths; the oracle by default. One that learns
        does so from its history and from what completes in the run.
    projection
        How loads are projected from a forecast that changes with age: ``"cutoff"`` (balance
        paper, EC.4) or ``"expected"``. A forecast with a length per request knows both.
    refresh
        ``"iteration"`` renews the forecast every iteration; ``"horizon"`` every H iterations, in
        between the window shrinks, new requests outlast it, and nothing is learnt.
    signal_delay
        Age in iterations of the loads and counts the policy sees; free slots are always current.
        Needs a policy without lookahead.
    seed
        Seed of tie-breaks, random policies and forecast noise.
    max_iterations
        Stop after this many iterations (idle time that the clock skips not counted); requests may
        then be unfinished.
    series_every
        Keep every k-th iteration in the series; None keeps no series.
    view_horizon
        Project views at least this far, for questions about the decisions of a policy with less
        lookahead; the policy itself sees no further than its own horizon.
    clock
        ``"barrier"``: all workers step together and a step lasts as long as the slowest needs.
        ``"independent"``: each worker runs its own steps; an iteration is then a moment at which
        some worker is between steps, and only such workers are offered to the policy.
    batching
        ``"decode"``, or ``"mixed"``: an iteration of prefill comes before the first token.
    dispatch
        ``"central"``: requests wait in one queue until the policy starts them in free slots.
        ``"arrival"``: the policy sends each request, when it is released and for good, to the
        queue of one worker, which starts its own in order as it has slots (and KV tokens).
        Preempted ones go to the head of their worker's queue. ``View`` says what is queued.
    kv
        How KV tokens are counted (`KvOptions`), for a cluster with limits.
    periods
        Stop after this iteration T (barrier clock); requests may then be unfinished.
    max_idle_iterations
        If nothing is active and the policy admits and rejects nobody this many iterations in a
        row, the clock jumps to the next release; if there is none, the run ends and leaves
        requests unfinished.
    on_decision
        Called at every iteration with something to admit, before the admissions.
    on_progress
        Called now and then with (finished, all) requests.

    Returns
    -------
    SimulationResult
        Metrics, per-request times and the series. After Ctrl-C: what was done until then.

    Raises
    ------
    InputError
        If arguments do not fit together.
    PolicyError
        If the policy raises, or returns inadmissible pairs.
    """
    mode = release_mode(trace, backlog, in_flight)
    horizon = max(policy.horizon, view_horizon or 0)
    check_numbers(
        signal_delay=(signal_delay, 0, " iterations"),
        series_every=(series_every, 1, ""),
        max_iterations=(max_iterations, 0, ""),
        periods=(periods, 1, ""),
        max_idle_iterations=(max_idle_iterations, 1, ""),
    )
    world = member_named(Dispatch, "dispatch", dispatch)
    on_arrival = world is Dispatch.ARRIVAL
    check_policy(cluster, policy, horizon, refresh, signal_delay, world)
    if on_arrival:
        check_dispatch(policy, backlog)
    pace = parse_clock(clock)
    check_clock(pace, cluster, policy, horizon, signal_delay, periods)
    kv = kv or KvOptions()
    known = forecast or Oracle()
    check_forecast(known, policy, kv)
    rng = np.random.default_rng(seed)
    lengths, live = _forecast_data(known, trace, horizon, int(cluster.slots.sum()), rng)
    limited = cluster.kv_tokens is not None
    settings = Settings(
        release_mode=mode,
        barrier=pace is Clock.BARRIER,
        exact_number=on_arrival or (policy.maximal and not limited),
        may_reject=not policy.maximal,
        last_iteration=periods or NEVER,
        max_stalled=max_idle_iterations,
        prefill_steps=first_token_delay(batching),
        kv_limited=limited,
        kv_counts_tokens=kv.mode is KvMode.TOKENS,
        block_tokens=kv.block_tokens if kv.mode is KvMode.BLOCKS else 1,
        age_offset=default_age_offset(batching) if kv.age_offset is None else kv.age_offset,
        backlog=backlog or NO_LIMIT,
        in_flight=in_flight or NO_LIMIT,
        horizon=horizon,
        refresh_iterations=max(horizon, 1) if refresh == "horizon" else 1,
        by_expectation=projects_by_expectation(projection),
        signal_delay=signal_delay,
        series_every=series_every or NEVER,
        # floats always: of other types, kernels would be compiled once more
        fixed_s=float(cluster.step_time.fixed_s),
        per_token_s=float(cluster.step_time.per_token_s),
        per_slot_s=float(cluster.step_time.per_slot_s),
        shared_per_token_s=float(cluster.step_time.shared_per_token_s),
        idle_w=float(cluster.power.idle_w),
        peak_w=float(cluster.power.peak_w),
        power_exponent=float(cluster.power.exponent),
    )
    state = new_state(trace, cluster, lengths, live, settings, kv, world)
    if isinstance(policy, CompiledPolicy) and on_decision is None and horizon == policy.horizon:
        chunks = _compiled_chunks(settings, state, policy, rng, max_iterations)
    else:
        chunks = _python_chunks(
            settings, state, policy, rng, max_iterations, on_decision, trace.slo_class
        )
    series = [_take_series(state)]  # no rows: a run may end before its first iteration
    interrupted = False
    tell = on_progress or (lambda done, total: None)
    started = time.perf_counter()
    try:
        next(chunks)  # kernels are ready, the run has not begun
        tell(0, len(trace))
        started = time.perf_counter()
        for _ in chunks:
            series.append(_take_series(state))
            tell(int(state.now["finished"][0]), len(trace))
    except KeyboardInterrupt:
        interrupted = True
        series.append(_take_series(state))
    wall_s = time.perf_counter() - started
    return collect(
        trace,
        cluster,
        policy.name,
        known.name,
        settings,
        state,
        series if series_every else None,
        released_by_time=mode == BY_TIME,
        interrupted=interrupted,
        wall_s=wall_s,
    )


def _forecast_data(
    forecast: Forecast, trace: Trace, horizon: int, slots: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], LiveForecast | None]:
    """Return a length per request (0 where the forecast has none), and what changes with age."""
    if isinstance(forecast, LengthForecast):
        return forecast.decode_lengths(trace, rng), None
    nothing = np.zeros(len(trace), np.int64)
    return nothing, forecast.live(trace, horizon, slots) if horizon else None


def _compiled_chunks(
    settings: Settings,
    state: State,
    policy: CompiledPolicy,
    rng: np.random.Generator,
    max_iterations: int | None,
) -> Iterator[None]:
    from olprouting.compiling import prepare
    from olprouting.engine.iteration_kernels import run_iterations

    memory = np.zeros_like(policy.memory)
    prepare(run_iterations, settings, state, policy.parameters, memory, rng, 0)
    yield
    left = max_iterations
    more = True
    while more and left != 0:
        iterations = SERIES_CHUNK if left is None else min(left, SERIES_CHUNK)
        more = run_iterations(settings, state, policy.parameters, memory, rng, iterations)
        left = None if left is None else left - iterations
        yield


def _python_chunks(
    settings: Settings,
    state: State,
    policy: Policy,
    rng: np.random.Generator,
    max_iterations: int | None,
    on_decision: Callable[[DecisionEvent], None] | None,
    slo_class: npt.NDArray[np.str_] | None,
) -> Iterator[None]:
    from olprouting.compiling import prepare
    from olprouting.engine.iteration_kernels import advance, commit, observe
    from olprouting.engine.worker_kernels import project_truth
    from olprouting.engine.workers import worker_view

    if isinstance(policy, CompiledPolicy):
        policy.memory[:] = 0

    def truth(horizon: int) -> npt.NDArray[np.float64]:
        now = int(state.now["iteration"][0])
        load = project_truth(state.requests, state.workers, now, settings.prefill_steps, horizon)
        return load if state.queues is None else load + state.queues.tokens[:, None]

    nothing = np.empty(0, np.int64)
    prepare(advance, settings, state)
    prepare(observe, settings, state)
    prepare(commit, settings, state, nothing, nothing)
    yield
    done = decisions = 0
    while done != max_iterations and advance(settings, state):
        view = observe(settings, state)
        position, worker = nothing, nothing
        if policy.needs_residents:
            view = view._replace(workers=worker_view(settings, state, view, slo_class))
        if view.admissions or (policy.needs_residents and len(view.waiting_requests)):
            decisions += 1
            if decisions == 1 and isinstance(policy, CompiledPolicy):
                policy.prepare(view, rng)
            try:
                position, worker, dispatch_s = timed_route(policy, view, rng)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # whatever the user's code does
                raise policy_failure(policy, error, decisions, view.iteration) from error
            if on_decision is not None:
                residents = partial(worker_view, settings, state, view, slo_class)
                on_decision(DecisionEvent(view, position, worker, dispatch_s, truth, residents))
        code = commit(settings, state, position, worker)
        if code:
            raise _bad_pairs(policy, code, view, settings)
        done += 1
        if done % SERIES_CHUNK == 0:
            yield
    yield


def _bad_pairs(policy: Policy, code: int, view: View, settings: Settings) -> PolicyError:
    from olprouting.engine import iteration_kernels as kernels

    exactly = "exactly" if settings.exact_number else "at most"
    wrong = {
        kernels.WRONG_NUMBER: f"it must admit {exactly} {view.admissions} requests",
        kernels.NO_SUCH_POSITION: (
            f"waiting positions must lie in 0..{len(view.waiting_requests) - 1}"
        ),
        kernels.TWICE: "it chose a request twice",
        kernels.NO_SUCH_WORKER: (
            f"workers must lie in 0..{len(view.free_slots) - 1}, or be {REJECT} to reject"
        ),
        kernels.WORKER_FULL: "it gave a worker more requests than it has free slots",
        kernels.WORKER_TOO_SMALL: (
            "it gave a worker a request that does not fit there even alone; compare "
            "waiting_kv_tokens with kv_free_tokens"
        ),
        kernels.MAY_NOT_REJECT: (
            f"worker {REJECT} turns a request away, which only policies that are not maximal may do"
        ),
    }
    return PolicyError(f"policy {policy.name!r}, iteration {view.iteration}: {wrong[code]}")


def _take_series(
    state: State,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    rows = int(state.now["series_rows"][0])
    state.now["series_rows"] = 0
    return state.series[:rows].copy(), state.series_load[:rows].copy()
