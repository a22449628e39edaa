"""The values of a grid: lists and ranges, and the points they span."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from olprouting.errors import InputError, shown, unknown_name
from olprouting.instances._checks import positive
from olprouting.parameters import is_real

if TYPE_CHECKING:
    from olprouting.parameters import Parameter

RANGE_KEYS: Final = ("from", "to", "by", "steps", "scale")
MOST_VALUES: Final = 100_000
"""Values of one parameter: more is a slip in a range."""


def values_of(parameter: Parameter, given: Any) -> tuple[Any, ...]:
    """Return the values of one parameter of a grid.

    Parameters
    ----------
    parameter
        Which.
    given
        A list, or a range with both ends: ``{from, to, by}``, ``{from, to, steps}``, the latter
        also with ``scale = "log"``.

    Raises
    ------
    InputError
        If there is no value, a value comes twice, or a type does not fit.
    """
    name = parameter.name
    if isinstance(given, Mapping):
        listed = _range(name, given)
    elif isinstance(given, list):
        listed = given
    else:
        raise InputError(
            f"{name} = {shown(given)} must be a list or a range such as {{from, to, by}}"
        )
    if not listed:
        raise InputError(f"{name} has no values: the grid is empty")
    values = tuple(parameter.typed(value) for value in listed)
    seen = set()
    for value in values:
        if value in seen:
            raise InputError(f"{name} has the value {value!r} twice: its cells would be duplicates")
        seen.add(value)
    return values


def _range(name: str, given: Mapping[str, Any]) -> list[Any]:
    for key in given:
        if key not in RANGE_KEYS:
            raise unknown_name(f"key of the range {name}", key, RANGE_KEYS)
    ends = [given.get("from"), given.get("to")]
    if not all(map(is_real, ends)):
        raise InputError(f"{name}: a range needs finite numbers for from and to")
    if ("by" in given) == ("steps" in given):
        raise InputError(f"{name}: a range needs either by or steps")
    logarithmic = _logarithmic(name, given)
    low, high = (Fraction(str(end)) for end in ends)
    if "by" in given:
        step = Fraction(str(positive(f"{name}: by", given["by"])))
        number = math.floor((high - low) / step) + 1
        _refuse_many(name, number)
        points = [low + k * step for k in range(number)]
    else:
        points = _steps(name, low, high, given["steps"], logarithmic=logarithmic)
    return [int(point) if point.denominator == 1 else float(point) for point in points]


def _logarithmic(name: str, given: Mapping[str, Any]) -> bool:
    scale = given.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise unknown_name(f"scale of the range {name}", str(scale), ("linear", "log"))
    if scale == "log" and not ("steps" in given and given["from"] > 0 and given["to"] > 0):
        raise InputError(f"{name}: a range with scale 'log' needs steps, and ends > 0")
    return bool(scale == "log")


def _steps(
    name: str, low: Fraction, high: Fraction, steps: Any, *, logarithmic: bool
) -> list[Fraction]:
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
        raise InputError(f"{name}: steps = {shown(steps)} must be a whole number >= 1")
    _refuse_many(name, steps)
    if high < low:
        return []
    if steps == 1:
        return [low]
    shares = [Fraction(k, steps - 1) for k in range(steps)]
    if not logarithmic:
        return [low + share * (high - low) for share in shares]
    ratio = float(high) / float(low)
    if ratio == math.inf:
        raise InputError(f"{name}: from and to are too far apart for a range with scale 'log'")
    inner = [Fraction(f"{float(low) * ratio ** float(share):.6g}") for share in shares[1:-1]]
    return [low, *inner, high]


def _refuse_many(name: str, number: int) -> None:
    if number > MOST_VALUES:
        many = f"{number:,}" if number < 2**63 else "over 10^18"
        raise InputError(f"{name}: the range has {many} values; at most {MOST_VALUES:,}")


def points_of(grid: Mapping[str, tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Return every combination of values, the last parameter varying fastest."""
    return [
        dict(zip(grid, combination, strict=True))
        for combination in itertools.product(*grid.values())
    ]
