"""The level bound in exact arithmetic.

With gamma < 1 values are sums of doubles, and an incumbent that meets a root bound does so only up
to rounding. The level bound has whole peaks behind it, so its value is a rational number that can
be computed; for the charged relaxation see `slackness`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.exact.check import discount_numerators

if TYPE_CHECKING:
    from olprouting.compiling import Ints
    from olprouting.exact.native.prepare import Prepared


def exact_level_bound(prepared: Prepared) -> Fraction:
    """Return the bound of ``_level_bound`` at the root, exactly, as an objective in tokens.

    All requests are admitted: at each offset the workers are filled up to a level, as far as their
    slots allow, one of them gets the largest request, and the q largest are on q workers or two of
    them on one.
    """
    p = prepared.problem
    loads = p.loads.astype(np.int64)
    offsets = np.arange(loads.shape[1])
    tokens = int((p.sizes * p.supply).sum())
    grown = int(p.growth)
    amount = tokens + grown * offsets * p.admissions
    descending = np.repeat(p.sizes, p.supply).astype(np.int64)[::-1]
    slots = np.minimum(p.slots, p.admissions)
    caps = np.append(0, np.cumsum(descending))[slots][:, None] + grown * offsets * slots[:, None]
    low, high = loads.min(axis=0), (loads + caps).max(axis=0)
    while (low < high).any():
        middle = (low + high) // 2
        enough = np.clip(middle - loads, 0, caps).sum(axis=0) >= amount
        low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
    level = np.maximum(low, p.floor.astype(np.int64))
    ordered = np.sort(loads, axis=0)
    largest = descending[: len(loads), None] + grown * offsets
    spread = np.maximum.accumulate(ordered[: len(largest)] + largest, axis=0)
    pairs = ordered[0] + largest[:-1] + largest[1:]
    level = np.maximum(level, np.minimum(spread[1:], pairs).max(axis=0, initial=0))
    with_largest = loads + largest[0]
    values = [_value(prepared, np.maximum(level, own), tokens) for own in with_largest]
    return min(values)


def _value(prepared: Prepared, peaks: Ints, total: int) -> Fraction:
    decision = prepared.decision
    numerators, scale = discount_numerators(decision.gamma, decision.horizon)
    columns: list[Any] = (decision.workers * peaks - total).tolist()
    raised = Fraction(sum(map(int.__mul__, numerators, columns)), scale)
    return (raised + prepared.offset) / prepared.unit
