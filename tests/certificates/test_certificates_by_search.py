"""The bound by search: it must prove optima, and must refuse what is none."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from certificate_cases import decisions
from hypothesis import assume, given, settings

from olprouting import exact
from olprouting.certificates import DoesNotHoldError
from olprouting.certificates.decision_search import DecisionSearch
from olprouting.certificates.decision_value import ExactDecision
from olprouting.certificates.find_search import find_search
from olprouting.certificates.prove_decision import NO_PROOF, proofs
from olprouting.certificates.reading import read_exact
from olprouting.certificates.verify_decision import proof_of, proven_bound
from olprouting.instances import Decision
from olprouting.library import best_known


def exactly(decision: Decision) -> ExactDecision:
    return ExactDecision.from_document(read_exact(decision.to_json(), "decision"))


@settings(max_examples=120, deadline=None)
@given(decisions(most_waiting=6))
def test_a_search_proves_the_optimum_and_nothing_above_it(decision) -> None:
    """Brute force knows the optimum. Catches a half-line, a rounding or a dominance policy that
    rules out too much: then a target above the optimum would be proven."""
    data = exactly(decision)
    assume(data.fills and data.admissions)
    best = min(Fraction(exact.objective(decision, a)) for a in exact.assignments(decision))
    found = find_search(decision, data, best)
    assert found is not None
    order, bounds = found
    for target in (best, best + Fraction(1, 1000), best + 1, best + decision.workers, 2 * best + 9):
        search = DecisionSearch(data, target, order)
        for peaks in bounds:
            search.add(peaks)
        if target == best:
            search.run()
        else:
            with pytest.raises(DoesNotHoldError, match="an assignment is worth"):
                search.run()


def test_a_search_is_redone_from_its_file() -> None:
    """Two slots, pool 1, 5, 9 beside loads 0 and 3: optimum 1, by hand (9 + 0 against 5 + 3)."""
    decision = Decision([[0], [3]], [1, 1], [1, 5, 9])
    proof = {
        "kind": "search",
        "bound": "1",
        "order": [1, 0],
        "bounds": [[[0, 0, "1/2"], [1, 0, "1/2"]]],
    }
    data = exactly(decision)
    assert proven_bound(data, proof_of(read_exact(json.dumps(proof), "proof"))) == 1
    for change, reason in (
        ({"bound": "2"}, "an assignment is worth 1.0 tokens only"),
        ({"order": [0]}, "order must name each worker"),
        ({"bounds": [[[0, 0, "1/2"]]]}, "do not sum to 1"),
    ):
        with pytest.raises(DoesNotHoldError, match=reason):
            proven_bound(data, proof_of(read_exact(json.dumps({**proof, **change}), "proof")))


def test_a_search_needs_full_slots_and_whole_tokens() -> None:
    for decision in (
        Decision([[0], [3]], [2, 2], [1, 5, 9]),
        Decision([[0], [3]], [1, 1], [1, 0.5]),
    ):
        assert find_search(decision, exactly(decision), Fraction(1)) is None
        with pytest.raises(DoesNotHoldError, match="does not apply"):
            DecisionSearch(exactly(decision), Fraction(1), [0, 1])


def test_an_assignment_that_is_no_optimum_gets_the_strongest_bound_there_is() -> None:
    """Regression: the search that finds a better assignment ended in an error, without a proof."""
    entry = best_known("azure-g8-p32-c8-h80-y0.86")
    decision = entry.load()
    workers = np.repeat(np.arange(decision.workers), decision.free_slots).tolist()
    found = list(proofs(decision, tuple(enumerate(workers))))
    assert found[0] == NO_PROOF
    bounds = [Fraction(proof["bound"]) for proof in found]
    assert bounds == sorted(set(bounds))
    assert 682_000 < bounds[-1] < 682_470


def test_no_proof_is_begun_when_time_is_over() -> None:
    """Catches a certificate that takes a minute after a solve limited to seconds."""
    entry = best_known("ties-g8-w20-h20")
    pairs = tuple(map(tuple, entry.certificate("imbalance")["result"]["assignment"]))
    kinds = [proof["kind"] for proof in proofs(entry.load(), pairs)]
    assert kinds == ["zero", "search"]
    assert list(proofs(entry.load(), pairs, 0)) == [NO_PROOF]


def test_a_worker_of_very_many_slots_is_no_case_for_a_search() -> None:
    """Even sizes beside an odd load: the optimum is 1, the relaxation's 0, and only a search could
    tell. Regression: it went as deep as a worker has slots, beyond what Python allows."""
    decision = Decision([[0], [4001]], [1500, 1], [2] * 1000 + [4] * 600)
    assert find_search(decision, exactly(decision), Fraction(1)) is None
