"""Numbers by which compiled code knows a rule and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RANDOM: Final = 0
ROUND_ROBIN: Final = 1
POWER_OF_TWO: Final = 2
JSQ: Final = 3
LEAST_LOAD: Final = 4
BALANCE_ROUTE: Final = 5


class RuleParameters(NamedTuple):
    """A compiled rule with its options, as compiled code takes them.

    Attributes
    ----------
    rule
        One of the constants of this module.
    random_ties
        Whether ties between workers are broken at random rather than by index.
    overflow_penalty
        beta of the score; G for BR-0.
    offset_weights
        gamma^h for h = 0..H, shape (H+1,), float64.
    growing
        1 if candidates grow by a token per offset in the score, 0 if frozen.
    window
        R_max, how many requests from the head of the queue Stage 2 looks at.
    greedy_slots
        S_greedy: Stage 1 works while more slots than this are free.
    enumerate_subsets
        Whether Stage 2 enumerates subsets rather than searching reachable totals.
    """

    rule: int
    random_ties: bool
    overflow_penalty: float
    offset_weights: npt.NDArray[np.float64]
    growing: int
    window: int
    greedy_slots: int
    enumerate_subsets: bool
