"""Reading JSON without rounding: every number is the decimal that is written."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any, NoReturn

from olprouting.certificates.verification import DoesNotHoldError
from olprouting.errors import InputError

Number = int | Fraction


def read_exact(text: str, source: str) -> dict[str, Any]:
    """Return the JSON object that `text` holds, its numbers as int or Fraction.

    Raises
    ------
    InputError
        If the text is not JSON, not an object, or holds a number that no double can be.
    """
    try:
        document = json.loads(text, parse_float=_decimal, parse_constant=_refuse)
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


def whole_numbers(name: str, values: Any, least: int) -> list[int]:
    """Return a list of whole numbers >= `least`."""
    if not isinstance(values, list) or any(type(value) is not int for value in values):
        raise DoesNotHoldError(f"{name} must be whole numbers")
    if values and min(values) < least:
        raise DoesNotHoldError(f"{name}: {min(values)} is below {least}")
    return values


def written(value: Number) -> str:
    """Return a number as the text that `rational` reads."""
    return str(Fraction(value))


def same_double(claimed: Any, exact: Number) -> bool:
    """Whether a number in a file is `exact`, or the double nearest to it."""
    return rational(claimed) == exact or float(rational(claimed)) == float(exact)


def _decimal(text: str) -> Fraction:
    value = float(text)
    vanished = value == 0 and any(digit in "123456789" for digit in text.lower().split("e")[0])
    if not math.isfinite(value) or vanished:
        raise ValueError(f"{text} is out of range")
    return Fraction(text)


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")
