"""Units in which prices are learned, and how true prices come back.

Rewards are divided by `reward_normalizer`, KV tokens are multiplied by `mem_scale`, in the columns
and in the memory entries of d alike; d is not divided by the normalizer. Then f in these units is f
divided by the normalizer, and with its minimiser (p_bat, p_mem) the true prices are

    reward_normalizer * p_bat    and    reward_normalizer * mem_scale * p_mem.

The paper also clips normalised rewards at 1. That makes rewards above the normalizer equal, so that
the weights lose their say; it is an option here, counted, and warned of.

Source: bid-price paper, appendix B.2; the true prices are ours.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from olprouting.errors import InputError
from olprouting.instances._checks import positive

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


class ClippedRewardsWarning(UserWarning):
    """More than half of the rewards are clipped: they are all the same to the prices."""


@dataclass(frozen=True)
class Scaling:
    """Units of rewards and KV tokens.

    Parameters
    ----------
    reward_normalizer
        What counts as a reward of 1, > 0.
    mem_scale
        What a KV token weighs, > 0.
    clip
        Whether normalised rewards above 1 become 1 (paper).

    Raises
    ------
    InputError
        If a number is out of range.
    """

    reward_normalizer: float = 1.0
    mem_scale: float = 1.0
    clip: bool = False

    def __post_init__(self) -> None:
        for name in ("reward_normalizer", "mem_scale"):
            object.__setattr__(self, name, float(positive(name, getattr(self, name))))

    @classmethod
    def for_capacity(cls, kv_tokens: npt.ArrayLike, *, factor: float = 1.0, **changes: Any) -> Self:
        """Return a scaling with mem_scale = factor / (largest KV capacity).

        Raises
        ------
        InputError
            If no worker has KV capacity.
        """
        largest = float(np.max(np.asarray(kv_tokens), initial=0))
        if largest <= 0:
            raise InputError("kv_tokens: no worker has KV capacity")
        return cls(mem_scale=factor / largest, **changes)

    @property
    def reward_ceiling(self) -> float:
        """The largest normalised reward."""
        return 1.0 if self.clip else np.inf

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, checked again."""
        return replace(self, **changes)

    def true_prices(self, batch: Floats, memory: Floats) -> tuple[Floats, Floats]:
        """Return prices in reward per slot and per KV token."""
        return self.reward_normalizer * batch, self.reward_normalizer * self.mem_scale * memory

    def scaled_prices(self, batch: Floats, memory: Floats) -> tuple[Floats, Floats]:
        """Return true prices in these units."""
        return batch / self.reward_normalizer, memory / (self.reward_normalizer * self.mem_scale)

    def clipped(self, rewards: Floats) -> int:
        """Return how many rewards are clipped."""
        return int((rewards > self.reward_normalizer).sum()) if self.clip else 0

    def warn_if_moot(self, clipped: int, of: int) -> bool:
        """Warn, and return True, if more than half of the rewards are clipped."""
        if 2 * clipped <= of:
            return False
        message = (
            f"{clipped} of {of} rewards exceed reward_normalizer = {self.reward_normalizer:g} and "
            "are clipped, so that their weights hardly matter; choose a larger reward_normalizer, "
            "the automatic one, or clip=False"
        )
        warnings.warn(message, ClippedRewardsWarning, stacklevel=3)
        return True


def automatic_normalizer(rewards: Floats, quantile: float = 0.9, recent: int = 512) -> float:
    """Return a quantile of the last `recent` rewards, or 1 where it is not positive.

    Parameters
    ----------
    rewards
        Rewards in the order in which they were seen, shape (N,).
    quantile
        In [0, 1].
    recent
        How many of the last rewards to look at, >= 1.

    Raises
    ------
    InputError
        If an option is out of range.
    """
    if not 0 <= quantile <= 1:
        raise InputError(f"quantile = {quantile} must be between 0 and 1")
    if recent < 1:
        raise InputError(f"recent = {recent} must be >= 1")
    if len(rewards) == 0:
        return 1.0
    value = float(np.quantile(rewards[-recent:], quantile))
    return value if value > 0 else 1.0
