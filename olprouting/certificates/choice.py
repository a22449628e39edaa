"""What a policy chose for a decision, beside its optimum: the value and the gap that are claimed.

``choice`` of a certificate names ``policy`` and ``iteration`` and holds the ``assignment``, its
``value_tokens`` and ``gap_tokens``: the value less that of the result where that is proven, else
less the bound (`olprouting.gaps`).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from olprouting.certificates.decision_value import (
    ExactDecision,
    check_assignment,
    loads_after,
    weighted_imbalance,
)
from olprouting.certificates.exact_json import rational, same_double
from olprouting.certificates.status import compare
from olprouting.certificates.verification import DoesNotHoldError
from olprouting.certificates.verify_decision import TOLERANCE_TOKENS, pairs_of

if TYPE_CHECKING:
    from olprouting.certificates.verification import Verification


def check_choice(document: dict[str, Any], finding: Verification) -> Verification:
    """Return the finding of a certificate whose ``choice`` holds too.

    Parameters
    ----------
    document
        An exact document (see `read_exact`) of schema ``olprouting/certificate/1``.
    finding
        What was found of the rest.

    Raises
    ------
    DoesNotHoldError
        With the claim that is wrong.
    """
    choice, result = document["choice"], document["result"]
    decision = ExactDecision.from_document(document["instance"])
    pairs = pairs_of(choice["assignment"])
    check_assignment(decision, pairs)
    value = weighted_imbalance(decision, loads_after(decision, pairs))
    if not same_double(choice["value_tokens"], value):
        raise DoesNotHoldError(f"choice: its assignment is worth {float(value)!r} tokens")
    reference = Fraction(rational(result["bound"] or 0))  # no imbalance is negative
    if result["objective"] is not None:
        best = Fraction(rational(result["objective"]))
        reference = best if best - reference <= TOLERANCE_TOKENS else reference
    compare("choice.gap_tokens", choice["gap_tokens"], abs(value - reference), value)
    return replace(
        finding,
        kind=f"{finding.kind}, and the gap of {choice['policy']}",
        not_checked=(*finding.not_checked, "choice.policy", "choice.iteration"),
    )
