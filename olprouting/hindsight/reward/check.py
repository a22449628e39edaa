"""Schedules: whether they fit, and their exact value, by counting every start again.

The value is exact: a sum of rewards is the sum of each weight times a whole number, and a weight,
being a double, is a fraction.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.instances.reward import PerTerm, reward_terms, weighted
from olprouting.instances.slo_classes import by_class

if TYPE_CHECKING:
    from olprouting.hindsight.reward.problem import HindsightProblem
    from olprouting.hindsight.schedule import Schedule


def schedule_fault(problem: HindsightProblem, schedule: Schedule) -> str | None:
    """Return why a schedule is not feasible, or None: every worker and period is added up.

    Parameters
    ----------
    problem
        Arrivals, sizes and capacities.
    schedule
        The starts.
    """
    worker, start = schedule.worker, schedule.start_period
    count, periods = len(problem), problem.periods
    if worker.shape != (count,) or start.shape != (count,):
        return f"it has {len(start)} starts, the problem {count} requests"
    used = np.zeros((2, len(problem.slots), periods + 2), np.int64)
    active, first_tokens = problem.active.tolist(), problem.first_tokens.tolist()
    for j, (g, k) in enumerate(zip(worker.tolist(), start.tolist(), strict=True)):
        if g == k == -1:
            continue
        if not 0 <= g < len(problem.slots):
            return f"request {j} starts on worker {g}, there are {len(problem.slots)}"
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
            return f"worker {g} uses {used[resource, g, k]} of {limits[g]} {name} in period {k}"
    return None


def exact_value(problem: HindsightProblem, schedule: Schedule) -> Fraction:
    """Return the reward of all starts, exactly, for weights that are what their doubles are."""
    admitted = schedule.start_period > 0
    first_token = schedule.start_period[admitted] + problem.delay
    terms = reward_terms(
        problem.decode_tokens[admitted],
        problem.arrival_period[admitted],
        first_token,
        problem.periods,
        *problem.latency_limits,
    )
    total = Fraction(0)
    for weights, chosen in by_class(problem.weights, problem.slo_class, len(problem)):
        own = chosen[admitted]
        counts = (int(np.broadcast_to(term, first_token.shape)[own].sum()) for term in terms)
        six = weights.to_document().items()
        exact = PerTerm(**{name: Fraction(weight) for name, weight in six})
        total += weighted(exact, PerTerm(*counts))
    return total


def require_feasible(problem: HindsightProblem, schedule: Schedule) -> None:
    """Raise an InputError that says why a schedule is not feasible, if it is not."""
    fault = schedule_fault(problem, schedule)
    if fault is not None:
        raise InputError(f"schedule: {fault}")
