"""Which columns of a table are meant, where its own names do not tell."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from olprouting.errors import InputError, unknown_name
from olprouting.traces._raw import TICKS_PER_S

ROLES: Final = ("arrival", "prompt", "decode", "key")
UNIT: Final = "unit"


@dataclass(frozen=True)
class ColumnChoice:
    """Names of columns as the file spells them, and the unit of its times.

    Parameters
    ----------
    arrival, prompt, decode, key
        Columns of arrival times, prompt sizes, decode lengths and classes; None where the usual
        names will do.
    unit
        Unit of numeric times, ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``; None for the format's own.

    Raises
    ------
    InputError
        If the unit is unknown, or one column is meant twice.
    """

    arrival: str | None = None
    prompt: str | None = None
    decode: str | None = None
    key: str | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in TICKS_PER_S:
            raise unknown_name("time unit", self.unit, TICKS_PER_S)
        named = [name for role in ROLES if (name := getattr(self, role)) is not None]
        for name in named:
            if named.count(name) > 1:
                raise InputError(f"columns: {name!r} is given twice")

    @property
    def names_any(self) -> bool:
        """Whether a column is named, and not the unit alone."""
        return any(getattr(self, role) is not None for role in ROLES)

    @classmethod
    def of(cls, given: str | Mapping[str, str] | None, time_unit: str | None = None) -> Self:
        """Return the choice that a mapping, or a text such as ``arrival=t,unit=ms``, stands for.

        Parameters
        ----------
        given
            Column names by role (arrival, prompt, decode, key), and ``unit``; None for nothing.
        time_unit
            The unit, if it is given by itself.

        Raises
        ------
        InputError
            If it is not understood.
        """
        named = dict(given) if isinstance(given, Mapping) else dict(_pairs(given or ""))
        for role, name in named.items():
            if role not in (*ROLES, UNIT):
                raise unknown_name("role of a column", role, (*ROLES, UNIT))
            if not isinstance(name, str) or not name:
                raise InputError(f"columns: {role} = {name!r} must be the name of a column")
        if time_unit is not None and named.setdefault(UNIT, time_unit) != time_unit:
            raise InputError(f"the unit of time is given twice: {named[UNIT]}, {time_unit}")
        return cls(**named)


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for part in next(csv.reader([text]), []):
        role, equals, name = (word.strip() for word in part.partition("="))
        if not (role and equals and name):
            raise InputError(
                f"columns {text!r}: expected ROLE=COLUMN, separated by commas, such as "
                "arrival=t,prompt=n_in,decode=n_out,unit=ms"
            )
        if any(role == known for known, _ in pairs):
            raise InputError(f"columns {text!r}: {role} is given twice")
        pairs.append((role, name))
    return pairs
