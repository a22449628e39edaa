"""Checking the least imbalance in hindsight: a run, its total, and what proves the bound."""

from __future__ import annotations

from typing import Any

from olprouting.certificates.exact_json import whole_numbers, written
from olprouting.certificates.imbalance_search import TooLongError, least_below
from olprouting.certificates.imbalance_value import ExactRuns
from olprouting.certificates.status import check_gap
from olprouting.certificates.verification import DoesNotHoldError, Verdict, Verification

SCHEMA = "olprouting/hindsight-imbalance/1"

NOT_CHECKED = ("name", "proven_by", "limit_s", "wall_s", "versions")

FORCED = "until the slots are full, who is active is forced, and bounds the peaks"

TRIED = "all runs of maximal policies were tried"


def verify_imbalance(document: dict[str, Any]) -> Verification:
    """Check an exact document (see `read_exact`) of schema ``olprouting/hindsight-imbalance/1``.

    Raises
    ------
    DoesNotHoldError
        With the claim that is wrong.
    """
    runs = ExactRuns.from_document(document["problem"])
    total = _total(runs, document)
    bound = whole_numbers("bound_tokens", [document["bound_tokens"]], least=0)[0]
    if total is not None and bound > total:
        raise DoesNotHoldError(f"bound_tokens: {bound} is above the run's total, {total}")
    check_gap("gap", document["gap"], total, bound, sense=1)
    if document["stop_reason"] == "optimal" and bound != total:
        raise DoesNotHoldError("stop_reason: 'optimal' means that bound and total are equal")
    proven, proof = _proven(runs, {bound, bound if total is None else total})
    if proven < bound and proof == TRIED:
        raise DoesNotHoldError(f"bound_tokens: a run has {proven} in all, below {bound}")
    verdict = Verdict.OPTIMAL if proven == total else Verdict.BOUNDED
    if proven < bound:
        verdict = Verdict.VALUE_ONLY
        proof += f"; the solver claims {bound}"
    return Verification(
        kind="hindsight imbalance",
        verdict=verdict,
        value=None if total is None else written(total),
        bound=written(proven),
        gap=None if total is None else written(total - proven),
        proof=proof,
        not_checked=NOT_CHECKED,
    )


def _total(runs: ExactRuns, document: dict[str, Any]) -> int | None:
    """Return the exact total of the stored run, which must be the one claimed."""
    run = {name: document[name] for name in ("worker", "admission_iteration")}
    total = None
    if any(column is not None for column in run.values()):
        worker, start = (whole_numbers(name, column, least=0) for name, column in run.items())
        total = runs.total(worker, start)
    if document["total_tokens"] != total:
        raise DoesNotHoldError(f"total_tokens: the run has {total}, not {document['total_tokens']}")
    return total


def _proven(runs: ExactRuns, targets: set[int]) -> tuple[int, str]:
    """Return a bound proven here, the largest of `targets` if that is not too much, and how."""
    forced = runs.forced()
    for target in sorted(targets, reverse=True):
        if forced >= target:
            break
        try:
            less = least_below(runs, target)
        except TooLongError:
            continue
        return target if less is None else less, TRIED
    return forced, FORCED
