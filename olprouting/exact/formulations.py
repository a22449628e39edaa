"""Between an instance and the models: what each formulation decides, and how it is read back.

A formulation of a decision decides one table of counts, items by workers: items are the waiting
requests (``assignment``) or the distinct sizes (``size-class``), workers all of them or those with
free slots. Formulations make the models and translate their columns into solutions and back, so
that a backend needs to know no more than the columns. Those of a period are
`olprouting.exact.period.program`'s.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from olprouting.exact.bounds import proven_bound
from olprouting.instances import Assignment, Decision, Growth, Sense
from olprouting.models import imbalance_assignment, imbalance_size_class

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    import pyomo.core as pyo

    from olprouting.exact.check import ExactData
    from olprouting.models import barrier_rows, imbalance_cpsat

Counts = npt.NDArray[np.int64]


class Formulation(ABC):
    """One way to write an instance as a program."""

    sense: Sense
    """Of the objective."""
    integer: bool
    """Whether the columns that are read are whole."""

    @abstractmethod
    def pyomo_model(self) -> pyo.ConcreteModel:
        """Return the program as a Pyomo model."""

    @abstractmethod
    def pyomo_columns(self, model: pyo.ConcreteModel) -> list[Any]:
        """Return the variables of `model` that a solution is read from."""

    @abstractmethod
    def set_values(self, model: pyo.ConcreteModel, start: Any) -> None:
        """Give every variable of `model` its value at a solution."""

    @abstractmethod
    def solution(self, values: npt.NDArray[np.float64]) -> Any:
        """Return the solution at these values of the columns."""

    @abstractmethod
    def bound(self, dual_bound: float) -> int | float | Fraction | None:
        """Return what a solver's dual bound says of the value, or None if it says nothing."""

    def prices(self, model: pyo.ConcreteModel) -> npt.NDArray[np.float64] | None:
        """Return the prices of the rows of a solved model, or None if it has none."""
        del model
        return None


class DecisionTable(Formulation):
    """A formulation of a decision as a table of counts.

    Parameters
    ----------
    decision
        The decision.
    """

    sense = Sense.MINIMISE
    integer = True

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        self.growth = 1 if decision.growth is Growth.GROWING else 0

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Items and workers of the table."""

    @abstractmethod
    def cpsat_model(self, data: ExactData, weights: list[int]) -> imbalance_cpsat.CpSatModel:
        """Return the program in integers as a CP-SAT model."""

    @abstractmethod
    def item_sizes(self, data: ExactData) -> npt.NDArray[Any]:
        """Return the size of each item of the table, in the unit of the data."""

    @abstractmethod
    def counts(self, assignment: Assignment) -> Counts:
        """Return the table of an assignment."""

    @abstractmethod
    def assignment(self, counts: Counts) -> Assignment:
        """Return an assignment with this table."""

    def solution(self, values: npt.NDArray[np.float64]) -> Assignment:
        """Return the assignment at these values of the table, row by row, rounded."""
        return self.assignment(np.rint(values).astype(np.int64).reshape(self.shape))

    def bound(self, dual_bound: float) -> int | Fraction | None:
        """Return the lower bound in tokens that a solver's dual bound proves, or None."""
        return proven_bound(dual_bound, self.decision)

    def hint(self, built: imbalance_cpsat.CpSatModel, data: ExactData, start: Assignment) -> None:
        """Hint every variable of a CP-SAT model at an assignment."""
        from olprouting.models import imbalance_cpsat  # OR-Tools: only for CP-SAT

        counts = self.counts(start)
        peaks = _peaks(data.loads, data.sizes, self.growth * data.unit, self.assignment(counts))
        imbalance_cpsat.add_hint(built, self.item_sizes(data), counts, peaks)

    def peaks(self, counts: Counts) -> npt.NDArray[Any]:
        """Return M_h of a table in tokens, shape (H+1,)."""
        d = self.decision
        loads, sizes = d.projected_load_tokens, d.waiting_prompt_tokens
        return _peaks(loads, sizes, self.growth, self.assignment(counts))


class RequestAssignment(DecisionTable):
    """The program of the paper: one binary per request and worker."""

    @property
    def shape(self) -> tuple[int, int]:
        """Waiting requests and workers."""
        return self.decision.waiting, self.decision.workers

    def pyomo_model(self) -> pyo.ConcreteModel:
        """Return the program as a Pyomo model."""
        d = self.decision
        grown = self.growth * np.arange(d.horizon + 1)
        contributions = d.waiting_prompt_tokens[:, None] + grown
        return imbalance_assignment.build(
            d.projected_load_tokens, d.free_slots, contributions, discount_weights(d)
        )

    def pyomo_columns(self, model: pyo.ConcreteModel) -> list[Any]:
        """Return the variables of the table in `model`, row by row."""
        return list(model.place.values())

    def set_values(self, model: pyo.ConcreteModel, start: Assignment) -> None:
        """Give every variable of `model` its value at an assignment."""
        counts = self.counts(start)
        imbalance_assignment.set_values(model, counts, self.peaks(counts))

    def cpsat_model(self, data: ExactData, weights: list[int]) -> imbalance_cpsat.CpSatModel:
        """Return the program in integers as a CP-SAT model."""
        from olprouting.models import imbalance_cpsat  # OR-Tools: only for CP-SAT

        return imbalance_cpsat.build_assignment(
            data.loads, self.decision.free_slots, data.sizes, weights, self.growth * data.unit
        )

    def item_sizes(self, data: ExactData) -> npt.NDArray[Any]:
        """Return the size of each waiting request, in the unit of the data."""
        return data.sizes

    def counts(self, assignment: Assignment) -> Counts:
        """Return the table of an assignment."""
        table = np.zeros(self.shape, np.int64)
        for request, worker in assignment:
            table[request, worker] = 1
        return table

    def assignment(self, counts: Counts) -> Assignment:
        """Return the assignment with this table."""
        return tuple((int(i), int(g)) for i, g in np.argwhere(counts > 0))


class SizeClasses(DecisionTable):
    """The stronger program: counts per distinct size and worker with free slots."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision)
        self.sizes, self._class_of, self.supplies = np.unique(
            decision.waiting_prompt_tokens, return_inverse=True, return_counts=True
        )
        self.open_workers: list[int] = np.flatnonzero(decision.free_slots).tolist()

    @property
    def shape(self) -> tuple[int, int]:
        """Distinct sizes and workers with free slots."""
        return len(self.sizes), len(self.open_workers)

    def pyomo_model(self) -> pyo.ConcreteModel:
        """Return the program as a Pyomo model."""
        d = self.decision
        return imbalance_size_class.build(
            d.projected_load_tokens,
            d.free_slots,
            self.sizes,
            self.supplies,
            discount_weights(d),
            self.growth,
        )

    def pyomo_columns(self, model: pyo.ConcreteModel) -> list[Any]:
        """Return the variables of the table in `model`, row by row."""
        return list(model.admit.values())

    def set_values(self, model: pyo.ConcreteModel, start: Assignment) -> None:
        """Give every variable of `model` its value at an assignment."""
        counts = self.counts(start)
        imbalance_size_class.set_values(model, self.sizes, counts, self.peaks(counts))

    def cpsat_model(self, data: ExactData, weights: list[int]) -> imbalance_cpsat.CpSatModel:
        """Return the program in integers as a CP-SAT model."""
        from olprouting.models import imbalance_cpsat  # OR-Tools: only for CP-SAT

        return imbalance_cpsat.build_size_class(
            data.loads,
            self.decision.free_slots,
            self.item_sizes(data),
            self.supplies,
            weights,
            self.growth * data.unit,
        )

    def item_sizes(self, data: ExactData) -> npt.NDArray[Any]:
        """Return the distinct sizes, in the unit of the data."""
        return np.array(sorted(set(data.sizes.tolist())), np.int64)

    def counts(self, assignment: Assignment) -> Counts:
        """Return the table of an assignment, interchangeable workers in the model's order."""
        d = self.decision
        table = np.zeros((len(self.sizes), d.workers), np.int64)
        for request, worker in assignment:
            table[self._class_of[request], worker] += 1
        for group in imbalance_size_class.interchangeable_workers(
            d.projected_load_tokens, d.free_slots, self.open_workers
        ):
            added = self.sizes @ table[:, group]
            table[:, group] = table[:, group][:, np.argsort(-added, kind="stable")]
        return table[:, self.open_workers]

    def assignment(self, counts: Counts) -> Assignment:
        """Return an assignment with this table: within a size, the earliest requests first."""
        pairs: list[tuple[int, int]] = []
        queue_order = np.argsort(self._class_of, kind="stable")
        ends = np.cumsum(self.supplies)
        for begin, end, row in zip(ends - self.supplies, ends, counts, strict=True):
            workers = np.repeat(self.open_workers, row)
            members = queue_order[begin:end][: len(workers)]
            # zip stops at the shorter: a table that overdraws a size fails the recheck
            pairs += zip(members.tolist(), workers.tolist(), strict=False)
        return tuple(sorted(pairs))


FORMULATIONS: dict[str, Callable[[Decision], DecisionTable]] = {
    "size-class": SizeClasses,
    "assignment": RequestAssignment,
}
"""Those of a decision, by name."""


def formulated(instance: Any, formulation: str) -> Formulation:
    """Return a decision, or the `PeriodColumns` of a period, in one of its formulations."""
    if isinstance(instance, Decision):
        return FORMULATIONS[formulation](instance)
    from olprouting.exact.period.program import PeriodProgram

    return PeriodProgram(instance, integer=formulation == "integer")


def discount_weights(decision: Decision) -> npt.NDArray[np.float64]:
    """Return gamma^h as doubles, shape (H+1,)."""
    return np.array([float(decision.gamma**h) for h in range(decision.horizon + 1)])


def _peaks(
    loads: barrier_rows.Numbers, sizes: barrier_rows.Numbers, growth: int, assignment: Assignment
) -> npt.NDArray[Any]:
    """Return M_h = max_g Lambda[g,h], shape (H+1,), in the unit of the data."""
    filled = loads.astype(np.result_type(loads, sizes))
    grown = growth * np.arange(loads.shape[1])
    for request, worker in assignment:
        filled[worker] += sizes[request] + grown
    peaks: npt.NDArray[Any] = filled.max(axis=0)
    return peaks
