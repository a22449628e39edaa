"""Forecasts that fix a decode length per request: the oracle, exact or noisy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from olprouting.errors import InputError
from olprouting.forecasts.forecaster import Predictions, Queries

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances import Trace


@runtime_checkable
class LengthForecast(Protocol):
    """A forecast that gives every request one decode length, fixed for the run.

    An active request of age a (tokens generated) then has ``max(1, length - a)`` iterations left,
    the coming one included.
    """

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def decode_lengths(self, trace: Trace, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return the forecast decode length of every request, shape (N,), each >= 1."""
        ...


@dataclass(frozen=True)
class Oracle:
    """Perfect knowledge: the decode lengths of the trace."""

    name: str = "oracle"

    def decode_lengths(self, trace: Trace, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return the true decode lengths."""
        return trace.decode_tokens

    def predict(self, trace: Trace, queries: Queries, horizon: int) -> Predictions:
        """Answer queries; see `Forecaster`."""
        return _predict(trace.decode_tokens, queries, horizon)

    def covered(self, trace: Trace, queries: Queries) -> npt.NDArray[np.bool_]:
        """Return True for all."""
        return np.ones(len(queries.age), np.bool_)


@dataclass(frozen=True)
class NoisyOracle:
    """True lengths times Uniform(1 - spread, 1 + spread), rounded half up, at least 1.

    Parameters
    ----------
    spread
        Relative half-width of the noise, in [0, 1].
    seed
        Seed of the noise of `predict`; a run draws the noise from its own generator.
    """

    spread: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.spread <= 1:
            raise InputError(f"noise spread = {self.spread} must lie in [0, 1]")

    @property
    def name(self) -> str:
        """``noisy:SPREAD``."""
        return f"noisy:{self.spread:g}"

    def decode_lengths(self, trace: Trace, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return noisy decode lengths, one draw per request."""
        factor = rng.uniform(1 - self.spread, 1 + self.spread, len(trace))
        rounded = np.floor(trace.decode_tokens * factor + 0.5).astype(np.int64)
        return np.maximum(rounded, 1)

    def predict(self, trace: Trace, queries: Queries, horizon: int) -> Predictions:
        """Answer queries, with noise of `seed`; see `Forecaster`."""
        lengths = self.decode_lengths(trace, np.random.default_rng(self.seed))
        return _predict(lengths, queries, horizon)

    def covered(self, trace: Trace, queries: Queries) -> npt.NDArray[np.bool_]:
        """Return True for all."""
        return np.ones(len(queries.age), np.bool_)


def _predict(lengths: npt.NDArray[np.int64], queries: Queries, horizon: int) -> Predictions:
    if horizon < 1:
        raise InputError(f"horizon = {horizon} must be >= 1 iteration")
    remaining = np.maximum(lengths[queries.request] - queries.age, 1)
    finishes = remaining <= horizon
    return Predictions(
        finishes.astype(np.float64),
        np.where(finishes, remaining, 1).astype(np.float64),
        np.minimum(remaining, horizon + 1).astype(np.float64),
    )
