"""Forecasters by name, fitted to a history."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from olprouting.errors import unknown_name
from olprouting.forecasts import FORECASTS, make_forecast

if TYPE_CHECKING:
    from olprouting.forecasts import Forecaster
    from olprouting.instances import Trace

FITTED = tuple(dict.fromkeys((*FORECASTS, "learned", "learned:FILE")))
"""Names of all forecasters; a learned one is trained on the history, or read from a file."""


def fit(name: str, history: Trace, horizon: int, seed: int) -> Forecaster:
    """Return the forecaster called `name`, fitted to `history` for a horizon H.

    Raises
    ------
    InputError
        If the name is unknown, or a file holds no model for this horizon.
    """
    kind, _, file = name.partition(":")
    if kind == "learned":
        from olprouting.forecasts.learned import LearnedModel, train_learned

        if not file:
            return train_learned(history, horizon, seed=seed)
        model = LearnedModel.load(file)
        model.require_horizon(horizon)
        return model
    return cast("Forecaster", make_forecast(name, history, horizon=horizon, seed=seed))


def refuse_unknown(name: str) -> None:
    """Raise where no forecaster goes by this name; what follows a colon is not looked at."""
    if name.partition(":")[0] not in {known.partition(":")[0] for known in FITTED}:
        raise unknown_name("forecast", name, FITTED)
