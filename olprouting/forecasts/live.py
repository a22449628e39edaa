"""Forecasts that change with a request's age, as a run uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.forecasts.curve_kernels import Curves
    from olprouting.forecasts.learned.step_kernels import AgeSteps
    from olprouting.forecasts.live_kernels import LiveForecast
    from olprouting.instances import Trace


@runtime_checkable
class LiveForecaster(Protocol):
    """A forecaster that answers by age and goes on learning in a run."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def live(self, trace: Trace, horizon: int, slots: int) -> LiveForecast:
        """Return what it knows at the start of a run.

        Parameters
        ----------
        trace
            The requests of the run.
        horizon
            Lookahead H, >= 1.
        slots
            How many requests may be active at once, >= 1.
        """
        ...


def live_forecast(
    trace: Trace,
    *,
    curves: Curves | None = None,
    steps: AgeSteps | None = None,
    own: npt.NDArray[np.int64] | None = None,
) -> LiveForecast:
    """Return the live forecast of a run of `trace`, by curves or by steps.

    All arrays are writable copies, so that compiled code is the same for all of them.
    """
    from olprouting.forecasts.live_kernels import LiveForecast

    return LiveForecast(
        curves=curves,
        steps=steps,
        own=np.zeros(len(trace), np.int64) if own is None else np.array(own),
        prompt_tokens=np.array(trace.prompt_tokens),
        decode_tokens=np.array(trace.decode_tokens),
        unlearnt=np.empty(len(trace), np.int64),
        unlearnt_count=np.zeros(1, np.int64),
    )
