"""Between a decision and the models: the integer table that each formulation decides.

Every formulation decides one table of counts, items by workers: items are the waiting requests
(``assignment``) or the distinct sizes (``size-class``), workers all of them or those with free
slots. A formulation makes the models and translates counts into assignments and back, so that a
backend needs to know no more than the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from olprouting.instances import Decision, Growth
from olprouting.models import imbalance_assignment, imbalance_size_class

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyomo.core as pyo

    from olprouting.exact.check import ExactData
    from olprouting.instances.solve_result import Assignment
    from olprouting.models import barrier_rows, imbalance_cpsat

Counts = npt.NDArray[np.int64]


class Formulation(Protocol):
    """One way to write the imbalance program of a decision."""

    @property
    def shape(self) -> tuple[int, int]:
        """Items and workers of the table."""
        ...

    def pyomo_model(self) -> pyo.ConcreteModel:
        """Return the program as a Pyomo model."""
        ...

    def pyomo_counts(self, model: pyo.ConcreteModel) -> list[Any]:
        """Return the variables of the table in `model`, row by row."""
        ...

    def set_values(self, model: pyo.ConcreteModel, counts: Counts) -> None:
        """Give every variable of `model` its value at `counts`."""
        ...

    def cpsat_model(self, data: ExactData, weights: list[int]) -> imbalance_cpsat.CpSatModel:
        """Return the program in integers as a CP-SAT model."""
        ...

    def hint(self, built: imbalance_cpsat.CpSatModel, data: ExactData, counts: Counts) -> None:
        """Hint every variable of a CP-SAT model at `counts`."""
        ...

    def counts(self, assignment: Assignment) -> Counts:
        """Return the table of an assignment."""
        ...

    def assignment(self, counts: Counts) -> Assignment:
        """Return an assignment with this table."""
        ...


@dataclass(frozen=True)
class RequestAssignment:
    """The program of the paper: one binary per request and worker."""

    decision: Decision

    @property
    def shape(self) -> tuple[int, int]:
        """Waiting requests and workers."""
        return self.decision.waiting, self.decision.workers

    def pyomo_model(self) -> pyo.ConcreteModel:
        """Return the program as a Pyomo model."""
        d = self.decision
        grown = _growth(d) * np.arange(d.horizon + 1)
        contributions = d.waiting_prompt_tokens[:, None] + grown
        return imbalance_assignment.build(
            d.projected_load_tokens, d.free_slots, contributions, discount_weights(d)
        )

    def pyomo_counts(self, model: pyo.ConcreteModel) -> list[Any]:
        """Return the variables of the table in `model`, row by row."""
        return list(model.place.values())

    def set_values(self, model: pyo.ConcreteModel, counts: Counts) -> None:
        """Give every variable of `model` its value at `counts`."""
        d = self.decision
        peaks = _peaks(
            d.projected_load_tokens, d.waiting_prompt_tokens, _growth(d), self.assignment(counts)
        )
        imbalance_assignment.set_values(model, counts, peaks)

    def cpsat_model(self, data: ExactData, weights: list[int]) -> imbalance_cpsat.CpSatModel:
        """Return the program in integers as a CP-SAT model."""
        from olprouting.models import imbalance_cpsat  # OR-Tools: only for CP-SAT

        d = self.decision
        return imbalance_cpsat.build_assignment(
            data.loads, d.free_slots, data.sizes, weights, _growth(d) * data.unit
        )

    def hint(self, built: imbalance_cpsat.CpSatModel, data: ExactData, counts: Counts) -> None:
        """Hint every variable of a CP-SAT model at `counts`."""
        from olprouting.models import imbalance_cpsat  # OR-Tools: only for CP-SAT

        grown = _growth(self.decision) * data.unit
        peaks = _peaks(data.loads, data.sizes, grown, self.assignment(counts))
        imbalance_cpsat.add_hint(built, data.sizes, counts, peaks)

    def counts(self, assignment: Assignment) -> Counts:
        """Return the table of an assignment."""
        table = np.zeros((self.decision.waiting, self.decision.workers), np.int64)
        for request, worker in assignment:
            table[request, worker] = 1
        return table

    def assignment(self, counts: Counts) -> Assignment:
        """Return the assignment with this table."""
        return tuple((int(i), int(g)) for i, g in np.argwhere(counts > 0))


class SizeClasses:
    """The stronger program: counts per distinct size and worker with free slots.

    Parameters
    ----------
    decision
        The decision.
    """

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
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
            _growth(d),
        )

    def pyomo_counts(self, model: pyo.ConcreteModel) -> list[Any]:
        """Return the variables of the table in `model`, row by row."""
        return list(model.admit.values())

    def set_values(self, model: pyo.ConcreteModel, counts: Counts) -> None:
        """Give every variable of `model` its value at `counts`."""
        d = self.decision
        peaks = _peaks(
            d.projected_load_tokens, d.waiting_prompt_tokens, _growth(d), self.assignment(counts)
        )
        imbalance_size_class.set_values(model, self.sizes, counts, peaks)

    def cpsat_model(self, data: ExactData, weights: list[int]) -> imbalance_cpsat.CpSatModel:
        """Return the program in integers as a CP-SAT model."""
        from olprouting.models import imbalance_cpsat  # OR-Tools: only for CP-SAT

        d = self.decision
        return imbalance_cpsat.build_size_class(
            data.loads,
            d.free_slots,
            _distinct(data),
            self.supplies,
            weights,
            _growth(d) * data.unit,
        )

    def hint(self, built: imbalance_cpsat.CpSatModel, data: ExactData, counts: Counts) -> None:
        """Hint every variable of a CP-SAT model at `counts`."""
        from olprouting.models import imbalance_cpsat  # OR-Tools: only for CP-SAT

        grown = _growth(self.decision) * data.unit
        peaks = _peaks(data.loads, data.sizes, grown, self.assignment(counts))
        imbalance_cpsat.add_hint(built, _distinct(data), counts, peaks)

    def counts(self, assignment: Assignment) -> Counts:
        """Return the table of an assignment, interchangeable workers in the model's order."""
        table = np.zeros((len(self.sizes), self.decision.workers), np.int64)
        for request, worker in assignment:
            table[self._class_of[request], worker] += 1
        d = self.decision
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


FORMULATIONS: dict[str, Callable[[Decision], Formulation]] = {
    "size-class": SizeClasses,
    "assignment": RequestAssignment,
}


def discount_weights(decision: Decision) -> npt.NDArray[np.float64]:
    """Return gamma^h as doubles, shape (H+1,)."""
    return np.array([float(decision.gamma**h) for h in range(decision.horizon + 1)])


def _growth(decision: Decision) -> int:
    return 1 if decision.growth is Growth.GROWING else 0


def _distinct(data: ExactData) -> Counts:
    return np.array(sorted(set(data.sizes.tolist())), np.int64)


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
