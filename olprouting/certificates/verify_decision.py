"""Checking a solved decision: the value of its assignment, and what proves its bound.

What policies chose for the decision may stand beside its optimum. Each of a certificate's
``choices`` names ``policy`` and ``iteration`` and holds the ``assignment``, its ``value_tokens``
and ``gap_tokens``: the value less that of the result where that is proven, else less the bound
(`olprouting.gaps`). The solver starts from the best of them: none is better than the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from olprouting.certificates import reading as r
from olprouting.certificates.decision_bounds import (
    Peaks,
    enumerated,
    level_bound,
    peaks_bound,
    rounded_up,
)
from olprouting.certificates.decision_search import DecisionSearch
from olprouting.certificates.decision_value import TOLERANCE_TOKENS, value_of
from olprouting.certificates.reading import said, same_double
from olprouting.certificates.second_opinion import reaches, strengthened
from olprouting.certificates.status import (
    OF_A_SOLVE,
    Claims,
    check_absolute_gap,
    check_status,
    claims,
    compare,
    reported,
)
from olprouting.certificates.verification import (
    DoesNotHoldError,
    TooLongError,
    Verdict,
    Verification,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olprouting.certificates.decision_value import ExactDecision, Pairs
    from olprouting.certificates.reading import Number, Reader

ABOUT_THE_RUN = (
    "solver", "formulation", "wall_s", "build_s", "limit_s", "threads", "seed", "warm_start",
    "message",
)  # fmt: skip

ABOUT_CHOICES = ("choices.policy", "choices.iteration")

PROOFS = {
    "zero": "no imbalance is negative",
    "level": "everything is admitted, and the peaks are no lower than the level this fills",
    "peaks": "weighted means of the loads bound the peaks (dual of the linear relaxation)",
    "enumeration": "all assignments were tried again",
    "search": "all assignments that several means of the loads do not rule out were tried again",
}


@dataclass(frozen=True)
class DecisionClaims(Claims):
    """What a result of a decision claims.

    Parameters
    ----------
    pairs
        The assignment, or None.
    absolute_gap
        Between value and bound.
    """

    pairs: Pairs | None
    absolute_gap: Number | None


@dataclass(frozen=True)
class Proof:
    """What is to prove a decision's bound.

    Parameters
    ----------
    kind
        The argument, see `decision_bounds`.
    bound
        What it is to prove.
    shares
        Of the peaks, one list of (worker, offset, share) for each linear bound.
    slot_prices
        Of a bound where slots stay free, or None: all 0.
    order
        Of the workers in a search.
    """

    kind: str
    bound: Fraction
    shares: tuple[tuple[tuple[int, int, Fraction], ...], ...]
    slot_prices: tuple[Fraction, ...] | None
    order: tuple[int, ...]

    def cuts(self, decision: ExactDecision) -> list[Peaks]:
        """Return the shares as linear bounds."""
        prices = self.slot_prices
        if prices is None:
            prices = (Fraction(0),) * decision.workers
        return [Peaks(_by_place(one), prices) for one in self.shares]


def _by_place(
    shares: tuple[tuple[int, int, Fraction], ...],
) -> dict[tuple[int, int], Fraction]:
    found: dict[tuple[int, int], Fraction] = {}
    for g, h, share in shares:
        if (g, h) in found:
            raise DoesNotHoldError(f"proof: the share of worker {g} at offset {h} is given twice")
        found[g, h] = share
    return found


@dataclass(frozen=True)
class Choice:
    """What a policy chose: see the module."""

    policy: str
    pairs: Pairs
    value: Number
    gap: Number


_PAIRS = r.list_of(r.row(r.whole, r.whole))
_SHARES = r.list_of(r.row(r.whole, r.whole, r.fraction))
_OF_KIND: dict[str, dict[str, Reader[Any]]] = {
    "zero": {},
    "level": {},
    "enumeration": {},
    "peaks": {"shares": _SHARES},
    "search": {"order": r.list_of(r.whole), "bounds": r.list_of(_SHARES)},
}


RESULT = r.into(
    DecisionClaims,
    {
        **OF_A_SOLVE,
        "formulation": r.name,
        "assignment": r.optional(_PAIRS),
        "objective": r.optional(r.number),
        "absolute_gap": r.optional(r.number),
        "warm_start": r.optional(r.text),
    },
    pairs="assignment",
    value="objective",
)
"""Reads a document of schema ``olprouting/solve-result/1``."""

CHOICES = r.list_of(
    r.into(
        Choice,
        {
            "policy": r.name,
            "iteration": r.whole,
            "assignment": _PAIRS,
            "value_tokens": r.number,
            "gap_tokens": r.number,
        },
        pairs="assignment",
        value="value_tokens",
        gap="gap_tokens",
    )
)
"""Reads choices."""


def proof_of(value: Any) -> Proof:
    """Read a proof: what it holds depends on its kind."""
    kind = r.one_of(*_OF_KIND)(r.names_to(lambda one: one)(value).get("kind"))
    more = {"slot_prices": r.list_of(r.fraction)} if kind == "peaks" else {}
    given = r.fields({"kind": r.text, "bound": r.fraction, **_OF_KIND[kind]}, more)(value)
    shares = (given["shares"],) if kind == "peaks" else given.get("bounds", ())
    return Proof(kind, given["bound"], shares, given.get("slot_prices"), given.get("order", ()))


def verify_decision(
    decision: ExactDecision, result: DecisionClaims, proof: Proof, choices: Sequence[Choice]
) -> Verification:
    """Check a result of a decision, and what policies chose beside it.

    Parameters
    ----------
    decision, result, proof
        The decision, what is claimed of it, and what is to prove the bound.
    choices
        What policies chose.

    Raises
    ------
    DoesNotHoldError
        With the claim that is wrong.
    """
    value = _value(decision, result.pairs, result.value)
    proven = proven_bound(decision, proof)
    bound = result.bound
    if value is not None and proven > value:
        raise DoesNotHoldError(
            f"proof: it bounds values by {said(proven)}, but {said(value)} is reached"
        )
    if value is not None and bound is not None and not reaches(value, bound):
        raise DoesNotHoldError(f"bound {float(bound)!r} is above the value {float(value)!r}")
    check_status(result, sense=1, solved=result.pairs is not None)
    check_absolute_gap(result.absolute_gap, result.value, bound, sense=1)
    if value is not None and result.stop_reason == "optimal" and value.denominator == 1:
        bound = int(value)  # what is claimed, however the two were rounded to doubles
    if value is None and result.stop_reason == "optimal_within_gap":
        raise DoesNotHoldError("status: the solver is done, but there is no assignment")
    known = [] if result.pairs is None else [result.pairs]
    for number, choice in enumerate(choices):
        check_choice(decision, choice, result, f"choices[{number}]")
        known.append(choice.pairs)
    kind = proof.kind
    if bound is not None:
        cuts = proof.cuts(decision)
        proven, kind = strengthened(decision, (proven, kind), bound, known, cuts)
    resting = bound is not None and not reaches(proven, bound)
    rests = claims(result.stop_reason, "bound", "status", resting=resting)
    if choices and resting:
        rests += ("choices.gap_tokens",)
    words = PROOFS[kind]
    if resting:
        words += f"; {result.solver} claims {float(result.bound or 0)!r}"
    return Verification(
        kind=", ".join(["decision", *(f"the gap of {one.policy}" for one in choices)]),
        verdict=_verdict(value, bound, proven, resting=resting),
        value=None if value is None else said(value),
        bound=said(proven),
        gap=None if value is None else said(value - proven),
        proof=words,
        not_checked=rests,
        about_the_run=(
            *ABOUT_THE_RUN,
            *reported(result.stop_reason),
            *(ABOUT_CHOICES if choices else ()),
        ),
    )


def check_choice(
    decision: ExactDecision, choice: Choice, result: DecisionClaims, named: str
) -> None:
    """Check what a policy's choice, `named` so, is worth, and its gap to the result beside it.

    Raises
    ------
    DoesNotHoldError
        With the claim that is wrong.
    """
    value = value_of(decision, choice.pairs)
    if not same_double(choice.value, value):
        raise DoesNotHoldError(f"{named}: its assignment is worth {float(value)!r} tokens")
    reference = Fraction(result.bound or 0)  # no imbalance is negative
    if result.value is not None:
        best = Fraction(result.value)
        if value < best and not same_double(result.value, value):
            raise DoesNotHoldError(
                f"{named}: it is worth {float(value)!r} tokens, less than the result's "
                f"{float(best)!r}"
            )
        reference = best if best - reference <= TOLERANCE_TOKENS else reference
    whole_gap = value.denominator == reference.denominator == 1
    gap = value - reference
    compare(f"{named}.gap_tokens", choice.gap, gap, None if whole_gap else value)


def _value(decision: ExactDecision, pairs: Pairs | None, claimed: Number | None) -> Fraction | None:
    """Return the exact value of the assignment, which must be the one claimed."""
    if pairs is None:
        if claimed is not None:
            raise DoesNotHoldError("objective: there is one without an assignment")
        return None
    value = value_of(decision, pairs)
    if claimed is None or not same_double(claimed, value):
        raise DoesNotHoldError(
            f"objective: the assignment is worth {float(value)!r} tokens, not {_shown(claimed)}"
        )
    return value


def proven_bound(decision: ExactDecision, proof: Proof) -> Fraction:
    """Return the lower bound that a proof proves, which must be the one it states."""
    kind = proof.kind
    if kind == "zero":
        found: Fraction | None = Fraction(0)
    elif kind == "level":
        found = level_bound(decision)
        found = None if found is None else rounded_up(decision, found)
    elif kind == "peaks":
        found = peaks_bound(decision, *proof.cuts(decision))
    elif kind == "enumeration":
        found = enumerated(decision)
    else:
        found = _searched(decision, proof)
    if found is None:
        raise DoesNotHoldError(f"proof: {kind!r} does not apply to this decision")
    if found != proof.bound:
        stated = said(proof.bound)
        raise DoesNotHoldError(f"proof: it proves {said(found)}, not {stated} as stated")
    return found


def _searched(decision: ExactDecision, proof: Proof) -> Fraction | None:
    """Return the stated bound if the search finds nothing below it."""
    search = DecisionSearch(decision, proof.bound, proof.order)
    for peaks in proof.cuts(decision):
        search.add(peaks)
    try:
        search.run()
    except TooLongError:
        return None
    return proof.bound


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


def _shown(value: Number | None) -> str:
    return "none" if value is None else repr(float(value))
