"""Which parameters a study may set: derived from the options and arguments that exist."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from olprouting.engine import KvOptions, simulate
from olprouting.errors import InputError, shown
from olprouting.gaps import measure_gaps
from olprouting.instances import SloWeights
from olprouting.instances._checks import MAX_WHOLE, is_real
from olprouting.policies import BidPriceOptions, PeriodOptions, PolicyOptions
from olprouting.price_report import measure_prices
from olprouting.studies.workload import ClusterSize, Foresight, TraceSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class Kind(StrEnum):
    """What a study measures in every cell."""

    SIMULATE = "simulate"
    """Metrics of a run."""
    GAPS = "gaps"
    """Distance of sampled decisions to their optima."""
    PRICES = "prices"
    """Runs at equal limits, and bid prices against exact ones."""


MEASURED_BY: Final[Mapping[Kind, Callable[..., Any]]] = {
    Kind.SIMULATE: simulate,
    Kind.GAPS: measure_gaps,
    Kind.PRICES: measure_prices,
}
"""The function whose arguments a study of each kind may set."""

_SET_BY_THE_STUDY = frozenset({"seed", "backlog", "series_every", "view_horizon"})
_PLAIN = {"int": int, "float": float, "str": str, "bool": bool, "None": type(None)}
_UNPREFIXED: Final[tuple[type, ...]] = (
    TraceSource,
    ClusterSize,
    Foresight,
    PolicyOptions,
    PeriodOptions,
    BidPriceOptions,
)
_SECTION: Final[Mapping[type, str]] = {TraceSource: "trace", ClusterSize: "cluster"}
OPTIONS: Final = "options"
WEIGHTS: Final = "weights"
NONE: Final = "none"
"""How a study file writes a missing value."""


@dataclass(frozen=True)
class Parameter:
    """A parameter.

    Attributes
    ----------
    name
        As study files write it: ``beta`` is the overflow penalty of BR-H, ``weights.beta`` a
        weight of the bid-price reward, ``kv.mode`` an option of KV accounting.
    section
        Table of a study file where it stands unless it varies: trace, cluster or options.
    types
        Python types that its value may have.
    """

    name: str
    section: str
    types: tuple[type, ...]

    def checked(self, value: Any) -> Any:
        """Return a value in its one form: whole numbers as floats where it is a float.

        Raises
        ------
        InputError
            If the type does not fit.
        """
        if isinstance(value, int | float) and not isinstance(value, bool):
            _refuse_number(self.name, value)
        if value == NONE and type(None) in self.types:
            return None
        if type(value) is int and int not in self.types and float in self.types:
            return float(value)
        if type(value) in self.types:
            return value
        words = [NONE if kind is type(None) else kind.__name__ for kind in self.types]
        raise InputError(f"{self.name} = {shown(value)} must be of type {' or '.join(words)}")


def _refuse_number(name: str, value: int | float) -> None:
    """Raise where a number is none, or more than any parameter can use."""
    if not is_real(value) or (isinstance(value, int) and abs(value) > MAX_WHOLE):
        raise InputError(f"{name} = {shown(value)} must be a finite number of at most 2^62")


@functools.cache
def parameters(kind: Kind) -> dict[str, Parameter]:
    """Return the parameters of a study of this kind by name.

    They are the fields of the options that its measurement takes, and its plain arguments.
    """
    return {parameter.name: parameter for parameter in _parameters(kind)}


def _parameters(kind: Kind) -> Iterator[Parameter]:
    measured_by = inspect.signature(MEASURED_BY[kind]).parameters
    for options in _UNPREFIXED:
        yield from _fields(options, "")
    yield Parameter(WEIGHTS, OPTIONS, (str,))
    yield from _fields(SloWeights, f"{WEIGHTS}.")
    if "kv" in measured_by:
        yield from _fields(KvOptions, "kv.")
    for name, argument in measured_by.items():
        if name not in _SET_BY_THE_STUDY and (types := _types(argument.annotation)):
            yield Parameter(name, OPTIONS, types)


def _fields(options: type, prefix: str) -> Iterator[Parameter]:
    for field in fields(options):
        if types := _types(field.type):
            yield Parameter(prefix + field.name, _SECTION.get(options, OPTIONS), types)


def _types(annotation: Any) -> tuple[type, ...]:
    """Return the plain types of an annotation such as ``int | None``; none if it has no other."""
    parts = [part.strip() for part in str(annotation).split("|")]
    found = tuple(_PLAIN[part] for part in parts if part in _PLAIN)
    return () if set(found) <= {type(None)} else found


def policy_options(settings: Mapping[str, Any]) -> PolicyOptions:
    """Return the options of the rules that the settings of a cell stand for.

    Raises
    ------
    InputError
        If an option is out of range.
    """
    return PolicyOptions(
        **chosen(PolicyOptions, settings),
        period=PeriodOptions(
            **(chosen(PeriodOptions, settings) | {WEIGHTS: slo_weights(settings)})
        ),
        bid_price=BidPriceOptions(**chosen(BidPriceOptions, settings)),
    )


def slo_weights(settings: Mapping[str, Any]) -> SloWeights:
    """Return the named weight set of the settings, with the single weights they change."""
    named = settings.get(WEIGHTS)
    base = PeriodOptions().weights if named is None else SloWeights.preset(named)
    return base.replace(**chosen(SloWeights, settings, f"{WEIGHTS}."))


def chosen(options: type, settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the settings that are fields of `options`, by field name."""
    names = [field.name for field in fields(options)]
    return {name: settings[prefix + name] for name in names if prefix + name in settings}
