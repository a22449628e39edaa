"""Chernoff bounds: a window of loads outside of which almost nothing lies, with proof."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize_scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from olprouting.theory.prompt_law import PromptLaw

SLACK = 1 + 1e-6
"""Covers the rounding of exponents, which are at most some thousands and accurate to 1e-12."""


@dataclass(frozen=True)
class Window:
    """Loads first .. first + size - 1, and bounds on what lies outside.

    Parameters
    ----------
    first, size
        Lowest load in tokens, and how many; `size` is a power of two.
    mass
        Bound on P(Z outside the window).
    above_tokens, below_tokens
        Bounds on the sums of P(Z > z) over z above it, and of P(Z <= z) over z below it.
    """

    first: int
    size: int
    mass: float
    above_tokens: float
    below_tokens: float


def window(law: PromptLaw, p: float, slots: int, tail_mass: float) -> Window:
    """Return a window that the sum Z of `slots` copies of U = S + A* leaves hardly ever.

    P(Z >= z) <= exp(B K(t) - t z) for every 0 < t < -log q, with K the cumulant function of U;
    P(Z <= z) <= exp(B K(-t) + t z) for every t > 0. Each holds for whatever t the search ends at,
    so the bounds do not depend on the search having found the best.

    Parameters
    ----------
    tail_mass
        Aim at no more than this on either side.
    """
    log_mass = math.log(tail_mass)
    spread = math.sqrt(slots * (law.variance_tokens2 + (1 - p) / p**2))
    limit = -math.log1p(-p)

    t = _best(
        lambda t: (slots * _cumulant(law, p, t) - log_mass) / t,
        1e-3 * min(1 / spread, limit),
        limit * (1 - 1e-9),
    )
    grown = slots * _cumulant(law, p, t)
    end = math.ceil((grown - log_mass) / t) + 1

    first, below, below_mass = slots * law.smallest_tokens, 0.0, 0.0
    u = _best(lambda u: (slots * _cumulant(law, p, -u) - log_mass) / u, 1e-3 / spread, 1e3 / spread)
    shrunk = slots * _cumulant(law, p, -u)
    low = math.floor((log_mass - shrunk) / u)
    if low > first:
        first = low
        below_mass = SLACK * math.exp(shrunk + u * (first - 1))
        below = below_mass / -math.expm1(-u)

    size = 1 << max(1, (end - first - 1).bit_length())
    above_mass = SLACK * math.exp(grown - t * (first + size))
    above = above_mass / math.expm1(t)
    return Window(first, size, above_mass + below_mass, above, below)


def _cumulant(law: PromptLaw, p: float, t: float) -> float:
    exponent = t * law.size_tokens
    top = float(exponent.max())
    prompt = top + math.log(float(law.probability @ np.exp(exponent - top)))
    return prompt + math.log(p) - math.log(-math.expm1(math.log1p(-p) + t))


def _best(value: Callable[[float], float], low: float, high: float) -> float:
    """Return a t of small value, searched on a log scale (the values are unimodal in t)."""
    found = minimize_scalar(
        lambda x: value(math.exp(x)), bounds=(math.log(low), math.log(high)), method="bounded"
    )
    return math.exp(float(found.x))
