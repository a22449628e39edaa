"""What the fields of a document must be: their names, and the type of each, at every level.

A `Check` raises `Misfit` for a value that it does not fit; `check_fields` turns that into one line
with the place in the file. Here a number is what `read_exact` makes of one: true is none, and text
is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

Check = Callable[[Any], None]

MOST_SHOWN = 60
"""Letters of a bad value that a message repeats."""

_FRACTION = re.compile(r"-?\d+(/[1-9]\d*)?", re.ASCII)
_QUOTIENT = re.compile(r"\d+/[1-9]\d*", re.ASCII)


class Misfit(Exception):  # noqa: N818 (caught in this file)
    """A value that is not what was expected; containers add where it stands."""

    def __init__(self, expected: str, found: str) -> None:
        self.expected, self.found, self.place = expected, found, ""


def check_fields(document: Any, check: Check, source: str) -> None:
    """Raise `InputError` in one line unless a document has these fields, of these types."""
    try:
        check(document)
    except Misfit as misfit:
        place = f"{misfit.place.lstrip('.')}: " if misfit.place else ""
        raise InputError(
            f"{source}: {place}expected {misfit.expected}, found {misfit.found}"
        ) from None


def number(value: Any) -> None:
    """Check for a number."""
    if type(value) is not int and type(value) is not Fraction:
        raise Misfit("a number", shown(value))


def whole(value: Any) -> None:
    """Check for a whole number, written as one."""
    if type(value) is not int:
        raise Misfit("a whole number", shown(value))


def fraction(value: Any) -> None:
    """Check for a fraction written as text, such as ``"3/7"``."""
    if not isinstance(value, str) or not _FRACTION.fullmatch(value):
        raise Misfit('a fraction as text, such as "3/7"', shown(value))


def quotient(value: Any) -> None:
    """Check for text such as ``"3/7"``, for a number that no decimal can be."""
    if not isinstance(value, str) or not _QUOTIENT.fullmatch(value):
        raise Misfit('a quotient as text, such as "3/7"', shown(value))


def flag(value: Any) -> None:
    """Check for true or false."""
    if type(value) is not bool:
        raise Misfit("true or false", shown(value))


def text(value: Any) -> None:
    """Check for text that can be written."""
    if not isinstance(value, str) or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise Misfit("text", shown(value))


def name(value: Any) -> None:
    """Check for text that can be shown in a line."""
    if not isinstance(value, str) or not value.isprintable():
        raise Misfit("a name: printable text in one line", shown(value))


def one_of(*known: str) -> Check:
    """Return a check for one of several words."""

    def check(value: Any) -> None:
        if not isinstance(value, str) or value not in known:
            raise Misfit(f"one of {', '.join(known)}", shown(value))

    return check


def either(*checks: Check) -> Check:
    """Return a check for what fits one of `checks`."""

    def check(value: Any) -> None:
        expected = []
        for one in checks:
            try:
                return one(value)
            except Misfit as misfit:
                expected.append(misfit.expected)
        raise Misfit(" or ".join(expected), shown(value))

    return check


def optional(inner: Check) -> Check:
    """Return a check for null, or what `inner` asks for."""

    def check(value: Any) -> None:
        if value is not None:
            inner(value)

    return check


def list_of(inner: Check) -> Check:
    """Return a check for a list whose members fit `inner`."""

    def check(value: Any) -> None:
        if not isinstance(value, list):
            raise Misfit("a list", shown(value))
        for index, member in enumerate(value):
            _inside(f"[{index}]", inner, member)

    return check


def row(*inner: Check) -> Check:
    """Return a check for a list of so many members, each with a check of its own."""

    def check(value: Any) -> None:
        if not isinstance(value, list) or len(value) != len(inner):
            raise Misfit(f"a list of {len(inner)}", shown(value))
        for index, (one, member) in enumerate(zip(inner, value, strict=True)):
            _inside(f"[{index}]", one, member)

    return check


def names_to(inner: Check) -> Check:
    """Return a check for an object of any names whose values fit `inner`."""

    def check(value: Any) -> None:
        if not isinstance(value, dict):
            raise Misfit("an object", shown(value))
        for key, member in value.items():
            _inside(f".{shown(key)}", inner, member)

    return check


def fields(required: Mapping[str, Check], more: Mapping[str, Check] | None = None) -> Check:
    """Return a check for an object with these fields and no others; those in `more` may lack."""
    known = {**required, **(more or {})}

    def check(value: Any) -> None:
        if not isinstance(value, dict):
            raise Misfit("an object", shown(value))
        lacking, strange = required.keys() - value.keys(), value.keys() - known.keys()
        if lacking or strange:
            expected = f"the fields {', '.join(required)}"
            if more:
                expected += f" (and maybe {', '.join(more)})"
            found = [f"no {key}" for key in required if key in lacking]
            raise Misfit(expected, ", ".join(found + [f"also {shown(key)}" for key in strange]))
        for key, member in value.items():
            _inside(f".{key}", known[key], member)

    return check


def _inside(step: str, check: Check, value: Any) -> None:
    try:
        check(value)
    except Misfit as misfit:
        misfit.place = step + misfit.place
        raise


def shown(value: Any) -> str:
    """Return a value for a message, cut short."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, Fraction):
        return repr(float(value))
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    written = ascii(value)
    return written if len(written) <= MOST_SHOWN else written[:MOST_SHOWN] + "..."
