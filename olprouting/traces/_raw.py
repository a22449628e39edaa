"""What every format reader returns: checked columns in file order, before any decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from olprouting.traces._place import Place

TICKS_PER_S = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""Units a numeric time column may have."""


@dataclass
class RawTrace:
    """Columns of a trace file in file order; row i of the file is index i - 1.

    Parameters
    ----------
    place
        Names rows in messages.
    prompt_tokens, decode_tokens
        Token counts, shape (N,); decode_tokens may still hold 0.
    arrival_ticks
        Arrival times in ticks since any origin, int64 or float64, any order; None if absent.
    ticks_per_s
        Ticks of `arrival_ticks` in one second.
    keeps_clock
        Whether the times already count from the start of the trace and must stay as they are.
    release_iteration, key
        As in Trace.
    notices
        What the reader noticed, one sentence each.
    """

    place: Place
    prompt_tokens: npt.NDArray[np.int64]
    decode_tokens: npt.NDArray[np.int64]
    arrival_ticks: npt.NDArray[Any] | None = None
    ticks_per_s: int = 1
    keeps_clock: bool = False
    release_iteration: npt.NDArray[np.int64] | None = None
    key: npt.NDArray[np.int64] | None = None
    notices: list[str] = field(default_factory=list)
