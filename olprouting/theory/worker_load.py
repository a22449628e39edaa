"""The stationary law of a worker's load: B independent copies of U = S + A*.

The characteristic function of U is known in closed form, E[e^(iwS)] p / (1 - q e^(iw)), geometric
tail included. Its B-th power at the N-th roots of unity is the transform of the law of the sum
wrapped modulo N, so that one inverse FFT gives the law up to what lies outside a window of N loads;
`olprouting.theory.tails` bounds that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import fft

from olprouting.errors import InputError
from olprouting.theory.prompt_law import PromptLaw, as_law, check_model
from olprouting.theory.tails import Window, window

if TYPE_CHECKING:
    Spectrum = npt.NDArray[np.complex128]

UNIT = 2.0**-53
"""Unit roundoff of float64."""

LARGEST_WINDOW = 2**25
"""Loads in the largest window that is computed, about 1.6 GB of memory."""

DEFAULT_TAIL_MASS = 1e-18


@dataclass(frozen=True, eq=False)
class WorkerLoadLaw:
    """P(load = z) for z in a window, and how far it can be off.

    Parameters
    ----------
    window
        The loads covered, with bounds on what lies outside.
    probability
        Of each load in the window, shape (window.size,).
    cumulative
        P(load <= z), clipped to [0, 1].
    mean_tokens
        B E[U], the exact mean.
    variance_tokens2
        B Var(U).
    rounding
        Bound on the rounding error of any entry of `cumulative`. Its truncation error is at most
        ``window.mass``.
    """

    window: Window
    probability: npt.NDArray[np.float64]
    cumulative: npt.NDArray[np.float64]
    mean_tokens: float
    variance_tokens2: float
    rounding: float

    @property
    def load_tokens(self) -> npt.NDArray[np.int64]:
        """The loads of the window."""
        return np.arange(self.window.first, self.window.first + self.window.size)


def worker_load_law(
    prompt_law: PromptLaw | int | npt.ArrayLike,
    p: float,
    slots: int,
    *,
    tail_mass: float = DEFAULT_TAIL_MASS,
) -> WorkerLoadLaw:
    """Compute the stationary law of the load of a worker whose `slots` slots are always full.

    Parameters
    ----------
    prompt_law
        The law F; a whole number s for uniform on {1..s}, or P(S = 1), P(S = 2), ...
    p
        Parameter of the decode law Geometric(p), strictly between 0 and 1.
    slots
        B >= 1; with 1, the law of U itself.
    tail_mass
        Probability that may lie outside the window on either side, in (0, 0.1].

    Raises
    ------
    InputError
        If a parameter is out of range, or the window would hold more than 2^25 loads.

    References
    ----------
    arXiv 2601.17855, EC.1.4 (the law). N. J. Higham, Accuracy and Stability of Numerical
    Algorithms, 2nd ed., Theorem 24.2 (rounding of the FFT).
    """
    check_model(p, 1, slots)
    if not 0 < tail_mass <= 0.1:
        raise InputError(f"tail_mass = {tail_mass:g} must be in (0, 0.1]")
    law = as_law(prompt_law)
    view = window(law, p, slots, tail_mass)
    if view.size > LARGEST_WINDOW:
        raise InputError(
            f"the law of a worker's load needs {view.size} values, more than 2^25; "
            "use fewer slots, a larger p, or coarser prompt sizes"
        )
    prompts = np.zeros(view.size)
    np.add.at(prompts, law.size_tokens % view.size, law.probability)
    spectrum = _power(fft.rfft(prompts) * _age_spectrum(p, view.size), slots)
    wrapped = fft.irfft(spectrum, view.size)
    probability = np.roll(wrapped, -(view.first % view.size))
    cumulative = _running_sum(probability)
    np.clip(cumulative, 0, 1, out=cumulative)
    return WorkerLoadLaw(
        window=view,
        probability=probability,
        cumulative=cumulative,
        mean_tokens=slots * (law.mean_tokens + (1 - p) / p),
        variance_tokens2=slots * (law.variance_tokens2 + (1 - p) / p**2),
        rounding=_rounding(law, probability, slots),
    )


def _age_spectrum(p: float, size: int) -> Spectrum:
    """Return p / (1 - q e^(-iw)); the real part of 1 - q e^(-iw) as p + 2 q sin^2(w/2), exact."""
    angle = np.arange(size // 2 + 1) * (2 * np.pi / size)
    lost = p + 2 * (1 - p) * np.sin(angle / 2) ** 2 + 1j * (1 - p) * np.sin(angle)
    return np.asarray(p / lost, dtype=np.complex128)


def _power(base: Spectrum, exponent: int) -> Spectrum:
    """Return base ** exponent by repeated squaring: relative error below 3 u per factor.

    A complex logarithm would lose digits with the size of the phase instead.
    """
    result: Spectrum | None = None
    while True:
        if exponent & 1:
            result = base if result is None else result * base
        exponent >>= 1
        if not exponent:
            assert result is not None  # exponent >= 1: its highest bit was met
            return result
        base = base * base


def _running_sum(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return cumulative sums by blocks, so that the error grows with the root of the length."""
    block = 1 << (len(values).bit_length() // 2)
    within = np.cumsum(values.reshape(-1, block), axis=1)
    before = np.concatenate(([0.0], np.cumsum(within[:-1, -1])))
    return np.asarray((within + before[:, None]).ravel())


def _rounding(law: PromptLaw, probability: npt.NDArray[np.float64], slots: int) -> float:
    """Bound the rounding error of the cumulative law.

    A transform of length N has relative error at most c = 8 u log2 N in the 2-norm (Higham's
    theorem; twiddle factors within a few u, as pocketfft computes them). The spectrum of the
    prompts is thus off by at most c sqrt(N) ||f||, and since no factor exceeds 1 in modulus, the
    B-th power by B times that, besides 22 u relative per factor (16 for the ages, 3 for each
    product). A sum of at most N entries is off by sqrt(N) times the 2-norm of their errors, in
    which the inverse transform divides by sqrt(N) and adds its own c ||f_Z||. Summing by blocks
    adds u per step taken. The factor 1.01 covers terms of higher order.
    """
    size = len(probability)
    transform = 8 * UNIT * math.log2(size)
    prompts = math.sqrt(size) * float(np.linalg.norm(law.probability))
    sums = math.sqrt(size) * float(np.linalg.norm(probability))
    steps = 4 * math.sqrt(size) * float(np.abs(probability).sum())
    power = slots * (transform * prompts + 22 * UNIT * sums)
    return 1.01 * (power + transform * sums + UNIT * steps)
