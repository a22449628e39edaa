"""Forecasts from survival curves of past lengths: of all requests, or of those of a kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError
from olprouting.forecasts.forecaster import Predictions, Queries
from olprouting.forecasts.live import live_forecast
from olprouting.instances._checks import token_vector

if TYPE_CHECKING:
    from olprouting.forecasts.curve_kernels import Curves
    from olprouting.forecasts.live_kernels import LiveForecast
    from olprouting.instances import Trace

    Ints = npt.NDArray[np.int64]

NOBODY = np.empty(0, np.int64)
NONE_OF_ITS_OWN = -1


class Kinds(NamedTuple):
    """Which curve speaks for whom: 0 that of all, 1, 2, ... those of a kind.

    A request with `NONE_OF_ITS_OWN` falls back on that of all.

    Attributes
    ----------
    past, present
        Curves of past requests, and of those of the trace.
    curves
        Number of curves K, that of all included.
    """

    past: Ints
    present: Ints
    curves: int


@dataclass(frozen=True, eq=False)
class CurveForecaster:
    """A forecaster from curves of past lengths; in a run it goes on learning.

    Parameters
    ----------
    history
        Completed requests to start from; None for none. Without any history every request is
        forecast to outlast the window.
    """

    history: Trace | None = None

    @property
    def name(self) -> str:
        """What reports call it."""
        raise NotImplementedError

    def kinds(self, trace: Trace) -> Kinds:
        """Return the curves that speak for past requests and for those of `trace`."""
        return Kinds(np.zeros_like(self.past_tokens), np.zeros(len(trace), np.int64), 1)

    @property
    def past_tokens(self) -> Ints:
        """Decode lengths of the history, shape (M,)."""
        return NOBODY if self.history is None else self.history.decode_tokens

    @property
    def running_age(self) -> Ints | None:
        """Ages of past requests that still run, shape (R,); None where running ones are ignored."""
        return None

    def live(self, trace: Trace, horizon: int, slots: int) -> LiveForecast:
        """Return what it knows at the start of a run; see `LiveForecaster`."""
        curves, own = self._known(trace)
        return live_forecast(trace, curves=curves, own=own)

    def _known(self, trace: Trace) -> tuple[Curves, Ints]:
        """Return the curves, and which of them is that of each request of `trace`."""
        kinds = self.kinds(trace)
        curves = _curves(self.past_tokens, kinds, trace.decode_tokens, self.running_age)
        return curves, kinds.present

    def predict(self, trace: Trace, queries: Queries, horizon: int) -> Predictions:
        """Answer queries about requests of `trace`; see `Forecaster`.

        Raises
        ------
        InputError
            If the horizon or an age is out of range.
        """
        return self._answer(trace, queries, horizon)[0]

    def covered(self, trace: Trace, queries: Queries) -> npt.NDArray[np.bool_]:
        """Tell which queries meet history of their own curve that reaches beyond their age."""
        return self._answer(trace, queries, 1)[1]

    def _answer(
        self, trace: Trace, queries: Queries, horizon: int
    ) -> tuple[Predictions, npt.NDArray[np.bool_]]:
        from olprouting.forecasts.curve_kernels import predict_ages

        if horizon < 1:
            raise InputError(f"horizon = {horizon} must be >= 1 iteration")
        age = token_vector("age", queries.age, at_least=0)
        curves, own = self._known(trace)
        answers = Predictions(*np.empty((3, len(age))))
        covered = np.empty(len(age), np.bool_)
        predict_ages(curves, own[queries.request], age, horizon, *answers, covered)
        return answers, covered


@dataclass(frozen=True, eq=False)
class Survival(CurveForecaster):
    """The empirical law of completed lengths, given the age reached (balance paper, EC.4).

    Parameters
    ----------
    history
        Completed requests to start from; None for none.
    """

    @property
    def name(self) -> str:
        """``survival``."""
        return "survival"


@dataclass(frozen=True, eq=False)
class KaplanMeier(CurveForecaster):
    """Survival that heeds running requests too, as lengths known to exceed their age.

    Completed lengths alone are biased towards short ones while long requests still run; the
    product-limit estimator is not (Kaplan and Meier, 1958).

    Parameters
    ----------
    history
        Completed requests to start from; None for none.
    running
        Ages of requests that ran when the history ended, shape (R,), each >= 0. A run counts its
        own instead.
    """

    running: Ints | None = None

    @property
    def name(self) -> str:
        """``km``."""
        return "km"

    @property
    def running_age(self) -> Ints:
        """Ages of past requests that still run, shape (R,)."""
        return NOBODY if self.running is None else token_vector("running", self.running, at_least=0)


@dataclass(frozen=True, eq=False)
class ExactMatch(CurveForecaster):
    """Survival among requests of the same key; without history of the key, among all.

    Where the trace has no keys, requests of the same prompt-length bucket share one.

    Parameters
    ----------
    history
        Completed requests to start from; None for none.
    buckets
        Number of prompt-length quantile buckets, >= 1. Quantiles are those of the history's
        prompts; without history, of the prompts of the trace.
    """

    buckets: int = 20

    @property
    def name(self) -> str:
        """``exact-match``."""
        return "exact-match"

    def kinds(self, trace: Trace) -> Kinds:
        """Return a curve per key that occurs twice; a key of one request can learn nothing."""
        if self.buckets < 1:
            raise InputError(f"buckets = {self.buckets} must be >= 1")
        past, present = self._keys(trace)
        _, inverse, size = np.unique(
            np.concatenate([past, present]), return_inverse=True, return_counts=True
        )
        shared = size > 1
        number = np.where(shared, np.cumsum(shared), NONE_OF_ITS_OWN)[inverse]
        return Kinds(number[: len(past)], number[len(past) :], int(shared.sum()) + 1)

    def _keys(self, trace: Trace) -> tuple[Ints, Ints]:
        past = trace.head(0) if self.history is None else self.history
        if trace.key is not None and (past.key is not None or len(past) == 0):
            return NOBODY if past.key is None else past.key, trace.key
        prompts = past.prompt_tokens if len(past) else trace.prompt_tokens
        inner = np.arange(1, self.buckets) / self.buckets
        edges = np.quantile(prompts, inner) if len(prompts) else np.empty(0)
        return (
            np.searchsorted(edges, past.prompt_tokens),
            np.searchsorted(edges, trace.prompt_tokens),
        )


def _curves(past: Ints, kinds: Kinds, coming: Ints, running: Ints | None) -> Curves:
    """Tabulate curves of past lengths, with room for coming ones."""
    from olprouting.forecasts.curve_kernels import Curves, tabulate

    longest = np.zeros(kinds.curves, np.int64)
    for curve, length in ((kinds.past, past), (kinds.present, coming)):
        own = curve > 0
        np.maximum.at(longest, curve[own], length[own])
    oldest = NOBODY if running is None else running
    longest[0] = max(lengths.max(initial=0) for lengths in (past, coming, oldest))
    first = np.concatenate([[0], np.cumsum(longest + 1)])
    own = kinds.past > 0
    places = np.concatenate([past, first[kinds.past[own]] + past[own]])
    completed = np.bincount(places, minlength=first[-1])
    still = NOBODY if running is None else np.bincount(running, minlength=first[-1])
    curves = Curves(
        first,
        completed,
        still,
        beyond=np.empty(first[-1]),
        reach=np.empty(first[-1]),
    )
    for k in range(kinds.curves):
        tabulate(curves, k)
    return curves
