"""Compiled Algorithm 1: margins of all requests on all workers, and greedy admission by margin.

Source: bid-price paper, Algorithm 1 (lines 8 to 16).
"""

from __future__ import annotations

import numpy as np

from olprouting.compiling import Bools, Floats, Ints, compiled, kernel
from olprouting.prices.pricing_kernels import prefix_sums, price_between


@compiled
def request_margins(
    rewards: Floats,
    active: Ints,
    tokens: Ints,
    batch: Floats,
    memory: Floats,
    first: int,
    width: int,
    price_unit: float,
    mem_scale: float,
    margins: Floats,
) -> None:
    """Fill `margins`, shape (J, G), with r - a'p of starting each request on each worker.

    Workers with the same prices give margins that are equal to the last bit.

    Parameters
    ----------
    rewards, active, tokens
        Of the waiting requests, shape (J,): r, number of active periods and KV tokens at age 0.
    batch, memory
        Prices, shape (G, P).
    first, width
        Position at which the requests would start, and one past the last position in use.
    price_unit, mem_scale
        True prices are price_unit * batch and price_unit * mem_scale * memory.
    """
    longest = 0
    for j in range(len(active)):
        longest = max(longest, active[j])
    end = min(width, first + longest)
    sums = np.empty((3, len(batch), max(0, end - first) + 1))
    prefix_sums(batch, memory, first, max(first, end), sums)
    for j in range(len(rewards)):
        last = max(0, min(active[j], end - first))
        for g in range(len(batch)):
            cost = price_between(sums, g, 0, last, tokens[j], mem_scale)
            margins[j, g] = rewards[j] - price_unit * cost


@compiled
def admit_in_order(
    pairs: Ints,
    worth: Floats,
    active: Ints,
    tokens: Ints,
    slots: Ints,
    kv_tokens: Ints,
    random_ties: bool,
    rng: np.random.Generator,
    request: Ints,
    worker: Ints,
) -> int:
    """Admit pairs one after the other, skipping those that do not fit.

    A request starts on one worker at most, and fits if in each of its active periods there are a
    slot and its KV tokens left, as far as the residuals reach.

    Parameters
    ----------
    pairs, worth
        j * G + g of each pair, and its margin, in decreasing order, shape (P,).
    active, tokens
        Number of active periods and KV tokens at age 0, shape (J,).
    slots, kv_tokens
        Residuals of the real workers in this and the following periods, shape (G, W); not changed.
    random_ties
        Whether pairs of equal worth are shuffled, in place. A random number is drawn only where
        there are ties.
    request, worker
        Filled with the admitted pairs in the order of admission, shape (J,).

    Returns
    -------
    int
        How many were admitted.
    """
    if random_ties:
        begin = 0
        for end in range(1, len(pairs) + 1):
            if end == len(pairs) or worth[end] != worth[begin]:
                shuffle(pairs, begin, end, rng)
                begin = end
    workers = len(slots)
    admitted = np.zeros(len(active), np.bool_)
    placed_active, placed_tokens = np.empty_like(active), np.empty_like(tokens)
    count = 0
    for pair in pairs:
        j, g = pair // workers, pair % workers
        if admitted[j]:
            continue
        beside = 0  # what is admitted on g already
        for c in range(count):
            if worker[c] == g:
                placed_active[beside], placed_tokens[beside] = (
                    active[request[c]],
                    tokens[request[c]],
                )
                beside += 1
        if not fits(
            active[j],
            tokens[j],
            slots[g],
            kv_tokens[g],
            placed_active[:beside],
            placed_tokens[:beside],
        ):
            continue
        admitted[j] = True
        request[count], worker[count] = j, g
        count += 1
    return count


@kernel
def shuffle(pairs: Ints, begin: int, end: int, rng: np.random.Generator) -> None:
    """Shuffle pairs begin..end-1 in place; one element draws no random number."""
    for i in range(begin, end - 1):
        j = i + int(rng.random() * (end - i))
        pairs[i], pairs[j] = pairs[j], pairs[i]


@kernel
def fits(
    active: int,
    tokens: int,
    slots: Ints,
    kv_tokens: Ints,
    placed_active: Ints,
    placed_tokens: Ints,
) -> bool:
    """Whether a request fits a worker with these residuals, shape (W,), beside those placed."""
    for i in range(min(active, len(slots))):
        free, room = slots[i], kv_tokens[i]
        for c in range(len(placed_active)):
            if placed_active[c] > i:
                free -= 1
                room -= placed_tokens[c] + i
        if free < 1 or room < tokens + i:
            return False
    return True


@kernel
def best_worker(margins: Floats, j: int, random_ties: bool, rng: np.random.Generator) -> int:
    """Return the worker of the largest margin of request j."""
    best, tied = 0, 1
    for g in range(1, margins.shape[1]):
        if margins[j, g] > margins[j, best]:
            best, tied = g, 1
        elif margins[j, g] == margins[j, best]:
            tied += 1
            if random_ties and rng.random() * tied < 1.0:
                best = g
    return best


@compiled
def pairs_to_record(
    margins: Floats,
    recorded: Bools,
    per_request: bool,
    random_ties: bool,
    rng: np.random.Generator,
    request: Ints,
    worker: Ints,
) -> int:
    """Choose the pairs that become history, whatever the sign of their margins.

    Parameters
    ----------
    margins
        Shape (J, G).
    recorded
        Which requests are in the history already, shape (J,); used, and updated, per request only.
    per_request
        False: the best pair of all, once per period (paper). True: the best worker of each request
        that is not recorded yet (authors' code).
    random_ties
        Whether ties are broken at random rather than by index.
    request, worker
        Filled with the pairs, shape (J,).

    Returns
    -------
    int
        How many pairs.
    """
    count, tied = 0, 1
    for j in range(len(margins)):
        if per_request and recorded[j]:
            continue
        g = best_worker(margins, j, random_ties, rng)
        if per_request or count == 0:
            request[count], worker[count] = j, g
            recorded[j] = recorded[j] or per_request
            count += 1
            continue
        lead = margins[j, g] - margins[request[0], worker[0]]
        tied = 1 if lead > 0 else tied + (lead == 0)
        if lead > 0 or (lead == 0 and random_ties and rng.random() * tied < 1.0):
            request[0], worker[0] = j, g
    return count
