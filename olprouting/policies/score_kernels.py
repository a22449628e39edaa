"""Compiled F-scores and the searches that maximise them (balance paper, 5.1-5.3, EC.3).

The score of admitting n requests with b prompt tokens in total to one worker is

    F(b, n) = sum_h w_h (b + d h n) - beta sum_h w_h (b + d h n - m_h)+

with w_h = gamma^h, m_h the worker's margins, beta the overflow penalty and d = 1 if admitted
requests grow over the window, 0 if they are frozen (the paper's form). At H = 0 and beta = G it is
F0, the exact drop of the imbalance. For fixed n it is concave and piecewise linear in b.
"""

from __future__ import annotations

import numpy as np

from olprouting.compiling import Bits, Floats, Ints, compiled, kernel

SCORE_TOLERANCE = 1e-12
"""Scores closer than this, relatively, are ties: what rounding can do to a sum of ~100 terms."""


@compiled
def score(
    total: float, count: int, margins: Floats, weights: Floats, penalty: float, growing: int
) -> float:
    """Return F(total, count).

    Gain and overflow cancel within each offset, not between two large sums: with beta = 1 all
    totals on a plateau then have the same score to the last bit.
    """
    value = 0.0
    for h in range(len(weights)):
        load = total + growing * h * count
        value += weights[h] * (load - penalty * max(0.0, load - margins[h]))
    return value


@kernel
def slope(
    total: float, count: int, margins: Floats, weights: Floats, penalty: float, growing: int
) -> float:
    """Return the slope of F in its first argument just right of `total`."""
    gain = 0.0
    overflow = 0.0
    for h in range(len(weights)):
        gain += weights[h]
        if total + growing * h * count >= margins[h]:
            overflow += weights[h]
    value = gain - penalty * overflow
    return 0.0 if abs(value) <= SCORE_TOLERANCE * gain else value


@kernel
def ties(first: float, second: float) -> bool:
    """Whether two scores are equal up to rounding."""
    return abs(first - second) <= SCORE_TOLERANCE * max(abs(first), abs(second))


@compiled
def best_single_scan(
    sizes: Ints, margins: Floats, weights: Floats, penalty: float, growing: int
) -> int:
    """Return the earliest index of `sizes` with the largest score, looking at every one."""
    best = 0
    best_score = score(sizes[0], 1, margins, weights, penalty, growing)
    for i in range(1, len(sizes)):
        candidate = score(sizes[i], 1, margins, weights, penalty, growing)
        if candidate > best_score and not ties(candidate, best_score):
            best = i
            best_score = candidate
    return best


@compiled
def best_single_sorted(
    sizes: Ints, positions: Ints, margins: Floats, weights: Floats, penalty: float, growing: int
) -> int:
    """Return the index into ascending `sizes` that `best_single_scan` would choose.

    The score is concave, so the best size is a neighbour of the point where its slope changes
    sign: O(H log W) instead of O(H W). `positions` are the queue positions of `sizes`; among tied
    requests (equal sizes, or a plateau of the score) the earliest in the queue wins.
    """
    low = 0
    high = len(sizes)
    while low < high:  # first size at or right of the maximiser
        middle = (low + high) // 2
        if slope(sizes[middle], 1, margins, weights, penalty, growing) > 0:
            low = middle + 1
        else:
            high = middle
    start = max(low - 1, 0)
    best_score = score(sizes[start], 1, margins, weights, penalty, growing)
    if low < len(sizes):
        right = score(sizes[low], 1, margins, weights, penalty, growing)
        if right > best_score and not ties(right, best_score):
            start = low
            best_score = right
    while start > 0 and sizes[start - 1] == sizes[start]:
        start -= 1
    best = start
    known_size = sizes[start]
    for i in range(start + 1, len(sizes)):  # duplicates and plateau lie to the right of start
        if sizes[i] != known_size:
            candidate = score(sizes[i], 1, margins, weights, penalty, growing)
            if not ties(candidate, best_score):
                break
            known_size = sizes[i]
        if positions[i] < positions[best]:
            best = i
    return best


@compiled
def best_subset_enumerated(
    sizes: Ints, limit: int, margins: Floats, weights: Floats, penalty: float, growing: int
) -> tuple[float, Ints]:
    """Return the best score over nonempty subsets of at most `limit` sizes, and the subset.

    Ties: fewest requests, then earliest positions. Looks at 2^len(sizes) subsets.
    """
    items = len(sizes)
    best_mask = 0
    best_count = 0
    best_score = -np.inf
    for mask in range(1, 1 << items):
        count = 0
        total = 0
        for i in range(items):
            if mask >> (items - 1 - i) & 1:  # position 0 is the high bit: larger mask = earlier
                count += 1
                total += sizes[i]
        if count > limit:
            continue
        candidate = score(total, count, margins, weights, penalty, growing)
        if best_mask and ties(candidate, best_score):
            better = count < best_count or (count == best_count and mask > best_mask)
        else:
            better = candidate > best_score
        if better:
            best_mask = mask
            best_count = count
            best_score = candidate
    chosen = np.empty(best_count, np.int64)
    filled = 0
    for i in range(items):
        if best_mask >> (items - 1 - i) & 1:
            chosen[filled] = i
            filled += 1
    return best_score, chosen


@compiled
def best_subset_reachable(
    sizes: Ints, limit: int, margins: Floats, weights: Floats, penalty: float, growing: int
) -> tuple[float, Ints]:
    """Return what `best_subset_enumerated` returns, by the totals that subsets can reach.

    For every cardinality n the score is concave in the total, so its maximum over the reachable
    totals is next to the unconstrained maximiser. Totals are found by subset sums per cardinality,
    as bit sets: ``suffix[i, n]`` holds the totals of n requests among positions i and later.
    """
    limit = min(limit, len(sizes))
    suffix = suffix_totals(sizes, limit)
    best_count = 0
    best_score = -np.inf
    best_low = 0
    best_high = 0
    for count in range(1, limit + 1):
        turn = turning_total(suffix[0, count], count, margins, weights, penalty, growing)
        low = previous_total(suffix[0, count], turn - 1)
        high = next_total(suffix[0, count], turn)
        low_score = score(low, count, margins, weights, penalty, growing) if low >= 0 else -np.inf
        high_score = (
            score(high, count, margins, weights, penalty, growing) if high >= 0 else -np.inf
        )
        top = max(low_score, high_score)
        if best_count and (top < best_score or ties(top, best_score)):
            continue
        best_count = count
        best_score = top
        best_low = low if low >= 0 and ties(low_score, top) else high
        best_high = high if high >= 0 and ties(high_score, top) else low
        while True:  # a plateau of the score: every total on it is as good
            further = next_total(suffix[0, count], best_high + 1)
            if further < 0 or not ties(
                score(further, count, margins, weights, penalty, growing), top
            ):
                break
            best_high = further
    return best_score, earliest_subset(sizes, suffix, best_count, best_low, best_high)


@kernel
def turning_total(
    totals: Bits, count: int, margins: Floats, weights: Floats, penalty: float, growing: int
) -> int:
    """Return the smallest integer total at which the score no longer rises."""
    low = 0
    high = 64 * len(totals)
    while low < high:
        middle = (low + high) // 2
        if slope(middle, count, margins, weights, penalty, growing) > 0:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def suffix_totals(sizes: Ints, limit: int) -> Bits:
    """Return bit sets of reachable totals, shape (len(sizes) + 1, limit + 1, words), uint64."""
    largest = 0
    for i in range(len(sizes)):
        rank = 0
        for j in range(len(sizes)):
            if sizes[j] > sizes[i] or (sizes[j] == sizes[i] and j < i):
                rank += 1
        if rank < limit:
            largest += sizes[i]
    words = largest // 64 + 1
    suffix = np.zeros((len(sizes) + 1, limit + 1, words), np.uint64)
    suffix[len(sizes), 0, 0] = 1
    for i in range(len(sizes) - 1, -1, -1):
        for n in range(limit + 1):
            for word in range(words):
                suffix[i, n, word] = suffix[i + 1, n, word]
        for n in range(1, limit + 1):
            or_shifted(suffix[i, n], suffix[i + 1, n - 1], sizes[i])
    return suffix


@kernel
def or_shifted(target: Bits, source: Bits, shift: int) -> None:
    """Or `source`, moved up by `shift` bits, into `target`."""
    whole = shift // 64
    part = np.uint64(shift % 64)
    for word in range(len(target) - 1, whole - 1, -1):
        moved = source[word - whole] << part
        if part and word > whole:
            moved |= source[word - whole - 1] >> (np.uint64(64) - part)
        target[word] |= moved


@kernel
def next_total(totals: Bits, start: int) -> int:
    """Return the smallest total in the bit set that is >= start, or -1."""
    total = max(start, 0)
    while total < 64 * len(totals):
        rest = totals[total // 64] >> np.uint64(total % 64)
        if rest == 0:
            total = (total // 64 + 1) * 64
            continue
        while not rest & np.uint64(1):
            rest >>= np.uint64(1)
            total += 1
        return total
    return -1


@kernel
def previous_total(totals: Bits, start: int) -> int:
    """Return the largest total in the bit set that is <= start, or -1."""
    total = min(start, 64 * len(totals) - 1)
    while total >= 0:
        rest = totals[total // 64] << np.uint64(63 - total % 64)
        if rest == 0:
            total = (total // 64) * 64 - 1
            continue
        while not rest >> np.uint64(63):
            rest <<= np.uint64(1)
            total -= 1
        return total
    return -1


@kernel
def earliest_subset(sizes: Ints, suffix: Bits, count: int, low: int, high: int) -> Ints:
    """Return the lexicographically first `count` positions whose total lies in [low, high]."""
    chosen = np.empty(count, np.int64)
    filled = 0
    for i in range(len(sizes)):
        if filled == count:
            break
        rest = next_total(suffix[i + 1, count - filled - 1], low - sizes[i])
        if 0 <= rest <= high - sizes[i]:
            chosen[filled] = i
            filled += 1
            low -= sizes[i]
            high -= sizes[i]
    return chosen
