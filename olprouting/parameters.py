"""Parameters: what a user may choose, each written once.

A class of options is a frozen data class whose fields come from `parameter`. Type and name are
those of the field; default, range, unit and help stand beside them. From that follow the defaults
and checks in Python, the options of the command line, the keys of study files, and the reference of
options: the docstring of the class.
"""

from __future__ import annotations

import math
from dataclasses import Field, dataclass, field, fields, replace
from numbers import Integral, Rational, Real
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar

from olprouting.errors import InputError, shown, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Class = TypeVar("Class", bound="type[Options]")

LARGEST_OPTION: Final = 2**31 - 1
"""Windows, numbers of slots and the like are no larger."""

MAX_WHOLE: Final = 2**62
"""Largest whole number that is kept as an integer: twice it is still no int64."""

NONE: Final = "none"
"""How a study file writes a missing value."""

_MOST_DIGITS: Final = 18
"""Whole numbers of more digits are none that a run could have."""

_PLAIN: Final = {"int": int, "float": float, "str": str, "bool": bool, "None": type(None)}


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter.

    Attributes
    ----------
    default
        Its value where none is given. Where `parse` is, the text that stands for it.
    help
        What it is, in a sentence.
    details
        What only the reference says beyond that.
    name, types
        Name, and the plain types that its value may have: those of the field, or text to `parse`.
    section, panel
        Table of a study file and panel of ``--help`` in which it stands: those of the class.
    at_least, above, at_most
        Its range: bounds that belong to it, and one from below that does not; None for none.
    unit
        What a number counts, such as seconds.
    choices
        Words it may be; empty where they are no fixed list.
    words
        Words that stand for a value in place of a number, such as ``all`` for None.
    word
        What messages about an unknown choice call it; its name by default.
    flag
        Its option on the command line, where that is not its name with hyphens.
    parse
        Makes a value of what a user writes, where that is a text of its own syntax.
    """

    default: Any
    help: str
    details: str = ""
    name: str = ""
    types: tuple[type, ...] = ()
    section: str = ""
    panel: str = ""
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    words: Mapping[str, Any] = field(default_factory=dict)
    word: str = ""
    flag: str = ""
    parse: Callable[[str], Any] | None = None

    @property
    def option(self) -> str:
        """Its option on the command line."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers (or words for them)."""
        return int in self.types or float in self.types

    @property
    def range(self) -> str:
        """What its value must be, in words; empty where anything of its type will do."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if not self.is_number:
            return ""
        counted = f" of {self.unit}" if self.unit else ""
        if int in self.types:
            upper = "" if self.at_most is None else f" and <= {self.at_most}"
            return f"a whole number{counted} {self._lower}{upper}"
        if self.at_most is not None:
            low = "(" if self.above is not None else "["
            return f"in {low}{self._least:g}, {self.at_most:g}]"
        kind = f"a finite number{counted} " if counted else "finite and "
        return f"{kind}{self._lower}" if self._lower else "finite"

    @property
    def _least(self) -> float:
        least = self.above if self.at_least is None else self.at_least
        return -math.inf if least is None else least

    @property
    def _lower(self) -> str:
        if self.above is not None:
            return f"> {self.above:g}"
        return "" if self.at_least is None else f">= {self.at_least:g}"

    def check(self, value: Any) -> None:
        """Refuse a value that is out of range.

        Raises
        ------
        InputError
            If it is; the message names parameter, value and range.
        """
        if self.parse is not None or (value is None and type(None) in self.types):
            return
        if self.choices:
            if value not in self.choices:
                raise unknown_name(self.word or self.name, str(value), self.choices)
        elif self.is_number:
            if not (self._in_range(value) or (isinstance(value, str) and value in self.words)):
                plain = value.item() if hasattr(value, "item") else value
                raise InputError(f"{self.name} = {shown(plain)} must be {self.range}")
        elif self.types and not isinstance(value, self.types):
            raise InputError(f"{self.name} = {shown(value)} must be {_described(self.types)}")

    def _in_range(self, value: Any) -> bool:
        if not is_real(value) or not (float in self.types or isinstance(value, Integral)):
            return False
        number: Any = value
        above = self.above is None or number > self.above
        at_least = self.at_least is None or number >= self.at_least
        return above and at_least and (self.at_most is None or number <= self.at_most)

    def typed(self, value: Any) -> Any:
        """Return a value of a study file in its one form: whole numbers as floats, none as None.

        Raises
        ------
        InputError
            If the type does not fit, or a number is none that anything can use.
        """
        kind, given = type(value), f"{self.name} = {shown(value)}"
        if kind in (int, float) and not (is_real(value) and abs(value) <= MAX_WHOLE):
            raise InputError(f"{given} must be a finite number of at most 2^62")
        if value == NONE and type(None) in self.types:
            return None
        if kind is int and int not in self.types and float in self.types:
            return float(value)
        if kind in self.types:
            return value
        raise InputError(f"{given} must be of type {_named(self.types)}")

    def read(self, text: str) -> Any:
        """Return the value that a text on the command line stands for.

        Raises
        ------
        InputError
            If it stands for none.
        """
        if self.parse is not None:
            try:
                return self.parse(text)
            except InputError as error:
                raise InputError(f"{self.option} {shown(text)}: {error}") from None
        if text in self.words:
            return self.words[text]
        try:
            if float in self.types:
                return float(text)
            if text.isdecimal() and len(text) < _MOST_DIGITS and self._in_range(int(text)):
                return int(text)
        except ValueError:
            pass
        words = " or ".join(self.words)
        raise InputError(
            f"{self.option} {shown(text)}: expected a number {self._lower}, or {words}"
        )

    def described(self) -> str:
        """Return its entry in a docstring, as numpydoc has it."""
        default = NONE if self.default is None else self.default
        text = " ".join(filter(None, (self.help, self.details)))
        range_ = f" Must be {self.range}." if self.is_number else ""
        return f"{self.name} : {_named(self.types)}, default {default}\n    {text}{range_}"


def _named(types: Iterable[type]) -> str:
    return " or ".join(NONE if kind is type(None) else kind.__name__ for kind in types)


def _described(types: tuple[type, ...]) -> str:
    return "True or False" if bool in types else "text"


def is_real(value: Any) -> bool:
    """Whether a value is a finite number that fits a double, and neither boolean nor fraction."""
    fraction = isinstance(value, Rational) and not isinstance(value, Integral)
    if not isinstance(value, Real) or isinstance(value, bool) or fraction:
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all doubles
        return False


def parameter(default: Any, help: str, **facts: Any) -> Any:  # noqa: A002 - the word Typer has
    """Return the field of a class of options that is this parameter.

    Parameters
    ----------
    default, help
        Its default and what it is.
    **facts
        Other attributes of `Parameter`.
    """
    made = Parameter(default=default, help=help, **facts)
    if made.parse is None:
        return field(default=default, metadata={"parameter": made})
    parse = made.parse
    return field(default_factory=lambda: parse(default), metadata={"parameter": made})


class Options:
    """A class of options: see `options`."""

    parameters: ClassVar[Mapping[str, Parameter]]
    """Its parameters by name."""

    def __post_init__(self) -> None:
        """Check every parameter; a text that stands for a value becomes that value."""
        for name, one in self.parameters.items():
            value = getattr(self, name)
            if one.parse is not None and isinstance(value, str):
                value = one.read(value)
                object.__setattr__(self, name, value)  # the classes are frozen
            one.check(value)

    @classmethod
    def chosen(cls, settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
        """Return those of the settings that are parameters of this class, by name.

        Parameters
        ----------
        settings
            Values by name.
        prefix
            What the names in `settings` begin with.
        """
        names = (name for name in cls.parameters if prefix + name in settings)
        return {name: settings[prefix + name] for name in names}

    @classmethod
    def of(cls, settings: Mapping[str, Any], prefix: str = "") -> Self:
        """Return the options that settings stand for; others have their defaults."""
        return cls(**cls.chosen(settings, prefix))


def options(section: str, panel: str) -> Callable[[Class], Class]:
    """Complete a data class of options: collect its parameters, and describe them in its docstring.

    Parameters
    ----------
    section
        Table of a study file in which they stand unless they vary.
    panel
        Panel of ``--help``.
    """

    def complete(cls: Class) -> Class:
        made = {
            one.name: replace(
                one.metadata["parameter"],
                name=one.name,
                types=_plain_types(one),
                section=section,
                panel=panel,
            )
            for one in fields(cls)  # type: ignore[arg-type]  # a data class
            if "parameter" in one.metadata
        }
        cls.parameters = made
        entries = "\n".join(one.described() for one in made.values())
        own, _, rest = (cls.__doc__ or "").partition("\n\n    Parameters\n    ----------\n")
        listed = "".join(f"\n    {line}" for line in entries.splitlines())
        cls.__doc__ = (
            f"{own.rstrip()}\n\n    Parameters\n    ----------{listed}\n{rest.rstrip()}\n\n"
            "    Raises\n    ------\n    InputError\n        If a value is out of range.\n    "
        )
        return cls

    return complete


def _plain_types(one: Field[Any]) -> tuple[type, ...]:
    """Return the plain types that a parameter may have; what is parsed is text."""
    text = (str,) if one.metadata["parameter"].parse is not None else ()
    return (*_types(one.type), *text) or (str,)


def _types(annotation: Any) -> tuple[type, ...]:
    """Return the plain types of an annotation such as ``int | None``."""
    parts = [part.strip() for part in str(annotation).split("|")]
    return tuple(_PLAIN[part] for part in parts if part in _PLAIN)
