"""The accuracy of several forecasters, summed up and written down."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from olprouting.files import drawn, write_parts
from olprouting.forecast_report.quality import AgeCoverage, CalibrationBin, ForecastQuality

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

SCHEMA = "olprouting/forecasts/1"


@dataclass(frozen=True, eq=False)
class ForecastReport:
    """How well several forecasters foresee completions on one trace.

    Attributes
    ----------
    settings
        What was asked, as plain values: trace, split, horizon, seed, versions.
    forecasts
        One entry per forecaster.
    calibration
        One entry per forecaster and bin of its probability.
    coverage
        One entry per forecaster and bin of ages.
    interrupted
        Whether Ctrl-C ended the evaluation; what is here is complete in itself.
    failures
        One line per forecaster that could not be judged.
    """

    settings: dict[str, Any]
    forecasts: tuple[ForecastQuality, ...]
    calibration: tuple[CalibrationBin, ...]
    coverage: tuple[AgeCoverage, ...]
    interrupted: bool
    failures: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per forecaster."""
        return _frame(ForecastQuality, self.forecasts)

    def calibration_frame(self) -> pd.DataFrame:
        """Return one row per forecaster and bin of its probability."""
        return _frame(CalibrationBin, self.calibration)

    def coverage_frame(self) -> pd.DataFrame:
        """Return one row per forecaster and bin of ages."""
        return _frame(AgeCoverage, self.coverage)

    def summary(self) -> str:
        """Return one aligned line per forecaster."""
        columns = ["forecast", "auc", "mae_finisher_tokens", "calibration_error", "bias_tokens"]
        return str(self.to_frame()[[*columns, "covered_share"]].to_string(index=False))

    def to_document(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        return {
            "schema": SCHEMA,
            "settings": self.settings,
            "interrupted": self.interrupted,
            "failures": list(self.failures),
            "forecasts": [asdict(entry) for entry in self.forecasts],
            "calibration": [asdict(entry) for entry in self.calibration],
            "coverage": [asdict(entry) for entry in self.coverage],
        }

    def plot(self) -> Figure:
        """Draw calibration curves and coverage by age; return the figure."""
        from olprouting.plots.forecasts import plot_forecasts

        return plot_forecasts(self.calibration_frame(), self.coverage_frame())

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write tables (CSV), everything (JSON) and the figure (PNG) to `folder`.

        Returns
        -------
        tuple of Path
            The files written.
        """
        return write_parts(
            folder,
            {
                "forecasts.csv": self.to_frame(),
                "calibration.csv": self.calibration_frame(),
                "coverage.csv": self.coverage_frame(),
                "forecasts.json": json.dumps(self.to_document(), indent=2),
                "forecasts.png": drawn(self.plot),
            },
        )


def _frame(kind: type[Any], entries: Sequence[Any]) -> pd.DataFrame:
    import pandas as pd

    columns = [field.name for field in fields(kind)]
    return pd.DataFrame([asdict(entry) for entry in entries], columns=columns)
