"""Forecasts by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from olprouting.errors import InputError, unknown_name
from olprouting.forecasts.curves import CurveForecaster, ExactMatch, KaplanMeier, Survival
from olprouting.forecasts.lengths import LengthForecast, NoisyOracle, Oracle
from olprouting.forecasts.live import LiveForecaster

if TYPE_CHECKING:
    from olprouting.forecasts.learned import LearnedModel
    from olprouting.instances import Trace

FORECASTS = ("oracle", "noisy:SPREAD", "survival", "km", "exact-match", "learned", "learned:FILE")

Forecast = LengthForecast | LiveForecaster
"""What a run may know of decode lengths."""

NamedForecast: TypeAlias = "Oracle | NoisyOracle | CurveForecaster | LearnedModel"
"""What goes by a name: a `Forecast` and a `Forecaster`."""


def check_forecast_name(name: str) -> None:
    """Refuse a name that `make_forecast` does not know; what follows a colon is not looked at.

    Raises
    ------
    InputError
        If it is unknown.
    """
    if name.partition(":")[0] not in {known.partition(":")[0] for known in FORECASTS}:
        raise unknown_name("forecast", name, FORECASTS)


def make_forecast(
    name: str, history: Trace | None = None, *, horizon: int = 80, seed: int = 0
) -> NamedForecast:
    """Return the forecast called `name`.

    Parameters
    ----------
    name
        ``oracle``, ``noisy`` or ``noisy:SPREAD`` (spread in [0, 1], 0.2 by default),
        ``survival``, ``km`` (Kaplan-Meier), ``exact-match``, ``learned`` (trained on the history)
        or ``learned:FILE`` (`LearnedModel.save`).
    history
        Completed requests to learn from before the run; None for none.
    horizon
        Horizon H, for which ``learned`` is trained.
    seed
        Seed of training and noise.

    Raises
    ------
    InputError
        If the name is unknown, the spread is not a number in [0, 1], there is no history to train
        on, or a file holds no model for this horizon.
    """
    kind, colon, option = name.partition(":")
    if kind == "learned":
        return _learned(option if colon else None, history, horizon, seed)
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


def _learned(file: str | None, history: Trace | None, horizon: int, seed: int) -> LearnedModel:
    from olprouting.forecasts.learned import LearnedModel, train_learned

    if file is not None:
        model = LearnedModel.load(file)
        model.require_horizon(horizon)
        return model
    if history is None:
        raise InputError(
            "forecast 'learned' is trained on requests before the run: give it a history, or "
            "learned:FILE (`olprouting forecast train`)"
        )
    return train_learned(history, horizon, seed=seed)


def _spread(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"forecast {name!r}: {text!r} is not a number") from None
