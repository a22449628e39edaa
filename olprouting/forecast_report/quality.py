"""How good the answers of a forecaster are, given what really happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.forecasts import Predictions

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
    Bools = npt.NDArray[np.bool_]

CALIBRATION_BINS = 10
"""Bins of equal width for the forecast probability."""

FIRST_AGE_EDGE = 16
"""Bins of ages: 0..15, then doubling: 16..31, 32..63, ..."""


@dataclass(frozen=True)
class ForecastQuality:
    """One forecaster judged on the queries of one trace.

    Attributes
    ----------
    forecast
        Which.
    queries
        Queries answered.
    finish_share
        Share of them with r <= H.
    mean_finish_probability
        Mean forecast of that.
    auc
        Area under the ROC curve of the probability; None where only one of the two outcomes
        occurred.
    auc_note
        Why there is none; empty otherwise.
    mae_finisher_tokens
        Mean absolute error of mu over the queries with r <= H and a positive probability; None
        without any.
    mae_queries
        How many these are.
    mae_missing_share
        Share of the queries with r <= H that are not among these, for they were said not to finish;
        None where nobody finished. An error that leaves out many flatters.
    calibration_error
        Expected calibration error: mean over queries of the gap between mean probability and
        observed share of their bin.
    bias_tokens
        Mean of c - min(r, H + 1): positive where requests leave earlier than forecast.
    covered_share
        Share of queries answered from history of their own.
    fit_s
        Time of fitting; 0 for a forecaster that came fitted.
    predict_us
        Time per query.
    """

    forecast: str
    queries: int
    finish_share: float
    mean_finish_probability: float
    auc: float | None
    auc_note: str
    mae_finisher_tokens: float | None
    mae_queries: int
    mae_missing_share: float | None
    calibration_error: float
    bias_tokens: float
    covered_share: float
    fit_s: float
    predict_us: float


@dataclass(frozen=True)
class CalibrationBin:
    """Queries whose probability lies in one bin.

    Attributes
    ----------
    forecast
        Whose.
    from_probability, to_probability
        The bin; the last one includes its end.
    predicted_mean
        Mean forecast probability.
    observed_share
        Share with r <= H.
    queries
        How many, >= 1; empty bins are left out.
    """

    forecast: str
    from_probability: float
    to_probability: float
    predicted_mean: float
    observed_share: float
    queries: int


@dataclass(frozen=True)
class AgeCoverage:
    """Queries whose age lies in one bin.

    Attributes
    ----------
    forecast
        Whose.
    from_age_tokens, to_age_tokens
        The bin; its end is not included.
    covered_share
        Share answered from history of their own rather than a fallback or beyond all history.
    queries
        How many, >= 1; empty bins are left out.
    """

    forecast: str
    from_age_tokens: int
    to_age_tokens: int
    covered_share: float
    queries: int


def judge(
    forecast: str,
    answers: Predictions,
    covered: Bools,
    remaining: Ints,
    horizon: int,
    *,
    fit_s: float,
    predict_s: float,
) -> ForecastQuality:
    """Compare answers with what happened.

    Parameters
    ----------
    forecast
        Whose answers.
    answers, covered, remaining
        Per query, shape (n,), n >= 1; the last is the true r >= 1.
    horizon
        H.
    fit_s, predict_s
        Times of fitting and of answering all queries.
    """
    finishes = remaining <= horizon
    auc, note = _auc(finishes, answers.finish_probability)
    told = finishes & (answers.finish_probability > 0)
    errors = np.abs(answers.finisher_remaining - remaining)[told]
    bins = calibration_of(forecast, answers.finish_probability, finishes)
    truth = np.minimum(remaining, horizon + 1)
    return ForecastQuality(
        forecast=forecast,
        queries=len(remaining),
        finish_share=float(finishes.mean()),
        mean_finish_probability=float(answers.finish_probability.mean()),
        auc=auc,
        auc_note=note,
        mae_finisher_tokens=float(errors.mean()) if len(errors) else None,
        mae_queries=len(errors),
        mae_missing_share=1 - len(errors) / int(finishes.sum()) if finishes.any() else None,
        calibration_error=sum(
            each.queries * abs(each.predicted_mean - each.observed_share) for each in bins
        )
        / len(remaining),
        bias_tokens=float((answers.expected_remaining - truth).mean()),
        covered_share=float(covered.mean()),
        fit_s=fit_s,
        predict_us=predict_s / len(remaining) * 1e6,
    )


def calibration_of(forecast: str, probability: Floats, finishes: Bools) -> list[CalibrationBin]:
    """Return the bins of the calibration curve that hold queries."""
    place = np.minimum((probability * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)
    return [
        CalibrationBin(
            forecast=forecast,
            from_probability=number / CALIBRATION_BINS,
            to_probability=(number + 1) / CALIBRATION_BINS,
            predicted_mean=float(probability[place == number].mean()),
            observed_share=float(finishes[place == number].mean()),
            queries=int((place == number).sum()),
        )
        for number in np.unique(place).tolist()
    ]


def coverage_of(forecast: str, age: Ints, covered: Bools) -> list[AgeCoverage]:
    """Return the bins of ages that hold queries."""
    edges = [0, FIRST_AGE_EDGE]
    while edges[-1] <= age.max(initial=0):
        edges.append(2 * edges[-1])
    place = np.searchsorted(edges, age, side="right") - 1
    return [
        AgeCoverage(
            forecast=forecast,
            from_age_tokens=edges[number],
            to_age_tokens=edges[number + 1],
            covered_share=float(covered[place == number].mean()),
            queries=int((place == number).sum()),
        )
        for number in np.unique(place).tolist()
    ]


def _auc(finishes: Bools, probability: Floats) -> tuple[float | None, str]:
    if finishes.all():
        return None, "every request asked about finishes within the window"
    if not finishes.any():
        return None, "no request asked about finishes within the window"
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(finishes, probability)), ""
