"""What solving gave: why the solver stopped, and what it has; for decisions and for periods.

Gaps follow one convention in every report. Minimisation: the incumbent is the upper bound, the gap
is incumbent - bound. Maximisation: the incumbent is the lower bound, the gap is bound - incumbent.
Both are relative to ``max(|incumbent|, 1e-9)``, 0 when the two are equal, and None when either is
missing, so that a limit without an incumbent can never look like a closed gap. A negative gap says
that the two contradict each other; it is never hidden behind its absolute value.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from olprouting.instances._checks import real, text_field, whole
from olprouting.instances.documents import aligned, load_document, naming, refuse_wrong_fields

if TYPE_CHECKING:
    import pandas as pd

Number = int | float | Fraction

Solution = TypeVar("Solution")
"""What a program decides: an assignment, or the starts of a period."""

Assignment = tuple[tuple[int, int], ...]
"""Admitted requests as (request index, worker index) pairs, by request index."""

ROUNDING_ULPS = 4
"""Doubles this close are the same number, rounded: an exact value to the nearest, say, and an equal
bound downwards."""

PROOF_TOLERANCE_TOKENS = 1e-3
"""A bound this close proves the optimum for practical purposes. Floating-point solvers cannot close
the gap exactly where gamma < 1; `Result.status` tells whether it is closed."""


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


LIMITS = (StopReason.TIME_LIMIT, StopReason.NODE_LIMIT, StopReason.OTHER_LIMIT)
"""Reasons that leave it open whether there is a solution."""


class Sense(StrEnum):
    """Which values are better."""

    MINIMISE = "minimise"
    MAXIMISE = "maximise"


@dataclass(frozen=True, kw_only=True, eq=False)
class Result(ABC, Generic[Solution]):
    """What solving one program gave: of a decision (`DecisionResult`) or a period (`PeriodResult`).

    Parameters
    ----------
    solver, formulation
        Who solved what: names that `olprouting.exact.solve` takes.
    stop_reason
        Why the solver stopped.
    solution
        The best solution found, or None. It has been rechecked by code that shares nothing with
        the solver.
    value
        What the solution is worth, recomputed, or None. Never the solver's own number.
    bound
        What no value can be better than, proven, or None.
    wall_s, build_s
        Seconds spent solving, and building the model before that.
    limit_s
        The time limit in force, seconds, or None.
    threads, seed
        The solver's thread count and seed.
    message
        The solver's own word for how it ended, and what the recheck found against it.
    """

    sense: ClassVar[Sense]
    """Which values are better."""
    schema: ClassVar[str]
    """The version of the JSON format."""
    document_names: ClassVar[dict[str, str]]
    """What fields are called in the JSON format, where they have another name there."""
    derived: ClassVar[tuple[str, ...]]
    """Properties that the JSON format repeats."""

    solver: str
    formulation: str
    stop_reason: StopReason
    solution: Solution | None
    value: int | float | None
    bound: int | float | None
    wall_s: float
    build_s: float
    limit_s: float | None = None
    threads: int = 1
    seed: int = 0
    message: str = ""

    @property
    def has_solution(self) -> bool:
        """Whether there is a solution."""
        return self.solution is not None

    @property
    def status(self) -> str:
        """The stop reason, except that a limit without a solution is ``limit_no_solution``."""
        if self.stop_reason in LIMITS and self.solution is None:
            return "limit_no_solution"
        return str(self.stop_reason)

    @property
    def absolute_gap(self) -> float | None:
        """How far value and bound are apart, or None if either is missing."""
        return absolute_gap(self.value, self.bound, maximise=self.sense is Sense.MAXIMISE)

    @property
    def relative_gap(self) -> float | None:
        """Absolute gap over the value, or None if either is missing."""
        return relative_gap(self.value, self.bound, maximise=self.sense is Sense.MAXIMISE)

    @property
    @abstractmethod
    def proven(self) -> bool:
        """Whether value and bound agree, up to what solvers that work in doubles leave open."""

    def to_document(self) -> dict[str, Any]:
        """Return the result as plain JSON types."""
        own = {
            self.document_names.get(field.name, field.name): getattr(self, field.name)
            for field in fields(self)
        }
        own["stop_reason"] = str(self.stop_reason)
        repeated = {name: getattr(self, name) for name in self.derived}
        return {"schema": self.schema, **own, **repeated}

    def to_json(self) -> str:
        """Return the result in its versioned JSON format, `schema`."""
        return json.dumps(self.to_document())

    @classmethod
    def from_json(cls, text: str, source: str = "result") -> Self:
        """Return the result that `text` holds.

        Raises
        ------
        InputError
            If the text is not a document of this schema.
        """
        document = load_document(text, source, cls.schema)
        with naming(source, cls.schema):
            names = {
                field.name: cls.document_names.get(field.name, field.name) for field in fields(cls)
            }
            refuse_wrong_fields("result", document, {*names.values(), "schema"}, cls.derived)
            given = {name: document[written] for name, written in names.items()}
            for name in ("solver", "formulation", "message"):
                text_field(names[name], given[name])
            for name in ("value", "bound", "limit_s"):
                real(names[name], given[name], none_allowed=True)
            for name in ("wall_s", "build_s"):
                real(name, given[name])
            for name in ("threads", "seed"):
                whole(name, given[name], 0)
            given["stop_reason"] = StopReason(given["stop_reason"])
            return cls(**given | cls._read(given))

    @classmethod
    @abstractmethod
    def _read(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Return the checked fields that only this kind of result has, or reads in its own way."""

    @abstractmethod
    def summary(self) -> str:
        """Return a few aligned lines for people."""

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Return the solution as a table."""


@dataclass(frozen=True, kw_only=True)
class DecisionResult(Result[Assignment]):
    """What solving one decision gave: a minimisation, values and bounds in tokens.

    The value is exact: an int where every coefficient is whole, else the nearest double of the
    exact fraction. The bound is rounded down to a double where it is not whole.

    Parameters
    ----------
    warm_start
        ``"accepted"``, or why a start was not used; None if there was none.
    """

    sense = Sense.MINIMISE
    schema = "olprouting/solve-result/1"
    document_names: ClassVar[dict[str, str]] = {"solution": "assignment", "value": "objective"}
    derived = ("status", "absolute_gap", "relative_gap")

    warm_start: str | None = None

    @property
    def assignment(self) -> Assignment | None:
        """The solution: (request index, worker index) pairs."""
        return self.solution

    @property
    def proven(self) -> bool:
        """Whether value and bound agree to `PROOF_TOLERANCE_TOKENS`."""
        gap = self.absolute_gap
        return gap is not None and gap <= PROOF_TOLERANCE_TOKENS

    def summary(self) -> str:
        """Return a few aligned lines for people."""
        rows = {
            "status": self.status,
            "objective_tokens": self.value,
            "bound_tokens": self.bound,
            "absolute_gap_tokens": self.absolute_gap,
            "relative_gap": self.relative_gap,
            "assignment": None if self.solution is None else [list(p) for p in self.solution],
            "wall_s": round(self.wall_s, 6),
            "build_s": round(self.build_s, 6),
            "solver": f"{self.solver} ({self.formulation})",
            "message": self.message,
        }
        return aligned(rows | ({"warm_start": self.warm_start} if self.warm_start else {}))

    def to_document(self) -> dict[str, Any]:
        """Return the result as plain JSON types."""
        document = super().to_document()
        if self.solution is not None:
            document["assignment"] = [list(pair) for pair in self.solution]
        return document

    @classmethod
    def _read(cls, given: dict[str, Any]) -> dict[str, Any]:
        if given["warm_start"] is not None:
            text_field("warm_start", given["warm_start"])
        pairs = given["solution"]
        if pairs is not None:
            pairs = tuple((whole("assignment", i, 0), whole("assignment", g, 0)) for i, g in pairs)
        return {"solution": pairs}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per admitted request: request, worker."""
        import pandas as pd

        return pd.DataFrame(self.solution or (), columns=["request", "worker"])


def absolute_gap(
    incumbent: Number | None, bound: Number | None, *, maximise: bool = False
) -> float | None:
    """Return the distance between incumbent and bound, or None if either is missing.

    Parameters
    ----------
    incumbent
        The best value found.
    bound
        What no value can be better than.
    maximise
        Whether greater values are better.

    Returns
    -------
    float or None
        The gap: 0 where the two agree up to the rounding of doubles, negative where they
        contradict each other.
    """
    if incumbent is None or bound is None:
        return None
    gap = float(bound - incumbent if maximise else incumbent - bound)
    rounded = isinstance(incumbent, float) or isinstance(bound, float)
    if rounded and abs(gap) <= ROUNDING_ULPS * math.ulp(float(bound)):
        return 0.0
    return gap


def relative_gap(
    incumbent: Number | None, bound: Number | None, *, maximise: bool = False
) -> float | None:
    """Return the absolute gap over ``max(|incumbent|, 1e-9)``, or None if either is missing.

    Parameters and sign are those of `absolute_gap`.
    """
    gap = absolute_gap(incumbent, bound, maximise=maximise)
    if gap is None or incumbent is None:
        return None
    return 0.0 if gap == 0 else gap / max(abs(float(incumbent)), 1e-9)
