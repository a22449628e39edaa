"""Offline accuracy: train on the first part of a trace, ask about the rest."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import Failures, InputError, shown
from olprouting.forecast_report.quality import (
    AgeCoverage,
    CalibrationBin,
    ForecastQuality,
    calibration_of,
    coverage_of,
    judge,
)
from olprouting.forecast_report.report import ForecastReport
from olprouting.forecasts import Queries, check_forecast_name, make_forecast
from olprouting.forecasts.sampled_ages import sample_ages
from olprouting.instances._checks import require_memory
from olprouting.options import EvaluationOptions
from olprouting.traces import split_history
from olprouting.versions import versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olprouting.forecasts import Forecaster
    from olprouting.instances import Trace
    from olprouting.progress import OnProgress

DEFAULT_FORECASTS = ("oracle", "noisy:0.2", "survival", "km", "exact-match", "learned")


def evaluate_forecasts(
    trace: Trace,
    forecasts: Sequence[str | Forecaster] = DEFAULT_FORECASTS,
    *,
    horizon: int = EvaluationOptions.horizon,
    train_share: float = EvaluationOptions.train_share,
    sample: int | None = EvaluationOptions.sample,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> ForecastReport:
    """Fit forecasters to the first requests of a trace and judge them on the others.

    The questions are drawn from all (request, age) pairs of the later requests, 0 <= age < o:
    what a router meets when it looks at its active requests at a random iteration. All
    forecasters answer the same ones. All training requests have completed, so that Kaplan-Meier
    has nothing to correct here and agrees with Survival.

    Parameters
    ----------
    trace
        Requests in order of time; they are never shuffled.
    forecasts
        Names (`FITTED`), fitted to the first part, or forecasters that are fitted already.
    horizon
        H, >= 1.
    train_share
        Share of the requests that train, strictly between 0 and 1.
    sample
        Queries to draw, >= 1; None asks all. Queries of one request are not independent.
    seed
        Seed of queries, training and noise.
    on_progress
        Called with (what is being judged, forecasters done, forecasters in all) before each and
        at the end.

    Returns
    -------
    ForecastReport
        After Ctrl-C: all forecasters judged until then. One that cannot be fitted is among its
        failures, and the others are there; if none is, its error is raised.

    Raises
    ------
    InputError
        If an argument is out of range, a name is unknown, or a part would hold no request.

    References
    ----------
    arXiv 2601.17855, EC.4.
    """
    if horizon < 1:
        raise InputError(f"horizon = {horizon} must be >= 1 iteration")
    require_memory(f"horizon = {shown(horizon)}", 32 * horizon)
    for forecast in forecasts:  # before any other has been trained for long
        if isinstance(forecast, str):
            check_forecast_name(forecast)
    history, future = _split(trace, train_share)
    queries = sample_ages(future.decode_tokens, 1, sample, np.random.default_rng([seed, 3]))
    remaining = future.decode_tokens[queries.request] - queries.age
    entries: list[ForecastQuality] = []
    calibration: list[CalibrationBin] = []
    coverage: list[AgeCoverage] = []
    interrupted = False
    failures = Failures()
    try:
        for number, forecast in enumerate(forecasts):
            label = forecast if isinstance(forecast, str) else forecast.name
            if on_progress is not None:
                on_progress(label, number, len(forecasts))
            with failures.kept():
                began_s = time.perf_counter()
                forecaster = (
                    make_forecast(forecast, history, horizon=horizon, seed=seed)
                    if isinstance(forecast, str)
                    else forecast
                )
                fitted_s = time.perf_counter() - began_s
                one = Queries(queries.request[:1], queries.age[:1])
                forecaster.predict(future, one, horizon)  # compiles what is not compiled yet
                began_s = time.perf_counter()
                answers = forecaster.predict(future, queries, horizon)
                predict_s = time.perf_counter() - began_s
                covered = forecaster.covered(future, queries)
                entry = judge(
                    label,
                    answers,
                    covered,
                    remaining,
                    horizon,
                    fit_s=fitted_s,
                    predict_s=predict_s,
                )
                entries.append(entry)
                finishes = answers.finish_probability
                calibration += calibration_of(label, finishes, remaining <= horizon)
                coverage += coverage_of(label, queries.age, covered)
        if on_progress is not None:
            on_progress("done", len(forecasts), len(forecasts))
    except KeyboardInterrupt:
        interrupted = True
    if not entries:
        failures.raise_first()
    return ForecastReport(
        settings={
            "trace": trace.name,
            "notices": list(trace.notices),
            "requests": len(trace),
            "train_requests": len(history),
            "test_requests": len(future),
            "horizon": horizon,
            "train_share": train_share,
            "sample": sample,
            "queries": len(remaining),
            "seed": seed,
            "versions": versions(),
        },
        forecasts=tuple(entries),
        calibration=tuple(calibration),
        coverage=tuple(coverage),
        interrupted=interrupted,
        failures=failures.messages,
    )


def _split(trace: Trace, train_share: float) -> tuple[Trace, Trace]:
    if not 0 < train_share < 1:
        raise InputError(f"train_share = {train_share} must lie strictly between 0 and 1")
    return split_history(trace, round(len(trace) * train_share))
