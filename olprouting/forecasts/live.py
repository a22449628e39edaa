"""Forecasts that change with a request's age, as a run uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from olprouting.forecasts.live_kernels import LiveForecast
    from olprouting.instances import Trace


@runtime_checkable
class LiveForecaster(Protocol):
    """A forecaster that answers by age and goes on learning in a run."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def live(self, trace: Trace, horizon: int) -> LiveForecast:
        """Return what it knows at the start of a run of `trace` with lookahead H."""
        ...


def no_live_forecast() -> LiveForecast:
    """Return the live forecast of a run that has a length per request instead."""
    from olprouting.forecasts.curve_kernels import Curves
    from olprouting.forecasts.live_kernels import LiveForecast

    none, nothing = np.empty(0, np.int64), np.empty(0)
    curves = Curves(none, none, none, nothing, nothing)
    return LiveForecast(curves, none, none, none, none)
