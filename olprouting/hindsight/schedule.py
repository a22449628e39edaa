"""Schedules: their exact value, and whether they fit, by code that shares nothing with the search.

The value is exact: a sum of rewards is the sum of each weight times a whole number, and a weight,
being a double, is a fraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.hindsight.problem import HindsightProblem

    Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Schedule:
    """Where and when each request starts.

    Attributes
    ----------
    device
        Device of each request, shape (J,); -1 if it never starts.
    start_period
        Its start in 1..T, shape (J,); -1 likewise.
    """

    device: Ints
    start_period: Ints

    @property
    def started(self) -> int:
        """How many requests start."""
        return int((self.start_period > 0).sum())


def schedule_fault(problem: HindsightProblem, schedule: Schedule) -> str | None:
    """Return why a schedule is not feasible, or None: every device and period is added up.

    Parameters
    ----------
    problem
        Arrivals, sizes and capacities.
    schedule
        The starts.
    """
    device, start = schedule.device, schedule.start_period
    count, periods = len(problem), problem.periods
    if device.shape != (count,) or start.shape != (count,):
        return f"it has {len(start)} starts, the problem {count} requests"
    used = np.zeros((2, len(problem.slots), periods + 2), np.int64)
    active, first_tokens = problem.active.tolist(), problem.first_tokens.tolist()
    for j, (g, k) in enumerate(zip(device.tolist(), start.tolist(), strict=True)):
        if g == k == -1:
            continue
        if not 0 <= g < len(problem.slots):
            return f"request {j} starts on device {g}, there are {len(problem.slots)}"
        if not problem.arrival_period[j] <= k <= periods:
            return f"request {j} starts at {k}, outside {problem.arrival_period[j]}..{periods}"
        until = min(k + active[j], periods + 1)
        used[0, g, k:until] += 1
        used[1, g, k:until] += first_tokens[j] + np.arange(until - k)
    for resource, name, limits in (
        (0, "slots", problem.slots),
        (1, "KV tokens", problem.kv_tokens),
    ):
        over = used[resource] > limits[:, None]
        if over.any():
            g, k = (int(place[0]) for place in np.nonzero(over))
            return f"device {g} uses {used[resource, g, k]} of {limits[g]} {name} in period {k}"
    return None


def exact_value(problem: HindsightProblem, schedule: Schedule) -> Fraction:
    """Return the reward of all starts, exactly, for weights that are what their doubles are."""
    started = schedule.start_period > 0
    first = schedule.start_period[started] + problem.delay
    decode = problem.decode_tokens[started]
    arrival = problem.arrival_period[started]
    left = problem.periods - first + 1
    end_limit, first_limit = problem.latency_limits
    amounts = (
        np.minimum(decode, left),
        np.maximum(left - decode, 0),
        left,
        np.ones_like(left),
        first + decode - arrival <= end_limit,
        first - arrival <= first_limit,
    )
    weights = problem.weights.to_document().values()
    return sum(
        (Fraction(w) * int(amount.sum()) for w, amount in zip(weights, amounts, strict=True)),
        Fraction(0),
    )


def require_feasible(problem: HindsightProblem, schedule: Schedule) -> None:
    """Raise an InputError that says why a schedule is not feasible, if it is not."""
    fault = schedule_fault(problem, schedule)
    if fault is not None:
        raise InputError(f"schedule: {fault}")
