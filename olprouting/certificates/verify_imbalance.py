"""Checking the least imbalance in hindsight: a run, its total, and what proves the bound."""

from __future__ import annotations

from typing import Any

from olprouting.certificates import reading as r
from olprouting.certificates.imbalance_search import least_below, some_below
from olprouting.certificates.imbalance_value import IMBALANCE_PROBLEM, ExactRuns
from olprouting.certificates.reading import said, whole_numbers
from olprouting.certificates.status import STOP, check_gap, check_stop, claims, reported
from olprouting.certificates.verification import (
    DoesNotHoldError,
    TooLongError,
    Verdict,
    Verification,
)

SCHEMA = "olprouting/hindsight-imbalance/1"

ABOUT_THE_RUN = ("name", "proven_by", "limit_s", "wall_s", "versions")

MOST_TOTAL = 2**62
"""Totals are written as whole numbers, which are exact beyond the doubles'."""

FORCED = "until the slots are full, who is active is forced, and bounds the peaks"

TRIED = "all runs of maximal policies were tried"


IMBALANCE = r.fields(
    {
        "schema": r.text,
        "name": r.text,
        "problem_sha256": r.text,
        "problem": IMBALANCE_PROBLEM,
        "worker": r.optional(r.list_of(r.whole)),
        "admission_iteration": r.optional(r.list_of(r.whole)),
        "total_tokens": r.optional(r.whole),
        "bound_tokens": r.whole,
        "gap": r.optional(r.number),
        "proven_by": r.text,
        "stop_reason": STOP,
        "limit_s": r.number,
        "wall_s": r.number,
        "versions": r.VERSIONS,
    }
)
"""Reads the fields of a document of schema ``olprouting/hindsight-imbalance/1``."""


def verify_imbalance(given: dict[str, Any]) -> Verification:
    """Check the fields of an imbalance result, as `IMBALANCE` reads them.

    Raises
    ------
    DoesNotHoldError
        With the claim that is wrong.
    """
    runs = ExactRuns.from_fields(given["problem"])
    total = _total(runs, given)
    bound = whole_numbers("bound_tokens", [given["bound_tokens"]], least=0, most=MOST_TOTAL)[0]
    if total is not None and bound > total:
        raise DoesNotHoldError(f"bound_tokens: {bound} is above the run's total, {total}")
    check_gap("gap", given["gap"], total, bound, sense=1)
    stop = given["stop_reason"]
    check_stop(stop)
    if (stop == "optimal") != (bound == total):
        raise DoesNotHoldError("stop_reason: 'optimal' means that bound and total are equal")
    proven, proof = _proven(runs, bound, total)
    verdict = Verdict.OPTIMAL if proven == total else Verdict.BOUNDED
    if proven < bound:
        verdict = Verdict.VALUE_ONLY
        proof += f"; the solver claims {bound}"
    return Verification(
        kind="hindsight imbalance",
        verdict=verdict,
        value=None if total is None else said(total),
        bound=said(proven),
        gap=None if total is None else said(total - proven),
        proof=proof,
        not_checked=claims(stop, "bound_tokens", "stop_reason", resting=proven < bound),
        about_the_run=(*ABOUT_THE_RUN, *reported(stop)),
    )


def _total(runs: ExactRuns, given: dict[str, Any]) -> int | None:
    """Return the exact total of the stored run, which must be the one claimed."""
    worker, start, total = given["worker"], given["admission_iteration"], None
    if (worker is None) != (start is None):
        raise DoesNotHoldError("worker and admission_iteration: only one of them is there")
    if worker is not None:
        total = runs.total(worker, start)
    if given["total_tokens"] != total:
        raise DoesNotHoldError(f"total_tokens: the run has {total}, not {given['total_tokens']}")
    return total


def _proven(runs: ExactRuns, bound: int, total: int | None) -> tuple[int, str]:
    """Return a bound proven here, and how: up to the total, if that is not too much.

    Raises
    ------
    DoesNotHoldError
        If there is a run below the claimed bound.
    """
    forced = runs.forced()
    for target in sorted({bound, bound if total is None else total}, reverse=True):
        if forced >= target:
            break
        try:
            least = least_below(runs, target)
        except TooLongError:
            continue
        if least is None:
            return target, TRIED
        _refuse_below(bound, least)
        return least, TRIED
    if forced < bound:
        _refuse_below(bound, some_below(runs, bound))
    return forced, FORCED


def _refuse_below(bound: int, total: int | None) -> None:
    if total is not None and total < bound:
        raise DoesNotHoldError(f"bound_tokens: a run has {total} in all, below {bound}")
