"""Which request starts where and when: what both searches of hindsight find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Schedule:
    """Where and when each request starts.

    Attributes
    ----------
    worker
        Worker of each request, shape (J,); -1 if it never starts.
    start_period
        Its start in 1..T, shape (J,); -1 likewise.
    """

    worker: Ints
    start_period: Ints

    @property
    def admitted(self) -> int:
        """How many requests start."""
        return int((self.start_period > 0).sum())
