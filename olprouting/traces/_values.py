"""Checks of whole columns as read: a bad value is named by file, row and column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.traces._place import Place

LARGEST = 2**53
"""Largest whole number that a double holds exactly; the Trace type refuses larger ones."""


def whole_numbers(
    place: Place,
    column: str,
    values: npt.NDArray[np.float64],
    *,
    first_row: int,
    at_least: int,
) -> npt.NDArray[np.int64]:
    """Return `values` as int64 if all are whole numbers in [`at_least`, 2^53]."""
    # Comparisons with NaN are false, so one mask of good values catches everything.
    good = (values >= at_least) & (values <= LARGEST) & (values == np.floor(values))
    if not good.all():
        index = int(np.argmin(good))
        raise place.error(
            first_row + index,
            column,
            f"{values[index]:g} must be a whole number from {at_least} to 2^53",
        )
    return values.astype(np.int64)


def times(
    place: Place, column: str, values: npt.NDArray[np.float64], *, first_row: int
) -> npt.NDArray[np.float64]:
    """Return `values` if all are finite and >= 0."""
    good = (values >= 0) & np.isfinite(values)
    if not good.all():
        index = int(np.argmin(good))
        raise place.error(
            first_row + index, column, f"{values[index]:g} must be a finite time >= 0"
        )
    return values
