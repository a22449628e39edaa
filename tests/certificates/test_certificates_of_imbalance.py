"""The least imbalance in hindsight is checked by code of its own: run, total and bound."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from certificate_cases import changes, refingerprinted
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.certificates import DoesNotHoldError, Verdict, imbalance_search, verify
from olprouting.certificates.imbalance_search import least_below
from olprouting.certificates.imbalance_value import ExactRuns
from olprouting.certificates.verification import TooLongError
from olprouting.errors import InputError
from olprouting.hindsight import ImbalanceResult, hindsight_imbalance, imbalance_bound
from olprouting.hindsight.imbalance.report import ImbalanceReport
from olprouting.hindsight.imbalance.run import FORCED, run_fault, total_imbalance
from olprouting.hindsight.schedule import Schedule
from olprouting.instances import Cluster, StopReason, Trace

TRACE = Trace([5, 3, 4], [2, 1, 1], release_iteration=[1, 1, 2])
CLUSTER = Cluster([1, 1])


def random_run(seed: int, requests: int = 3) -> tuple[Trace, Cluster]:
    """A tiny trace with idle iterations, and two workers whose slots may differ."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, requests + 1))
    release = np.sort(rng.integers(1, 5, count))
    trace = Trace(rng.integers(1, 9, count), rng.integers(1, 4, count), release_iteration=release)
    return trace, Cluster(rng.integers(1, 3, 2))


def exactly(trace: Trace, cluster: Cluster) -> ExactRuns:
    columns = (trace.prompt_tokens, trace.decode_tokens, trace.release_iteration, cluster.slots)
    return ExactRuns(*(tuple(column.tolist()) for column in columns))


def all_runs(trace: Trace, cluster: Cluster) -> list[tuple[list[int], list[int]]]:
    """Every worker and admission of every request, possible or not."""
    assert trace.release_iteration is not None
    last = int(trace.release_iteration[-1] + trace.decode_tokens.sum())
    each = [
        [(g, k) for g in range(cluster.workers) for k in range(t - 1, last)]
        for t in trace.release_iteration.tolist()
    ]
    return [([g for g, _ in run], [k for _, k in run]) for run in product(*each)]


def saved(trace: Trace, cluster: Cluster) -> dict[str, Any]:
    """Solve and return the document."""
    return json.loads(json.dumps(hindsight_imbalance(trace, cluster).to_document()))


def found(trace: Trace, cluster: Cluster, total: int, run: Schedule) -> dict[str, Any]:
    """The document of an optimum that was found otherwise."""
    stop = StopReason.OPTIMAL
    result = ImbalanceResult(trace, cluster, total, "brute force", total, run, stop, 1.0, 0.0)
    return json.loads(json.dumps(result.to_document()))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**20))
def test_a_tiny_optimum_is_that_of_brute_force_and_is_proven_again(seed) -> None:
    """Both readings of feasibility and total agree on every run, and no search or bound is off:
    a target above the optimum is refuted by the optimum itself, one up to it never."""
    trace, cluster = random_run(seed)
    runs, best = exactly(trace, cluster), None
    for worker, start in all_runs(trace, cluster):
        run = Schedule(np.array(worker), np.array(start))
        if run_fault(trace, cluster, run) is not None:
            with pytest.raises(DoesNotHoldError):
                runs.total(worker, start)
            continue
        total = total_imbalance(trace, cluster, run)
        assert runs.total(worker, start) == total
        if best is None or total < best[0]:
            best = total, run
    assert best is not None
    assert runs.forced() == imbalance_bound(trace, cluster) <= best[0]
    assert least_below(runs, best[0]) is None
    assert least_below(runs, best[0] + 1) == least_below(runs, 10**9) == best[0]
    finding = verify(json.dumps(found(trace, cluster, *best)))
    assert (finding.verdict, finding.value) == (Verdict.OPTIMAL, str(best[0]))


@pytest.mark.parametrize("seed", [0, 3, 5])
def test_what_the_search_proves_is_proven_without_it(seed) -> None:
    """Four requests wait for few slots, so that the forced iterations alone prove nothing."""
    trace, cluster = random_run(seed, requests=4)
    document = saved(trace, cluster)
    finding = verify(json.dumps(document))
    assert (finding.verdict, finding.gap) == (Verdict.OPTIMAL, "0")
    assert finding.value == str(document["total_tokens"])


def test_a_bound_that_cannot_be_redone_rests_on_the_solver(monkeypatch) -> None:
    """Too many runs: the verdict says whose word the bound is, and the proven one is the weaker."""
    monkeypatch.setattr(imbalance_search, "MOST_STEPS", 1)
    document = saved(TRACE, CLUSTER)
    # 5 beside 3, then 6 beside 4, all admitted at once: 2 + 2, without any search
    assert document["total_tokens"] == 4
    assert verify(json.dumps(document)).verdict is Verdict.OPTIMAL
    crowd = Trace([5, 3, 4], [2, 1, 1], release_iteration=[1, 1, 1])
    finding = verify(json.dumps(saved(crowd, CLUSTER)))
    assert finding.verdict is Verdict.VALUE_ONLY
    assert (finding.bound, "the solver claims" in finding.proof) == ("0", True)
    with pytest.raises(TooLongError):
        least_below(exactly(crowd, CLUSTER), 9)


def test_endless_requests_end_the_search() -> None:
    """Regression: every iteration of a million looked ahead over all the others."""
    runs = ExactRuns((5, 3, 4), (10**6, 10**6, 1), (1, 1, 1), (1, 1))
    with pytest.raises(TooLongError):
        least_below(runs, 10**20)


def test_a_bound_without_a_run_is_checked() -> None:
    """A limit before the first run: no value, and a bound that holds, or one that does not."""
    document = saved(TRACE, CLUSTER) | {
        "worker": None, "admission_iteration": None, "total_tokens": None, "gap": None,
        "stop_reason": "time_limit", "bound_tokens": 3,
    }  # fmt: skip
    finding = verify(json.dumps(document))
    assert (finding.verdict, finding.value) == (Verdict.BOUNDED, None)
    with pytest.raises(DoesNotHoldError, match="a run has 4 in all, below 5"):
        verify(json.dumps(document | {"bound_tokens": 5}))


@pytest.mark.parametrize("forged", [False, True])
def test_a_changed_document_fails_or_is_still_true(forged) -> None:
    """Changed problems are refused; with a forged fingerprint, all that is accepted is true."""
    document = saved(Trace([5, 3, 6], [2, 1, 1], release_iteration=[1, 1, 1]), CLUSTER)
    unchecked = verify(json.dumps(document)).about_the_run
    for path, changed in changes(document):
        attempt = refingerprinted(changed) if forged and path[0] == "problem" else changed
        try:
            finding = verify(json.dumps(attempt))
        except (DoesNotHoldError, InputError):
            assert path[0] not in unchecked
            continue
        if path[0] in unchecked:
            continue
        assert path[0] in (("problem",) if forged else ()) + ("worker", "admission_iteration"), path
        # the library's own reader, which shares nothing with the check, agrees
        again = ImbalanceResult.from_text(json.dumps(attempt))
        assert str(again.total_tokens) == finding.value
        trace, cluster = again.trace, again.cluster
        assert hindsight_imbalance(trace, cluster).total_tokens == again.total_tokens


def test_the_reason_names_what_is_wrong() -> None:
    document = saved(TRACE, CLUSTER)
    problem = document["problem"]
    for change, reason in (
        ({"total_tokens": 9}, "total_tokens: the run has 4, not 9"),
        ({"bound_tokens": 3}, "gap: value and bound leave"),
        ({"bound_tokens": 3, "gap": 0.25}, "'optimal' means that bound and total are equal"),
        ({"bound_tokens": 5}, "bound_tokens: 5 is above the run's total, 4"),
        ({"worker": [0, 0, 1]}, "worker 0 holds 2 of 1 requests in iteration 1"),
        ({"worker": [0, 1, 2]}, "request 2 goes to 2, which does not exist"),
        ({"worker": [0, 1]}, "must be 3 numbers"),
        ({"worker": None}, "worker and admission_iteration: only one of them is there"),
        ({"admission_iteration": [1, 1, 1]}, "admitted in 1, before its release in 2"),
        ({"admission_iteration": [1, 1, 3]}, "waits beside a free slot in iteration 2"),
        ({"admission_iteration": [1, 1, 10**15]}, "waits beside a free slot in iteration 2"),
        ({"problem_sha256": "0" * 64}, "problem: its SHA-256 is not problem_sha256"),
        ({"problem": problem | {"slots": [2, 1]}}, "problem: its SHA-256 is not problem_sha256"),
    ):
        with pytest.raises(DoesNotHoldError, match=reason):
            verify(json.dumps(document | change))
    for change, reason in (
        ({"slots": []}, "columns differ in length, or it has no worker"),
        ({"release_iteration": [2, 1, 1]}, "release_iteration decreases"),
        ({"decode_tokens": [10**12, 1, 1]}, "decode tokens, at most"),
    ):
        with pytest.raises(DoesNotHoldError, match=reason):
            verify(json.dumps(refingerprinted(document | {"problem": problem | change})))
    del document["gap"]
    with pytest.raises(InputError, match=r"expected the fields .*, found no gap$"):
        verify(json.dumps(document))


def test_a_result_for_another_problem_is_refused() -> None:
    document = saved(TRACE, CLUSTER)
    other = saved(TRACE, Cluster([1, 2]))
    for instance in (document, document["problem"]):
        assert verify(json.dumps(document), instance=json.dumps(instance, indent=3)).value == "4"
    for instance in (other, other["problem"]):
        with pytest.raises(DoesNotHoldError, match="the result is for another one"):
            verify(json.dumps(document), instance=json.dumps(instance))


def test_a_saved_result_is_read_back_and_written(tmp_path) -> None:
    result = hindsight_imbalance(TRACE, CLUSTER)
    ImbalanceReport(found=result).write(tmp_path / "new")
    document = tmp_path / "new" / "hindsight_imbalance.json"
    admissions = tmp_path / "new" / "hindsight_imbalance_admissions.csv"
    again = ImbalanceResult.from_text(document.read_text(), str(document))
    assert again.to_document() == result.to_document()
    assert verify(document.read_text()).verdict is Verdict.OPTIMAL
    assert admissions.read_text().splitlines()[0].endswith("worker,admission_iteration")
    alone = hindsight_imbalance(TRACE.head(0), CLUSTER)
    assert ImbalanceResult.from_text(json.dumps(alone.to_document())).proven_by == FORCED
    assert verify(json.dumps(alone.to_document())).value == "0"


def test_totals_beyond_doubles_are_whole_numbers() -> None:
    """Regression: right results above 2^53 were refused."""
    trace = Trace([2**52], [5], release_iteration=[1])
    document = saved(trace, CLUSTER)
    assert document["total_tokens"] > 2**53
    assert verify(json.dumps(document)).verdict is Verdict.OPTIMAL


def test_a_run_too_long_to_add_up_is_refused() -> None:
    """Regression: ten million iterations took more than a minute and gigabytes."""
    document = saved(TRACE, CLUSTER)
    document["problem"]["decode_tokens"][0] = 500_000
    with pytest.raises(DoesNotHoldError, match="500002 decode tokens, at most 500000"):
        verify(json.dumps(refingerprinted(document)))
