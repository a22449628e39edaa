"""Field checks shared by the instance types: every message names the field, value and index."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError

MAX_EXACT_TOKENS = 2**53
"""Largest token count that a double holds exactly; larger numbers are refused."""


def token_vector(
    name: str, values: npt.ArrayLike, *, at_least: int, length: int | None = None
) -> npt.NDArray[np.int64]:
    """Return `values` as a read-only int64 vector of whole numbers >= `at_least`."""
    array = np.atleast_1d(_rectangular(name, values))
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {array.shape}")
    if length is not None and len(array) != length:
        raise InputError(f"{name} must have {length} entries, got {len(array)}")
    numbers = _as_finite(name, array)
    fractional = numbers != np.floor(numbers)
    if fractional.any():
        row = int(np.argmax(fractional))
        raise InputError(f"{name}[{row}] = {array[row]} must be a whole number of tokens")
    _refuse_below(name, numbers, at_least)
    return frozen(array.astype(np.int64))


def number_array(
    name: str, values: npt.ArrayLike, *, at_least: float, ndim: int
) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
    """Return `values` as a read-only array: int64 where all are whole, else float64."""
    array = _rectangular(name, values)
    if array.size == 0:
        array = array.reshape((0,) * ndim if array.ndim < ndim else array.shape)
    if array.ndim != ndim:
        raise InputError(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    numbers = _as_finite(name, array)
    _refuse_below(name, numbers, at_least)
    whole = bool((numbers == np.floor(numbers)).all())
    return frozen(array.astype(np.int64) if whole else numbers)


def finite_vector(name: str, values: npt.ArrayLike, length: int) -> npt.NDArray[np.float64]:
    """Return `values` as a read-only float64 vector of finite numbers."""
    array = np.atleast_1d(_rectangular(name, values))
    if array.shape != (length,):
        raise InputError(f"{name} must have {length} entries, got shape {array.shape}")
    return frozen(_as_finite(name, array))


def positive(name: str, value: float, *, zero_allowed: bool = False) -> float:
    """Return `value` if it is a finite number > 0 (or >= 0)."""
    try:
        fits = (value >= 0 if zero_allowed else value > 0) and math.isfinite(value)
    except TypeError:
        fits = False
    if not fits:
        raise InputError(f"{name} = {value} must be finite and {'>=' if zero_allowed else '>'} 0")
    return value


def whole(name: str, value: Any, at_least: int) -> int:
    """Return `value` if it is an integer >= `at_least`."""
    integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not integer or value < at_least:
        raise InputError(f"{name} = {value!r} must be an integer >= {at_least}")
    return int(value)


def latency_threshold(name: str, value: Any) -> float:
    """Return `value` if it is a number of periods >= 1: nobody can be faster than one period."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 1 <= value < np.inf:
        raise InputError(f"{name} = {value!r} must be a finite number of periods >= 1")
    plain: float = value.item() if isinstance(value, np.generic) else value
    return plain


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return `array` made read-only (a copy if somebody else owns its memory)."""
    if not array.flags.owndata:
        array = array.copy()
    array.flags.writeable = False
    return array


def _rectangular(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:  # NumPy's word for ragged rows
        raise InputError(f"{name} must be rectangular: its rows have different lengths") from None


def _as_finite(name: str, array: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    try:
        if array.dtype.kind not in "iufO":  # text, booleans and complex numbers would convert
            raise TypeError
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers, got {array.ravel()[0]!r}") from None
    bad = ~np.isfinite(numbers) | (np.abs(numbers) > MAX_EXACT_TOKENS)
    if bad.any():
        index = _first(bad)
        raise InputError(
            f"{name}{index} = {numbers[tuple(index)]} must be a finite number of at most 2^53"
        )
    return numbers


def _refuse_below(name: str, numbers: npt.NDArray[np.float64], at_least: float) -> None:
    low = numbers < at_least
    if low.any():
        index = _first(low)
        raise InputError(f"{name}{index} = {numbers[tuple(index)]:g} must be >= {at_least:g}")


def _first(mask: npt.NDArray[np.bool_]) -> list[int]:
    return [int(axis[0]) for axis in np.nonzero(mask)]
