"""The reward of a start, from its definition: what each of the six weights is multiplied by.

Source: bid-price paper, section 3.1 and appendix A. This is a second opinion on
`olprouting.instances.reward`: nothing here comes from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.certificates.verification import DoesNotHoldError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from olprouting.certificates.reading import Number

NAMES = ("alpha", "beta", "gamma", "sigma", "zeta1", "zeta2")
"""The weights in the order of the terms."""


def weights_of(
    weights: Mapping[str, Any], slo_class: Sequence[str | None]
) -> tuple[tuple[Fraction, ...], ...]:
    """Return the six weights of each request in the order of `NAMES`.

    Parameters
    ----------
    weights
        The six by name, or those of each class by its name.
    slo_class
        The class of each request; None where there are none.

    Raises
    ------
    DoesNotHoldError
        If a request is of no class that has weights, or of one where there are none.
    """
    classes = set(weights) != set(NAMES)
    if not classes:
        weights = {None: weights}  # type: ignore[dict-item]  # the class of those without one
    six = {own: tuple(Fraction(w[name]) for name in NAMES) for own, w in weights.items()}
    for j, own in enumerate(slo_class):
        if own not in six:
            raise DoesNotHoldError(f"slo_class: request {j} is of {own}, which has no weights")
    return tuple(six[own] for own in slo_class)  # type: ignore[index]


@dataclass(frozen=True)
class RewardTerms:
    """What rewards depend on besides the weights.

    Parameters
    ----------
    periods
        T.
    delay
        Periods from a start to the first token.
    end_limit, first_limit
        The largest whole end-to-end latency and time to first token that are rewarded.
    """

    periods: int
    delay: int
    end_limit: int
    first_limit: int

    @classmethod
    def of(
        cls, periods: int, batching: str, t1: Number, t2: Number, *, inclusive: bool
    ) -> RewardTerms:
        """Return the terms with thresholds t1 and t2, themselves rewarded if `inclusive`."""
        end, first = (floor(t) if inclusive else ceil(t) - 1 for t in (t1, t2))
        return cls(periods, 1 if batching == "mixed" else 0, end, first)

    def reward(
        self, weights: Sequence[Fraction], decode: int, arrival: int, start: int
    ) -> Fraction:
        """Return the reward of one start; `weights` in the order of `NAMES`."""
        factors = self.at(decode, arrival, start)
        return sum((w * int(n) for w, n in zip(weights, factors, strict=True)), Fraction(0))

    def at(self, decode: int, arrival: int, start: Any) -> tuple[Any, ...]:
        """Return the factors of `NAMES` for a start at period(s) `start`."""
        first = start + self.delay
        left = self.periods - first + 1
        return (
            np.minimum(decode, left),
            np.maximum(left - decode, 0),
            left,
            1,
            first + decode - arrival <= self.end_limit,
            first - arrival <= self.first_limit,
        )
