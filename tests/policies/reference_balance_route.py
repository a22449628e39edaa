"""BR-0 and BR-H as slow, obvious Python in exact arithmetic: the referee of the compiled policy.

Written from the policy's definition alone; ties between workers go to the lowest index.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations


def score(sizes, margins, weights, beta, growing):
    """sum_h w_h [b_h - beta (b_h - m_h)+], b_h what the requests `sizes` hold at offset h."""
    total = Fraction(0)
    for h, (weight, margin) in enumerate(zip(weights, margins, strict=True)):
        held = sum(size + (h if growing else 0) for size in sizes)
        total += weight * (held - beta * max(0, held - margin))
    return total


def best_single(pool, margins, weights, beta, growing):
    """The (position, size) with the largest score; the earliest of those that tie."""
    return max(
        pool, key=lambda entry: (score([entry[1]], margins, weights, beta, growing), -entry[0])
    )


def best_subset(pool, limit, margins, weights, beta, growing):
    """(score, subset) of largest score; ties to fewest requests, then earliest positions."""
    best = None
    for count in range(1, min(limit, len(pool)) + 1):
        for subset in combinations(pool, count):  # in lexicographic order of positions
            value = score([size for _, size in subset], margins, weights, beta, growing)
            if best is None or value > best[0]:
                best = value, list(subset)
    return best


def route(loads, free, sizes, *, gamma, beta, growing, r_max, s_greedy):
    """Return the (position, worker) pairs, in the order of admission.

    `loads` is A[g][h] in integers, `gamma` and `beta` are fractions.
    """
    loads = [list(row) for row in loads]
    free = list(free)
    pool = list(enumerate(sizes))
    workers, window = range(len(loads)), range(len(loads[0]))
    weights = [Fraction(gamma) ** h for h in window]
    policy = (weights, Fraction(beta), growing)
    pairs = []

    def margins_of(g):
        return [max(loads[w][h] for w in workers) - loads[g][h] for h in window]

    def admit(subset, g):
        for entry in subset:
            pairs.append((entry[0], g))
            pool.remove(entry)
            free[g] -= 1
            for h in window:
                loads[g][h] += entry[1] + (h if growing else 0)

    while sum(free) > s_greedy and pool:
        g = min(workers, key=lambda w: (-free[w], loads[w][0], w))
        admit([best_single(pool, margins_of(g), *policy)], g)
    while sum(free) > 0 and pool:
        g = min(workers, key=lambda w: (-free[w], -min(margins_of(w)), w))
        visible = pool[:r_max]
        value, subset = best_subset(visible, free[g], margins_of(g), *policy)
        if value <= 0:
            subset = [best_single(visible, margins_of(g), *policy)]
        admit(subset, g)
    return pairs
