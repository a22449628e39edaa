"""Which parameters a study may set: those of the options that its measurement takes."""

from __future__ import annotations

import functools
from dataclasses import fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from olprouting.instances import SloClasses, SloWeights
from olprouting.options import (
    BidPriceOptions,
    ClockOptions,
    ClusterOptions,
    DispatchOptions,
    ForecastOptions,
    GapOptions,
    KvOptions,
    PeriodOptions,
    PolicyOptions,
    PriceReportOptions,
    ProjectionOptions,
    RunOptions,
    WorkloadOptions,
)
from olprouting.parameters import Options, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Kind(StrEnum):
    """What a study measures in every cell."""

    SIMULATE = "simulate"
    """Metrics of a run."""
    GAPS = "gaps"
    """Distance of sampled decisions to their optima."""
    PRICES = "prices"
    """Runs at equal limits, and bid prices against exact ones."""


OPTIONS: Final = "options"
WEIGHTS: Final = "weights"
CLASSES: Final = "classes"
KV: Final = "kv."
"""What the names of options of KV accounting begin with."""

_OF_ALL_KINDS: Final[tuple[type[Options], ...]] = (
    *(WorkloadOptions, ClusterOptions, ForecastOptions),
    *(PolicyOptions, PeriodOptions, BidPriceOptions),
)
MEASURED_WITH: Final[Mapping[Kind, tuple[type[Options], ...]]] = {
    Kind.SIMULATE: (ProjectionOptions, ClockOptions, DispatchOptions, RunOptions),
    Kind.GAPS: (ProjectionOptions, DispatchOptions, GapOptions),
    Kind.PRICES: (ClockOptions, PriceReportOptions),
}
"""Options whose parameters are arguments of the function that measures."""


@functools.cache
def parameters(kind: Kind) -> dict[str, Parameter]:
    """Return the parameters of a study of this kind, by the names that study files have for them.

    ``beta`` is the overflow penalty of BR-H, ``weights.beta`` a weight of the bid-price reward,
    ``kv.mode`` an option of KV accounting.
    """
    return {parameter.name: parameter for parameter in _parameters(kind)}


def _parameters(kind: Kind) -> Iterator[Parameter]:
    for group in (*_OF_ALL_KINDS, *MEASURED_WITH[kind]):
        yield from group.parameters.values()
    for weight in fields(SloWeights):
        name = f"{WEIGHTS}.{weight.name}"
        what = f"Weight {weight.name} of the reward, in place of the named set's."
        yield Parameter(default=None, help=what, name=name, types=(float,), section=OPTIONS)
    if kind is not Kind.GAPS:  # its exact programs know no KV limits
        for one in KvOptions.parameters.values():
            yield replace(one, name=KV + one.name)


def policy_options(settings: Mapping[str, Any]) -> PolicyOptions:
    """Return the options of the policies that the settings of a cell stand for.

    Raises
    ------
    InputError
        If an option is out of range.
    """
    period = PeriodOptions.chosen(settings) | {WEIGHTS: slo_weights(settings)}
    if isinstance(period.get(CLASSES), str):
        period[CLASSES] = SloClasses.parse(period[CLASSES])
    return PolicyOptions(
        **PolicyOptions.chosen(settings),
        period=PeriodOptions(**period),
        bid_price=BidPriceOptions.of(settings),
    )


def slo_weights(settings: Mapping[str, Any]) -> SloWeights:
    """Return the weight set of the settings, with the single weights they change."""
    given = settings.get(WEIGHTS)
    base = PeriodOptions().weights if given is None else SloWeights.parse(given)
    single = {field.name: f"{WEIGHTS}.{field.name}" for field in fields(SloWeights)}
    return base.replace(**{n: settings[key] for n, key in single.items() if key in settings})


def arguments_of(kind: Kind, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that are arguments of the function that measures.

    Raises
    ------
    InputError
        If one is out of range.
    """
    found: dict[str, Any] = {}
    for group in MEASURED_WITH[kind]:
        chosen = group.chosen(settings)
        group(**chosen)  # refuses what is out of range
        found |= chosen
    if kind is not Kind.GAPS:
        found["kv"] = KvOptions.of(settings, KV)
    return found
