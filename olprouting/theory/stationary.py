"""The exact stationary mean imbalance of FCFS admission with a size-blind destination policy."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.theory.prompt_law import PromptLaw, as_law, check_model
from olprouting.theory.worker_load import (
    DEFAULT_TAIL_MASS,
    UNIT,
    WorkerLoadLaw,
    worker_load_law,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.theory.theorem import TheoremConstants


@dataclass(frozen=True)
class StationaryImbalance:
    """The mean imbalance of FCFS policies once every slot is full, with its error bound.

    Parameters
    ----------
    imbalance_tokens
        G (E[max of G independent worker loads] - B E[U]).
    truncation_error_tokens, rounding_error_tokens
        Bounds on the two parts of its error.
    mean_load_tokens
        B E[U], the mean load of a worker.
    load_deviation_tokens
        sqrt(B) sigma, the standard deviation of a worker's load.
    normalised
        imbalance / (G sigma sqrt(B log G)), which the theorem bounds below by 1/1024 for B >= B_0,
        and which tends to sqrt(2) for normal loads and many workers; None where G = 1.
    """

    imbalance_tokens: float
    truncation_error_tokens: float
    rounding_error_tokens: float
    mean_load_tokens: float
    load_deviation_tokens: float
    normalised: float | None

    @property
    def error_tokens(self) -> float:
        """Bound on the error of `imbalance_tokens`: truncation and rounding."""
        return self.truncation_error_tokens + self.rounding_error_tokens

    def to_row(self) -> dict[str, Any]:
        """Return all numbers by name."""
        return asdict(self) | {"error_tokens": self.error_tokens}


def stationary_imbalance(
    prompt_law: PromptLaw | int | npt.ArrayLike,
    p: float,
    workers: int,
    slots: int,
    *,
    tail_mass: float = DEFAULT_TAIL_MASS,
) -> StationaryImbalance:
    """Compute the long-run mean imbalance of Random, RoundRobin, PowerOfTwo, JSQ and LeastLoad.

    Their destination does not look at the size of the request it places. Once every slot stays full
    (arrivals above n p per iteration suffice), each worker holds B independent copies of
    U = S + A*, independent across workers, and the mean imbalance tends to
    G (E[max] - B E[U]), with E[max] = sum over z of 1 - F(z)^G for the law F of a worker's load.

    Parameters
    ----------
    prompt_law
        The law of S; a whole number s for uniform on {1..s}, or P(S = 1), P(S = 2), ...
    p
        Parameter of the decode law Geometric(p), strictly between 0 and 1.
    workers, slots
        G >= 1, and B >= 1 per worker.
    tail_mass
        Probability of a worker's load that may be cut off on either side, in (0, 0.1].

    Raises
    ------
    InputError
        If a parameter is out of range, or the law of a load needs more than 2^25 values.

    References
    ----------
    arXiv 2601.17855, EC.1.4: the common stationary snapshot of the benchmark class.
    """
    check_model(p, workers, slots)
    law = worker_load_law(as_law(prompt_law), p, slots, tail_mass=tail_mass)
    deviation = math.sqrt(law.variance_tokens2)
    if workers == 1:
        return StationaryImbalance(0.0, 0.0, 0.0, law.mean_tokens, deviation, None)
    first = law.window.first
    above_first = float((1 - law.cumulative**workers).sum())
    excess = first - law.mean_tokens + above_first
    truncation, rounding = _errors(law, workers)
    return StationaryImbalance(
        imbalance_tokens=workers * excess,
        truncation_error_tokens=truncation,
        rounding_error_tokens=rounding,
        mean_load_tokens=law.mean_tokens,
        load_deviation_tokens=deviation,
        normalised=excess / (deviation * math.sqrt(math.log(workers))),
    )


def certified_ratio(constants: TheoremConstants, stationary: StationaryImbalance) -> float | None:
    """Return a certified lower bound of mean imbalance FCFS / IO_0 under the supply condition.

    The exact imbalance of FCFS, less its error, over the upper bound of IO_0; no B_0 is needed.
    None where G = 1 or rho = 0.
    """
    upper = constants.io0_upper_bound_tokens
    if not upper:
        return None
    return (stationary.imbalance_tokens - stationary.error_tokens) / upper


def _errors(law: WorkerLoadLaw, workers: int) -> tuple[float, float]:
    """Bound truncation and rounding of G (E[max] - B E[U]).

    Where F is off by at most d, F^G is off by at most G d (F + d)^(G-1). Truncation moves F by at
    most the mass outside the window (which wraps into it) and omits sums of 1 - F^G <= G (1 - F)
    above and F^G <= F below. Powers and sums of N terms of at most 1 round by (8 + log2 N) u each.
    """
    off = law.window.mass + law.rounding
    power = np.minimum(law.cumulative + off, 1.0) ** (workers - 1)
    sensitivity = workers * 1.001 * float(power.sum())
    truncation = (
        law.window.mass * sensitivity + workers * law.window.above_tokens + law.window.below_tokens
    )
    size = law.window.size
    rounding = (
        law.rounding * sensitivity
        + size * (8 + math.log2(size)) * UNIT
        + 32 * UNIT * (law.mean_tokens + law.window.first)
    )
    return workers * truncation, workers * rounding
