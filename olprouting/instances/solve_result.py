"""What solving a decision gave: why the solver stopped, and what it has."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from olprouting.instances._checks import real, text_field, whole
from olprouting.instances.documents import aligned, load_document, naming, refuse_wrong_fields
from olprouting.instances.gap import absolute_gap, relative_gap

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "olprouting/solve-result/1"

_DERIVED = ("status", "absolute_gap", "relative_gap")

PROOF_TOLERANCE_TOKENS = 1e-3
"""A bound this close proves the optimum for practical purposes. Floating-point solvers cannot close
the gap exactly where gamma < 1; `SolveResult.status` tells whether it is closed."""

Assignment = tuple[tuple[int, int], ...]
"""Admitted requests as (request index, worker index) pairs, by request index."""


class StopReason(StrEnum):
    """Why a solver stopped. Says nothing about whether it has a solution."""

    OPTIMAL = "optimal"
    """The gap is exactly 0."""
    OPTIMAL_WITHIN_GAP = "optimal_within_gap"
    """The solver is done; floating-point arithmetic or a gap option leaves a gap > 0."""
    TIME_LIMIT = "time_limit"
    NODE_LIMIT = "node_limit"
    OTHER_LIMIT = "other_limit"
    """A limit that was set by the solver's own name for it: solutions, iterations, memory, ..."""
    INTERRUPTED = "interrupted"
    """Ctrl-C, or an incumbent callback that asked to stop."""
    INFEASIBLE = "infeasible"
    INFEASIBLE_OR_UNBOUNDED = "infeasible_or_unbounded"
    ERROR = "error"


@dataclass(frozen=True)
class SolveResult:
    """Outcome of solving one decision (minimisation).

    Parameters
    ----------
    solver, formulation
        What was solved, by whom.
    stop_reason
        Why the solver stopped.
    assignment
        Admitted requests as (request index, worker index) pairs, or None without a solution. It
        has been rechecked in exact arithmetic by code that shares nothing with the solver.
    objective
        Exact value of the assignment in tokens (int where every coefficient is whole, else the
        nearest double of the exact fraction), or None. Never the solver's own number.
    bound
        Proven lower bound on the optimum in tokens, rounded down to a double where it is not
        whole, or None.
    wall_s, build_s
        Seconds spent solving, and building the model before that.
    limit_s
        The time limit in force, seconds, or None.
    threads, seed
        The solver's thread count and seed.
    warm_start
        ``"accepted"``, or why a start was not used; None if there was none.
    message
        The solver's own word for how it ended, and what its recheck found against it.
    """

    solver: str
    formulation: str
    stop_reason: StopReason
    assignment: Assignment | None
    objective: int | float | None
    bound: int | float | None
    wall_s: float
    build_s: float
    limit_s: float | None = None
    threads: int = 1
    seed: int = 0
    warm_start: str | None = None
    message: str = ""

    @property
    def has_solution(self) -> bool:
        """Whether there is an assignment."""
        return self.assignment is not None

    @property
    def status(self) -> str:
        """The stop reason, except that a limit without an incumbent is ``limit_no_solution``."""
        limits = (StopReason.TIME_LIMIT, StopReason.NODE_LIMIT, StopReason.OTHER_LIMIT)
        if self.stop_reason in limits and self.assignment is None:
            return "limit_no_solution"
        return str(self.stop_reason)

    @property
    def proven(self) -> bool:
        """Whether objective and bound agree to `PROOF_TOLERANCE_TOKENS`."""
        gap = self.absolute_gap
        return gap is not None and gap <= PROOF_TOLERANCE_TOKENS

    @property
    def absolute_gap(self) -> float | None:
        """Objective minus bound in tokens, or None if either is missing."""
        return absolute_gap(self.objective, self.bound)

    @property
    def relative_gap(self) -> float | None:
        """Absolute gap over the objective, or None if either is missing."""
        return relative_gap(self.objective, self.bound)

    def summary(self) -> str:
        """Return a few aligned lines for people."""
        rows = {
            "status": self.status,
            "objective_tokens": self.objective,
            "bound_tokens": self.bound,
            "absolute_gap_tokens": self.absolute_gap,
            "relative_gap": self.relative_gap,
            "assignment": None if self.assignment is None else [list(p) for p in self.assignment],
            "wall_s": round(self.wall_s, 6),
            "build_s": round(self.build_s, 6),
            "solver": f"{self.solver} ({self.formulation})",
            "message": self.message,
            "warm_start": self.warm_start,
        }
        shown = {name: value for name, value in rows.items() if name != "warm_start" or value}
        return aligned(shown)

    def to_document(self) -> dict[str, Any]:
        """Return the result as plain JSON types."""
        fields = asdict(self)
        fields["stop_reason"] = str(self.stop_reason)
        if self.assignment is not None:
            fields["assignment"] = [list(pair) for pair in self.assignment]
        derived = {
            "status": self.status,
            "absolute_gap": self.absolute_gap,
            "relative_gap": self.relative_gap,
        }
        return {"schema": SCHEMA, **fields, **derived}

    def to_json(self) -> str:
        """Return the result in the versioned JSON format ``olprouting/solve-result/1``."""
        return json.dumps(self.to_document())

    @classmethod
    def from_json(cls, text: str, source: str = "result") -> SolveResult:
        """Return the result that `text` holds.

        Raises
        ------
        InputError
            If the text is not a document of schema ``olprouting/solve-result/1``.
        """
        document = load_document(text, source, SCHEMA)
        with naming(source, SCHEMA):
            refuse_wrong_fields(
                "result", document, set(cls.__dataclass_fields__) | {"schema"}, _DERIVED
            )
            fields = {name: document[name] for name in cls.__dataclass_fields__}
            for name in ("solver", "formulation", "message"):
                text_field(name, fields[name])
            for name in ("objective", "bound", "limit_s"):
                real(name, fields[name], none_allowed=True)
            for name in ("wall_s", "build_s"):
                real(name, fields[name])
            for name in ("threads", "seed"):
                whole(name, fields[name], 0)
            if fields["warm_start"] is not None:
                text_field("warm_start", fields["warm_start"])
            fields["stop_reason"] = StopReason(fields["stop_reason"])
            if fields["assignment"] is not None:
                fields["assignment"] = tuple(
                    (whole("assignment", i, 0), whole("assignment", g, 0))
                    for i, g in fields["assignment"]
                )
        return cls(**fields)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per admitted request: request, worker."""
        import pandas as pd

        return pd.DataFrame(self.assignment or (), columns=["request", "worker"])
