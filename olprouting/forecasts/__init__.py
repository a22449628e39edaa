"""Floor 2, forecasts of when active requests complete."""

from olprouting.forecasts.lengths import LengthForecast, NoisyOracle, Oracle, make_forecast

__all__ = ["LengthForecast", "NoisyOracle", "Oracle", "make_forecast"]
