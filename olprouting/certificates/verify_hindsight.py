"""Checking a hindsight result: what its prices prove, and what its schedule is worth."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from olprouting.certificates import reading as r
from olprouting.certificates.hindsight_value import HINDSIGHT_PROBLEM, ExactHindsight
from olprouting.certificates.reading import said, whole_numbers
from olprouting.certificates.status import STOP, check_gap, check_stop, reported
from olprouting.certificates.verification import DoesNotHoldError, Verdict, Verification

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olprouting.certificates.reading import Number

    Rows = Sequence[Sequence[int]]

SCHEMA = "olprouting/hindsight/1"

FINEST = 62
"""Prices are multiples of 2^-62 or more."""

ABOUT_THE_RUN = (
    "name", "proven_by", "gap_option", "limit_s", "seed", "evaluations", "wall_s", "proof_s",
    "history", "versions",
)  # fmt: skip

CLOSED = Fraction(1, 10**6)
"""A search that was asked for less of a gap may end at this one; it works in doubles."""


HINDSIGHT = r.fields(
    {
        "schema": r.text,
        "name": r.text,
        "problem_sha256": r.text,
        "problem": HINDSIGHT_PROBLEM,
        "prices": r.fields(
            {
                "unit_log2": r.whole,
                "batch": r.list_of(r.list_of(r.whole)),
                "memory": r.list_of(r.list_of(r.whole)),
            }
        ),
        "worker": r.list_of(r.whole),
        "start_period": r.list_of(r.whole),
        "bound": r.number,
        "value": r.number,
        "gap": r.number,
        "proven_by": r.text,
        "stop_reason": STOP,
        "gap_option": r.number,
        "limit_s": r.number,
        "seed": r.whole,
        "evaluations": r.whole,
        "wall_s": r.number,
        "proof_s": r.number,
        "history": r.list_of(r.row(r.number, r.number, r.number, r.whole)),
    },
    {"versions": r.VERSIONS},  # not those of named instances
)
"""Reads the fields of a document of schema ``olprouting/hindsight/1``."""


def verify_hindsight(given: dict[str, Any]) -> Verification:
    """Check the fields of a hindsight result, as `HINDSIGHT` reads them.

    Raises
    ------
    DoesNotHoldError
        With the claim that is wrong.
    """
    problem = ExactHindsight.from_fields(given["problem"])
    prices = _prices(problem, given["prices"])  # first: nobody can write too many periods
    count = len(problem.arrival)
    worker, start = (
        whole_numbers(name, given[name], least=-1) for name in ("worker", "start_period")
    )
    if len(worker) != count or len(start) != count:
        raise DoesNotHoldError(f"worker and start_period must be {count} numbers")
    problem.check_schedule(worker, start)
    value = problem.value(start)
    _claimed("value", given["value"], value, toward=-math.inf)
    bound = problem.bound(*prices)
    _claimed("bound", given["bound"], bound, toward=math.inf)
    check_gap("gap", given["gap"], given["value"], given["bound"], sense=-1)
    _check_stop(given, closed=bound == value)
    return Verification(
        kind="hindsight",
        verdict=Verdict.OPTIMAL if bound == value else Verdict.BOUNDED,
        value=said(value),
        bound=said(bound),
        gap=said(bound - value),
        proof="weak duality at the stored prices; every worker and period added up",
        not_checked=(),
        about_the_run=(*ABOUT_THE_RUN, *reported(given["stop_reason"])),
    )


def _check_stop(given: dict[str, Any], *, closed: bool) -> None:
    stop = given["stop_reason"]
    check_stop(stop)
    if (stop == "optimal") != closed:
        raise DoesNotHoldError("stop_reason: 'optimal' means that bound and schedule are equal")
    gap, asked = given["gap"], given["gap_option"]
    if stop == "optimal_within_gap" and gap > max(asked, CLOSED):
        raise DoesNotHoldError(
            f"stop_reason: {stop!r} means a gap of at most {float(asked)!r}, not {float(gap)!r}"
        )


def _prices(problem: ExactHindsight, prices: dict[str, Any]) -> tuple[int, Rows, Rows]:
    """Return the prices and how many binary places they have."""
    unit = whole_numbers("prices.unit_log2", [prices["unit_log2"]], least=-FINEST)[0]
    if unit > 0:
        raise DoesNotHoldError(f"prices.unit_log2: {unit} is above 0")
    tables = []
    for name in ("batch", "memory"):
        rows = [whole_numbers(f"prices.{name}", row, least=0) for row in prices[name]]
        classes = len(set(problem.workers))
        if len(rows) != classes or any(len(row) != problem.periods for row in rows):
            raise DoesNotHoldError(f"prices.{name} must be {classes} rows of {problem.periods}")
        tables.append(rows)
    return -unit, tables[0], tables[1]


def _claimed(name: str, claimed: Number, exact: Fraction, toward: float) -> None:
    """Check that a double is `exact`, rounded in one direction."""
    given, near = float(claimed), float(exact)
    short = near < exact if toward > 0 else near > exact
    rounded = math.nextafter(near, toward) if short else near
    if given != rounded:
        raise DoesNotHoldError(f"{name}: the file proves {rounded!r}, not {given!r}")
