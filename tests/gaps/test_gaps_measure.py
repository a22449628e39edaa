"""Gaps of single decisions, argued by hand, and their sums."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from olprouting.exact import SolveOptions
from olprouting.gaps import GapRecord, Judge, SampledDecision
from olprouting.gaps.measure import weighted_peak
from olprouting.gaps.report import share_captured
from olprouting.instances import Decision
from olprouting.policies import PolicyOptions, View, make_policy


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
    # optimum 0, so the gap is 4 tokens, all of the value, and 4 / (2 * 14) of the load.
    record = judge.measure("x", SampledDecision(view_of(e1), ((0, 1), (1, 0), (2, 1))), 0).record
    assert (record.value_tokens, record.best_tokens, record.bound_tokens) == (4, 0, 0)
    assert (record.gap_tokens, record.gap, record.gap_of_load) == (4, 1, 4 / 28)
    assert record.proven
    assert not record.optimal
    assert record.status == "optimal"


def test_the_optimum_of_e2_has_no_gap_although_its_value_is_not_zero(judge, e2):
    record = judge.measure("x", SampledDecision(view_of(e2), ((0, 2), (1, 1), (2, 2))), 0).record
    assert (record.value_tokens, record.gap_tokens, record.gap) == (1, 0, 0)
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
    record = judge.measure("x", SampledDecision(view_of(e2), ((0, 2), (1, 0), (2, 1))), 0).record
    assert record.value_tokens == 7
    if not record.proven:
        assert record.gap_tokens == 7 - record.bound_tokens > 0
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
    chosen = SampledDecision(view, ((0, 1), (1, 0)))
    assert judge.measure("x", chosen, 0).record.value_tokens == 2
    ahead = judge.measure("x", chosen, 1).record
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


def record(value: float, jsq: float, best: float, bound: float) -> GapRecord:
    proven = best == bound
    reference = best if proven else bound
    fields = dict.fromkeys((f.name for f in dataclasses.fields(GapRecord)), 0)
    fields |= {
        "value_tokens": value,
        "jsq_value_tokens": jsq,
        "best_tokens": best,
        "bound_tokens": bound,
        "gap_tokens": value - reference,
        "proven": proven,
    }
    return GapRecord(**fields)


def test_share_captured_counts_the_bound_where_the_optimum_is_not_proven():
    # JSQ leaves 10 + 10, the policy 5 + 8, optimum 0, bound 2: (20 - 13) / (20 - 2)
    assert share_captured([record(5, 10, 0, 0), record(8, 10, 6, 2)]) == 7 / 18


def test_share_captured_has_no_value_where_jsq_is_optimal():
    assert share_captured([record(3, 3, 3, 3)]) is None
