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
    write_certificates(report.solved(), path)
    return path


def test_every_record_is_proven_again(report, file) -> None:
    """Optimum, the policies' values and the gaps of the table follow from what is saved, and each
    decision is saved and proven once. Regression: it was saved once for each policy."""
    findings = verify_lines(file.read_text())
    assert findings.verdicts == {Verdict.OPTIMAL: 5}
    assert findings.holds
    records = iter(report.records)
    lines = file.read_text().splitlines()[:-1]
    for line, finding in zip(lines, findings.holding, strict=True):
        assert finding.kind == "decision, the gap of jsq, the gap of brh"
        for choice in json.loads(line)["choices"]:
            record = next(records)
            assert (choice["policy"], choice["iteration"]) == (record.policy, record.iteration)
            gap = Fraction(choice["value_tokens"]) - Fraction(finding.value)
            assert float(gap) == pytest.approx(record.gap_tokens, abs=1e-9)
    assert next(records, None) is None


def test_progress_is_told(report, tmp_path) -> None:
    seen: list[tuple[str, int, int]] = []
    write_certificates(report.solved()[:2], tmp_path / "two.jsonl", lambda *what: seen.append(what))
    verify_lines((tmp_path / "two.jsonl").read_text(), on_progress=lambda *what: seen.append(what))
    assert seen == [("prove", 1, 2), ("prove", 2, 2), ("check", 1, 2), ("check", 2, 2)]


def test_ctrl_c_keeps_whole_lines(report, tmp_path) -> None:
    def interrupt(what: str, done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_certificates(report.solved(), tmp_path / "some.jsonl", interrupt)
    findings = verify_lines((tmp_path / "some.jsonl").read_text())
    assert (len(findings.holding), findings.holds) == (3, True)


def test_the_lines_that_do_not_hold_are_named(file) -> None:
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert "missing" not in verify_lines("\n".join(map(json.dumps, lines))).summary()
    lines[0]["choices"][1]["gap_tokens"] += 1
    lines[1]["result"]["objective"] += 1
    lines[3]["instance"] = lines[4]["instance"]
    findings = verify_lines("\n".join(map(json.dumps, lines)))
    assert [line for line, _ in findings.failures] == [1, 2, 4]
    reasons = [reason.split(":")[0] for _, reason in findings.failures]
    assert reasons == ["choices[1].gap_tokens", "objective", "instance"]
    assert (findings.holds, findings.missing) == (False, ())
    assert findings.to_document()["verdicts"] == {"optimal": 2}
    assert findings.summary().splitlines()[-1] == "     3  do not hold"


LISTING = "its last line, which lists the others: some of them may be missing too"


@pytest.mark.parametrize("lost", [[0], [2], [4], [1, 2], [0, 2, 4], list(range(5))])
def test_lines_that_are_missing_are_named(report, file, lost) -> None:
    """Regression: whole lines could be removed, and what was left held."""
    lines = file.read_text().splitlines()
    findings = verify_lines("\n".join(line for k, line in enumerate(lines) if k not in lost))
    iterations = [record.iteration for record in report.records[::2]]
    assert findings.missing == tuple(
        f"line {k + 1} as written (jsq, brh, iteration {iterations[k]})" for k in lost
    )
    assert (findings.holds, findings.failures) == (False, ())
    assert len(findings.holding) == 5 - len(lost)
    assert findings.to_document()["missing"] == list(findings.missing)
    assert findings.summary().splitlines()[-1] == f"{len(lost):>6}  missing"


def test_without_the_listing_nobody_knows_what_is_missing(file) -> None:
    """A file that ends after any certificate, because its writer was killed or its end cut off."""
    lines = file.read_text().splitlines()
    for kept in (5, 3):
        findings = verify_lines("\n".join(lines[:kept]))
        assert (len(findings.holding), findings.missing) == (kept, (LISTING,))
        assert not findings.holds


def test_lines_in_another_order_or_twice_are_noticed(file) -> None:
    lines = file.read_text().splitlines()
    swapped = [*lines[:2], lines[3], lines[2], *lines[4:]]
    assert verify_lines("\n".join(swapped)).failures == ((4, "it was written as line 3"),)
    twice = [*lines[:3], lines[2], *lines[3:]]
    assert verify_lines("\n".join(twice)).failures == ((4, "it was written as line 3"),)
    with pytest.raises(InputError, match=r"^c\.jsonl, line 1: expected a JSON object with schema"):
        verify_lines("\n".join([lines[-1], *lines[:-1]]), "c.jsonl")


def test_a_line_that_holds_but_was_written_otherwise_is_no_missing_one(file) -> None:
    """Changed, or put in place of another, or put in between."""
    lines = file.read_text().splitlines()
    document = json.loads(lines[2])
    document["result"]["wall_s"] += 1
    other = json.dumps(document)
    for changed, missing in (
        ([*lines[:2], other, *lines[3:]], 0),
        ([*lines[:3], other, *lines[3:]], 0),
        ([*lines[:2], other, *lines[4:]], 1),
    ):
        findings = verify_lines("\n".join(changed))
        assert [reason for _, reason in findings.failures] == ["it is not as it was written"]
        assert len(findings.missing) == missing


def test_a_file_that_is_cut_off_is_bad_input(file) -> None:
    """One line with the file's and the line's name; half a certificate is no verdict."""
    lines = file.read_text().splitlines(keepends=True)
    for whole in (5, 4, 2):  # the listing, or a certificate, is cut in two
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
    return certificate(decision, result) | {"choices": [choice]}


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
        right = document["choices"][0]
        wrong = right | {field: right[field] + 1}
        with pytest.raises(DoesNotHoldError, match=r"^choices\[1\]"):
            verify(json.dumps(document | {"choices": [right, wrong]}))


def test_a_changed_choice_fails_or_is_still_true(e2) -> None:
    """What is accepted is not checkable, or another assignment of the same value."""
    document = chosen(e2, [(0, 2), (1, 0), (2, 1)])
    (choice,) = document["choices"]
    assert choice["gap_tokens"] == 6
    for path, changed in changes(choice):
        text = json.dumps(document | {"choices": [changed]})
        try:
            finding = verify(text)
        except DoesNotHoldError:
            continue
        if f"choices.{path[0]}" in finding.about_the_run:
            continue
        assert path[0] == "assignment", path
        assert exact.recheck(e2, [tuple(pair) for pair in changed["assignment"]]) == 7


def test_a_choice_that_is_none_is_refused(e2) -> None:
    document = chosen(e2, [(0, 2), (1, 0), (2, 1)])
    (good,) = document["choices"]
    for choice, reason in (
        (good | {"assignment": [[0, 2], [1, 0]]}, "2 requests are admitted, must"),
        (good | {"assignment": [[0, 2], [1, 0], [1, 1]]}, "admitted 2 times"),
    ):
        with pytest.raises(DoesNotHoldError, match=reason):
            verify(json.dumps(document | {"choices": [choice]}))
    for choices in (3, [3], [{}], [good | {"value_tokens": "many"}]):
        with pytest.raises(InputError, match=r"^certificate: choices.*: expected .*, found "):
            verify(json.dumps(document | {"choices": choices}))


def test_a_gap_of_whole_tokens_is_exact() -> None:
    """Regression: 200 tokens of 1e15 were as good as none, by a relative 1e-12."""
    decision = Decision([[10**15], [0], [10**15]], [0, 1, 0], [301, 501])
    document = chosen(decision, [(0, 1)])
    assert document["choices"][0]["gap_tokens"] == 200
    assert verify(json.dumps(document)).verdict is Verdict.OPTIMAL
    document["choices"][0]["gap_tokens"] = 0.0
    with pytest.raises(
        DoesNotHoldError, match=r"choices\[0\]\.gap_tokens: value and bound leave 200"
    ):
        verify(json.dumps(document))
