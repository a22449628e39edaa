"""The fields of a result that follow from its others: status and gaps."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from olprouting.certificates.exact_json import rational, same_double
from olprouting.certificates.verification import DoesNotHoldError

LEAST_SCALE = Fraction(1, 10**9)
"""The denominator of a relative gap is at least this."""

ROUNDING = Fraction(1, 10**12)
"""Relative error granted to a gap that was computed in doubles."""

ROUNDED_ULPS = 4
"""Numbers that are not whole and so many units of a double apart are reported as equal."""

_LIMITS = ("time_limit", "node_limit", "other_limit")

_IMPOSSIBLE = ("infeasible", "infeasible_or_unbounded")


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
    check_stop(stop)
    gap = _gap(value, bound, sense)
    if stop == "optimal" and gap != 0 and not _rounded_apart(value, bound, sense):
        raise DoesNotHoldError("status: 'optimal' means that value and bound are equal")
    if "absolute_gap" in result:
        scale = max([LEAST_SCALE, *(abs(Fraction(rational(f))) for f in (value, bound) if f)])
        exactly = None if _whole(value, bound) else scale
        compare("absolute_gap", result["absolute_gap"], gap, exactly)
    check_gap("relative_gap", result["relative_gap"], value, bound, sense=sense)


def check_stop(stop: str) -> None:
    """Raise `DoesNotHoldError` for an answer that none of the problems can have."""
    if stop in _IMPOSSIBLE:
        raise DoesNotHoldError(f"stop_reason: {stop!r}, but every such problem has a solution")


def reported(stop: str) -> tuple[str, ...]:
    """Return the name of the stop reason where it is the solver's word alone."""
    return () if stop == "optimal" else ("stop_reason",)


def check_gap(name: str, claimed: Any, value: Any, bound: Any, *, sense: int) -> None:
    """Raise `DoesNotHoldError` if a relative gap does not follow from value and bound."""
    gap = _gap(value, bound, sense)
    if gap is not None:
        gap /= max(abs(Fraction(rational(value))), LEAST_SCALE)
    compare(name, claimed, gap, Fraction(0 if _whole(value, bound) else 1))
    rounded = ROUNDED_ULPS * Fraction(math.ulp(float(rational(bound or 0))))
    if gap and claimed == 0 and abs(_gap(value, bound, sense) or Fraction(0)) > rounded:
        raise DoesNotHoldError(f"{name}: value and bound leave {float(gap)!r}, not 0")


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


def _rounded_apart(value: Any, bound: Any, sense: int) -> bool:
    """Whether value and bound may be one fraction: to the nearest double, and to the safe side."""
    if value is None or bound is None or rational(value).denominator == 1:
        return False
    return math.nextafter(float(rational(value)), -sense * math.inf) == float(rational(bound))


def _whole(*numbers: Any) -> bool:
    """Whether all are whole numbers: then nothing was rounded but a quotient of theirs."""
    return all(number is not None and rational(number).denominator == 1 for number in numbers)


def _gap(value: Any, bound: Any, sense: int) -> Fraction | None:
    if value is None or bound is None:
        return None
    return Fraction(sense * (rational(value) - rational(bound)))


def compare(name: str, claimed: Any, exact: Fraction | None, scale: Fraction | None) -> None:
    """Raise `DoesNotHoldError` if a number is not `exact`, up to rounding relative to `scale`.

    Without a scale it must be the nearest double.
    """
    if (claimed is None) != (exact is None):
        raise DoesNotHoldError(f"{name}: {claimed} does not follow from value and bound")
    if exact is None or same_double(claimed, exact):
        return
    if scale is None or abs(rational(claimed) - exact) > ROUNDING * max(abs(exact), scale):
        raise DoesNotHoldError(
            f"{name}: value and bound leave {float(exact)!r}, not {float(rational(claimed))!r}"
        )
