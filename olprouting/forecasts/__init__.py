"""Forecasts of when active requests complete."""

from olprouting.forecasts.curves import CurveForecaster, ExactMatch, KaplanMeier, Survival
from olprouting.forecasts.forecaster import Forecaster, Predictions, Queries
from olprouting.forecasts.lengths import LengthForecast, NoisyOracle, Oracle
from olprouting.forecasts.live import LiveForecaster
from olprouting.forecasts.registry import FORECASTS, Forecast, check_forecast_name, make_forecast

__all__ = [
    "FORECASTS",
    "CurveForecaster",
    "ExactMatch",
    "Forecast",
    "Forecaster",
    "KaplanMeier",
    "LengthForecast",
    "LiveForecaster",
    "NoisyOracle",
    "Oracle",
    "Predictions",
    "Queries",
    "Survival",
    "check_forecast_name",
    "make_forecast",
]
