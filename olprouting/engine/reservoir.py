"""A uniform sample of a stream whose length is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

Item = TypeVar("Item")


class Reservoir(Generic[Item]):
    """Reservoir sampling: after n offers each of them is kept with the same probability.

    Parameters
    ----------
    size
        How many items to keep, >= 1; None keeps all.
    rng
        Source of the draws: one per offer once the sample is full.

    Attributes
    ----------
    offered
        How many items were offered.
    """

    def __init__(self, size: int | None, rng: np.random.Generator) -> None:
        self.size = size
        self.offered = 0
        self._rng = rng
        self._places: list[int] = []
        self._kept: dict[int, Item] = {}

    def offer(self, make: Callable[[], Item]) -> None:
        """Offer the next item; `make` is called only if it is kept."""
        number = self.offered
        self.offered += 1
        if self.size is None or number < self.size:
            self._places.append(number)
        else:
            place = int(self._rng.integers(number + 1))
            if place >= self.size:
                return
            del self._kept[self._places[place]]
            self._places[place] = number
        self._kept[number] = make()

    @property
    def items(self) -> tuple[Item, ...]:
        """The sample, in the order of the offers."""
        return tuple(self._kept[number] for number in sorted(self._kept))
