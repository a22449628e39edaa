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
from olprouting.instances import Cluster, Decision, Trace
from olprouting.policies import PolicyOptions

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def report() -> GapReport:
    rng = np.random.default_rng(2)
    trace = Trace(rng.integers(20, 300, 40), rng.integers(2, 12, 40))
    options = PolicyOptions(horizon=4, gamma=0.86, ties="index")
    return measure_gaps(
        trace,
        Cluster.homogeneous(2, 3),
        ("jsq", "brh"),
        options=options,
        decisions=5,
        judged_by="horizon",
        backlog=4,
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
    assert findings.holds
    for record, line, finding in zip(
        report.records, file.read_text().splitlines()[:-1], findings.holding, strict=True
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
    assert seen == [("prove", 1, 2), ("prove", 2, 2), ("check", 1, 2), ("check", 2, 2)]


def test_ctrl_c_keeps_whole_lines(report, tmp_path) -> None:
    def interrupt(what: str, done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    solved = [(one.decision, one.result, one.choice()) for one in report.judged]
    with pytest.raises(KeyboardInterrupt):
        write_certificates(solved, tmp_path / "some.jsonl", interrupt)
    findings = verify_lines((tmp_path / "some.jsonl").read_text())
    assert (len(findings.holding), findings.holds) == (3, True)


def test_the_lines_that_do_not_hold_are_named(file) -> None:
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert "missing" not in verify_lines("\n".join(map(json.dumps, lines))).summary()
    lines[1]["choice"]["gap_tokens"] += 1
    lines[4]["result"]["objective"] += 1
    lines[6]["instance"] = lines[8]["instance"]
    findings = verify_lines("\n".join(map(json.dumps, lines)))
    assert [line for line, _ in findings.failures] == [2, 5, 7]
    reasons = [reason.split(":")[0] for _, reason in findings.failures]
    assert reasons == ["choice.gap_tokens", "objective", "instance"]
    assert (findings.holds, findings.missing) == (False, ())
    assert findings.to_document()["verdicts"] == {"optimal": 7}
    assert findings.summary().splitlines()[-1] == "     3  do not hold"


LISTING = "its last line, which lists the others: some of them may be missing too"


@pytest.mark.parametrize("lost", [[0], [4], [9], [2, 3], [0, 5, 9], list(range(10))])
def test_lines_that_are_missing_are_named(report, file, lost) -> None:
    """Regression: whole lines could be removed, and what was left held."""
    lines = file.read_text().splitlines()
    findings = verify_lines("\n".join(line for k, line in enumerate(lines) if k not in lost))
    records = report.records
    assert findings.missing == tuple(
        f"line {k + 1} as written ({records[k].policy}, iteration {records[k].iteration})"
        for k in lost
    )
    assert (findings.holds, findings.failures) == (False, ())
    assert len(findings.holding) == 10 - len(lost)
    assert findings.to_document()["missing"] == list(findings.missing)
    assert findings.summary().splitlines()[-1] == f"{len(lost):>6}  missing"


def test_without_the_listing_nobody_knows_what_is_missing(file) -> None:
    """A file that ends after any certificate, because its writer was killed or its end cut off."""
    lines = file.read_text().splitlines()
    for kept in (10, 6):
        findings = verify_lines("\n".join(lines[:kept]))
        assert (len(findings.holding), findings.missing) == (kept, (LISTING,))
        assert not findings.holds


def test_lines_in_another_order_or_twice_are_noticed(file) -> None:
    lines = file.read_text().splitlines()
    swapped = [*lines[:3], lines[4], lines[3], *lines[5:]]
    assert verify_lines("\n".join(swapped)).failures == ((5, "it was written as line 4"),)
    twice = [*lines[:3], lines[2], *lines[3:]]
    assert verify_lines("\n".join(twice)).failures == ((4, "it was written as line 3"),)
    with pytest.raises(InputError, match=r"^c\.jsonl, line 1: expected a JSON object with schema"):
        verify_lines("\n".join([lines[-1], *lines[:-1]]), "c.jsonl")


def test_a_line_that_holds_but_was_written_otherwise_is_no_missing_one(file) -> None:
    """Changed, or put in place of another, or put in between."""
    lines = file.read_text().splitlines()
    document = json.loads(lines[4])
    document["result"]["wall_s"] += 1
    other = json.dumps(document)
    for changed, missing in (
        ([*lines[:4], other, *lines[5:]], 0),
        ([*lines[:5], other, *lines[5:]], 0),
        ([*lines[:4], other, *lines[6:]], 1),
    ):
        findings = verify_lines("\n".join(changed))
        assert [reason for _, reason in findings.failures] == ["it is not as it was written"]
        assert len(findings.missing) == missing


def test_a_file_that_is_cut_off_is_bad_input(file) -> None:
    """One line with the file's and the line's name; half a certificate is no verdict."""
    lines = file.read_text().splitlines(keepends=True)
    for whole in (10, 9, 4):  # the listing, or a certificate, is cut in two
        text = "".join(lines[:whole]) + lines[whole][: len(lines[whole]) // 2]
        pattern = rf"^c\.jsonl, line {whole + 1}: line 1, column \d+: not JSON"
        with pytest.raises(InputError, match=pattern):
            verify_lines(text, "c.jsonl")
    for broken in ('"lines": 3', '"lines": [{}]', '"rows": []'):
        with pytest.raises(InputError, match=r"^c\.jsonl, last line: "):
            verify_lines(f'{{"schema": "olprouting/certificates/1", {broken}}}', "c.jsonl")
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
        "gap_tokens": float(value - result.value),
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
        if f"choice.{path[0]}" in finding.about_the_run:
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
        with pytest.raises(InputError, match=r"^certificate: choice.*: expected .*, found "):
            verify(json.dumps(document | {"choice": choice}))


def test_a_gap_of_whole_tokens_is_exact() -> None:
    """Regression: 200 tokens of 1e15 were as good as none, by a relative 1e-12."""
    decision = Decision([[10**15], [0], [10**15]], [0, 1, 0], [301, 501])
    document = chosen(decision, [(0, 1)])
    assert document["choice"]["gap_tokens"] == 200
    assert verify(json.dumps(document)).verdict is Verdict.OPTIMAL
    document["choice"]["gap_tokens"] = 0.0
    with pytest.raises(DoesNotHoldError, match=r"choice\.gap_tokens: value and bound leave 200"):
        verify(json.dumps(document))
