"""What every forecaster answers: when a request of a given age will complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from olprouting.instances import Trace


class Queries(NamedTuple):
    """Questions about requests of one trace.

    Attributes
    ----------
    request
        Rows of the trace, shape (n,), int64.
    age
        Tokens they have generated so far, shape (n,), int64, >= 0; less than their decode length.
    """

    request: npt.NDArray[np.int64]
    age: npt.NDArray[np.int64]


class Predictions(NamedTuple):
    """Answers for a horizon H, where r >= 1 is the remaining number of tokens.

    Attributes
    ----------
    finish_probability
        P(r <= H), shape (n,), in [0, 1].
    finisher_remaining
        mu = E[r | r <= H], shape (n,), in [1, H] (1 where `finish_probability` is 0).
    expected_remaining
        c = E[min(r, H + 1)], shape (n,), in [1, H + 1].
    """

    finish_probability: npt.NDArray[np.float64]
    finisher_remaining: npt.NDArray[np.float64]
    expected_remaining: npt.NDArray[np.float64]


class Forecaster(Protocol):
    """A forecaster with what it has learnt (balance paper, EC.4)."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def predict(self, trace: Trace, queries: Queries, horizon: int) -> Predictions:
        """Answer queries about requests of `trace` for a horizon H >= 1."""
        ...

    def covered(self, trace: Trace, queries: Queries) -> npt.NDArray[np.bool_]:
        """Tell which answers rest on history of their own, no fallback, shape (n,)."""
        ...
