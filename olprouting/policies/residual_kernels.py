"""Compiled room that residents leave on their workers in the periods to come."""

from __future__ import annotations

import numpy as np

from olprouting.compiling import Ints, compiled


@compiled
def residuals(
    slots: Ints,
    kv_tokens: Ints,
    resident_worker: Ints,
    resident_prompt_tokens: Ints,
    resident_age: Ints,
    resident_remaining: Ints,
    resident_reserved_tokens: Ints,
    periods: int,
    age_offset: int,
    block_tokens: int,
) -> tuple[Ints, Ints, int]:
    """Return free slots and KV tokens per worker and period, and how many were negative.

    Parameters
    ----------
    slots, kv_tokens
        Limits of the workers, shape (G,).
    resident_worker, resident_prompt_tokens, resident_age, resident_remaining
        Residents, shape (R,): where they are, their prompt, the age they have in the first of the
        periods, and in how many periods, that one included, they are forecast to be active.
    resident_reserved_tokens
        KV tokens that they are charged at least, shape (R,).
    periods
        How many periods to look at, the current one first.
    age_offset, block_tokens
        A resident of age theta is charged max(prompt + theta + age_offset, reserved), rounded up
        to whole blocks.

    Returns
    -------
    tuple
        Slots and KV tokens, shape (G, periods), at least 0, and how many entries were below 0.
    """
    free_slots = np.empty((len(slots), periods), np.int64)
    free_tokens = np.empty((len(slots), periods), np.int64)
    for g in range(len(slots)):
        free_slots[g] = slots[g]
        free_tokens[g] = kv_tokens[g]
    for i in range(len(resident_worker)):
        g = resident_worker[i]
        held = resident_prompt_tokens[i] + resident_age[i] + age_offset
        for k in range(min(resident_remaining[i], periods)):
            charged = max(held + k, resident_reserved_tokens[i])
            free_slots[g, k] -= 1
            free_tokens[g, k] -= (charged + block_tokens - 1) // block_tokens * block_tokens
    clipped = 0
    for g in range(len(slots)):
        for k in range(periods):
            clipped += (free_slots[g, k] < 0) + (free_tokens[g, k] < 0)
            free_slots[g, k] = max(0, free_slots[g, k])
            free_tokens[g, k] = max(0, free_tokens[g, k])
    return free_slots, free_tokens, clipped
