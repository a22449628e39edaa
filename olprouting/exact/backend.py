"""What a solver backend is: one small protocol, and the outcome it returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError
from olprouting.instances.result import Solution, StopReason

if TYPE_CHECKING:
    from fractions import Fraction

    from olprouting.exact.options import SolveOptions
    from olprouting.instances import Decision


@dataclass(frozen=True)
class Abilities:
    """What a backend can do.

    Parameters
    ----------
    formulations
        Names of a decision's formulations that it solves; the first is its default.
    warm_start
        Whether the solver takes a starting assignment.
    on_incumbent
        Whether it reports improving solutions and can be stopped there.
    node_limit
        Whether it can stop after a number of nodes.
    largest_request
        Largest waiting request, in the unit of the decision, up to which its tolerances prove an
        optimum. Infinite for backends that compute exactly, or say that they cannot.
    """

    formulations: tuple[str, ...] = ()
    warm_start: bool = False
    on_incumbent: bool = False
    node_limit: bool = False
    largest_request: float = math.inf


LOADS_PER_REQUEST = 100
"""Loads may differ by that many times what a request may have: they stand alone in a row, while
requests are multiplied by counts that are only nearly whole."""


HIGHS_LARGEST_REQUEST = 1e6
"""What HiGHS's tolerances bear: a count may miss a whole number by 1e-6. Of random decisions with
requests and loads of this size 2,000 of 2,000 were solved; of ten times this size, 3% were not."""


class BeyondRangeError(InputError):
    """Numbers with which a backend that computes exactly cannot do so."""


def tolerances_prove(largest_request: float, decision: Decision) -> bool:
    """Whether a decision's numbers are small enough for tolerances that bear such a request."""
    requests, loads = decision.waiting_prompt_tokens, decision.projected_load_tokens
    return bool(
        requests.max(initial=0) <= largest_request
        and np.ptp(loads, axis=0).max() <= LOADS_PER_REQUEST * largest_request
    )


@dataclass(frozen=True)
class Outcome(Generic[Solution]):
    """What a backend found, before anything is rechecked.

    Parameters
    ----------
    stop_reason
        Why the solver stopped; OPTIMAL here means that it claims to be done.
    solution
        Its best assignment; of a period, x of each column, shape (n,). None without one. Shares
        come only from solvers that are done.
    bound
        What no value is better than: of a decision a lower bound in tokens that allows for the
        solver's tolerances, of a period the upper bound that the solver reports. Or None.
    wall_s, build_s
        Seconds solving, and building the model.
    message
        The solver's own word.
    price
        Of a period's LP or dual: gain per extra unit of each row's capacity, shape (m,), or None.
    """

    stop_reason: StopReason
    solution: Solution | None
    bound: int | float | Fraction | None
    wall_s: float
    build_s: float
    message: str
    price: npt.NDArray[np.float64] | None = None


def not_started(build_s: float) -> Outcome[Any]:
    """Return the outcome of a solver that has no time, which some would take as no limit."""
    return Outcome(StopReason.TIME_LIMIT, None, None, 0.0, build_s, "limit 0: not started")


class Backend(Protocol):
    """A solver: knows what it can do, and solves a decision or a period's program.

    A backend may assume that something is to be decided, that the formulation is one of its own,
    and that the start is valid.
    """

    abilities: Abilities

    def run(
        self, instance: Any, formulation: str, options: SolveOptions, start: Any
    ) -> Outcome[Any]:
        """Solve an instance.

        Parameters
        ----------
        instance
            A `Decision`, or the `PeriodColumns` of a period.
        formulation
            One that it solves.
        options
            How to solve.
        start
            A solution to start from, or None.

        Raises
        ------
        InputError
            If the instance or an option is not for this solver; a `BeyondRangeError` if another
            one may be able to compute with its numbers.
        SolverUnavailableError
            If the solver is not installed or not licensed.
        """
        ...
