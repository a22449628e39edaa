"""Replay a trace under a routing rule."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from olprouting.engine.result import SimulationResult, collect
from olprouting.engine.state import (
    BACKLOG,
    BY_ITERATION,
    BY_TIME,
    SERIES_CHUNK,
    Rules,
    State,
    new_state,
)
from olprouting.errors import InputError
from olprouting.forecasts import LengthForecast, Oracle
from olprouting.policies.policy import CompiledPolicy, Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from olprouting.instances import Cluster, Trace
    from olprouting.policies.view import View

NO_BACKLOG: Final = 0


@dataclass(frozen=True)
class DecisionEvent:
    """One routing decision as it happened: what the policy saw, chose, and how long it took.

    The arrays of `view` are those of the run: copy the view to keep it.
    """

    view: View
    position: npt.NDArray[np.int64]
    worker: npt.NDArray[np.int64]
    dispatch_s: float


def simulate(
    trace: Trace,
    cluster: Cluster,
    policy: Policy,
    *,
    backlog: int | None = None,
    forecast: LengthForecast | None = None,
    refresh: str = "iteration",
    signal_delay: int = 0,
    seed: int = 0,
    max_iterations: int | None = None,
    series_every: int | None = None,
    view_horizon: int | None = None,
    on_decision: Callable[[DecisionEvent], None] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> SimulationResult:
    """Run the barrier model of the balance paper, section 2.

    Parameters
    ----------
    trace
        The requests. They are released by `release_iteration` where the trace has it, else by
        `arrival_s`, unless `backlog` is given.
    cluster
        The workers; KV limits are not part of this model.
    policy
        The routing rule (`make_policy`). Compiled rules run in a compiled loop.
    backlog
        Keep this many requests visible in the waiting queue, all known in order, instead of
        releasing them by time; >= 1.
    forecast
        What lookahead policies know of decode lengths; the oracle by default.
    refresh
        ``"iteration"`` renews the forecast every iteration; ``"horizon"`` every H iterations, in
        between the window shrinks and new requests outlast it.
    signal_delay
        Age in iterations of the loads and counts the policy sees; free slots are always current.
        Needs a policy without lookahead.
    seed
        Seed of tie-breaks, random rules and forecast noise.
    max_iterations
        Stop after this many busy iterations; requests may then be unfinished.
    series_every
        Keep every k-th iteration in the series; None keeps no series.
    view_horizon
        Project views at least this far, for questions about the decisions of a policy with less
        lookahead; the policy itself sees no further than its own horizon.
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
        If arguments do not fit together or a policy returns inadmissible pairs.
    """
    mode = _release_mode(trace, backlog)
    horizon = max(policy.horizon, view_horizon or 0)
    _check_arguments(cluster, policy, horizon, refresh, signal_delay, series_every, max_iterations)
    known = forecast or Oracle()
    rng = np.random.default_rng(seed)
    lengths = known.decode_lengths(trace, rng)
    rules = Rules(
        release_mode=mode,
        backlog=backlog or NO_BACKLOG,
        horizon=horizon,
        refresh_iterations=max(horizon, 1) if refresh == "horizon" else 1,
        signal_delay=signal_delay,
        series_every=series_every or 2**60,
        fixed_s=cluster.step_time.fixed_s,
        per_token_s=cluster.step_time.per_token_s,
        per_slot_s=cluster.step_time.per_slot_s,
        shared_per_token_s=cluster.step_time.shared_per_token_s,
        idle_w=cluster.power.idle_w,
        peak_w=cluster.power.peak_w,
        power_exponent=cluster.power.exponent,
    )
    state = new_state(trace, cluster, lengths, horizon, signal_delay)
    if isinstance(policy, CompiledPolicy) and on_decision is None and horizon == policy.horizon:
        chunks = _compiled_chunks(rules, state, policy, rng, max_iterations)
    else:
        chunks = _python_chunks(rules, state, policy, rng, max_iterations, on_decision)
    series = [_take_series(state)]  # no rows: a run may end before its first iteration
    interrupted = False
    started = time.perf_counter()
    try:
        for _ in chunks:
            series.append(_take_series(state))
            if on_progress is not None:
                on_progress(int(state.now["finished"][0]), len(trace))
    except KeyboardInterrupt:
        interrupted = True
        series.append(_take_series(state))
    wall_s = time.perf_counter() - started
    return collect(
        trace,
        cluster,
        policy.name,
        known.name,
        state,
        series if series_every else None,
        released_by_time=mode == BY_TIME,
        interrupted=interrupted,
        wall_s=wall_s,
    )


def _compiled_chunks(
    rules: Rules,
    state: State,
    policy: CompiledPolicy,
    rng: np.random.Generator,
    max_iterations: int | None,
) -> Iterator[None]:
    from olprouting.engine.run_kernels import run_iterations

    pointer = np.zeros(1, np.int64)
    left = max_iterations
    more = True
    while more and left != 0:
        iterations = SERIES_CHUNK if left is None else min(left, SERIES_CHUNK)
        more = run_iterations(rules, state, policy.parameters, pointer, rng, iterations)
        left = None if left is None else left - iterations
        yield


def _python_chunks(
    rules: Rules,
    state: State,
    policy: Policy,
    rng: np.random.Generator,
    max_iterations: int | None,
    on_decision: Callable[[DecisionEvent], None] | None,
) -> Iterator[None]:
    from olprouting.engine.iteration_kernels import advance, commit, observe

    if isinstance(policy, CompiledPolicy):
        policy.pointer[0] = 0
    nothing = np.empty(0, np.int64)
    done = 0
    while done != max_iterations and advance(rules, state):
        view = observe(rules, state)
        position, worker = nothing, nothing
        if view.admissions:
            position, worker, dispatch_s = _timed_route(policy, view, rng)
            if on_decision is not None:
                on_decision(DecisionEvent(view, position, worker, dispatch_s))
        code = commit(rules, state, position, worker)
        if code:
            raise _bad_pairs(policy, code, view)
        done += 1
        if done % SERIES_CHUNK == 0:
            yield
    yield


def _timed_route(
    policy: Policy, view: View, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], float]:
    seen = view
    width = policy.horizon + 1
    if view.projected_load_tokens.shape[1] > width:
        seen = view._replace(
            projected_load_tokens=np.ascontiguousarray(view.projected_load_tokens[:, :width])
        )
    if isinstance(policy, CompiledPolicy):
        started = time.perf_counter()
        position, worker = policy.route_arrays(seen, rng)
        return position, worker, time.perf_counter() - started
    seen = seen.copy()  # a rule that counts down free slots in place must not change the run
    started = time.perf_counter()
    chosen = policy.route(seen, rng)
    pairs = list(chosen) if isinstance(chosen, Iterable) else None
    dispatch_s = time.perf_counter() - started
    position, worker = _pair_columns(policy, pairs)
    return position, worker, dispatch_s


def _pair_columns(
    policy: Policy, pairs: list[tuple[int, int]] | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    wrong = InputError(
        f"policy {policy.name!r}: route must return (waiting position, worker) pairs of integers"
    )
    if pairs is None:
        raise wrong
    try:
        table = np.array(pairs or np.empty((0, 2), np.int64))
    except ValueError:  # NumPy's word for ragged rows
        raise wrong from None
    if table.shape != (len(pairs), 2) or table.dtype.kind not in "iu":
        raise wrong
    table = table.astype(np.int64)
    return table[:, 0].copy(), table[:, 1].copy()


def _bad_pairs(policy: Policy, code: int, view: View) -> InputError:
    from olprouting.engine import iteration_kernels as kernels

    wrong = {
        kernels.WRONG_NUMBER: f"it must admit exactly {view.admissions} requests",
        kernels.NO_SUCH_POSITION: (
            f"waiting positions must lie in 0..{len(view.waiting_requests) - 1}"
        ),
        kernels.TWICE: "it admitted a request twice",
        kernels.NO_SUCH_WORKER: f"workers must lie in 0..{len(view.free_slots) - 1}",
        kernels.WORKER_FULL: "it gave a worker more requests than it has free slots",
    }
    return InputError(f"policy {policy.name!r}, iteration {view.iteration}: {wrong[code]}")


def _take_series(
    state: State,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    rows = int(state.now["series_rows"][0])
    state.now["series_rows"] = 0
    return state.series[:rows].copy(), state.series_load[:rows].copy()


def _release_mode(trace: Trace, backlog: int | None) -> int:
    if backlog is not None:
        if backlog < 1:
            raise InputError(f"backlog = {backlog} must be >= 1 waiting request")
        return BACKLOG
    if trace.release_iteration is not None:
        return BY_ITERATION
    if trace.arrival_s is not None:
        return BY_TIME
    raise InputError(
        f"{trace.name} has no arrival times: choose an arrival process, for example poisson at "
        "5/s, or a backlog of waiting requests"
    )


def _check_arguments(
    cluster: Cluster,
    policy: Policy,
    horizon: int,
    refresh: str,
    signal_delay: int,
    series_every: int | None,
    max_iterations: int | None,
) -> None:
    if cluster.kv_tokens is not None:
        raise InputError("kv_tokens: the barrier model has no KV limits; leave them out")
    if refresh not in ("iteration", "horizon"):
        raise InputError(f"refresh = {refresh!r} must be 'iteration' or 'horizon'")
    if signal_delay < 0:
        raise InputError(f"signal_delay = {signal_delay} must be >= 0 iterations")
    if signal_delay and horizon:
        raise InputError(
            f"signal_delay = {signal_delay} needs a policy without lookahead; "
            f"{policy.name} projects {horizon} iterations ahead"
        )
    if series_every is not None and series_every < 1:
        raise InputError(f"series_every = {series_every} must be >= 1")
    if max_iterations is not None and max_iterations < 0:
        raise InputError(f"max_iterations = {max_iterations} must be >= 0")
