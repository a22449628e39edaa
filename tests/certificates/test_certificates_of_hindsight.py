"""A hindsight document is checked by code of its own: schedule, prices, every period."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from certificate_cases import changes, refingerprinted
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.certificates import DoesNotHoldError, Verdict, hindsight_value, verify
from olprouting.certificates.hindsight_value import ExactHindsight
from olprouting.certificates.reading import read_exact
from olprouting.errors import InputError
from olprouting.hindsight import HindsightProblem, HindsightResult, solve_hindsight
from olprouting.instances import WEIGHT_SETS, SloWeights


def random_problem(seed: int, requests: int = 5, periods: int = 12) -> HindsightProblem:
    rng = np.random.default_rng(seed)
    batching = ["decode", "mixed"][seed % 2]
    return HindsightProblem(
        prompt_tokens=rng.integers(1, 30, requests),
        decode_tokens=rng.integers(1, 9, requests),
        arrival_period=np.sort(rng.integers(1, periods + 2, requests)),
        slots=[2, 1, 2],
        kv_tokens=[40, 30, 40],
        weights=WEIGHT_SETS[list(WEIGHT_SETS)[seed % len(WEIGHT_SETS)]],
        periods=periods,
        t1=6,
        t2=2.5,
        batching=batching,
        age_offset=seed % 3,
        inclusive=bool(seed % 5 == 0),
    )


def solved(problem: HindsightProblem, time_limit_s: float = 0.3) -> HindsightResult:
    return solve_hindsight(problem, name="trace", time_limit_s=time_limit_s, gap=0.0)


def exactly(problem: HindsightProblem) -> ExactHindsight:
    text = json.dumps({"problem": problem.to_document()})
    return ExactHindsight.from_document(read_exact(text, "hindsight")["problem"])


def best_reward(problem: HindsightProblem) -> Fraction:
    """Try every schedule of two requests."""
    data = exactly(problem)
    starts = [[(-1, -1), *product(range(3), range(t, problem.periods + 1))] for t in data.arrival]
    best = Fraction(0)
    for choice in product(*starts):
        worker, start = ([g for g, _ in choice], [k for _, k in choice])
        try:
            data.check_schedule(worker, start)
        except DoesNotHoldError:
            continue
        best = max(best, data.value(start))
    return best


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**20), st.integers(0, 2**20))
def test_no_schedule_beats_the_bound_at_any_prices(seed, other) -> None:
    """Catches a cost, a class count or a fitting start that is wrong: weak duality would fail."""
    problem = random_problem(seed, requests=2, periods=5)
    rng = np.random.default_rng(other)
    batch, memory = rng.integers(0, 3, (2, 2, problem.periods)) * 2 ** rng.integers(0, 6)
    bound = exactly(problem).bound(6, batch.tolist(), (memory // 8).tolist())
    assert best_reward(problem) <= bound


@pytest.mark.parametrize("seed", range(6))
def test_a_search_is_proven_again(seed) -> None:
    """Bound and value are the ones that the other code proves, to the last bit."""
    result = solved(random_problem(seed))
    finding = verify(json.dumps(result.to_document()))
    assert finding.verdict in (Verdict.BOUNDED, Verdict.OPTIMAL)
    assert float(Fraction(finding.bound)) == pytest.approx(result.bound, rel=1e-15)
    assert float(Fraction(finding.value)) == pytest.approx(result.value, rel=1e-15)


def test_numbers_beyond_64_bits_stay_exact() -> None:
    """The same prices in a finer unit prove the same bound, with Python's integers."""
    problem = exactly(random_problem(2))
    whole = replace(problem, weights=((Fraction(1),) * 6,) * len(problem.arrival))
    batch, memory = [[1] * 12, [2] * 12], [[0] * 12, [1] * 12]
    fine = [[[price << 60 for price in row] for row in table] for table in (batch, memory)]
    assert whole.bound(0, batch, memory) == whole.bound(60, *fine)


@pytest.mark.parametrize("forged", [False, True])
def test_a_changed_document_fails_or_is_still_true(forged) -> None:
    """What is accepted is named as unchecked, or true: with a forged fingerprint, another problem
    with the same figures."""
    document = solved(random_problem(4)).to_document()
    unchecked = verify(json.dumps(document)).about_the_run
    for path, changed in changes(document):
        attempt = refingerprinted(changed) if forged and path[0] == "problem" else changed
        try:
            verify(json.dumps(attempt))
        except (DoesNotHoldError, InputError):
            assert path[0] not in unchecked
            continue
        if path[0] not in unchecked:
            # the library's own reader, which shares nothing with the check, agrees
            problem = ("problem",) if forged else ()
            assert path[0] in (*problem, "prices", "worker", "start_period"), path
            again = HindsightResult.from_text(json.dumps(attempt))
            assert (again.bound, again.value) == (document["bound"], document["value"])


def test_the_reason_names_what_is_wrong() -> None:
    problem = HindsightProblem(
        prompt_tokens=[5, 5], decode_tokens=[3, 3], arrival_period=[1, 2], slots=[1],
        kv_tokens=[20], weights=SloWeights(1, 0, 0, 1, 0, 0), periods=9, t1=5, t2=5,
        batching="decode", age_offset=1,
    )  # fmt: skip
    document = solved(problem).to_document()
    for change, reason in (
        ({"start_period": [1, 1], "worker": [0, 0]}, "request 1 starts at 1, must be in 2..9"),
        ({"start_period": [1, 2], "worker": [0, 0]}, "worker 0 uses 2 of 1 slots in period 2"),
        ({"worker": [0, 4]}, "request 1 starts on 4, which does not exist"),
        ({"worker": [0]}, "worker and start_period must be 2 numbers"),
        ({"value": 9.0}, "value: the file proves 8.0, not 9.0"),
        ({"bound": 1.0}, r"bound: the file proves .*, not 1.0"),
        ({"gap": 0.5}, "gap: value and bound leave"),
    ):
        with pytest.raises(DoesNotHoldError, match=reason):
            verify(json.dumps({**document, **change}))
    with pytest.raises(InputError, match=r"^certificate: prices: expected an object, found 3$"):
        verify(json.dumps({**document, "prices": 3}))


def test_a_result_for_another_problem_is_refused() -> None:
    """By its fingerprint, whatever else is right; t1 as 6.0 and other spaces are the same one."""
    problem = random_problem(4)
    document = solved(problem).to_document()
    spaced = json.dumps(problem.to_document() | {"t1": 6.0}, indent=3)
    assert verify(json.dumps(document), instance=spaced).verdict in Verdict
    assert verify(json.dumps(document), instance=json.dumps(document)).verdict in Verdict
    other = solved(replace(problem, kv_tokens=[99, 99, 99])).to_document()
    for instance in (other, other["problem"]):
        with pytest.raises(DoesNotHoldError, match="the result is for another one"):
            verify(json.dumps(document), instance=json.dumps(instance))
    swapped = document | {"problem": other["problem"]}
    for text in (swapped, document | {"problem_sha256": "0" * 64}):
        with pytest.raises(DoesNotHoldError, match="its SHA-256 is not problem_sha256"):
            verify(json.dumps(text))
    del document["problem_sha256"]
    with pytest.raises(InputError, match=r"found no problem_sha256$"):
        verify(json.dumps(document))
    with pytest.raises(InputError, match="instance: line 1"):
        verify(json.dumps(other), instance="no json")


def test_a_schedule_too_large_to_add_up_is_refused_in_one_line(monkeypatch) -> None:
    """Regression: 100,000 workers and a million periods ended in a traceback, out of memory."""
    document = solved(random_problem(4)).to_document()
    monkeypatch.setattr(hindsight_value, "MOST_CELLS", 38)
    with pytest.raises(DoesNotHoldError, match=r"3 workers in 12 periods .* 39 loads, at most 38"):
        verify(json.dumps(document))
