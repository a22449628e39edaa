"""Forecasts by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.errors import InputError, unknown_name
from olprouting.forecasts.curves import ExactMatch, KaplanMeier, Survival
from olprouting.forecasts.lengths import LengthForecast, NoisyOracle, Oracle
from olprouting.forecasts.live import LiveForecaster

if TYPE_CHECKING:
    from olprouting.instances import Trace

FORECASTS = ("oracle", "noisy:SPREAD", "survival", "km", "exact-match")

Forecast = LengthForecast | LiveForecaster
"""What a run may know of decode lengths."""


def make_forecast(
    name: str, history: Trace | None = None, *, horizon: int = 80, seed: int = 0
) -> Forecast:
    """Return the forecast called `name`.

    Parameters
    ----------
    name
        ``oracle``, ``noisy`` or ``noisy:SPREAD`` (spread in [0, 1], 0.2 by default),
        ``survival``, ``km`` (Kaplan-Meier) or ``exact-match``.
    history
        Completed requests to learn from before the run; None for none.
    horizon
        Horizon H of forecasts that are trained for one.
    seed
        Seed of training and noise.

    Raises
    ------
    InputError
        If the name is unknown or the spread is not a number in [0, 1].
    """
    kind, _, option = name.partition(":")
    if kind == "noisy":
        return NoisyOracle(_spread(name, option), seed) if option else NoisyOracle(seed=seed)
    if name == "oracle":
        return Oracle()
    if name == "survival":
        return Survival(history)
    if name == "km":
        return KaplanMeier(history)
    if name == "exact-match":
        return ExactMatch(history)
    raise unknown_name("forecast", name, FORECASTS)


def _spread(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"forecast {name!r}: {text!r} is not a number") from None
