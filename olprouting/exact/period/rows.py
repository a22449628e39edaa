"""Which capacity rows of a device can bind.

While no request ends, what new requests use does not fall: their number stays, and each grows by
one token per period. So among consecutive periods without an end, the last has the largest use;
if the residual capacity does not rise in between, it also has the smallest residual, and its row
implies the others. That leaves, of each device's slots and of its tokens,

* the last active period of a waiting request (after it the use may fall), and
* a period after which the residual rises (a resident has ended, or capacity varies by itself).

Periods after the last end of all have no use, hence no row. The reduction is exact for the LP and
for the integer program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]


def binding_rows(residual: Ints, last_active: Ints) -> Ints:
    """Return the offsets of the rows that can bind, ascending.

    Parameters
    ----------
    residual
        One device's residual slots or tokens in each remaining period, shape (T-k+1,).
    last_active
        Offset of each waiting request's last active period if started now, shape (J,).
    """
    if len(last_active) == 0:
        return np.zeros(0, dtype=np.int64)
    kept = np.zeros(len(residual), dtype=np.bool_)
    kept[:-1] = residual[1:] > residual[:-1]
    kept[last_active] = True
    kept[last_active.max() + 1 :] = False
    return np.flatnonzero(kept)


def all_rows(residual: Ints, last_active: Ints) -> Ints:
    """Return the offsets of all rows: the program as written."""
    del last_active
    return np.arange(len(residual))
