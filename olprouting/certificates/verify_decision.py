"""Checking a solved decision: the value of its assignment, and what proves its bound."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from olprouting.certificates.decision_bounds import (
    Peaks,
    enumerated,
    level_bound,
    peaks_bound,
    rounded_up,
)
from olprouting.certificates.decision_search import Search, TooLongError
from olprouting.certificates.decision_value import (
    ExactDecision,
    check_assignment,
    loads_after,
    weighted_imbalance,
)
from olprouting.certificates.exact_json import rational, same_double, written
from olprouting.certificates.status import check_status
from olprouting.certificates.verification import DoesNotHoldError, Verdict, Verification

TOLERANCE_TOKENS = Fraction(1, 1000)
"""A proven bound this close to the value proves the optimum for practical purposes: solvers that
work in doubles cannot come closer where gamma < 1."""

NOT_CHECKED = (
    "solver", "formulation", "wall_s", "build_s", "limit_s", "threads", "seed", "warm_start",
    "message",
)  # fmt: skip

PROOFS = {
    "zero": "no imbalance is negative",
    "level": "everything is admitted, and the peaks are no lower than the level this fills",
    "peaks": "weighted means of the loads bound the peaks (dual of the linear relaxation)",
    "enumeration": "all assignments were tried again",
    "search": "all assignments that several means of the loads do not rule out were tried again",
}


def verify_decision(
    instance: dict[str, Any], result: dict[str, Any], proof: dict[str, Any]
) -> Verification:
    """Check a result of a decision.

    Parameters
    ----------
    instance, result, proof
        Exact documents (see `read_exact`): of schema ``olprouting/decision/1``, of schema
        ``olprouting/solve-result/1``, and what `prove_decision` returns.

    Raises
    ------
    DoesNotHoldError
        With the claim that is wrong.
    """
    decision = ExactDecision.from_document(instance)
    value = _value(decision, result["assignment"], result["objective"])
    proven = proven_bound(decision, proof)
    bound = None if result["bound"] is None else Fraction(rational(result["bound"]))
    if value is not None and proven > value:
        raise DoesNotHoldError(f"proof: it bounds values by {proven}, but {value} is reached")
    if bound is not None and value is not None and bound > value:
        if not same_double(result["bound"], value):
            raise DoesNotHoldError(f"bound {float(bound)!r} is above the value {float(value)!r}")
        bound = value
    check_status(result, sense=1)
    verdict = _verdict(value, bound, proven)
    rests = verdict is Verdict.VALUE_ONLY
    return Verification(
        kind="decision",
        verdict=verdict,
        value=None if value is None else written(value),
        bound=written(proven),
        gap=None if value is None else written(value - proven),
        proof=PROOFS[proof["kind"]]
        + (f"; {result['solver']} claims {float(bound or 0)!r}" if rests else ""),
        not_checked=NOT_CHECKED,
    )


def _value(decision: ExactDecision, assignment: Any, claimed: Any) -> Fraction | None:
    """Return the exact value of the assignment, which must be the one claimed."""
    if assignment is None:
        if claimed is not None:
            raise DoesNotHoldError("objective: there is one without an assignment")
        return None
    pairs = pairs_of(assignment)
    check_assignment(decision, pairs)
    value = weighted_imbalance(decision, loads_after(decision, pairs))
    if claimed is None or not same_double(claimed, value):
        raise DoesNotHoldError(
            f"objective: the assignment is worth {float(value)!r} tokens, not {_shown(claimed)}"
        )
    return value


def pairs_of(assignment: Any) -> list[tuple[int, int]]:
    """Return an assignment of an exact document as (request, worker) pairs."""
    return [(_index(i), _index(g)) for i, g in assignment]


def proven_bound(decision: ExactDecision, proof: dict[str, Any]) -> Fraction:
    """Return the lower bound that a proof proves, which must be the one it states."""
    kind = proof["kind"]
    if kind == "zero":
        found: Fraction | None = Fraction(0)
    elif kind == "level":
        found = level_bound(decision)
        found = None if found is None else rounded_up(decision, found)
    elif kind == "peaks":
        found = peaks_bound(decision, _peaks(decision, proof))
    elif kind == "enumeration":
        found = enumerated(decision)
    elif kind == "search":
        found = _searched(decision, proof)
    else:
        raise DoesNotHoldError(f"proof: unknown kind {kind!r}; known: {', '.join(PROOFS)}")
    if found is None:
        raise DoesNotHoldError(f"proof: {kind!r} does not apply to this decision")
    if found != rational(proof["bound"]):
        raise DoesNotHoldError(f"proof: it proves {written(found)}, not {proof['bound']} as stated")
    return found


def _searched(decision: ExactDecision, proof: dict[str, Any]) -> Fraction | None:
    """Return the stated bound if the search finds nothing below it."""
    target = Fraction(rational(proof["bound"]))
    search = Search(decision, target, [_index(g) for g in proof["order"]])
    for shares in proof["bounds"]:
        search.add(_peaks(decision, {"shares": shares}))
    try:
        search.run()
    except TooLongError:
        return None
    return target


def _peaks(decision: ExactDecision, proof: dict[str, Any]) -> Peaks:
    shares: dict[tuple[int, int], Fraction] = {}
    for g, h, share in proof["shares"]:
        if (g, h) in shares:
            raise DoesNotHoldError(f"proof: the share of worker {g} at offset {h} is given twice")
        shares[_index(g), _index(h)] = Fraction(rational(share))
    prices = proof.get("slot_prices", [0] * decision.workers)
    return Peaks(shares, tuple(Fraction(rational(price)) for price in prices))


def _verdict(value: Fraction | None, bound: Fraction | None, proven: Fraction) -> Verdict:
    if value is None:
        if bound is None:
            return Verdict.NOTHING
        return Verdict.BOUNDED if bound <= proven else Verdict.VALUE_ONLY
    if proven == value:
        return Verdict.OPTIMAL
    if value - proven <= TOLERANCE_TOKENS:
        return Verdict.WITHIN_TOLERANCE
    return Verdict.BOUNDED if bound is None or bound <= proven else Verdict.VALUE_ONLY


def _index(value: Any) -> int:
    if type(value) is not int:
        raise DoesNotHoldError(f"{_shown(value)} is not an index")
    return value


def _shown(value: Any) -> str:
    return repr(float(value)) if isinstance(value, int | Fraction) else repr(value)
