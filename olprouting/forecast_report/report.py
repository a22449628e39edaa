"""The accuracy of several forecasters, summed up and written down."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from olprouting.forecast_report.quality import AgeCoverage, CalibrationBin, ForecastQuality
from olprouting.report import Report, Table, frame_of, text_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from olprouting.report.figures import Draw


@dataclass(frozen=True, kw_only=True, eq=False)
class ForecastReport(Report):
    """How well several forecasters foresee completions on one trace.

    Attributes
    ----------
    forecasts
        One entry per forecaster.
    calibration
        One entry per forecaster and bin of its probability.
    coverage
        One entry per forecaster and bin of ages.
    settings, interrupted, failures
        See `Report`; a forecaster that could not be judged is a failure.
    """

    stem = "forecasts"
    schema = "olprouting/forecasts/1"
    title = "Forecasts of completions"

    forecasts: tuple[ForecastQuality, ...]
    calibration: tuple[CalibrationBin, ...]
    coverage: tuple[AgeCoverage, ...]

    def heading(self) -> str:
        """Return in a line what was asked."""
        asked = self.settings
        return (
            f"{asked['trace']}: {asked['train_requests']} requests train, "
            f"{asked['test_requests']} test, {asked['queries']} queries, "
            f"horizon {asked['horizon']}"
        )

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return one row per forecaster, and one per forecaster and bin."""
        return {
            "forecasts": frame_of(ForecastQuality, self.forecasts),
            "calibration": self.calibration_frame(),
            "coverage": self.coverage_frame(),
        }

    def calibration_frame(self) -> pd.DataFrame:
        """Return one row per forecaster and bin of its probability."""
        return frame_of(CalibrationBin, self.calibration)

    def coverage_frame(self) -> pd.DataFrame:
        """Return one row per forecaster and bin of ages."""
        return frame_of(AgeCoverage, self.coverage)

    def results(self) -> dict[str, Any]:
        """Return all entries as plain JSON types."""
        return {
            "forecasts": [asdict(entry) for entry in self.forecasts],
            "calibration": [asdict(entry) for entry in self.calibration],
            "coverage": [asdict(entry) for entry in self.coverage],
        }

    def summary(self) -> str:
        """Return one aligned line per forecaster."""
        columns = ["forecast", "auc", "mae_finisher_tokens", "calibration_error", "bias_tokens"]
        return str(self.to_frame()[[*columns, "covered_share"]].to_string(index=False))

    def tables(self) -> tuple[Table, ...]:
        """Return accuracy, calibration and coverage."""
        rows = self.forecasts
        accuracy = Table(
            "Accuracy of forecasts",
            {"forecast": [row.forecast for row in rows]},
            {
                "AUC": [text_of(row.auc, ".3f") for row in rows],
                "MAE": [text_of(row.mae_finisher_tokens, ".1f") for row in rows],
                "missing": [text_of(row.mae_missing_share, ".1%") for row in rows],
                "ECE": [f"{row.calibration_error:.3f}" for row in rows],
                "bias": [f"{row.bias_tokens:+.1f}" for row in rows],
                "covered": [f"{row.covered_share:.1%}" for row in rows],
                "fit s": [f"{row.fit_s:.2f}" for row in rows],
                "query us": [f"{row.predict_us:.2f}" for row in rows],
            },
            "AUC and calibration error (ECE) of P(r <= H); MAE in tokens where r <= H, without "
            "those said not to finish, whose share is missing; "
            "bias of E min(r, H+1) in tokens",
        )
        calibrated = _by_bin(
            "Share that finished within the window, by forecast probability",
            [
                (each.forecast, f"{each.from_probability:g}", each.observed_share)
                for each in self.calibration
            ],
            "calibrated where a share lies between the heads of its column and the next",
        )
        covered = _by_bin(
            "Share answered from history of their own, by age",
            [
                (each.forecast, str(each.from_age_tokens), each.covered_share)
                for each in self.coverage
            ],
            "age in tokens, from the head of the column",
        )
        return accuracy, calibrated, covered

    def notes(self) -> tuple[str, ...]:
        """Return why there is no AUC, and what became of the trace."""
        missing = dict.fromkeys(row.auc_note for row in self.forecasts if row.auc_note)
        return (*(f"no AUC: {note}" for note in missing), *self.settings["notices"])

    def figures(self) -> dict[str, Draw]:
        """Return the function that draws the figure."""
        return {"forecasts": self.plot}

    def plot(self) -> Figure:
        """Draw calibration curves and coverage by age; return the figure."""
        from olprouting.plots.forecasts import plot_forecasts

        return plot_forecasts(self.calibration_frame(), self.coverage_frame())


def _by_bin(title: str, cells: list[tuple[str, str, float]], caption: str) -> Table:
    """Return a row per forecast and a column per bin; nothing where a bin holds no query."""
    shares = {(forecast, start): share for forecast, start, share in cells}
    forecasts = list(dict.fromkeys(forecast for forecast, _, _ in cells))
    starts = sorted({start for _, start, _ in cells}, key=float)
    columns = {
        start: [text_of(shares.get((forecast, start)), ".2f") for forecast in forecasts]
        for start in starts
    }
    return Table(title, {"forecast": forecasts}, columns, caption)
