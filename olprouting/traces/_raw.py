"""What every format reader returns: checked columns in file order, before any decision."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.errors import InputError
from olprouting.traces._keys import together

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from olprouting.traces._place import Place

TICKS_PER_S = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""Units a numeric time column may have."""

COLUMNS = (
    *("arrival_ticks", "release_iteration", "prompt_tokens", "decode_tokens", "key"),
    "slo_class",
)
"""The columns of a RawTrace."""


@dataclass
class RawTrace:
    """Columns of a trace file in file order; row i of the file is index i - 1.

    Parameters
    ----------
    place
        Names rows in messages.
    prompt_tokens, decode_tokens
        Token counts, shape (N,), which may still hold 0.
    arrival_ticks
        Arrival times in ticks since any origin, int64 or float64, any order; None if absent.
    ticks_per_s
        Ticks of `arrival_ticks` in one second.
    clock
        What the times are, for the notices; parts of one trace must agree in it.
    guessed_unit
        The unit, where neither file nor caller states it and the format's custom was followed.
    keeps_clock
        Whether the times already count from the start of the trace and must stay as they are.
    release_iteration
        As in Trace.
    key
        Class of each request: int64, or ids of any kind (text, large numbers, None for unknown).
    slo_class
        As in Trace.
    notices
        What the reader noticed, one sentence each.
    odd_rows
        How many rows are odd in some way, by the words for it.
    """

    place: Place
    prompt_tokens: npt.NDArray[np.int64]
    decode_tokens: npt.NDArray[np.int64]
    arrival_ticks: npt.NDArray[Any] | None = None
    ticks_per_s: int = 1
    clock: str | None = None
    guessed_unit: str | None = None
    keeps_clock: bool = False
    release_iteration: npt.NDArray[np.int64] | None = None
    key: npt.NDArray[Any] | None = None
    slo_class: npt.NDArray[np.str_] | None = None
    notices: list[str] = field(default_factory=list)
    odd_rows: Counter[str] = field(default_factory=Counter)

    def __len__(self) -> int:
        return len(self.prompt_tokens)


def joined(parts: Sequence[RawTrace]) -> RawTrace:
    """Return the parts of a trace as one, in their order.

    Raises
    ------
    InputError
        If they differ in what they hold.
    """
    first, *others = parts
    if not others:
        return first
    for other in others:
        _refuse_unlike(first, other)
    columns: dict[str, Any] = {}
    for column in COLUMNS:
        values = [getattr(part, column) for part in parts]
        columns[column] = None if values[0] is None else np.concatenate(values)
    if columns["key"] is not None:
        columns["key"] = together([part.key for part in parts if part.key is not None])
    return RawTrace(
        place=first.place,
        **columns,
        ticks_per_s=first.ticks_per_s,
        clock=first.clock,
        guessed_unit=first.guessed_unit,
        keeps_clock=first.keeps_clock,
        notices=list(dict.fromkeys(notice for part in parts for notice in part.notices)),
        odd_rows=sum((part.odd_rows for part in parts), Counter()),
    )


def _refuse_unlike(first: RawTrace, other: RawTrace) -> None:
    for column in COLUMNS:
        if (getattr(first, column) is None) != (getattr(other, column) is None):
            raise InputError(
                f"{first.place.file} and {other.place.file}: only one of them has "
                f"{column.removesuffix('_ticks')}; parts of one trace must be alike"
            )
    if (first.ticks_per_s, first.clock) != (other.ticks_per_s, other.clock):
        raise InputError(
            f"{first.place.file} and {other.place.file}: {first.clock or 'times in s'}, but "
            f"{other.clock or 'times in s'}; parts of one trace must be alike"
        )
