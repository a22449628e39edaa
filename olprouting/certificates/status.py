"""What a result claims, and those of its fields that follow from others: status and gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from olprouting.certificates import reading as r
from olprouting.certificates.reading import Number, same_double
from olprouting.certificates.verification import DoesNotHoldError
from olprouting.instances import StopReason

LEAST_SCALE = Fraction(1, 10**9)
"""The denominator of a relative gap is at least this."""

ROUNDING = Fraction(1, 10**12)
"""Relative error granted to a gap that was computed in doubles."""

ROUNDED_ULPS = 4
"""Numbers that are not whole and so many units of a double apart are reported as equal."""

_LIMITS = ("time_limit", "node_limit", "other_limit")

_IMPOSSIBLE = ("infeasible", "infeasible_or_unbounded")

STOP = r.one_of(*StopReason)

OF_A_SOLVE = {
    "schema": r.text,
    "solver": r.name,
    "stop_reason": STOP,
    "status": r.one_of(*StopReason, "limit_no_solution"),
    "bound": r.optional(r.number),
    "relative_gap": r.optional(r.number),
    "wall_s": r.number,
    "build_s": r.number,
    "limit_s": r.optional(r.number),
    "threads": r.whole,
    "seed": r.whole,
    "message": r.text,
}
"""Fields that the results of decisions and of periods have in common."""


@dataclass(frozen=True)
class Claims:
    """What a result claims, whatever was solved.

    Parameters
    ----------
    solver
        Who claims it.
    stop_reason, status
        Why it stopped, and that with whether there is a solution.
    value, bound
        Of the solution, and of all; None where there is none.
    relative_gap
        Between the two.
    """

    solver: str
    stop_reason: str
    status: str
    value: Number | None
    bound: Number | None
    relative_gap: Number | None


def check_status(claims: Claims, *, sense: int, solved: bool) -> None:
    """Raise `DoesNotHoldError` if status or gap do not follow from value and bound.

    Parameters
    ----------
    claims
        The claims.
    sense
        1 where the value is minimised, -1 where it is maximised.
    solved
        Whether there is a solution.
    """
    value, bound, stop = claims.value, claims.bound, claims.stop_reason
    empty = stop in _LIMITS and not solved
    if claims.status != ("limit_no_solution" if empty else stop):
        raise DoesNotHoldError(f"status {claims.status!r} does not follow from {stop!r}")
    check_stop(stop)
    gap = _gap(value, bound, sense)
    if stop == "optimal" and gap != 0 and not _rounded_apart(value, bound, sense):
        raise DoesNotHoldError("status: 'optimal' means that value and bound are equal")
    check_gap("relative_gap", claims.relative_gap, value, bound, sense=sense)


def check_absolute_gap(
    claimed: Number | None, value: Number | None, bound: Number | None, *, sense: int
) -> None:
    """Raise `DoesNotHoldError` if an absolute gap does not follow from value and bound."""
    scale = max([LEAST_SCALE, *(abs(Fraction(one)) for one in (value, bound) if one)])
    exactly = None if _whole(value, bound) else scale
    compare("absolute_gap", claimed, _gap(value, bound, sense), exactly)


def check_stop(stop: str) -> None:
    """Raise `DoesNotHoldError` for an answer that none of the problems can have."""
    if stop in _IMPOSSIBLE:
        raise DoesNotHoldError(f"stop_reason: {stop!r}, but every such problem has a solution")


def reported(stop: str) -> tuple[str, ...]:
    """Return the name of the stop reason where it is the solver's word alone."""
    return () if stop == "optimal" else ("stop_reason",)


def check_gap(
    field: str, claimed: Number | None, value: Number | None, bound: Number | None, *, sense: int
) -> None:
    """Raise `DoesNotHoldError` if a relative gap does not follow from value and bound."""
    gap = _gap(value, bound, sense)
    if gap is not None:
        gap /= max(abs(Fraction(value or 0)), LEAST_SCALE)
    compare(field, claimed, gap, Fraction(0 if _whole(value, bound) else 1))
    if value is None or bound is None or not gap or claimed != 0:
        return
    apart = abs(
        Fraction(float(value)) - Fraction(float(bound))
    )  # as the doubles that were compared
    if apart > ROUNDED_ULPS * Fraction(math.ulp(float(bound))):
        raise DoesNotHoldError(f"{field}: value and bound leave {float(gap)!r}, not 0")


def claims(stop: str, *fields: str, resting: bool) -> tuple[str, ...]:
    """Return the fields that rest on a solver's word, if its bound does.

    Parameters
    ----------
    stop
        Why the solver stopped.
    fields
        The bound, and the status that says ``optimal`` because of it.
    resting
        Whether the bound was neither proven nor refuted.
    """
    if not resting:
        return ()
    return fields if stop == "optimal" else fields[:1]


def _rounded_apart(value: Number | None, bound: Number | None, sense: int) -> bool:
    """Whether value and bound may be one fraction: to the nearest double, and to the safe side."""
    if value is None or bound is None or value.denominator == 1:
        return False
    return math.nextafter(float(value), -sense * math.inf) == float(bound)


def _whole(*numbers: Number | None) -> bool:
    """Whether all are whole numbers: then nothing was rounded but a quotient of theirs."""
    return all(one is not None and one.denominator == 1 for one in numbers)


def _gap(value: Number | None, bound: Number | None, sense: int) -> Fraction | None:
    if value is None or bound is None:
        return None
    return Fraction(sense * (value - bound))


def compare(
    field: str, claimed: Number | None, exact: Fraction | None, scale: Fraction | None
) -> None:
    """Raise `DoesNotHoldError` if a number is not `exact`, up to rounding relative to `scale`.

    Without a scale it must be the nearest double.
    """
    if (claimed is None) != (exact is None):
        raise DoesNotHoldError(f"{field}: {claimed} does not follow from value and bound")
    if claimed is None or exact is None or same_double(claimed, exact):
        return
    if scale is None or abs(claimed - exact) > ROUNDING * max(abs(exact), scale):
        raise DoesNotHoldError(
            f"{field}: value and bound leave {float(exact)!r}, not {float(claimed)!r}"
        )
