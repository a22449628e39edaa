"""Compiled Algorithm 2: projected mini-batch subgradient steps on the sample's dual.

A step is p <- (p - eta * (d - mean over a mini-batch of 1{r - a'p > 0} a))+. The first and last
positions of the batch's columns cut the coordinates into segments on which the subtracted mean is
constant (slots) or linear (memory); the sums of prices over the segments give every a'p of the
batch. So a step costs O(batch * log batch + G * P), whatever the columns' lengths.

Arrays of prices are flat here: coordinate g * P + position.

Source: bid-price paper, section 3.3 and Algorithm 2; the segments are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from olprouting.compiling import Floats, Ints, compiled, kernel
from olprouting.prices.pricing_kernels import end_of, normalised

if TYPE_CHECKING:
    from olprouting.prices.columns import SaaProblem

DIGIT_BITS: Final = 8
DIGITS: Final = 1 << DIGIT_BITS


@compiled
def descend(
    problem: SaaProblem,
    batch: Floats,
    memory: Floats,
    steps: int,
    batch_columns: int,
    step_size: float,
    shrinking: bool,
    uniforms: Floats,
) -> None:
    """Take `steps` steps from the prices `batch` and `memory`, shape (G, P), in place.

    Every step draws a fresh mini-batch of min(`batch_columns`, N) columns without replacement; with
    the whole history in it nothing is drawn. An empty history gives p = 0.

    Parameters
    ----------
    problem
        The dual.
    batch, memory
        Prices in the problem's units, >= 0, C-contiguous.
    steps, batch_columns
        K >= 0 and the size of a mini-batch, >= 1.
    step_size
        eta > 0.
    shrinking
        Whether step number k has length eta / sqrt(k) rather than factor eta.
    uniforms
        Random numbers in [0, 1) for the mini-batches, shape (steps, their size): handing over a
        generator would take longer than a step. Shape (0, 0) with the whole history in each.
    """
    count = len(problem.columns.reward)
    if count == 0:
        batch.fill(0.0)
        memory.fill(0.0)
        return
    size = min(batch_columns, count)
    order = np.arange(count)
    live = live_ranges(batch, memory)
    points, places = np.empty(2 * size, np.int64), np.empty((2, size), np.int64)
    for step in range(1, steps + 1):
        if size < count:
            draw(order, uniforms[step - 1])
        if step == 1 or size < count:
            locate(problem, order, points, places)
        descent_step(
            problem, batch, memory, order, points, places, live, step, step_size, shrinking
        )


@compiled
def draw(order: Ints, uniforms: Floats) -> None:
    """Move a uniform sample without replacement to the front of a permutation (Fisher-Yates).

    Its size is the number of `uniforms`, random numbers in [0, 1).
    """
    for i in range(len(uniforms)):
        j = i + int(uniforms[i] * (len(order) - i))
        order[i], order[j] = order[j], order[i]


@kernel
def locate(problem: SaaProblem, order: Ints, points: Ints, places: Ints) -> None:
    """Fill `points` with the sorted ends of the batch's columns, `places` with their indices.

    Column i of the batch covers coordinates ``points[places[0, i]]`` to ``points[places[1, i]]``,
    without the last.
    """
    columns, positions, size = problem.columns, problem.slots.shape[1], places.shape[1]
    bits = 1
    while (1 << bits) < 2 * size:
        bits += 1
    for i in range(size):  # sort coordinates that carry their indices along
        column = order[i]
        row = columns.worker[column] * positions
        end = row + end_of(problem, column)
        begin = min(row + columns.first[column], end)
        points[2 * i] = (begin << bits) | (2 * i)
        points[2 * i + 1] = (end << bits) | (2 * i + 1)
    sort_by_digits(points, bits, problem.slots.size)
    for q in range(len(points)):
        index = points[q] & ((1 << bits) - 1)
        places[index & 1, index >> 1] = q
        points[q] >>= bits


@compiled
def sort_by_digits(keys: Ints, low_bits: int, largest: int) -> None:
    """Sort keys in place by what stands above their `low_bits`, a number in 0..`largest`.

    Keys that are equal there stay in order. A comparison sort of so few random numbers takes
    several times longer: its branches cannot be predicted.
    """
    source, target = keys, np.empty_like(keys)
    starts = np.empty(DIGITS, np.int64)
    shift = low_bits
    while largest > 0:
        starts.fill(0)
        for key in source:
            starts[(key >> shift) & (DIGITS - 1)] += 1
        total = 0
        for digit in range(DIGITS):
            count = starts[digit]
            starts[digit] = total
            total += count
        for key in source:
            digit = (key >> shift) & (DIGITS - 1)
            target[starts[digit]] = key
            starts[digit] += 1
        source, target = target, source
        shift += DIGIT_BITS
        largest >>= DIGIT_BITS
    for i in range(len(keys)):
        keys[i] = source[i]


@kernel
def live_ranges(batch: Floats, memory: Floats) -> Ints:
    """Return coordinates of each worker, shape (2, G), outside of which its prices are 0."""
    workers, positions = batch.shape
    live = np.empty((2, workers), np.int64)
    for g in range(workers):
        low, high = 0, positions
        while high > 0 and batch[g, high - 1] == 0 and memory[g, high - 1] == 0:
            high -= 1
        while low < high and batch[g, low] == 0 and memory[g, low] == 0:
            low += 1
        live[0, g] = g * positions + low
        live[1, g] = g * positions + high
    return live


@kernel
def descent_step(
    problem: SaaProblem,
    batch: Floats,
    memory: Floats,
    order: Ints,
    points: Ints,
    places: Ints,
    live: Ints,
    step: int,
    step_size: float,
    shrinking: bool,
) -> float:
    """Take one step and return its factor eta (0 where the subgradient vanishes)."""
    flat_batch, flat_memory = batch.reshape(-1), memory.reshape(-1)
    segments = np.zeros((2, len(points)), np.int64)
    sums = sums_at(flat_batch, flat_memory, points, places)
    subgradient_segments(problem, order, points, places, sums, segments)
    factor = step_size
    if shrinking:
        square = squared_length(problem, flat_batch, flat_memory, points, segments, live)
        if square == 0:
            return 0.0
        factor = step_size / np.sqrt(step * square)
    move(problem, flat_batch, flat_memory, points, segments, sums, live, factor)
    return float(factor)


@kernel
def subgradient_segments(
    problem: SaaProblem,
    order: Ints,
    points: Ints,
    places: Ints,
    sums: Floats,
    segments: Ints,
) -> None:
    """Fill `segments`, shape (2, points), with the use by the columns of positive margin.

    On the coordinates from ``points[q]`` to ``points[q+1]`` they use ``segments[0, q]`` slots, and
    at coordinate x ``segments[1, q] + x * segments[0, q]`` KV tokens.
    """
    columns = problem.columns
    for i in range(places.shape[1]):
        column, begin, end = order[i], places[0, i], places[1, i]
        base = columns.tokens[column] - points[begin]
        used = base * (sums[1, end] - sums[1, begin]) + sums[2, end] - sums[2, begin]
        cost = sums[0, end] - sums[0, begin] + problem.mem_scale * used
        if normalised(problem, column) - cost > 0:
            segments[0, begin] += 1
            segments[0, end] -= 1
            segments[1, begin] += base
            segments[1, end] -= base
    for q in range(1, len(points)):
        segments[0, q] += segments[0, q - 1]
        segments[1, q] += segments[1, q - 1]


@kernel
def sums_at(batch: Floats, memory: Floats, points: Ints, places: Ints) -> Floats:
    """Return sums of prices over the segments, shape (5, points).

    Rows 0 to 2 hold the sums of p_bat, p_mem and coordinate * p_mem up to each point, without
    coordinates that no column of the batch covers; rows 3 and 4 the sums of p_bat and p_mem on the
    segment that begins at the point, or -1 where no column covers it.
    """
    sums = np.zeros((5, len(points)))
    for q in range(len(points)):
        sums[3, q], sums[4, q] = -1.0, -1.0
    cover = np.zeros(len(points), np.int64)
    for i in range(places.shape[1]):
        cover[places[0, i]] += 1
        cover[places[1, i]] -= 1
    covering = 0
    for q in range(len(points) - 1):
        covering += cover[q]
        slot_sum, token_sum, moment = 0.0, 0.0, 0.0
        if covering > 0:
            low, high = points[q], points[q + 1]
            slot_sum, token_sum, moment = segment_sums(batch, memory, low, high)
            moment += low * token_sum
            sums[3, q], sums[4, q] = slot_sum, token_sum
        sums[0, q + 1] = sums[0, q] + slot_sum
        sums[1, q + 1] = sums[1, q] + token_sum
        sums[2, q + 1] = sums[2, q] + moment
    return sums


@kernel
def segment_sums(batch: Floats, memory: Floats, low: int, high: int) -> tuple[float, float, float]:
    """Return the sums of p_bat, p_mem and (i - low) * p_mem over coordinates low..high-1.

    Four partial sums each, for speed; coordinates are unsigned, which spares asking at every turn
    whether they count from the end.
    """
    b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0
    m0, m1, m2, m3 = 0.0, 0.0, 0.0, 0.0
    k0, k1, k2, k3 = 0.0, 0.0, 0.0, 0.0
    i, one = np.uint64(low), np.uint64(1)
    fours = (high - low) // 4
    four = 0.0  # as a double: converting an integer at every turn takes longer than the sums
    for _ in range(fours):
        j = i + one
        k = j + one
        n = k + one
        b0 += batch[i]
        b1 += batch[j]
        b2 += batch[k]
        b3 += batch[n]
        m0 += memory[i]
        m1 += memory[j]
        m2 += memory[k]
        m3 += memory[n]
        k0 += four * memory[i]
        k1 += four * memory[j]
        k2 += four * memory[k]
        k3 += four * memory[n]
        four += 1.0
        i = n + one
    moment = 4 * ((k0 + k1) + (k2 + k3)) + (m1 + 2 * m2 + 3 * m3)
    slot_sum, token_sum = (b0 + b1) + (b2 + b3), (m0 + m1) + (m2 + m3)
    for q in range(4 * fours, high - low):
        slot_sum += batch[i]
        token_sum += memory[i]
        moment += q * memory[i]
        i += one
    return slot_sum, token_sum, moment


@kernel
def move(
    problem: SaaProblem,
    batch: Floats,
    memory: Floats,
    points: Ints,
    segments: Ints,
    sums: Floats,
    live: Ints,
    factor: float,
) -> None:
    """Take p <- (p - factor * subgradient)+ everywhere.

    Where no column of positive margin stands, a price can only fall: a price of 0 stays 0, so that
    nothing is done on segments whose prices are all 0 and outside the `live` ranges, which grow
    with the segments.
    """
    slots, kv_tokens = problem.slots.reshape(-1), problem.kv_tokens.reshape(-1)
    slot_step, kv_step = factor * problem.slot_factor, factor * problem.kv_factor
    up = 2 * factor / len(points)  # there are two points for each column of the batch
    up_kv = up * problem.mem_scale
    positions = problem.slots.shape[1]
    g = 0
    for q in range(-1, len(points)):  # -1: what stands before the first point
        low = points[q] if q >= 0 else 0
        high = points[q + 1] if q + 1 < len(points) else len(batch)
        count = segments[0, q] if q >= 0 else 0
        while (g + 1) * positions <= low:
            g += 1
        if low < high and count > 0:
            widen(live, g, low, high)
            push(batch, slots, low, high, slot_step, up * count)
            start = up_kv * (segments[1, q] + count * low)
            push_slope(memory, kv_tokens, low, high, kv_step, start, up_kv * count)
        else:
            if q < 0 or sums[3, q] != 0:
                fall(batch, slots, low, high, live, g, positions, slot_step)
            if q < 0 or sums[4, q] != 0:
                fall(memory, kv_tokens, low, high, live, g, positions, kv_step)


@kernel
def widen(live: Ints, g: int, low: int, high: int) -> None:
    """Take coordinates low..high-1 of worker g into its live range."""
    if live[0, g] == live[1, g]:
        live[0, g], live[1, g] = low, high
    live[0, g], live[1, g] = min(live[0, g], low), max(live[1, g], high)


@kernel
def fall(
    prices: Floats,
    residual: Floats,
    low: int,
    high: int,
    live: Ints,
    g: int,
    positions: int,
    step: float,
) -> None:
    """Lower the live prices from `low`, on worker g, to `high` by their scarcity alone."""
    while low < high and g * positions < high:
        i, j = max(low, live[0, g]), min(high, live[1, g])
        if i < j:
            push(prices, residual, i, j, step, 0.0)
        g += 1


@kernel
def push(prices: Floats, residual: Floats, low: int, high: int, step: float, up: float) -> None:
    """Take p <- (p - step * residual + up)+ on coordinates low..high-1."""
    for i in range(np.uint64(low), np.uint64(high)):
        price = prices[i] - step * residual[i] + up
        prices[i] = price if price > 0.0 else 0.0


@kernel
def push_slope(
    prices: Floats, residual: Floats, low: int, high: int, step: float, up: float, slope: float
) -> None:
    """Take p <- (p - step * residual + up + slope * (i - low))+ on coordinates i = low..high-1."""
    first = np.uint64(low)
    for i in range(high - low):
        at = first + np.uint64(i)
        price = prices[at] - step * residual[at] + (up + slope * i)
        prices[at] = price if price > 0.0 else 0.0


@kernel
def squared_length(
    problem: SaaProblem,
    batch: Floats,
    memory: Floats,
    points: Ints,
    segments: Ints,
    live: Ints,
) -> float:
    """Return the squared length of the subgradient, without what the projection would undo."""
    slots, kv_tokens = problem.slots.reshape(-1), problem.kv_tokens.reshape(-1)
    positions = problem.slots.shape[1]
    mean = 1.0 / (len(points) // 2)
    mean_kv = mean * problem.mem_scale
    square = 0.0
    for q in range(-1, len(points)):
        low = points[q] if q >= 0 else 0
        high = points[q + 1] if q + 1 < len(points) else len(batch)
        count = segments[0, q] if q >= 0 else 0
        if low < high and count > 0:
            start = mean_kv * (segments[1, q] + count * low)
            square += squares(batch, slots, low, high, problem.slot_factor, mean * count, 0.0)
            square += squares(
                memory, kv_tokens, low, high, problem.kv_factor, start, mean_kv * count
            )
        elif low < high:
            for g in range(low // positions, (high - 1) // positions + 1):
                i, j = max(low, live[0, g]), min(high, live[1, g])
                if i < j:
                    square += squares(batch, slots, i, j, problem.slot_factor, 0.0, 0.0)
                    square += squares(memory, kv_tokens, i, j, problem.kv_factor, 0.0, 0.0)
    return square


@kernel
def squares(
    prices: Floats, residual: Floats, low: int, high: int, factor: float, used: float, slope: float
) -> float:
    """Sum the squares of the subgradient on coordinates low..high-1 where it would move a price.

    It is factor * residual - used - slope * (i - low) there.
    """
    square = 0.0
    first = np.uint64(low)
    for i in range(high - low):
        at = first + np.uint64(i)
        gradient = factor * residual[at] - used - slope * i
        if prices[at] > 0.0 or gradient < 0.0:
            square += gradient * gradient
    return square
