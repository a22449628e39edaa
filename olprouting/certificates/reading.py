"""Reading a document once: JSON without rounding, into the small objects that checks use.

Every number is the decimal that is written. A `Reader` takes a value of the JSON text and returns
what it stands for, or raises `Misfit`; `read` turns that into one line with the place in the file.
Here true is no number, and text is none. What a reader does not name is refused, so that nothing
stands in a file that is neither checked nor listed as unchecked.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from olprouting.certificates.verification import DoesNotHoldError
from olprouting.errors import InputError
from olprouting.instances.documents import load_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

T = TypeVar("T")

Number = int | Fraction

Reader = Callable[[Any], T]

MOST = 2**53
"""Doubles hold all whole numbers up to this one."""

MOST_SHOWN = 60
"""Letters of a bad value that a message repeats."""

_FRACTION = re.compile(r"-?\d+(/[1-9]\d*)?", re.ASCII)
_QUOTIENT = re.compile(r"\d+/[1-9]\d*", re.ASCII)


# ------------------------------------------------------------------------------------------- JSON


def read_exact(text: str, source: str) -> dict[str, Any]:
    """Return the JSON object that `text` holds, its numbers as int or Fraction.

    Raises
    ------
    InputError
        If the text is not JSON, not an object, gives a field twice, or holds a number that no
        double can be.
    """
    document = load_json(text, source, _decimal)
    if not isinstance(document, dict):
        raise InputError(f"{source}: expected a JSON object, found {type(document).__name__}")
    return document


def in_doubles(node: Any) -> Any:
    """Return an exact document with the doubles that others read, as fingerprints were made."""
    if isinstance(node, dict):
        return {name: in_doubles(value) for name, value in node.items()}
    if isinstance(node, list):
        return [in_doubles(value) for value in node]
    return float(node) if isinstance(node, Fraction) else node


def _decimal(text: str) -> Fraction:
    value = float(text)
    vanished = value == 0 and any(digit in "123456789" for digit in text.lower().split("e")[0])
    if not math.isfinite(value) or vanished:
        raise InputError(f"{text[:MOST_SHOWN]} is out of range")
    return Fraction(text)


# ---------------------------------------------------------------------------------------- numbers


def whole_numbers(name: str, values: Sequence[int], least: int, most: int = MOST) -> Sequence[int]:
    """Return whole numbers in `least`..`most`."""
    if values and min(values) < least:
        raise DoesNotHoldError(f"{name}: {min(values)} is below {least}")
    if values and max(values) > most:
        raise DoesNotHoldError(f"{name}: {max(values)} is above {most}")
    return values


def written(value: Number) -> str:
    """Return a number as text that `fraction` reads.

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


def same_double(claimed: Number, exact: Number) -> bool:
    """Whether a number in a file is `exact`, or the double nearest to it.

    A whole number beyond 2^53 that is written with all its digits is meant to be exact.
    """
    if isinstance(claimed, int) and abs(claimed) > MOST:
        return claimed == exact
    return claimed == exact or float(claimed) == float(exact)


# ---------------------------------------------------------------------------------------- readers


class Misfit(Exception):  # noqa: N818 (caught in this file)
    """A value that is not what was expected; containers add where it stands."""

    def __init__(self, expected: str, found: str) -> None:
        self.expected, self.found, self.place = expected, found, ""


def read(document: Any, reader: Reader[T], source: str) -> T:
    """Return what a document says; raise `InputError` in one line if it is not such a one."""
    try:
        return reader(document)
    except Misfit as misfit:
        place = f"{misfit.place.lstrip('.')}: " if misfit.place else ""
        raise InputError(
            f"{source}: {place}expected {misfit.expected}, found {misfit.found}"
        ) from None


def number(value: Any) -> Number:
    """Read a number."""
    if type(value) is int or type(value) is Fraction:
        return value
    raise Misfit("a number", shown(value))


def whole(value: Any) -> int:
    """Read a whole number, written as one."""
    if type(value) is int:
        return value
    raise Misfit("a whole number", shown(value))


def fraction(value: Any) -> Fraction:
    """Read a fraction written as text, such as ``"3/7"``."""
    if not isinstance(value, str) or not _FRACTION.fullmatch(value):
        raise Misfit('a fraction as text, such as "3/7"', shown(value))
    return Fraction(value)


def quotient(value: Any) -> Fraction:
    """Read text such as ``"3/7"``, for a number that no decimal can be."""
    if not isinstance(value, str) or not _QUOTIENT.fullmatch(value):
        raise Misfit('a quotient as text, such as "3/7"', shown(value))
    return Fraction(value)


def flag(value: Any) -> bool:
    """Read true or false."""
    if type(value) is bool:
        return value
    raise Misfit("true or false", shown(value))


def text(value: Any) -> str:
    """Read text that can be written."""
    if not isinstance(value, str) or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise Misfit("text", shown(value))
    return value


def name(value: Any) -> str:
    """Read text that can be shown in a line."""
    if not isinstance(value, str) or not value.isprintable():
        raise Misfit("a name: printable text in one line", shown(value))
    return value


def one_of(*known: str) -> Reader[str]:
    """Return a reader of one of several words."""

    def reader(value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise Misfit(f"one of {', '.join(known)}", shown(value))
        return value

    return reader


def either(*readers: Reader[Any]) -> Reader[Any]:
    """Return a reader of what fits one of `readers`."""

    def reader(value: Any) -> Any:
        expected = []
        for one in readers:
            try:
                return one(value)
            except Misfit as misfit:
                expected.append(misfit.expected)
        raise Misfit(" or ".join(expected), shown(value))

    return reader


def optional(inner: Reader[T]) -> Reader[T | None]:
    """Return a reader of null, or of what `inner` reads."""
    return lambda value: None if value is None else inner(value)


def list_of(inner: Reader[T]) -> Reader[tuple[T, ...]]:
    """Return a reader of a list whose members fit `inner`."""

    def reader(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise Misfit("a list", shown(value))
        return tuple(_inside(f"[{k}]", inner, member) for k, member in enumerate(value))

    return reader


def row(*inner: Reader[Any]) -> Reader[tuple[Any, ...]]:
    """Return a reader of a list of so many members, each with a reader of its own."""

    def reader(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) != len(inner):
            raise Misfit(f"a list of {len(inner)}", shown(value))
        pairs = enumerate(zip(inner, value, strict=True))
        return tuple(_inside(f"[{k}]", one, member) for k, (one, member) in pairs)

    return reader


def names_to(inner: Reader[T]) -> Reader[dict[str, T]]:
    """Return a reader of an object of any names whose values fit `inner`."""

    def reader(value: Any) -> dict[str, T]:
        if not isinstance(value, dict):
            raise Misfit("an object", shown(value))
        return {key: _inside(f".{shown(key)}", inner, member) for key, member in value.items()}

    return reader


def fields(
    required: Mapping[str, Reader[Any]], more: Mapping[str, Reader[Any]] | None = None
) -> Reader[dict[str, Any]]:
    """Return a reader of an object with these fields and no others; those in `more` may lack."""
    known = {**required, **(more or {})}

    def reader(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Misfit("an object", shown(value))
        lacking, strange = required.keys() - value.keys(), value.keys() - known.keys()
        if lacking or strange:
            expected = f"the fields {', '.join(required)}"
            if more:
                expected += f" (and maybe {', '.join(more)})"
            found = [f"no {key}" for key in required if key in lacking]
            raise Misfit(expected, ", ".join(found + [f"also {shown(key)}" for key in strange]))
        return {key: _inside(f".{key}", known[key], member) for key, member in value.items()}

    return reader


def into(cls: Callable[..., T], required: Mapping[str, Reader[Any]], **names: str) -> Reader[T]:
    """Return a reader of an object with these fields, into a dataclass that keeps some of them.

    Parameters
    ----------
    cls
        The dataclass.
    required
        The fields.
    names
        What the file calls members of the class that have another name there.
    """
    whole_object = fields(required)
    members = {one.name: names.get(one.name, one.name) for one in dataclasses.fields(cls)}  # type: ignore[arg-type]
    return lambda value: _filled(cls, members, whole_object(value))


def _filled(cls: Callable[..., T], members: dict[str, str], given: dict[str, Any]) -> T:
    return cls(**{member: given[written_as] for member, written_as in members.items()})


def made(make: Callable[[dict[str, Any]], T], reader: Reader[dict[str, Any]]) -> Reader[T]:
    """Return a reader of what `make` makes of the fields of an object."""
    return lambda value: make(reader(value))


def _inside(step: str, reader: Reader[T], value: Any) -> T:
    try:
        return reader(value)
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
    text_of = ascii(value)
    return text_of if len(text_of) <= MOST_SHOWN else text_of[:MOST_SHOWN] + "..."


# -------------------------------------------------------------------------------- shared by files

WEIGHTS = fields(dict.fromkeys(("alpha", "beta", "gamma", "sigma", "zeta1", "zeta2"), number))
"""The six weights of a reward, by name."""

CLASS_WEIGHTS = either(WEIGHTS, names_to(WEIGHTS))
"""The weights of all requests, or those of each class by its name."""

VERSIONS = names_to(text)

KERNEL = one_of("decode", "mixed")
