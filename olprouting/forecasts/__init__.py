"""Floor 2, forecasts of when active requests complete."""

from olprouting.forecasts.curves import CurveForecaster, ExactMatch, KaplanMeier, Survival
from olprouting.forecasts.forecaster import Forecaster, Predictions, Queries
from olprouting.forecasts.lengths import LengthForecast, NoisyOracle, Oracle, make_forecast

__all__ = [
    "CurveForecaster",
    "ExactMatch",
    "Forecaster",
    "KaplanMeier",
    "LengthForecast",
    "NoisyOracle",
    "Oracle",
    "Predictions",
    "Queries",
    "Survival",
    "make_forecast",
]
