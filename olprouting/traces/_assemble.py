"""From raw columns to a Trace: zero outputs, order, window, clock; every change is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from olprouting.errors import InputError, unknown_name
from olprouting.instances.trace import Trace
from olprouting.traces._keys import ALONE, NUMBERED, numbered
from olprouting.traces._raw import COLUMNS, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from olprouting.traces._raw import RawTrace

ZeroOutput = Literal["drop", "keep", "error"]

_EPOCH_FROM_S = 10 * 365.25 * 86400
"""A first arrival ten years after the start can only be an epoch clock."""

_USUAL_PER_S = 10
"""Traces with a time unit that must be guessed have fewer arrivals than that per second."""


@dataclass(frozen=True)
class Window:
    """The part of a trace to read, in seconds after its first arrival."""

    start_s: float = 0.0
    duration_s: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.start_s < float("inf"):
            raise InputError(f"start_s = {self.start_s} must be finite and >= 0")
        if self.duration_s is not None and not self.duration_s > 0:
            raise InputError(f"duration_s = {self.duration_s} must be > 0")

    @property
    def is_all(self) -> bool:
        """Whether nothing is cut off."""
        return self.start_s == 0 and self.duration_s is None


def assemble(
    parts: Sequence[RawTrace], name: str, zero_output: ZeroOutput, window: Window
) -> Trace:
    """Turn raw columns into a Trace; see read_trace for what happens and is noted."""
    for part in parts:
        _check_outputs(part, zero_output)
    raw = joined(parts)
    _tell_what_is_odd(raw)
    _drop(raw, raw.prompt_tokens == 0, "0 prompt tokens")
    _settle_zero_outputs(raw, zero_output)
    _sort(raw)
    _cut(raw, window)
    if not len(raw):
        raise InputError(f"{raw.place.file} holds no requests" + _because(raw.notices))
    arrival_s = _seconds(raw)
    key = _keys(raw)
    return Trace(
        prompt_tokens=raw.prompt_tokens,
        decode_tokens=raw.decode_tokens,
        arrival_s=arrival_s,
        release_iteration=raw.release_iteration,
        key=key,
        slo_class=raw.slo_class,
        name=name,
        notices=tuple(raw.notices),
    )


def _because(notices: list[str]) -> str:
    return f" ({'; '.join(notices)})" if notices else ""


def _take(raw: RawTrace, rows: npt.NDArray[Any]) -> None:
    for column in COLUMNS:
        values = getattr(raw, column)
        if values is not None:
            setattr(raw, column, values[rows])


def _tell_what_is_odd(raw: RawTrace) -> None:
    counts = [f"{rows} of {len(raw)} rows {words}" for words, rows in raw.odd_rows.items() if rows]
    raw.notices = [*filter(None, [raw.clock]), *raw.notices, *counts]


def _drop(raw: RawTrace, rows: npt.NDArray[np.bool_], reason: str) -> None:
    count, total = int(rows.sum()), len(rows)
    if count:
        _take(raw, ~rows)
        raw.notices.append(f"{count} of {total} rows dropped: {reason}")


def _check_outputs(raw: RawTrace, zero_output: ZeroOutput) -> None:
    if zero_output not in ("drop", "keep", "error"):
        raise unknown_name("zero_output", zero_output, ("drop", "keep", "error"))
    zero = raw.decode_tokens == 0
    if zero_output == "error" and zero.any():
        raise raw.place.row_error(
            int(np.argmax(zero)) + 1,
            f"0 generated tokens ({int(zero.sum())} such rows); "
            "choose zero_output 'drop' or 'keep'",
        )


def _settle_zero_outputs(raw: RawTrace, zero_output: ZeroOutput) -> None:
    zero = raw.decode_tokens == 0
    if zero_output == "drop":
        _drop(raw, zero, "0 generated tokens")
    elif zero.any():
        raw.decode_tokens = np.maximum(raw.decode_tokens, 1)
        raw.notices.append(
            f"{int(zero.sum())} of {len(raw)} rows with 0 generated tokens kept as 1 token"
        )


def _sort(raw: RawTrace) -> None:
    """Sort stably by arrival, then release; rows of equal time keep their file order."""
    clocks = [c for c in (raw.arrival_ticks, raw.release_iteration) if c is not None]
    late = np.zeros(len(raw), dtype=bool)
    for clock in clocks:
        late |= clock < np.maximum.accumulate(clock)
    if not late.any():
        return
    _take(raw, np.lexsort(clocks[::-1]))
    word = "release" if raw.arrival_ticks is None else "arrival"
    raw.notices.append(f"rows sorted by {word} ({int(late.sum())} were out of order)")


def _cut(raw: RawTrace, window: Window) -> None:
    if window.is_all:
        return
    if raw.arrival_ticks is None:
        raise InputError(f"no arrival times in {raw.place.file}: a time window cannot be cut")
    if not len(raw.arrival_ticks):
        return
    since_first_s = (raw.arrival_ticks - raw.arrival_ticks[0]) / raw.ticks_per_s
    end_s = float("inf") if window.duration_s is None else window.start_s + window.duration_s
    inside = (since_first_s >= window.start_s) & (since_first_s < end_s)
    _take(raw, inside)
    raw.keeps_clock = False
    raw.notices.append(
        f"window from {window.start_s:g} s to {end_s:g} s: "
        f"{int(inside.sum())} of {len(inside)} requests kept"
    )


def _seconds(raw: RawTrace) -> npt.NDArray[np.float64] | None:
    ticks = raw.arrival_ticks
    if ticks is None:
        return None
    _doubt_unit(raw, ticks)
    first_s = float(ticks[0]) / raw.ticks_per_s
    if raw.keeps_clock and first_s < _EPOCH_FROM_S:
        return np.asarray(ticks / raw.ticks_per_s)
    if first_s:
        raw.notices.append("times rebased: the first arrival is 0 s")
    # Subtracting in ticks first keeps every digit; rounding to a nanosecond then removes the
    # decimal noise some exporters write (5.8926549999999995).
    return np.asarray(np.round((ticks - ticks[0]) / raw.ticks_per_s, 9))


def _doubt_unit(raw: RawTrace, ticks: npt.NDArray[Any]) -> None:
    """Say so where a unit that nobody stated makes the times look like another's."""
    unit = raw.guessed_unit
    if unit in (None, "s"):
        return
    span_s = float(ticks[-1] - ticks[0]) / raw.ticks_per_s
    if (ticks != np.floor(ticks)).any():
        raw.notices.append(f"some timestamps have fractions of {unit}; is time_unit 's' meant?")
    elif span_s and len(ticks) > _USUAL_PER_S * span_s:
        raw.notices.append(
            f"timestamps as {unit} make {len(ticks)} requests in {span_s:g} s; "
            f"is time_unit 's' meant? (say which by columns: unit=s or unit={unit})"
        )


def _keys(raw: RawTrace) -> npt.NDArray[np.int64] | None:
    if raw.key is None:
        return None
    keys, renamed, unknown = numbered(raw.key)
    if renamed:
        raw.notices.append(NUMBERED)
    if unknown:
        raw.notices.append(f"{unknown} of {len(raw)} rows {ALONE}")
    return keys
