"""The supply condition: whether enough requests arrive for the theorem to speak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.theory.theorem import TheoremConstants


@dataclass(frozen=True)
class SupplyCheck:
    """An arrival rate beside what is needed.

    Parameters
    ----------
    requests_per_iteration
        liminf A(k)/k of the arrivals.
    saturating_requests_per_iteration
        n p: the rate must exceed it for every slot to be full in the long run.
    supply_requests_per_iteration
        n p / rho: the rate must exceed it for the bounds of the theorem; None where rho = 0.
    """

    requests_per_iteration: float
    saturating_requests_per_iteration: float
    supply_requests_per_iteration: float | None

    @property
    def saturates(self) -> bool:
        """Say whether slots fill: the exact stationary imbalance then applies.

        Admissions until iteration k are at most n plus the successful completion coins (EC.1.1),
        whose rate is n p; beyond that rate the waiting pool grows without bound.
        """
        return self.requests_per_iteration > self.saturating_requests_per_iteration

    @property
    def holds(self) -> bool:
        """Say whether the supply condition of the theorem holds."""
        needed = self.supply_requests_per_iteration
        return needed is not None and self.requests_per_iteration > needed

    def message(self) -> str:
        """Return a sentence on whether the bounds apply."""
        given, needed = self.requests_per_iteration, self.supply_requests_per_iteration
        if needed is None:
            return "supply: the bounds do not apply: every prompt has the same size (rho = 0)"
        if self.holds:
            return (
                f"supply: {given:.6g} requests per iteration > n p / rho = {needed:.6g}: it holds"
            )
        return (
            f"supply: the bounds do not apply: {given:.6g} requests per iteration, "
            f"more than n p / rho = {needed:.6g} are needed"
        )


def check_supply(
    constants: TheoremConstants, requests_per_iteration: float | npt.ArrayLike
) -> SupplyCheck:
    """Compare arrivals with the supply condition liminf A(k)/k > n p / rho.

    Parameters
    ----------
    constants
        Of `olprouting.theory.constants`.
    requests_per_iteration
        A long-run rate; or the arrivals of successive iterations, taken as one period of a pattern
        that repeats for ever, for which liminf A(k)/k is their mean. (No finite sequence decides a
        limit inferior in another way.)

    Raises
    ------
    InputError
        If arrivals are negative, not finite or absent.
    """
    arrivals = np.atleast_1d(np.asarray(requests_per_iteration, dtype=np.float64))
    if arrivals.ndim != 1 or not len(arrivals):
        raise InputError("arrivals per iteration must be a rate or a sequence of counts")
    bad = ~np.isfinite(arrivals) | (arrivals < 0)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"arrivals per iteration[{row}] = {arrivals[row]:g} must be finite and >= 0"
        )
    return SupplyCheck(
        float(arrivals.mean()),
        constants.saturating_requests_per_iteration,
        constants.supply_requests_per_iteration,
    )
