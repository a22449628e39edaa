"""Compiled pricing of every start of every request, exactly and smoothed.

Prices have shape (2, C, T), of slots and of KV tokens, one row per class of identical workers.
With prefix sums a start is priced in O(1). Starts that cannot matter are skipped, several at once:
all starts in k..k+q-1 are active in k+q-1..k+a-1 and hold at least as many tokens there as one
that starts at k+q-1, and rewards fall with time, so that the reward at k minus the price of that
part bounds all their margins from above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from olprouting.compiling import Floats, Ints, compiled, kernel
from olprouting.instances.reward import PerTerm, reward_terms, weighted
from olprouting.prices.pricing_kernels import prefix_sums, price_between
from olprouting.structs import Struct

CUT = 15.0
"""Starts whose margin is that many smoothing widths below the best have a share below 4e-7."""


@dataclass(frozen=True, eq=False)
class Starts(Struct):
    """What a start of each request is worth and uses; periods are counted from 0.

    Attributes
    ----------
    tokens, active, decode, arrival
        KV tokens at age 0, active periods, decode tokens, and first period; shape (J,).
    weights
        The six of the reward of each request, shape (J, 6).
    periods
        T.
    delay
        Periods from the start to the first token.
    end_limit, first_limit
        Largest latencies, in periods, that earn zeta1 and zeta2.
    kv_limit
        KV tokens of one worker of each class, shape (C,).
    """

    tokens: Ints
    active: Ints
    decode: Ints
    arrival: Ints
    weights: Floats
    periods: int
    delay: int
    end_limit: int
    first_limit: int
    kv_limit: Ints


terms_of = kernel(reward_terms)
sum_of = kernel(weighted)


@kernel
def start_reward(starts: Starts, j: int, k: int) -> float:
    """Return r of starting request j at period k; it never rises with k."""
    terms = terms_of(
        starts.decode[j],
        starts.arrival[j],
        k + starts.delay,
        starts.periods - 1,
        starts.end_limit,
        starts.first_limit,
    )
    w = starts.weights
    weights = PerTerm(w[j, 0], w[j, 1], w[j, 2], w[j, 3], w[j, 4], w[j, 5])
    return float(sum_of(weights, terms))


@compiled
def first_start(starts: Starts, j: int, c: int) -> int:
    """Return the first period from which request j fits a worker of class c alone, up to T.

    It fits from its arrival, or, if it grows too large, so late that T comes first.
    """
    room = starts.kv_limit[c] - starts.tokens[j] + 1
    if room >= starts.active[j]:
        return int(starts.arrival[j])
    return int(max(starts.arrival[j], starts.periods - max(room, 0)))


@compiled
def smoothed(
    starts: Starts,
    prices: Floats,
    width: float,
    stride: int,
    use: Floats,
    mass: Floats,
    moment: Floats,
) -> tuple[float, float]:
    """Return sum_j width * log(1 + sum exp(margin / width)), and sum_j (largest margin)+.

    Parameters
    ----------
    starts, prices
        The requests and p.
    width
        Of the smoothing, in reward, > 0.
    stride
        Only every so many starts after the first are looked at; 1 looks at all.
    use
        Filled with the gradient's part of the requests, shape (2, C, T): slots and KV tokens in
        use when every start happens with its softmax share.
    mass, moment
        Filled with the sum of each request's shares, and with their sum weighted by the period,
        shape (J,).
    """
    classes, periods = prices.shape[1], starts.periods
    sums = np.empty((3, classes, periods + 1))
    prefix_sums(prices[0], prices[1], 0, periods, sums)
    use.fill(0.0)
    margins = np.empty((classes, periods))
    places = np.empty((classes, periods), np.int64)
    counts = np.empty(classes, np.int64)
    cut = CUT * width
    soft, hard = 0.0, 0.0
    for j in range(len(starts.tokens)):
        active, tokens = starts.active[j], starts.tokens[j]
        skip = active // 8
        best = 0.0
        for c in range(classes):
            k, count = first_start(starts, j, c), 0
            while k < periods:
                reward = start_reward(starts, j, k)
                if reward <= best - cut:
                    break
                if skip >= 2 * stride:
                    late = k + skip - 1
                    end = min(k + active, periods)
                    if (
                        late < end
                        and reward - price_between(sums, c, late, end, tokens, 1.0) <= best - cut
                    ):
                        k += (skip // stride) * stride
                        continue
                    stop = min(k + (skip // stride) * stride, periods)
                else:
                    stop = min(k + 16 * stride, periods)
                while k < stop:
                    reward = start_reward(starts, j, k)
                    end = min(k + active, periods)
                    margin = reward - price_between(sums, c, k, end, tokens, 1.0)
                    if margin > best - cut:
                        margins[c, count], places[c, count] = margin, k
                        count += 1
                        best = max(best, margin)
                    k += stride
            counts[c] = count
        total = np.exp(-best / width)
        for c in range(classes):
            for i in range(counts[c]):
                away = best - margins[c, i]
                share = np.exp(-away / width) if away < cut else 0.0
                margins[c, i] = share
                total += share
        hard += best
        soft += best + width * np.log(total)
        mass[j], moment[j] = 0.0, 0.0
        for c in range(classes):
            for i in range(counts[c]):
                if margins[c, i] == 0.0:
                    continue
                share, k = margins[c, i] / total, places[c, i]
                mass[j] += share
                moment[j] += share * k
                use[0, c, k] += share
                use[1, c, k] += share * (tokens - k)
                if k + active < periods:
                    use[0, c, k + active] -= share
                    use[1, c, k + active] -= share * (tokens - k)
    for c in range(classes):
        slots, base = 0.0, 0.0
        for k in range(periods):
            slots += use[0, c, k]
            base += use[1, c, k]
            use[0, c, k] = slots
            use[1, c, k] = base + k * slots
    return soft, hard
