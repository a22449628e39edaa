"""What a solver backend is: one small protocol, and the outcome it returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from olprouting.errors import InputError

if TYPE_CHECKING:
    from fractions import Fraction

    from olprouting.exact.options import SolveOptions
    from olprouting.instances import Decision, StopReason
    from olprouting.instances.solve_result import Assignment


@dataclass(frozen=True)
class Abilities:
    """What a backend can do.

    Parameters
    ----------
    formulations
        Names of the formulations it solves; the first is its default.
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

    formulations: tuple[str, ...]
    warm_start: bool
    on_incumbent: bool
    node_limit: bool
    largest_request: float = math.inf


LOADS_PER_REQUEST = 100
"""Loads may differ by that many times what a request may have: they stand alone in a row, while
requests are multiplied by counts that are only nearly whole."""


class BeyondRangeError(InputError):
    """Numbers with which a backend that computes exactly cannot do so."""


def tolerances_prove(abilities: Abilities, decision: Decision) -> bool:
    """Whether the numbers of `decision` are small enough for a backend's tolerances."""
    requests, loads = decision.waiting_prompt_tokens, decision.projected_load_tokens
    return bool(
        requests.max(initial=0) <= abilities.largest_request
        and np.ptp(loads, axis=0).max() <= LOADS_PER_REQUEST * abilities.largest_request
    )


@dataclass(frozen=True)
class Outcome:
    """What a backend found, before anything is rechecked.

    Parameters
    ----------
    stop_reason
        Why the solver stopped; OPTIMAL here means that it claims to be done.
    assignment
        Its best assignment, or None.
    bound
        A lower bound on the optimum in tokens that allows for the solver's tolerances, or None.
    wall_s, build_s
        Seconds solving, and building the model.
    message
        The solver's own word.
    """

    stop_reason: StopReason
    assignment: Assignment | None
    bound: int | Fraction | None
    wall_s: float
    build_s: float
    message: str


class Backend(Protocol):
    """A solver: knows what it can do, and solves a decision.

    A backend may assume that something is to be decided, that the formulation is one of its
    own, and that the start is valid.
    """

    abilities: Abilities

    def run(
        self,
        decision: Decision,
        formulation: str,
        options: SolveOptions,
        start: Assignment | None,
    ) -> Outcome:
        """Solve `decision`.

        Raises
        ------
        InputError
            If the decision or an option is not for this solver; a `BeyondRangeError` if another
            one may be able to compute with its numbers.
        SolverUnavailableError
            If the solver is not installed or not licensed.
        """
        ...
