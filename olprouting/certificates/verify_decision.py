"""Checking a solved decision: the value of its assignment, and what proves its bound."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from olprouting.certificates.choice import check_choice
from olprouting.certificates.decision_bounds import (
    Peaks,
    enumerated,
    level_bound,
    peaks_bound,
    rounded_up,
)
from olprouting.certificates.decision_search import DecisionSearch
from olprouting.certificates.decision_value import (
    TOLERANCE_TOKENS,
    ExactDecision,
    pairs_of,
    value_of,
)
from olprouting.certificates.exact_json import rational, said, same_double
from olprouting.certificates.second_opinion import reaches, strengthened
from olprouting.certificates.status import check_status, claims, reported
from olprouting.certificates.verification import (
    DoesNotHoldError,
    TooLongError,
    Verdict,
    Verification,
)

if TYPE_CHECKING:
    from olprouting.certificates.exact_json import Number

ABOUT_THE_RUN = (
    "solver", "formulation", "wall_s", "build_s", "limit_s", "threads", "seed", "warm_start",
    "message",
)  # fmt: skip

ABOUT_THE_CHOICE = ("choice.policy", "choice.iteration")

PROOFS = {
    "zero": "no imbalance is negative",
    "level": "everything is admitted, and the peaks are no lower than the level this fills",
    "peaks": "weighted means of the loads bound the peaks (dual of the linear relaxation)",
    "enumeration": "all assignments were tried again",
    "search": "all assignments that several means of the loads do not rule out were tried again",
}


def verify_decision(
    instance: dict[str, Any],
    result: dict[str, Any],
    proof: dict[str, Any],
    choice: dict[str, Any] | None,
) -> Verification:
    """Check a result of a decision, and what a policy chose beside it.

    Parameters
    ----------
    instance, result, proof
        Exact documents (see `read_exact`): of schema ``olprouting/decision/1``, of schema
        ``olprouting/solve-result/1``, and what `prove_decision` returns.
    choice
        The exact document of a choice (see `choice`), or None.

    Raises
    ------
    DoesNotHoldError
        With the claim that is wrong.
    """
    decision = ExactDecision.from_document(instance)
    value = _value(decision, result["assignment"], result["objective"])
    proven = proven_bound(decision, proof)
    bound = None if result["bound"] is None else rational(result["bound"])
    if value is not None and proven > value:
        raise DoesNotHoldError(
            f"proof: it bounds values by {said(proven)}, but {said(value)} is reached"
        )
    if value is not None and bound is not None and not reaches(value, bound):
        raise DoesNotHoldError(f"bound {float(bound)!r} is above the value {float(value)!r}")
    check_status(result, sense=1)
    if value is not None and result["stop_reason"] == "optimal" and value.denominator == 1:
        bound = int(value)  # what is claimed, however the two were rounded to doubles
    if value is None and result["stop_reason"] == "optimal_within_gap":
        raise DoesNotHoldError("status: the solver is done, but there is no assignment")
    known = [] if value is None else [pairs_of(result["assignment"])]
    if choice is not None:
        known.append(check_choice(decision, choice, result))
    kind = proof["kind"]
    if bound is not None:
        cuts = _cuts(decision, proof)
        proven, kind = strengthened(decision, (proven, kind), bound, known, cuts)
    resting = bound is not None and not reaches(proven, bound)
    rests = claims(result["stop_reason"], "bound", "status", resting=resting)
    if choice is not None and resting:
        rests += ("choice.gap_tokens",)
    words = PROOFS[kind]
    if resting:
        words += f"; {result['solver']} claims {float(rational(result['bound']))!r}"
    return Verification(
        kind="decision" if choice is None else f"decision, and the gap of {choice['policy']}",
        verdict=_verdict(value, bound, proven, resting=resting),
        value=None if value is None else said(value),
        bound=said(proven),
        gap=None if value is None else said(value - proven),
        proof=words,
        not_checked=rests,
        about_the_run=(
            *ABOUT_THE_RUN,
            *reported(result["stop_reason"]),
            *(() if choice is None else ABOUT_THE_CHOICE),
        ),
    )


def _value(decision: ExactDecision, assignment: Any, claimed: Any) -> Fraction | None:
    """Return the exact value of the assignment, which must be the one claimed."""
    if assignment is None:
        if claimed is not None:
            raise DoesNotHoldError("objective: there is one without an assignment")
        return None
    value = value_of(decision, pairs_of(assignment))
    if claimed is None or not same_double(claimed, value):
        raise DoesNotHoldError(
            f"objective: the assignment is worth {float(value)!r} tokens, not {_shown(claimed)}"
        )
    return value


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
    else:
        found = _searched(decision, proof)
    if found is None:
        raise DoesNotHoldError(f"proof: {kind!r} does not apply to this decision")
    if found != rational(proof["bound"]):
        raise DoesNotHoldError(f"proof: it proves {said(found)}, not {proof['bound']} as stated")
    return found


def _cuts(decision: ExactDecision, proof: dict[str, Any]) -> list[Peaks]:
    """Return the shares of the peaks that a proof holds."""
    if proof["kind"] == "peaks":
        return [_peaks(decision, proof)]
    return [_peaks(decision, {"shares": shares}) for shares in proof.get("bounds", [])]


def _searched(decision: ExactDecision, proof: dict[str, Any]) -> Fraction | None:
    """Return the stated bound if the search finds nothing below it."""
    target = Fraction(rational(proof["bound"]))
    search = DecisionSearch(decision, target, proof["order"])
    for peaks in _cuts(decision, proof):
        search.add(peaks)
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
        shares[g, h] = Fraction(rational(share))
    prices = proof.get("slot_prices", [0] * decision.workers)
    return Peaks(shares, tuple(Fraction(rational(price)) for price in prices))


def _verdict(
    value: Fraction | None, bound: Number | None, proven: Fraction, *, resting: bool
) -> Verdict:
    if value is None:
        if bound is None:
            return Verdict.NOTHING
        return Verdict.VALUE_ONLY if resting else Verdict.BOUNDED
    if proven == value:
        return Verdict.OPTIMAL
    if value - proven <= TOLERANCE_TOKENS:
        return Verdict.WITHIN_TOLERANCE
    return Verdict.VALUE_ONLY if resting else Verdict.BOUNDED


def _shown(value: Any) -> str:
    return "none" if value is None else repr(float(value))
