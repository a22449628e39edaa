"""Forecasts by name."""

from __future__ import annotations

import pytest

from olprouting.errors import InputError
from olprouting.forecasts import (
    FORECASTS,
    ExactMatch,
    KaplanMeier,
    Survival,
    check_forecast_name,
    make_forecast,
)
from olprouting.forecasts.learned import LearnedModel
from olprouting.traces import resolve


@pytest.fixture(scope="module")
def history():
    return resolve("azure-2023-conv-like", requests=200)


@pytest.mark.parametrize(
    ("name", "kind"), [("survival", Survival), ("km", KaplanMeier), ("exact-match", ExactMatch)]
)
def test_forecasts_that_learn_start_from_the_history(name, kind, history) -> None:
    """Catches a history that is dropped on the way."""
    assert isinstance(make_forecast(name), kind)
    forecast = make_forecast(name, history)
    assert isinstance(forecast, kind)
    assert forecast.history is history
    assert forecast.name == name


def test_learned_is_trained_or_read_for_the_horizon_asked(history, tmp_path) -> None:
    """Catches a model for another horizon taken as it is."""
    model = make_forecast("learned", history, horizon=20)
    assert isinstance(model, LearnedModel)
    assert model.horizon == 20
    model.save(tmp_path / "model.json")
    assert make_forecast(f"learned:{tmp_path / 'model.json'}", horizon=20).horizon == 20
    with pytest.raises(InputError, match="trained for horizon 20, not 80"):
        make_forecast(f"learned:{tmp_path / 'model.json'}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("learned", "is trained on requests before the run: give it a history"),
        ("survivol", "unknown forecast 'survivol'.*Did you mean 'survival'"),
        ("noisy:wide", "'wide' is not a number"),
        ("learned:nowhere.json", "nowhere.json"),
    ],
)
def test_a_name_that_cannot_be_had_says_why(name, message) -> None:
    """Catches a trace back where one line should do."""
    with pytest.raises(InputError, match=message):
        make_forecast(name)


def test_names_are_checked_before_anything_is_trained() -> None:
    """Catches a list of names whose last one fails after the first has trained for a minute."""
    for name in FORECASTS:
        check_forecast_name(name)
    with pytest.raises(InputError, match="unknown forecast"):
        check_forecast_name("prophet")
