"""A forecaster that cannot be judged, among others that can."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.errors import InputError
from olprouting.forecast_report import evaluate_forecasts
from olprouting.forecasts import NoisyOracle
from olprouting.traces import from_profile


class Broken(NoisyOracle):
    """A forecaster that answers nothing."""

    def predict(self, trace, queries, horizon):
        raise InputError("the model is of another trace")


def test_a_forecaster_that_fails_costs_its_own_row_only() -> None:
    """Catches the loss of those that were judged before it, and those that come after."""
    trace = from_profile("azure-2023-conv-like", 60, np.random.default_rng(0))
    report = evaluate_forecasts(trace, ["oracle", Broken(0.5), "noisy:0.2"], horizon=5)
    assert [row.forecast for row in report.forecasts] == ["oracle", "noisy:0.2"]
    assert report.failures == ("the model is of another trace",)
    assert report.to_document()["failures"] == list(report.failures)
    with pytest.raises(InputError, match="of another trace"):
        evaluate_forecasts(trace, [Broken(0.5)], horizon=5)
