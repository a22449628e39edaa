"""A gap report is saved decision by decision, with proofs, and checked line by line."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from certificate_cases import changes, decisions
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting import exact
from olprouting.certificates import (
    DoesNotHoldError,
    Verdict,
    certificate,
    verify,
    verify_lines,
    write_certificates,
)
from olprouting.errors import InputError
from olprouting.gaps import GapReport, measure_gaps
from olprouting.instances import Cluster, Trace
from olprouting.policies import PolicyOptions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def report() -> GapReport:
    rng = np.random.default_rng(2)
    trace = Trace(rng.integers(20, 300, 40), rng.integers(2, 12, 40))
    options = PolicyOptions(horizon=4, gamma=0.86)
    return measure_gaps(
        trace, Cluster.homogeneous(2, 3), ("jsq", "brh"), options=options, decisions=5, backlog=4
    )


@pytest.fixture(scope="module")
def file(report, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("gaps") / "certificates.jsonl"
    write_certificates([(one.decision, one.result, one.choice()) for one in report.judged], path)
    return path


def test_every_record_is_proven_again(report, file) -> None:
    """Optimum, the policy's value and the gap of the table follow from what is saved."""
    findings = verify_lines(file.read_text())
    assert findings.verdicts == {Verdict.OPTIMAL: 10}
    assert not findings.failures
    for record, line, finding in zip(
        report.records, file.read_text().splitlines(), findings.holding, strict=True
    ):
        choice = json.loads(line)["choice"]
        assert (choice["policy"], choice["iteration"]) == (record.policy, record.iteration)
        gap = Fraction(choice["value_tokens"]) - Fraction(finding.value)
        assert float(gap) == pytest.approx(record.gap_tokens, abs=1e-9)
        assert finding.kind == f"decision, and the gap of {record.policy}"


def test_progress_is_told(report, tmp_path) -> None:
    seen: list[tuple[str, int, int]] = []
    two = [(one.decision, one.result, one.choice()) for one in report.judged[:2]]
    write_certificates(two, tmp_path / "two.jsonl", lambda *what: seen.append(what))
    verify_lines((tmp_path / "two.jsonl").read_text(), on_progress=lambda *what: seen.append(what))
    assert seen == [("proving", 1, 2), ("proving", 2, 2), ("checking", 1, 2), ("checking", 2, 2)]


def test_ctrl_c_keeps_whole_lines(report, tmp_path) -> None:
    def interrupt(what: str, done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    solved = [(one.decision, one.result, one.choice()) for one in report.judged]
    with pytest.raises(KeyboardInterrupt):
        write_certificates(solved, tmp_path / "some.jsonl", interrupt)
    findings = verify_lines((tmp_path / "some.jsonl").read_text())
    assert (len(findings.holding), findings.failures) == (3, ())


def test_the_lines_that_do_not_hold_are_named(file) -> None:
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[1]["choice"]["gap_tokens"] += 1
    lines[4]["result"]["objective"] += 1
    lines[6]["instance"] = lines[7]["instance"]
    findings = verify_lines("\n".join(map(json.dumps, lines)))
    assert [line for line, _ in findings.failures] == [2, 5, 7]
    reasons = [reason.split(":")[0] for _, reason in findings.failures]
    assert reasons == ["choice.gap_tokens", "objective", "instance"]
    assert findings.to_document()["holds"] is False
    assert findings.to_document()["verdicts"] == {"optimal": 7}
    assert findings.summary().splitlines()[-1] == "     3  do not hold"


def test_a_file_that_is_cut_off_is_bad_input(file) -> None:
    """One line with the file's and the line's name; half a certificate is no verdict."""
    text = file.read_text()
    with pytest.raises(InputError, match=r"^c\.jsonl, line 10: line 1, column \d+: not JSON"):
        verify_lines(text[:-200], "c.jsonl")
    with pytest.raises(InputError, match=r"^c\.jsonl: expected one certificate per line"):
        verify_lines("", "c.jsonl")


def chosen(decision: Any, pairs: Any) -> dict[str, Any]:
    """A certificate with a choice, as `measure_gaps` would save it."""
    result = exact.solve(decision, solver="brute-force")
    value = exact.objective(decision, pairs)
    choice = {
        "policy": "x",
        "iteration": 1,
        "assignment": [list(pair) for pair in pairs],
        "value_tokens": float(value),
        "gap_tokens": float(value - result.objective),
    }
    return certificate(decision, result) | {"choice": choice}


@settings(max_examples=60, deadline=None)
@given(decisions(most_waiting=4), st.integers(0, 2**20))
def test_any_choice_is_worth_what_brute_force_says(decision, pick) -> None:
    """Catches a value or a gap that the check sees differently from the other evaluator."""
    every = list(exact.assignments(decision))
    document = chosen(decision, every[pick % len(every)])
    finding = verify(json.dumps(document))
    assert finding.verdict is Verdict.OPTIMAL
    best = min(Fraction(exact.objective(decision, pairs)) for pairs in every)
    assert Fraction(finding.value) == best
    for field in ("value_tokens", "gap_tokens"):
        wrong = document["choice"] | {field: document["choice"][field] + 1}
        with pytest.raises(DoesNotHoldError, match="choice"):
            verify(json.dumps(document | {"choice": wrong}))


def test_a_changed_choice_fails_or_is_still_true(e2) -> None:
    """What is accepted is not checkable, or another assignment of the same value."""
    document = chosen(e2, [(0, 2), (1, 0), (2, 1)])
    assert document["choice"]["gap_tokens"] == 6
    for path, changed in changes(document["choice"]):
        text = json.dumps(document | {"choice": changed})
        try:
            finding = verify(text)
        except DoesNotHoldError:
            continue
        if f"choice.{path[0]}" in finding.not_checked:
            continue
        assert path[0] == "assignment", path
        assert exact.recheck(e2, [tuple(pair) for pair in changed["assignment"]]) == 7


def test_a_choice_that_is_none_is_refused(e2) -> None:
    document = chosen(e2, [(0, 2), (1, 0), (2, 1)])
    for choice, reason in (
        (document["choice"] | {"assignment": [[0, 2], [1, 0]]}, "2 requests are admitted, must"),
        (document["choice"] | {"assignment": [[0, 2], [1, 0], [1, 1]]}, "admitted 2 times"),
    ):
        with pytest.raises(DoesNotHoldError, match=reason):
            verify(json.dumps(document | {"choice": choice}))
    for choice in (3, {}, document["choice"] | {"value_tokens": "many"}):
        with pytest.raises(InputError, match="not a olprouting/certificate/1 document"):
            verify(json.dumps(document | {"choice": choice}))
