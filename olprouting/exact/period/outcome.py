"""What a solver gave for a period's program, before anything is rechecked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from olprouting.instances import StopReason

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PeriodOutcome:
    """What a solver gave.

    Parameters
    ----------
    stop_reason
        Why the solver stopped; OPTIMAL here means that it claims to be done.
    start
        x of each column, shape (n,), or None. Only from solvers that are done, or that say
        themselves that the point is feasible.
    price
        Gain per extra unit of each row's capacity, shape (m,), or None.
    bound
        Upper bound on the value that the solver reports, or None.
    wall_s, build_s
        Seconds solving, and building the model.
    message
        The solver's own word.
    """

    stop_reason: StopReason
    start: Floats | None
    price: Floats | None
    bound: float | None
    wall_s: float
    build_s: float
    message: str
