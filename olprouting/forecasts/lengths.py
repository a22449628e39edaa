"""Forecasts that fix a decode length per request: the oracle, exact or noisy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from olprouting.errors import InputError, unknown_name

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances import Trace


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


@dataclass(frozen=True)
class NoisyOracle:
    """True lengths times Uniform(1 - spread, 1 + spread), rounded half up, at least 1.

    Parameters
    ----------
    spread
        Relative half-width of the noise, in [0, 1].
    """

    spread: float = 0.2

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


def make_forecast(name: str) -> LengthForecast:
    """Return the forecast called `name`: ``oracle``, ``noisy`` or ``noisy:SPREAD``.

    Raises
    ------
    InputError
        If the name is unknown or the spread is not a number in [0, 1].
    """
    kind, _, spread = name.partition(":")
    if name == "oracle":
        return Oracle()
    if kind == "noisy":
        try:
            return NoisyOracle(float(spread)) if spread else NoisyOracle()
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"forecast {name!r}: {spread!r} is not a number") from None
    raise unknown_name("forecast", name, ("oracle", "noisy:SPREAD"))
