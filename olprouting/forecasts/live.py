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
    """Return the live forecast of a run of `trace`, by curves, by steps, or by neither.

    All arrays are writable copies, so that compiled code is the same for all of them.
    """
    from olprouting.forecasts.live_kernels import LiveForecast

    return LiveForecast(
        by_steps=steps is not None,
        curves=_no_curves() if curves is None else curves,
        steps=_no_steps() if steps is None else steps,
        own=np.zeros(len(trace), np.int64) if own is None else np.array(own),
        prompt_tokens=np.array(trace.prompt_tokens),
        decode_tokens=np.array(trace.decode_tokens),
        unlearnt=np.empty(len(trace), np.int64),
        unlearnt_count=np.zeros(1, np.int64),
    )


def _no_curves() -> Curves:
    from olprouting.forecasts.curve_kernels import Curves

    none, nothing = np.empty(0, np.int64), np.empty(0)
    return Curves(none, none, none, nothing, nothing)


def _no_steps() -> AgeSteps:
    from olprouting.forecasts.learned.recent_kernels import Recent
    from olprouting.forecasts.learned.step_kernels import AgeSteps
    from olprouting.forecasts.learned.tree_kernels import LearnedTrees, Trees

    none, nothing, flat = np.empty(0, np.int64), np.empty(0), np.empty((0, 0))
    trees = Trees(0.0, none, none, nothing, none, none, nothing, none)
    return AgeSteps(
        trees=LearnedTrees(trees, trees, none, 0, 0),
        recent=Recent(none, none, nothing, none, 1.0),
        finish_probability=flat,
        finisher_remaining=flat,
        cutoff=np.empty((0, 0), np.int64),
        free=none,
        free_count=none,
        features=np.empty(0, np.float32),
    )
