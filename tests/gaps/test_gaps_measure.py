"""Gaps of single decisions, argued by hand, and their sums."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from olprouting.errors import InputError
from olprouting.exact import SolveOptions, assignments, recheck
from olprouting.gaps import GapRecord, Judge, SampledDecision
from olprouting.gaps.measure import weighted_peak
from olprouting.gaps.policy_gaps import difference, share_captured
from olprouting.gaps.sampling import has_choice
from olprouting.instances import Decision
from olprouting.policies import PolicyOptions, View, make_policy


def judged_alone(judge: Judge, decision, assignment, lookahead=0) -> GapRecord:
    """Judge one answer of a policy called x."""
    view = decision if isinstance(decision, View) else view_of(decision)
    (one,) = judge.measure(SampledDecision(view, assignment), {"x": assignment}, lookahead)
    return one.record


@pytest.fixture(scope="module")
def judge() -> Judge:
    options = PolicyOptions(ties="index")
    return Judge(
        jsq=make_policy("jsq", 2, options),
        gamma=0.5,
        growth="growing",
        solver="highs",
        formulation=None,
        options=SolveOptions(),
        seed=0,
    )


def view_of(decision: Decision) -> View:
    return View(
        projected_load_tokens=decision.projected_load_tokens.astype(np.float64),
        active_requests=np.zeros(decision.workers, np.int64),
        free_slots=decision.free_slots,
        waiting_prompt_tokens=decision.waiting_prompt_tokens,
        waiting_requests=np.arange(decision.waiting),
        admissions=decision.admissions,
        iteration=1,
    )


def test_a_bad_assignment_of_e1_loses_what_the_definition_says(judge, e1):
    # E1: loads 10 and 4, sizes 2, 4, 4. Sending a 4 to worker 0 gives loads [14, 10]: value 4,
    # optimum 0, so the gap is 4 tokens, and 4 / (2 * 14) of the load.
    record = judged_alone(judge, e1, ((0, 1), (1, 0), (2, 1)))
    assert (record.value_tokens, record.best_tokens, record.bound_tokens) == (4, 0, 0)
    assert (record.found_tokens, record.unproven_tokens) == (4, 0)
    assert (record.gap_tokens, record.gap_of_load) == (4, 4 / 28)
    assert record.proven
    assert not record.optimal
    assert record.status == "optimal"


def test_the_optimum_of_e2_has_no_gap_although_its_value_is_not_zero(judge, e2):
    record = judged_alone(judge, e2, ((0, 2), (1, 1), (2, 2)))
    assert (record.value_tokens, record.gap_tokens) == (1, 0)
    assert record.optimal


def test_a_limit_without_proof_is_reported_against_the_bound_not_the_incumbent(e2):
    # With no time at all the policy's own assignment is the incumbent: against it the gap would
    # read 0. Loads [12, 10, 7], value 7; the bound that holds without solving is at least 0.
    judge = Judge(
        jsq=make_policy("jsq", 3, PolicyOptions(ties="index")),
        gamma=1.0,
        growth="growing",
        solver="highs",
        formulation=None,
        options=SolveOptions(time_limit_s=0.0),
        seed=0,
    )
    record = judged_alone(judge, e2, ((0, 2), (1, 0), (2, 1)))
    assert record.value_tokens == 7
    if not record.proven:
        assert record.gap_tokens == 7 - record.bound_tokens > 0
        assert record.found_tokens + record.unproven_tokens == record.gap_tokens
        assert not record.optimal


def test_a_lookahead_decision_is_judged_by_its_window_and_by_offset_zero(judge):
    # Two workers, loads [6, 0] and [5, 5] over offsets 0 and 1, one free slot each, sizes 1 and 2.
    # H=0: 1 to worker 0 and 2 to worker 1 gives [7, 7]: value 0.
    # gamma = 1/2, growing: offset 1 has [0 + 2, 5 + 3] = [2, 8], so 6 / 2 = 3 is added.
    # The other way round: [8, 6] -> 2, and [0 + 3, 5 + 2] = [3, 7] -> 4 / 2: 4 in total.
    view = view_of(
        Decision(
            projected_load_tokens=[[6, 0], [5, 5]], free_slots=[1, 1], waiting_prompt_tokens=[1, 2]
        )
    )
    assert judged_alone(judge, view, ((0, 1), (1, 0))).value_tokens == 2
    ahead = judged_alone(judge, view, ((0, 1), (1, 0)), 1)
    assert (ahead.value_tokens, ahead.best_tokens) == (4, 3)
    assert ahead.proven


def test_weighted_peak_is_g_times_the_discounted_heaviest_load():
    decision = Decision(
        projected_load_tokens=[[6, 0], [5, 5]],
        free_slots=[1, 1],
        waiting_prompt_tokens=[1, 2],
        gamma="1/2",
    )
    # as above: heaviest loads 7 and 8, so 2 * (7 + 8 / 2)
    assert weighted_peak(decision, ((0, 0), (1, 1))) == 22


def test_one_solve_judges_all_answers_to_a_state(judge, e1):
    """E1 again: the optimum (loads [12, 12]), and an answer that leaves 4."""
    answers = {"good": ((0, 0), (1, 1), (2, 1)), "bad": ((0, 1), (1, 0), (2, 1))}
    good, bad = judge.measure(SampledDecision(view_of(e1), ()), answers, 0)
    assert good.result is bad.result
    assert (good.record.gap_tokens, bad.record.gap_tokens) == (0, 4)
    assert good.choice()["assignment"] == [[0, 0], [1, 1], [2, 1]]


def test_an_answer_that_is_no_assignment_is_refused(judge, e1):
    """Catches a policy of the user's that is credited with requests it never admitted."""
    with pytest.raises(InputError):
        judge.measure(SampledDecision(view_of(e1), ()), {"lazy": ((0, 0),)}, 0)


@pytest.mark.parametrize(
    ("free", "waiting", "loads", "choice"),
    [
        ([1, 0], [5], [9, 3], False),  # one worker, one request
        ([2, 0], [5, 6], [9, 3], False),  # one worker takes all that wait
        ([1, 0], [5, 6], [9, 3], True),  # which of two
        ([1, 0], [5, 5], [9, 3], False),  # which of two that are alike
        ([1, 1], [5], [9, 3], True),  # where to
        ([1, 1], [5], [9, 9], False),  # where to, of two that are alike
        ([1, 1], [5, 5], [9, 3], False),  # requests of one size fill all slots
        ([1, 1], [5, 6], [9, 9], False),  # two workers that are alike: the same by another name
        ([2, 2], [5, 5], [9, 9], True),  # together or apart
    ],
)
def test_a_choice_is_where_assignments_differ(free, waiting, loads, choice):
    """Catches decisions without alternatives that fill the sample: all policies are optimal."""
    decision = Decision([[load] for load in loads], free, waiting)
    values = {recheck(decision, pairs) for pairs in assignments(decision)}
    assert (len(values) > 1) == choice
    assert has_choice(view_of(decision)) >= choice
    if not choice and (free, waiting) != ([1, 1], [5, 6]):  # sizes that differ are taken for one
        assert not has_choice(view_of(decision))


def record(value: float, jsq: float, best: float, bound: float) -> GapRecord:
    fields = dict.fromkeys((f.name for f in dataclasses.fields(GapRecord)), 0)
    fields |= {
        "value_tokens": value,
        "jsq_value_tokens": jsq,
        "best_tokens": best,
        "bound_tokens": bound,
        "found_tokens": value - best,
        "unproven_tokens": best - bound,
        "gap_tokens": value - bound,
        "proven": best == bound,
    }
    return GapRecord(**fields)


def test_share_captured_lies_between_the_bound_and_the_best_found():
    # JSQ leaves 10 + 10, the policy 5 + 8, best 0 + 6, bounds 0 + 2: 7 of 18 to 7 of 14
    records = [record(5, 10, 0, 0), record(8, 10, 6, 2)]
    assert share_captured(records).estimate == 7 / 18
    assert share_captured(records, by_best=True).estimate == 7 / 14


def test_share_captured_has_no_value_where_jsq_is_optimal():
    assert np.isnan(share_captured([record(3, 3, 3, 3)]).estimate)


def test_a_share_that_is_the_same_in_every_block_has_an_interval_of_no_width():
    """Half of every excess: whatever blocks are drawn, the share is 1/2."""
    share = share_captured([record(5 * k, 10 * k, 0, 0) for k in range(1, 41)])
    assert (share.estimate, share.low, share.high) == pytest.approx((0.5, 0.5, 0.5))


def test_differences_are_of_pairs():
    """Values that vary wildly from state to state but differ by 3 each: told apart, exactly."""
    values = np.random.default_rng(0).integers(0, 10_000, 60)
    mine = [record(v + 3, 0, 0, 0) for v in values]
    others = [record(v, 0, 0, 0) for v in values]
    assert difference(mine, others) == pytest.approx((3, 3, 3))
    assert not difference(mine, mine).excludes_zero
