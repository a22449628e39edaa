"""A saved decision is checked by code of its own: against brute force, and across backends."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from certificate_cases import decisions, random_decision
from hypothesis import given, settings

from olprouting import exact
from olprouting.certificates import (
    DoesNotHoldError,
    Verdict,
    certificate,
    prove_decision,
    verify,
)
from olprouting.certificates.decision_bounds import (
    Peaks,
    enumerated,
    level_bound,
    peaks_bound,
    rounded_up,
)
from olprouting.certificates.decision_value import ExactDecision
from olprouting.certificates.peak_flow import peaks_at
from olprouting.certificates.reading import read_exact
from olprouting.certificates.relaxed_peaks import relaxed_peaks
from olprouting.instances import Decision, StopReason
from olprouting.library.catalogue import entries


def exactly(decision: Decision) -> ExactDecision:
    return ExactDecision.from_document(read_exact(decision.to_json(), "decision"))


def optimum(decision: Decision) -> Fraction:
    """By brute force and the other evaluator."""
    return min(Fraction(exact.objective(decision, a)) for a in exact.assignments(decision))


@settings(max_examples=150, deadline=None)
@given(decisions())
def test_enumeration_finds_the_optimum_of_brute_force(decision) -> None:
    """Catches a state merged with another, or an evaluator that differs from the definition."""
    assert enumerated(exactly(decision)) == optimum(decision)


@settings(max_examples=150, deadline=None)
@given(decisions())
def test_no_argument_bounds_more_than_the_optimum(decision) -> None:
    """Catches an unsound bound: level, shares of the relaxation, of a flow, and careless ones."""
    data, best = exactly(decision), optimum(decision)
    level = level_bound(data)
    assert level is None or rounded_up(data, level) <= best
    relaxed = relaxed_peaks(decision)
    assert relaxed is not None
    assert peaks_bound(data, relaxed) <= best
    prices = tuple(Fraction(3 * g, 2) for g in range(decision.workers))
    careless = {(h % decision.workers, h): Fraction(1) for h in data.offsets}
    assert peaks_bound(data, Peaks(careless, prices)) <= best


@settings(max_examples=100, deadline=None)
@given(decisions())
def test_a_flow_of_the_peaks_proves_its_assignment(decision) -> None:
    """Catches shares that exist but do not prove: then the flow's conditions are wrong."""
    data, best = exactly(decision), optimum(decision)
    for pairs in exact.assignments(decision):
        peaks = peaks_at(data, pairs)
        if peaks is not None:
            assert exact.objective(decision, pairs) == peaks_bound(data, peaks) == best


@settings(max_examples=60, deadline=None)
@given(decisions())
def test_every_tiny_optimum_is_proven_again(decision) -> None:
    """Enumeration stands behind the other arguments, so that nothing tiny rests on a solver."""
    result = exact.solve(decision, solver="brute-force")
    finding = verify(json.dumps(certificate(decision, result)))
    assert finding.verdict is Verdict.OPTIMAL
    assert Fraction(finding.value) == optimum(decision)


@pytest.mark.parametrize("solver", ["highs", "cpsat", "native", "auto", "brute-force"])
def test_a_result_of_any_backend_carries_what_is_needed(e2, solver) -> None:
    finding = verify(json.dumps(certificate(e2, exact.solve(e2, solver=solver))))
    assert (finding.verdict, finding.value, finding.gap) == (Verdict.OPTIMAL, "1", "0")


def test_a_flow_proves_what_doubles_cannot() -> None:
    """A rich pool with gamma < 1: HiGHS leaves a gap, the certificate closes it exactly."""
    rng = np.random.default_rng(4)
    loads = rng.integers(500, 700, (4, 1)) + np.arange(12)
    decision = Decision(loads, [2, 1, 2, 1], np.arange(20, 220), gamma=0.86)
    result = exact.solve(decision, solver="highs")
    assert result.status == "optimal_within_gap"
    saved = certificate(decision, result)
    assert saved["proof"]["kind"] == "peaks"
    assert verify(json.dumps(saved)).verdict is Verdict.OPTIMAL


def test_a_time_out_keeps_its_gap() -> None:
    """Value and bound are checked; nobody is told that this is an optimum."""
    decision = random_decision(3, workers=4, waiting=40, horizon=4, gamma="0.86")
    start = exact.solve(decision, solver="native").assignment
    assert start is not None
    worse = tuple((len(decision.waiting_prompt_tokens) - 1 - i, g) for i, g in start)
    options = exact.SolveOptions(time_limit_s=0, warm_start=worse)
    result = exact.solve(decision, solver="native", options=options)
    assert result.stop_reason is StopReason.TIME_LIMIT
    finding = verify(json.dumps(certificate(decision, result)))
    assert finding.verdict is Verdict.BOUNDED
    assert Fraction(finding.gap) > 0
    # why it stopped is the solver's word, and said to be
    assert "stop_reason" in finding.about_the_run
    assert finding.not_checked == ()


def test_a_bound_that_nobody_can_redo_rests_on_the_solver() -> None:
    """A named instance whose bound is out of reach: the verdict says so, and what follows from it.
    Catches a search that takes too long for a proof."""
    saved = entries()["burst-g4-w16"].certificate("imbalance")
    finding = verify(json.dumps(saved))
    assert finding.verdict is Verdict.VALUE_ONLY
    assert finding.not_checked == ("bound", "status")
    assert "claims 776.0" in finding.proof


def test_a_proof_that_is_not_in_the_file_is_found() -> None:
    """Two workers, one slot each, sizes 1, 5 and 9 beside loads 0 and 3: optimum 1, relaxed 0.
    Regression: the bound rested on the solver, however small the decision."""
    decision = Decision([[0], [3]], [1, 1], [1, 5, 9])
    saved = certificate(decision, exact.solve(decision, solver="highs"))
    saved["proof"] = {"kind": "zero", "bound": "0"}
    finding = verify(json.dumps(saved))
    assert (finding.verdict, finding.bound, finding.not_checked) == (Verdict.OPTIMAL, "1", ())


def test_nothing_found_is_nothing_proven(e2) -> None:
    result = exact.solve(e2, solver="highs", options=exact.SolveOptions(time_limit_s=0))
    nothing = replace(result, solution=None, value=None, bound=None)
    assert verify(json.dumps(certificate(e2, nothing))).verdict is Verdict.NOTHING


def test_decimals_are_decimals() -> None:
    """Sizes 0.6, 0.3, 0.3 have optimum 0; read as doubles, 0.3 + 0.3 is not 0.6 everywhere."""
    decision = Decision([[0], [0]], [1, 2], [0.6, 0.3, 0.3])
    finding = verify(json.dumps(certificate(decision, exact.solve(decision, solver="highs"))))
    assert (finding.verdict, finding.value) == (Verdict.OPTIMAL, "0")


def test_sizes_near_the_limit_of_doubles_stay_exact() -> None:
    """The objective, beyond 2^53, is compared as the integer it is."""
    large = 2**53
    decision = Decision([[large], [0], [1]], [0, 1, 1], [large - 1, large - 3])
    result = exact.solve(decision, solver="brute-force")
    saved = certificate(decision, result)
    assert verify(json.dumps(saved)).verdict is Verdict.OPTIMAL
    proof = prove_decision(decision, result.assignment)
    assert Fraction(proof["bound"]) == result.value


def test_an_optimum_beyond_doubles_is_no_nearby_value() -> None:
    """Regression: as doubles, a worse value and its bound were equal to what is proven."""
    large = 2**60
    decision = Decision([[large], [0]], [0, 2], [5, 6, 9])
    data = exactly(decision)
    best, worse = 2 * large - large - 15, [(0, 1), (1, 1)]
    assert enumerated(data) == best
    saved = certificate(decision, exact.solve(decision, solver="brute-force"))
    assert verify(json.dumps(saved)).verdict is Verdict.OPTIMAL
    nearby = {"assignment": worse, "objective": float(best + 4), "bound": float(best + 4)}
    saved["result"] |= nearby
    with pytest.raises(DoesNotHoldError, match="bound"):
        verify(json.dumps(saved))


@pytest.mark.parametrize("field", ["absolute_gap", "relative_gap"])
def test_a_gap_of_whole_tokens_is_exact(field) -> None:
    """Regression: a gap of 600 tokens at 1e15 was as good as none."""
    decision = Decision([[10**15], [0], [0]], [0, 1, 1], [301, 1, 1])
    start = ((0, 1), (1, 2))
    result = exact.solve(decision, solver="brute-force")
    worse = Fraction(exact.objective(decision, start))
    saved = certificate(decision, replace(result, stop_reason=StopReason.TIME_LIMIT))
    bound = int(worse) - 600
    saved["result"] |= {"assignment": start, "objective": int(worse), "bound": bound}
    saved["result"] |= {"absolute_gap": 600.0, "relative_gap": 600 / int(worse)}
    saved["proof"] = {"kind": "zero", "bound": "0"}
    verify(json.dumps(saved))
    saved["result"][field] = 0.0
    with pytest.raises(DoesNotHoldError, match=f"{field}: value and bound leave"):
        verify(json.dumps(saved))


def test_fractions_of_too_many_digits_are_left_out_or_rounded() -> None:
    """Regression: neither saving nor checking survived 0.987654321012345^400 as a fraction."""
    loads = [[5] * 401, [3] * 401]
    decision = Decision(loads, [1, 1], [3, 4, 9], gamma=0.987654321012345)
    saved = certificate(decision, exact.solve(decision))
    finding = verify(json.dumps(saved))
    assert finding.value is not None
    assert finding.value.endswith(" (rounded)")
    assert float(finding.value.removesuffix(" (rounded)")) == float(saved["result"]["objective"])
    assert "(rounded)" in finding.summary()
