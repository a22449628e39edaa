"""The best any router could have done on a trace: bound and schedule, from both sides."""

from __future__ import annotations

import functools
import math
import time
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.hindsight.reward.problem import HindsightProblem
from olprouting.hindsight.reward.result import HindsightResult, Progress
from olprouting.instances import WEIGHT_SETS, StopReason
from olprouting.instances._checks import positive
from olprouting.instances.request_curves import Batching
from olprouting.instances.result import relative_gap
from olprouting.options import ClockOptions, HindsightOptions, KvOptions, PeriodOptions

if TYPE_CHECKING:
    from olprouting.hindsight.reward.dual import SmoothedDual
    from olprouting.hindsight.reward.search import ScheduleSearch
    from olprouting.instances import Cluster, Trace
    from olprouting.instances.slo_classes import Weights
    from olprouting.progress import OnProgress

MAX_PERIODS = 10**7
STALL_SHARE = 0.5
"""Without a gain for that share of the time since the start, there is no use going on."""
_SHORTEST_STALL_S = 5.0
SEARCH_SHARE = 0.25
"""Time for the schedule search, relative to the dual's, until the dual is done: it guides rebuilds,
which often beat all that was found before."""
FIRST_PASS_S = 1.5e-3
"""Of annealing, per request; every later pass takes `PASS_GROWTH` times as long."""
PASS_SHARE = 0.5
"""Of the time since the start: a pass takes at least so much."""
PASS_GROWTH = 2
SHORTEST_LAST = 3
"""A pass takes all the time that is left, if that is less than so many times its own."""
LEAST_POLISH = 0.05
MOST_POLISH = 0.5
POLISH_S = 3.0
"""Rounds of the neighbourhood search end a pass: so many seconds, within these shares of it."""
ANNEAL_FROM_S = 5.0
"""Until then the neighbourhood search is alone: small problems often need no more."""
SLOW_STAGE = 0.2
"""A stage of the dual that gains less than that share of the gap is followed by a pass."""


def hindsight(
    trace: Trace,
    cluster: Cluster,
    weights: Weights,
    *,
    periods: int,
    t1: float = PeriodOptions.t1,
    t2: float = PeriodOptions.t2,
    batching: Batching | str = ClockOptions.batching,
    age_offset: int | None = KvOptions.age_offset,
    inclusive: bool = PeriodOptions.inclusive,
    time_limit_s: float = HindsightOptions.time_limit_s,
    gap: float = HindsightOptions.gap,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> HindsightResult:
    """Bound the reward that any router could have collected, and find a schedule close to it.

    The bound is Lagrangian: prices of slots and KV tokens by period, found by minimising a
    smoothed dual, and certified in integer arithmetic. The schedule is built in the order that
    the dual suggests, and improved by large neighbourhood search and annealing.

    Parameters
    ----------
    trace
        The requests, with releases by period.
    cluster
        The workers, with slots and KV limits (None: no limit).
    weights
        Of the reward, or of each class, which the trace then names (`SloClasses`).
    periods
        T in 1..10^7, the last period; nothing starts after it.
    t1, t2
        Thresholds of end-to-end latency and of time to first token, in periods, >= 1.
    batching
        ``"decode"`` or ``"mixed"``.
    age_offset
        KV tokens at age 0 beyond the prompt, >= 0; None is that of the batching mode.
    inclusive
        Whether a latency equal to its threshold counts; in the paper it does not.
    time_limit_s
        Stop after so many seconds, >= 0; the proof of the bound comes on top.
    gap
        Stop when bound and schedule are that close, relative to the schedule, >= 0.
    seed
        Of the schedule search.
    on_progress
        Called now and then with (what is being done, seconds passed, time limit).

    Returns
    -------
    HindsightResult
        After Ctrl-C: the best bound and schedule until then.

    Raises
    ------
    InputError
        If an argument is out of range, or the trace has no releases by period.
    """
    problem = HindsightProblem.of(
        trace,
        cluster,
        weights,
        periods=periods,
        t1=t1,
        t2=t2,
        batching=batching,
        age_offset=age_offset,
        inclusive=inclusive,
    )
    return solve_hindsight(
        problem,
        name=trace.name,
        time_limit_s=time_limit_s,
        gap=gap,
        seed=seed,
        on_progress=on_progress,
    )


def solve_hindsight(
    problem: HindsightProblem,
    *,
    name: str = "problem",
    time_limit_s: float = HindsightOptions.time_limit_s,
    gap: float = HindsightOptions.gap,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> HindsightResult:
    """Return bound and schedule of a problem as it stands; see `hindsight`.

    `name` is for reports.

    Raises
    ------
    InputError
        If an argument is out of range.
    """
    positive("time_limit_s", time_limit_s, zero_allowed=True)
    positive("gap", gap, zero_allowed=True)
    if problem.periods > MAX_PERIODS:
        raise InputError(f"periods = {problem.periods} must be at most {MAX_PERIODS}")
    _compile()
    return _Run(time_limit_s, gap, on_progress).solve(problem, seed, name)


@functools.cache
def _compile() -> None:
    """Compile or load all kernels, before any time limit runs."""
    from olprouting.hindsight.reward.dual import SmoothedDual
    from olprouting.hindsight.reward.search import ScheduleSearch

    tiny = HindsightProblem(
        prompt_tokens=np.array([2, 3]),
        decode_tokens=np.array([2, 1]),
        arrival_period=np.array([1, 1]),
        slots=np.array([1]),
        kv_tokens=np.array([10]),
        weights=WEIGHT_SETS["tail-latency"],
        periods=6,
        t1=4,
        t2=2,
        batching=Batching.DECODE,
        age_offset=0,
    )
    dual = SmoothedDual(tiny)
    search = ScheduleSearch(tiny, dual.starts, 0)
    next(dual.minimise(), None)
    search.rebuild(dual.prices, dual.share, dual.moment)
    search.improve(1e-3)
    for _ in search.anneal(dual.prices, lambda proposals: float(proposals > 0)):
        pass


class _Run:
    """One run: both sides in turns, until the first reason to stop."""

    def __init__(self, limit_s: float, gap: float, on_progress: OnProgress | None) -> None:
        self._began = time.perf_counter()
        self._limit_s, self._gap, self._on_progress = limit_s, gap, on_progress
        self._history: list[Progress] = []
        self._searched_s = 0.0
        self._gained_s = 0.0
        self._pass_s = 0.0

    def solve(self, problem: HindsightProblem, seed: int, name: str) -> HindsightResult:
        from olprouting.hindsight.reward.dual import SmoothedDual
        from olprouting.hindsight.reward.search import ScheduleSearch

        dual = SmoothedDual(problem)
        search = ScheduleSearch(problem, dual.starts, seed)
        self._pass_s = FIRST_PASS_S * len(problem)
        try:
            search.rebuild(dual.prices, dual.share, dual.moment)
            self._note(dual, search)
            reason = (
                self._stop(dual, search)
                or self._descend(dual, search)
                or self._polish(dual, search)
            )
        except KeyboardInterrupt:
            reason = StopReason.INTERRUPTED
        self._note(dual, search)
        return HindsightResult.certified(
            problem,
            dual.prices,
            search.schedule(),
            name=name,
            stop_reason=reason,
            gap_option=self._gap,
            limit_s=self._limit_s,
            seed=seed,
            evaluations=dual.evaluations,
            history=tuple(self._history),
            began=self._began,
        )

    def _descend(self, dual: SmoothedDual, search: ScheduleSearch) -> StopReason | None:
        """Minimise the dual, and spend a share of its time on schedules."""
        stage, bound = None, dual.bound
        steps = dual.minimise()
        while True:
            began = self._now()
            following = next(steps, None)
            self._searched_s -= SEARCH_SHARE * (self._now() - began)
            if following is None or following != stage:
                search.rebuild(dual.prices, dual.share, dual.moment)
            if following is None:
                return self._stop(dual, search)
            if stage is not None and following != stage:
                slow = bound - dual.bound < SLOW_STAGE * (dual.bound - search.value)
                if stage.stride == 1 and slow and self._now() >= ANNEAL_FROM_S:
                    self._anneal(dual, search)
                bound = dual.bound
            stage = following
            if self._searched_s < -0.5:
                self._improve(search, -self._searched_s)
            self._note(dual, search)
            reason = self._stop(dual, search)
            if reason is not None:
                return reason

    def _polish(self, dual: SmoothedDual, search: ScheduleSearch) -> StopReason:
        """Improve the schedule alone: the dual is as good as it gets."""
        self._gained_s = self._now()
        while True:
            left_s = self._limit_s - self._now()
            if left_s < SHORTEST_LAST * self._pass_s:
                self._pass_s = left_s
            before = search.value
            self._anneal(dual, search)
            if search.value > before + 1e-4 * (dual.bound - before):
                self._gained_s = self._now()
            self._note(dual, search)
            reason = self._stop(dual, search)
            if reason is not None:
                return reason
            patience_s = max(_SHORTEST_STALL_S, STALL_SHARE * self._now())
            if self._now() - self._gained_s > patience_s:
                return StopReason.OTHER_LIMIT

    def _anneal(self, dual: SmoothedDual, search: ScheduleSearch) -> None:
        """Make a pass of annealing, within the time limit, and polish what comes out."""
        began = self._now()
        if began < ANNEAL_FROM_S:
            self._improve(search, 0.5)
            return
        seconds = min(max(self._pass_s, PASS_SHARE * began), self._limit_s - began)
        if seconds <= 0:
            return
        polish_s = min(max(POLISH_S, LEAST_POLISH * seconds), MOST_POLISH * seconds)
        annealing_s = seconds - polish_s
        for _ in search.anneal(dual.prices, lambda _: (self._now() - began) / annealing_s):
            self._note(dual, search)
        self._improve(search, polish_s)
        self._pass_s *= PASS_GROWTH

    def _improve(self, search: ScheduleSearch, seconds: float) -> None:
        began = self._now()
        search.improve(min(seconds, max(0.0, self._limit_s - began)))
        self._searched_s += self._now() - began

    def _stop(self, dual: SmoothedDual, search: ScheduleSearch) -> StopReason | None:
        gap = relative_gap(search.value, dual.bound, maximise=True)
        if gap is not None and gap <= max(0.999 * self._gap, 1e-9):
            return StopReason.OPTIMAL_WITHIN_GAP
        return StopReason.TIME_LIMIT if self._now() >= self._limit_s else None

    def _note(self, dual: SmoothedDual, search: ScheduleSearch) -> None:
        now = self._now()
        last = self._history[-1] if self._history else None
        if last is None or last.bound != dual.bound or last.value != search.value:
            self._history.append(Progress(now, dual.bound, search.value, dual.evaluations))
        if self._on_progress is not None:
            gap = relative_gap(search.value, dual.bound, maximise=True)
            what = f"solve: bound {dual.bound:,.6g}, gap {gap:.2%}" if gap is not None else "solve"
            limit = math.ceil(self._limit_s)
            self._on_progress(what, min(int(now), limit), limit)

    def _now(self) -> float:
        return time.perf_counter() - self._began
