"""Reading JSON without rounding: every number is the decimal that is written."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any, NoReturn

from olprouting.certificates.verification import DoesNotHoldError
from olprouting.errors import InputError

Number = int | Fraction

MOST = 2**53
"""Doubles hold all whole numbers up to this one."""


def read_exact(text: str, source: str) -> dict[str, Any]:
    """Return the JSON object that `text` holds, its numbers as int or Fraction.

    Raises
    ------
    InputError
        If the text is not JSON, not an object, gives a field twice, or holds a number that no
        double can be.
    """
    try:
        document = json.loads(
            text, parse_float=_decimal, parse_constant=_refuse, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"{source}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: not usable as JSON ({error})") from None
    if not isinstance(document, dict):
        raise InputError(f"{source}: expected a JSON object, found {type(document).__name__}")
    return document


def rational(value: Any) -> Number:
    """Return a number of an exact document; text such as ``"3/7"`` is a fraction.

    Raises
    ------
    ValueError
        If it is no number.
    """
    if isinstance(value, str):
        return Fraction(value)
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise ValueError(f"{value!r} is not a number")
    return value


def whole_numbers(name: str, values: list[int], least: int, most: int = MOST) -> list[int]:
    """Return whole numbers in `least`..`most`."""
    if values and min(values) < least:
        raise DoesNotHoldError(f"{name}: {min(values)} is below {least}")
    if values and max(values) > most:
        raise DoesNotHoldError(f"{name}: {max(values)} is above {most}")
    return values


def written(value: Number) -> str:
    """Return a number as the text that `rational` reads.

    Raises
    ------
    ValueError
        If that has more than 4,300 digits.
    """
    return str(Fraction(value))


def said(value: Number) -> str:
    """Return a number as `written` does; one of too many digits as a double, marked as rounded."""
    try:
        return written(value)
    except ValueError:  # Python writes no integers of more than 4,300 digits
        return f"{float(value)!r} (rounded)"


def same_double(claimed: Any, exact: Number) -> bool:
    """Whether a number in a file is `exact`, or the double nearest to it.

    A whole number beyond 2^53 that is written with all its digits is meant to be exact.
    """
    number = rational(claimed)
    if isinstance(number, int) and abs(number) > MOST:
        return number == exact
    return number == exact or float(number) == float(exact)


def _decimal(text: str) -> Fraction:
    value = float(text)
    vanished = value == 0 and any(digit in "123456789" for digit in text.lower().split("e")[0])
    if not math.isfinite(value) or vanished:
        raise ValueError(f"{text} is out of range")
    return Fraction(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice!r} is given twice")
    return fields


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")
