"""Options that mean the same for every solver."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError
from olprouting.options import PolicyOptions

if TYPE_CHECKING:
    from olprouting.instances import Assignment

DEFAULT_SOLVER = PolicyOptions.solver
"""Who solves where nobody is named: in Python, on the command line and in studies."""

OnIncumbent = Callable[[int | float, int | float | None, float], bool | None]
"""Called with (objective tokens, bound tokens or None, seconds); return True to stop."""


@dataclass(frozen=True)
class SolveOptions:
    """How to solve, in the words of no solver.

    Parameters
    ----------
    time_limit_s
        Seconds of solving, >= 0 (model building not counted), or None. CP-SAT counts its
        deterministic seconds if `deterministic`.
    node_limit
        Branch-and-bound nodes, >= 0, or None.
    relative_gap
        Stop at this relative gap, >= 0. The default 0 asks for a proof.
    threads
        Solver threads, >= 1.
    seed
        The solver's random seed, 0..2^31-1.
    deterministic
        One thread, the fixed seed, and a deterministic time limit where the solver has one:
        equal runs give equal assignments.
    verbose
        Let the solver write to the terminal. If False nothing is written.
    warm_start
        An assignment to start from, as (request index, worker index) pairs. The result is never
        worse; ``DecisionResult.warm_start`` says what became of it.
    on_incumbent
        Called as ``on_incumbent(objective, bound, seconds)`` for each better solution that the
        solver reports, from the solver's thread; returning True stops it.
    native
        Options handed to the solver by its own names.

    Raises
    ------
    InputError
        If a value is out of range.
    """

    time_limit_s: float | None = None
    node_limit: int | None = None
    relative_gap: float = 0.0
    threads: int = 1
    seed: int = 0
    deterministic: bool = False
    verbose: bool = False
    warm_start: Assignment | None = None
    on_incumbent: OnIncumbent | None = None
    native: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("time_limit_s", "relative_gap"):
            value = getattr(self, name)
            if value is not None and not (value >= 0 and math.isfinite(value)):
                raise InputError(f"{name} = {value} must be a finite number >= 0")
        for name, least in (("node_limit", 0), ("threads", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int) and least <= value < 2**31):
                raise InputError(f"{name} = {value!r} must be an integer in {least}..2^31-1")
        if self.deterministic and self.threads != 1:
            raise InputError(f"threads = {self.threads} must be 1 when deterministic")
