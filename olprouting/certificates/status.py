"""The fields of a result that follow from its others: status and gaps."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from olprouting.certificates.exact_json import rational
from olprouting.certificates.verification import DoesNotHoldError

LEAST_SCALE = Fraction(1, 10**9)
"""The denominator of a relative gap is at least this."""

ROUNDING = Fraction(1, 10**12)
"""Relative error granted to a gap that was computed in doubles."""

_LIMITS = ("time_limit", "node_limit", "other_limit")


def check_status(result: dict[str, Any], *, sense: int) -> None:
    """Raise `DoesNotHoldError` if status or gaps do not follow from value and bound.

    Parameters
    ----------
    result
        A result as an exact document.
    sense
        1 where the value is minimised, -1 where it is maximised.
    """
    value_name, solution = ("objective", "assignment") if sense > 0 else ("value", "x")
    value, bound, stop = result[value_name], result["bound"], result["stop_reason"]
    empty = stop in _LIMITS and result[solution] is None
    if result["status"] != ("limit_no_solution" if empty else stop):
        raise DoesNotHoldError(f"status {result['status']!r} does not follow from {stop!r}")
    known = value is not None and bound is not None
    gap = Fraction(sense * (rational(value) - rational(bound))) if known else None
    if stop == "optimal" and gap != 0:
        raise DoesNotHoldError("status: 'optimal' means that value and bound are equal")
    relative = None if gap is None else gap / max(abs(Fraction(rational(value))), LEAST_SCALE)
    for name, exact in (("absolute_gap", gap), ("relative_gap", relative)):
        if name in result:
            _check_gap(name, result[name], exact, value, bound)


def _check_gap(name: str, claimed: Any, exact: Fraction | None, value: Any, bound: Any) -> None:
    if (claimed is None) != (exact is None):
        raise DoesNotHoldError(f"{name}: {claimed} does not follow from value and bound")
    if exact is None:
        return
    figures = (value, bound) if name == "absolute_gap" else (1,)
    scale = max([abs(exact), LEAST_SCALE, *(abs(Fraction(rational(f))) for f in figures)])
    if abs(rational(claimed) - exact) > ROUNDING * scale:
        raise DoesNotHoldError(
            f"{name}: value and bound leave {float(exact)!r}, not {float(rational(claimed))!r}"
        )
