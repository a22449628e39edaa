"""Field checks shared by the instance types: every message names the field, value and index."""

from __future__ import annotations

import functools
import math
import os
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError, shown
from olprouting.parameters import MAX_WHOLE, is_real

MAX_EXACT_TOKENS = 2**53
"""A double at or beyond this may be another number rounded: it is refused."""


def token_vector(
    name: str,
    values: npt.ArrayLike,
    *,
    at_least: int,
    length: int | None = None,
    at_most: int = MAX_EXACT_TOKENS,
) -> npt.NDArray[np.int64]:
    """Return `values` as a read-only int64 vector of whole numbers in `at_least`..`at_most`."""
    array = np.atleast_1d(_numbers(name, values, at_most))
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {array.shape}")
    if length is not None and len(array) != length:
        raise InputError(f"{name} must have {length} entries, got {len(array)}")
    if array.dtype.kind == "f":
        fractional = array != np.floor(array)
        if fractional.any():
            row = int(np.argmax(fractional))
            raise InputError(f"{name}[{row}] = {array[row]} must be a whole number of tokens")
    _refuse_below(name, array, at_least)
    return frozen(array.astype(np.int64))


def number_array(
    name: str,
    values: npt.ArrayLike,
    *,
    at_least: float,
    ndim: int,
    at_most: int = MAX_EXACT_TOKENS,
) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
    """Return `values` as a read-only array: int64 where all are whole, else float64.

    Whole numbers up to `at_most` are kept exactly.
    """
    array = _numbers(name, values, at_most)
    if array.size == 0:
        array = array.reshape((0,) * ndim if array.ndim < ndim else array.shape)
    if array.ndim != ndim:
        raise InputError(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    _refuse_below(name, array, at_least)
    whole = array.dtype.kind == "i" or bool((array == np.floor(array)).all())
    return frozen(array.astype(np.int64) if whole else array)


def finite_vector(name: str, values: npt.ArrayLike, length: int) -> npt.NDArray[np.float64]:
    """Return `values` as a read-only float64 vector of finite numbers."""
    array = np.atleast_1d(_numbers(name, values, MAX_EXACT_TOKENS))
    if array.shape != (length,):
        raise InputError(f"{name} must have {length} entries, got shape {array.shape}")
    return frozen(array.astype(np.float64))


def refuse_sum(name: str, array: npt.NDArray[np.int64], at_most: int = MAX_WHOLE) -> None:
    """Raise where whole numbers >= 0 add up to more than `at_most`."""
    if array.sum(dtype=np.float64) < at_most / 2:
        return
    total = sum(array.ravel().tolist())
    if total > at_most:
        raise InputError(f"{name} add up to {total}; the largest sum is {at_most}")


def positive(name: str, value: float, *, zero_allowed: bool = False) -> float:
    """Return `value` if it is a finite number > 0 (or >= 0)."""
    if not is_real(value) or not (value >= 0 if zero_allowed else value > 0):
        given = shown(value.item() if isinstance(value, np.generic) else value)
        raise InputError(f"{name} = {given} must be finite and {'>=' if zero_allowed else '>'} 0")
    return value


def whole(name: str, value: Any, at_least: int, at_most: int = MAX_WHOLE) -> int:
    """Return `value` if it is an integer in `at_least`..`at_most`."""
    integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not integer or value < at_least:
        raise InputError(f"{name} = {shown(value)} must be an integer >= {at_least}")
    if value > at_most:
        raise InputError(f"{name} = {shown(value)} must be at most {at_most}")
    return int(value)


def real(name: str, value: Any, *, none_allowed: bool = False) -> Any:
    """Return `value` if it is a finite number, or None where that may be."""
    if not is_real(value) and not (value is None and none_allowed):
        raise InputError(f"{name} = {shown(value)} must be a finite number")
    return value


def text_field(name: str, value: Any) -> str:
    """Return `value` if it is text."""
    if not isinstance(value, str):
        raise InputError(f"{name} = {shown(value)} must be text")
    return value


def require_memory(what: str, size_bytes: int) -> None:
    """Raise where `what` would need more than half of the memory of this machine."""
    there = _memory_bytes() // 2
    if size_bytes > there:
        needed = f"{size_bytes // 10**9:,}" if size_bytes < 2**63 else "billions of"
        raise InputError(
            f"{what}: would need {needed} GB of memory; at most half of what this machine has "
            f"is taken, {there // 10**9:,} GB"
        )


@functools.cache
def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return 16 * 2**30


def latency_threshold(name: str, value: Any) -> float:
    """Return `value` if it is a number of periods >= 1: nobody can be faster than one period."""
    if not is_real(value) or not 1 <= value < MAX_EXACT_TOKENS:
        raise InputError(
            f"{name} = {shown(value)} must be a finite number of periods >= 1 and below 2^53"
        )
    plain: float = value.item() if isinstance(value, np.generic) else value
    return plain


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return `array` made read-only (a copy if somebody else owns its memory)."""
    if not array.flags.owndata:
        array = array.copy()
    array.flags.writeable = False
    return array


def _numbers(name: str, values: npt.ArrayLike, at_most: int) -> npt.NDArray[Any]:
    """Return an array of numbers as they were given: no whole number becomes a double.

    What is no array yet is looked at entry by entry, because NumPy takes True for 1 and rounds
    integers that stand beside fractions.
    """
    array = _rectangular(name, values)
    if array.dtype.kind in "biufO" and (array.dtype.kind == "O" or not hasattr(values, "dtype")):
        return _from_objects(name, np.asarray(values, dtype=object), at_most)
    if array.dtype.kind not in "iuf":  # text, booleans and complex numbers would convert
        raise InputError(f"{name} must hold numbers, got {shown(array.ravel()[:1].tolist())[1:-1]}")
    if array.dtype.kind == "f":
        bad = ~(np.abs(array) < MAX_EXACT_TOKENS)
        array = array.astype(np.float64)
    else:
        bad = (array > at_most) | (array < -at_most - 1)
    if bad.any():
        index = _first(bad)
        _refuse_large(name, index, array[tuple(index)].item(), at_most)
    return array if array.dtype.kind == "f" else array.astype(np.int64)


def _rectangular(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except OverflowError:  # an integer beyond int64
        return np.asarray(values, dtype=object)
    except ValueError:  # NumPy's word for ragged rows
        raise InputError(f"{name} must be rectangular: its rows have different lengths") from None


def _from_objects(name: str, objects: npt.NDArray[np.object_], at_most: int) -> npt.NDArray[Any]:
    """Return Python's own numbers as int64 where all are whole, else float64."""

    def index(place: int) -> list[int]:
        return [int(axis) for axis in np.unravel_index(place, objects.shape)]

    entries = [one.item() if isinstance(one, np.generic) else one for one in objects.flat]
    if not {int, float}.issuperset(map(type, entries)):
        place = next(k for k, one in enumerate(entries) if type(one) not in (int, float))
        where = f" at {index(place)}" if objects.ndim else ""
        raise InputError(f"{name} must hold numbers, got {shown(entries[place])}{where}")
    exact = [_exactly(one) for one in entries]
    whole = all(type(one) is int for one in exact)
    for place, one in enumerate(exact):
        fits = -at_most <= one + 1 <= at_most + 1 if whole else abs(one) < MAX_EXACT_TOKENS
        if not fits:
            _refuse_large(name, index(place), one, at_most if whole else MAX_EXACT_TOKENS)
    return np.array(exact, np.int64 if whole else np.float64).reshape(objects.shape)


def _exactly(number: int | float) -> int | float:
    """Return a whole double as an integer, where it is surely that one."""
    sure = isinstance(number, float) and abs(number) < MAX_EXACT_TOKENS and number.is_integer()
    return int(number) if sure else number


def _refuse_large(name: str, index: list[int], value: int | float, at_most: int) -> NoReturn:
    limit = f"2^{at_most.bit_length() - 1}" if at_most.bit_count() == 1 else str(at_most)
    expected = f"must be a finite number of at most {limit}"
    if MAX_EXACT_TOKENS == at_most <= abs(value) < math.inf:
        expected += " (below it where it or another is a fraction or written as one)"
    raise InputError(f"{name}{index} = {shown(value)} {expected}")


def _refuse_below(name: str, numbers: npt.NDArray[Any], at_least: float) -> None:
    low = numbers < at_least
    if low.any():
        index = _first(low)
        raise InputError(f"{name}{index} = {numbers[tuple(index)]:g} must be >= {at_least:g}")


def _first(mask: npt.NDArray[np.bool_]) -> list[int]:
    return [int(axis[0]) for axis in np.nonzero(mask)]
