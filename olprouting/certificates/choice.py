"""What a policy chose for a decision, beside its optimum: the value and the gap that are claimed.

``choice`` of a certificate names ``policy`` and ``iteration`` and holds the ``assignment``, its
``value_tokens`` and ``gap_tokens``: the value less that of the result where that is proven, else
less the bound (`olprouting.gaps`). The solver starts from the choice, so that none is better than
the result.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from olprouting.certificates.decision_value import (
    TOLERANCE_TOKENS,
    pairs_of,
    value_of,
)
from olprouting.certificates.exact_json import rational, same_double
from olprouting.certificates.status import compare
from olprouting.certificates.verification import DoesNotHoldError

if TYPE_CHECKING:
    from olprouting.certificates.decision_value import ExactDecision


def check_choice(
    decision: ExactDecision, choice: dict[str, Any], result: dict[str, Any]
) -> list[tuple[int, int]]:
    """Return the assignment of a choice that holds.

    Parameters
    ----------
    decision
        The decision.
    choice, result
        Exact documents (see `read_exact`): the choice, and the result beside it.

    Raises
    ------
    DoesNotHoldError
        With the claim that is wrong.
    """
    pairs = pairs_of(choice["assignment"])
    value = value_of(decision, pairs)
    if not same_double(choice["value_tokens"], value):
        raise DoesNotHoldError(f"choice: its assignment is worth {float(value)!r} tokens")
    reference = Fraction(rational(result["bound"] or 0))  # no imbalance is negative
    if result["objective"] is not None:
        best = Fraction(rational(result["objective"]))
        if value < best and not same_double(result["objective"], value):
            raise DoesNotHoldError(
                f"choice: it is worth {float(value)!r} tokens, less than the result's "
                f"{float(best)!r}"
            )
        reference = best if best - reference <= TOLERANCE_TOKENS else reference
    whole = value.denominator == reference.denominator == 1
    gap = value - reference
    compare("choice.gap_tokens", choice["gap_tokens"], gap, None if whole else value)
    return pairs
