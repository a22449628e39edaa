"""How well forecasters foresee completions, offline."""

from olprouting.forecast_report.quality import AgeCoverage, CalibrationBin, ForecastQuality
from olprouting.forecast_report.report import ForecastReport
from olprouting.forecast_report.study import DEFAULT_FORECASTS, evaluate_forecasts

__all__ = [
    "DEFAULT_FORECASTS",
    "AgeCoverage",
    "CalibrationBin",
    "ForecastQuality",
    "ForecastReport",
    "evaluate_forecasts",
]
