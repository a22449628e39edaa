"""Finding a proof of a decision's optimum that anybody can check.

The cheap arguments come first, a long enumeration last; the first that reaches the value wins, else
the strongest. See `decision_bounds` for the arguments.
"""

from __future__ import annotations

import time
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

from olprouting.certificates.decision_bounds import (
    Peaks,
    enumerated,
    level_bound,
    peaks_bound,
    rounded_up,
)
from olprouting.certificates.decision_value import ExactDecision, loads_after, weighted_imbalance
from olprouting.certificates.find_search import find_search
from olprouting.certificates.peak_flow import peaks_at
from olprouting.certificates.reading import read_exact, written
from olprouting.certificates.relaxed_peaks import relaxed_peaks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from olprouting.certificates.decision_value import Pairs
    from olprouting.instances import Decision

Proof = dict[str, Any]


NO_PROOF: Proof = {"kind": "zero", "bound": "0"}
"""That no imbalance is negative."""

LITTLE_WORK = 100_000
"""An enumeration that touches no more loads is made before a search is tried (hundredths of a
second); a longer one after it, for a search is checked in less time."""


def prove_decision(decision: Decision, pairs: Pairs | None) -> Proof:
    """Return the strongest checkable lower bound found, as the ``proof`` of a certificate.

    Parameters
    ----------
    decision
        The decision.
    pairs
        Its best known assignment, or None.

    Returns
    -------
    dict
        ``kind`` and ``bound``, a fraction as text, and what the kind needs.
    """
    *_, strongest = proofs(decision, pairs)
    return strongest


def proofs(decision: Decision, pairs: Pairs | None, time_limit_s: float = inf) -> Iterator[Proof]:
    """Yield ever stronger proofs, `NO_PROOF` first; the last is that of `prove_decision`.

    Parameters
    ----------
    decision, pairs
        As for `prove_decision`.
    time_limit_s
        Seconds after which no more is tried.
    """
    yield NO_PROOF
    end_s = time.monotonic() + time_limit_s
    exact = ExactDecision.from_document(read_exact(decision.to_json(), "decision"))
    value = None if pairs is None else weighted_imbalance(exact, loads_after(exact, pairs))
    best = Fraction(0)
    for bound, proof in _proofs(decision, exact, pairs, end_s):
        saved = _saved(proof, bound) if bound > best else None
        if saved is not None:
            best = bound
            yield saved
        if (value is not None and best >= value) or time.monotonic() >= end_s:
            return


def _proofs(
    decision: Decision, exact: ExactDecision, pairs: Pairs | None, end_s: float
) -> Iterator[tuple[Fraction, Proof]]:
    level = level_bound(exact)
    if level is not None:
        yield rounded_up(exact, level), {"kind": "level"}
    at_optimum = None if pairs is None else peaks_at(exact, pairs)
    if at_optimum is not None:
        yield peaks_bound(exact, at_optimum), _peaks_proof(exact, at_optimum)
    elif exact.admissions and (relaxed := relaxed_peaks(decision, end_s=end_s)) is not None:
        yield peaks_bound(exact, relaxed), _peaks_proof(exact, relaxed)
    least = enumerated(exact, LITTLE_WORK)
    if least is None and pairs is not None:
        value = weighted_imbalance(exact, loads_after(exact, pairs))
        found = find_search(decision, exact, value, end_s)
        if found is not None:
            order, bounds = found
            yield value, {"kind": "search", "order": order, "bounds": [*map(_shares, bounds)]}
    if least is None and time.monotonic() < end_s:
        least = enumerated(exact)
    if least is not None:
        yield least, {"kind": "enumeration"}


def _saved(proof: Proof, bound: Fraction) -> Proof | None:
    """Return a proof with its fractions as text, or None where one has too many digits for it."""
    try:
        saved = {name: _text(value) for name, value in proof.items()}
        return {**saved, "bound": written(bound)}
    except ValueError:
        return None


def _text(value: Any) -> Any:
    if isinstance(value, list):
        return [_text(member) for member in value]
    return written(value) if isinstance(value, Fraction) else value


def _peaks_proof(exact: ExactDecision, peaks: Peaks) -> Proof:
    proof: Proof = {"kind": "peaks", "shares": _shares(peaks)}
    if not exact.fills:
        proof["slot_prices"] = list(map(Fraction, peaks.slot_prices))
    return proof


def _shares(peaks: Peaks) -> list[list[Any]]:
    return [[g, h, Fraction(share)] for (g, h), share in sorted(peaks.shares.items())]
