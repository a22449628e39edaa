"""How the bounds of a report were proven, and how often they were reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olprouting.price_report.judge import PeriodRecord

PROOFS = {
    "lp_bound": (
        "upper bound on a period's reward",
        "weak duality at the LP's prices, recomputed from the data in double precision",
        "lp_proven",
    ),
    "integer_bound": (
        "upper bound on the reward of whole starts",
        "HiGHS's branch and bound, widened by its tolerances",
        "integer_proven",
    ),
    "f_bound": (
        "lower bound on f",
        "weak duality at the LP's multipliers, made feasible and recomputed",
        "exact_converged",
    ),
}
"""Per bound of a `PeriodRecord`: of what, proven how, and the field that says whether the solution
found meets it."""


@dataclass(frozen=True)
class BoundProof:
    """Where one kind of bound comes from.

    Attributes
    ----------
    name
        Field of `PeriodRecord`.
    bounds
        What it is a bound on.
    proven_by
        The argument, and whose numbers it rests on. The bound of a sum over periods is the sum of
        their bounds.
    periods
        In how many periods there is one.
    met
        In how many of them the best solution found agrees with it to 1e-6, relative.
    """

    name: str
    bounds: str
    proven_by: str
    periods: int
    met: int


def bound_proofs(records: Sequence[PeriodRecord]) -> tuple[BoundProof, ...]:
    """Return how each kind of bound in the records was proven."""
    return tuple(
        BoundProof(
            name=name,
            bounds=bounds,
            proven_by=proven_by,
            periods=sum(getattr(record, name) is not None for record in records),
            met=sum(bool(getattr(record, met)) for record in records),
        )
        for name, (bounds, proven_by, met) in PROOFS.items()
    )
