"""Exact shares of the peaks, from an assignment that meets the relaxation's value.

If every slot is filled, relax the sum b_g of a worker's new sizes to any number between its c_g
smallest and its c_g largest. The assignment's own sums are optimal there if and only if the weights
of the peaks, G gamma^h each, can be divided among the workers that attain them so that a worker
receives Gamma = sum_h gamma^h; at least that if its sum is as small as can be, at most that if it
is as large as can be. This is a flow, found in whole numbers; its parts are the exact shares.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from olprouting.certificates.decision_bounds import Peaks
from olprouting.certificates.decision_value import loads_after

if TYPE_CHECKING:
    from olprouting.certificates.decision_value import ExactDecision, Pairs


def peaks_at(decision: ExactDecision, pairs: Pairs) -> Peaks | None:
    """Return shares under which `pairs` cost as little as possible, or None if there are none."""
    if not decision.fills or decision.admissions == 0:
        return None
    loads = loads_after(decision, pairs)
    tops = [max(row[h] for row in loads) for h in decision.offsets]
    arcs = [[g for g, row in enumerate(loads) if row[h] == top] for h, top in enumerate(tops)]
    scale = decision.gamma.denominator ** (len(decision.offsets) - 1)
    weights = [int(weight * scale) for weight in decision.discount]
    supply = [decision.workers * weight for weight in weights]
    least, most = _limits(decision, pairs, sum(weights), sum(supply))
    flow = _divided(arcs, supply, least, most)
    if flow is None:
        return None
    shares = {(g, h): Fraction(sent, supply[h]) for (h, g), sent in flow.items() if sent}
    return Peaks(shares, (Fraction(0),) * decision.workers)


def _limits(
    decision: ExactDecision, pairs: Pairs, demand: int, everything: int
) -> tuple[list[int], list[int]]:
    """Return how much each worker must and may receive."""
    ascending = sorted(decision.sizes)
    sums = [sum(decision.sizes[i] for i, g in pairs if g == own) for own in range(decision.workers)]
    least, most = [], []
    for slots, tokens in zip(decision.slots, sums, strict=True):
        smallest = tokens == sum(ascending[:slots])
        largest = tokens == sum(ascending[len(ascending) - slots :])
        least.append(0 if largest else demand)
        most.append(everything if smallest else demand)
    return least, most


def _divided(
    arcs: list[list[int]], supply: list[int], least: list[int], most: list[int]
) -> dict[tuple[int, int], int] | None:
    """Return a flow that sends all supply, within the limits of the receivers, or None.

    First all that must be received is sent, then the rest: augmenting paths never take back what
    has arrived.
    """
    flow = {(h, g): 0 for h, receivers in enumerate(arcs) for g in receivers}
    left, received = list(supply), [0] * len(least)
    for limit in (least, most):
        while path := _path(arcs, flow, left, received, limit):
            amount = min(left[path[0][0]], limit[path[-1][1]] - received[path[-1][1]])
            back = [(later, g) for (_, g), (later, _) in pairwise(path)]
            amount = min([amount, *(flow[arc] for arc in back)])
            for arc in path:
                flow[arc] += amount
            for arc in back:
                flow[arc] -= amount
            left[path[0][0]] -= amount
            received[path[-1][1]] += amount
        if any(got < need for got, need in zip(received, least, strict=True)):
            return None
    return None if any(left) else flow


def _path(
    arcs: list[list[int]],
    flow: dict[tuple[int, int], int],
    left: list[int],
    received: list[int],
    limit: list[int],
) -> list[tuple[int, int]]:
    """Return forward arcs of a shortest augmenting path, from a sender to a receiver with room."""
    queue = deque(h for h, amount in enumerate(left) if amount)
    reached: dict[int, tuple[int, int] | None] = dict.fromkeys(queue)  # sender: how it was reached
    seen: set[int] = set()
    while queue:
        h = queue.popleft()
        for g in arcs[h]:
            if g in seen:
                continue
            seen.add(g)
            if received[g] < limit[g]:
                return _traced(reached, (h, g))
            for other, receivers in enumerate(arcs):
                if other not in reached and g in receivers and flow[other, g]:
                    reached[other] = (h, g)
                    queue.append(other)
    return []


def _traced(
    reached: dict[int, tuple[int, int] | None], last: tuple[int, int]
) -> list[tuple[int, int]]:
    path = [last]
    while (arc := reached[path[-1][0]]) is not None:
        path.append(arc)
    return path[::-1]
