"""The period program that a view poses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.instances import PeriodProblem
from olprouting.instances.request_curves import active_periods
from olprouting.policies.policy import REJECT

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.options import PeriodOptions
    from olprouting.policies.policy import Pairs
    from olprouting.policies.view import View
    from olprouting.policies.worker_view import WorkerResiduals, WorkerView

    Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PeriodSituation:
    """A decision as a period program.

    Attributes
    ----------
    period
        k, counted from the start of the run.
    problem
        The program of periods k..T; with a receding horizon, of periods 1..T counted from now.
        Residuals are those of the real workers, or of the bookings; a worker has no more slots in
        the first period than are really free, none in the middle of a step.
    slots_now
        Residual slots of the first period with those that are in the middle of a step, shape (G,):
        what prices are learned from.
    """

    period: int
    problem: PeriodProblem
    slots_now: Ints


@dataclass
class Bookings:
    """The occupancy table of a policy that looks at no worker: its own starts, as forecast.

    Attributes
    ----------
    starts
        Per start: period, worker, prompt tokens, periods booked, and KV tokens charged at least.
    """

    starts: list[tuple[int, int, int, int, int]] = field(default_factory=list)

    def add(self, situation: PeriodSituation, view: View, pairs: Pairs) -> None:
        """Book starts for their forecast lengths."""
        problem = situation.problem
        active = active_periods(problem.decode_tokens, problem.batching)
        reserved = view.waiting_kv_tokens
        for j, g in pairs:
            if g == REJECT:
                continue
            at_least = int(reserved[j]) if len(reserved) else 0
            prompt = int(view.waiting_prompt_tokens[j])
            self.starts.append((situation.period, int(g), prompt, int(active[j]), at_least))

    def residuals(self, workers: WorkerView, period: int, periods: int) -> WorkerResiduals:
        """Return the room by the bookings in `period` and the next `periods` - 1 periods."""
        self.starts = [start for start in self.starts if start[0] + start[3] > period]
        table = np.array(self.starts, np.int64).reshape(-1, 5)
        began, worker, prompt, booked, reserved = np.ascontiguousarray(table.T)
        age = period - began
        booked_workers = replace(
            workers,
            resident_worker=worker,
            resident_prompt_tokens=prompt,
            resident_age=age,
            resident_remaining=booked - age,
            resident_reserved_tokens=reserved,
        )
        return booked_workers.residuals(periods)


def period_of(view: View, period_s: float | None) -> int:
    """Return k: the iteration, or floor(clock / period_s) + 1."""
    if period_s is None:
        return view.iteration
    return math.floor(workers_of(view).clock_s / period_s) + 1


def situation_of(
    view: View, options: PeriodOptions, bookings: Bookings | None = None
) -> PeriodSituation | None:
    """Return the program that a view with workers poses, or None past the last period.

    Parameters
    ----------
    view
        What the policy sees.
    options
        The program; with open-loop residuals it needs `bookings`.
    bookings
        The policy's own starts until now; none by default.

    Raises
    ------
    InputError
        If the view has no workers.
    """
    workers = workers_of(view)
    period = period_of(view, options.period_s)
    if period > options.periods and not options.receding:
        return None
    first = 1 if options.receding else period
    periods = options.periods - first + 1
    if options.open_loop:
        room = (bookings or Bookings()).residuals(workers, period, periods)
    else:
        room = workers.residuals(periods)
    slots_now = room.slots[:, 0].copy()
    np.minimum(slots_now, view.free_slots, out=room.slots[:, 0])
    problem = PeriodProblem.of_residuals(
        room.slots,
        room.kv_tokens,
        period=first,
        periods=options.periods,
        weights=options.reward_weights,
        t1=options.t1,
        t2=options.t2,
        prompt_tokens=_charged_at_start(view, workers) - workers.age_offset,
        decode_tokens=workers.waiting_decode_tokens,
        arrival_period=_arrival_period(workers, options.period_s) - (period - first),
        batching=workers.batching,
        inclusive=options.inclusive,
        age_offset=workers.age_offset,
        clipped=room.clipped,
        slo_class=None if options.classes is None else workers.waiting_slo_class,
    )
    return PeriodSituation(period, problem, slots_now)


def workers_of(view: View) -> WorkerView:
    """Return the workers of a view.

    Raises
    ------
    InputError
        If it has none.
    """
    if view.workers is None:
        raise InputError("policies that plan by periods need a view with workers (needs_residents)")
    return view.workers


def _charged_at_start(view: View, workers: WorkerView) -> Ints:
    """Return KV tokens at age 0, shape (W,), so that age 0 plus growth is never too little.

    Whole blocks may round up by a block less one token, and a reservation is charged at once.
    """
    charged = view.waiting_prompt_tokens + workers.age_offset + workers.block_tokens - 1
    return np.maximum(charged, view.waiting_kv_tokens) if len(view.waiting_kv_tokens) else charged


def _arrival_period(workers: WorkerView, period_s: float | None) -> Ints:
    if period_s is None:
        return workers.waiting_arrival_period
    return np.floor(workers.waiting_arrival_s / period_s).astype(np.int64) + 1
