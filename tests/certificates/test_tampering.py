"""Change any one number of a saved result: the check fails, or says that nothing rests on it."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from certificate_cases import changes, random_decision
from test_certificates_of_periods import random_period

from olprouting import exact
from olprouting.certificates import DoesNotHoldError, certificate, verify
from olprouting.errors import InputError
from olprouting.exact import solve
from olprouting.exact.period import check_period
from olprouting.instances import Decision, PeriodProblem, PeriodResult

DECISIONS = [
    random_decision(1, workers=3, waiting=4, horizon=1, gamma="0.86"),
    random_decision(2, workers=2, waiting=6, horizon=2, gamma="1"),
    random_decision(5, workers=3, waiting=3, horizon=0),
    Decision([[0], [3]], [1, 1], [1, 5, 9]),  # proven by enumeration
    Decision(np.array([[5, 9], [9, 3], [2, 7]]), [2, 2, 2], [4, 4, 7, 1], gamma="1/2"),
]


def survivors(saved: dict[str, Any]) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Changes that the check accepts, in fields that it does not name as unchecked."""
    finding = verify(json.dumps(saved))
    unchecked = finding.not_checked + finding.about_the_run
    found = []
    for path, changed in changes(saved):
        named = ".".join(map(str, path[1:3])) in unchecked or str(path[1]) in unchecked
        try:
            verify(json.dumps(changed))
        except (DoesNotHoldError, InputError):
            assert not (path[0] == "result" and named), path  # then it is checked after all
        else:
            if not (path[0] == "result" and named):
                found.append((path, changed))
    return found


@pytest.mark.parametrize("decision", DECISIONS, ids=str)
def test_a_changed_decision_certificate_fails_or_is_still_true(decision) -> None:
    """What is accepted is another optimum, or another proof of the same bound: still true."""
    saved = certificate(decision, exact.solve(decision, solver="native"))
    best = min(exact.objective(decision, a) for a in exact.assignments(decision))
    for path, changed in survivors(saved):
        assert path[:2] in (("result", "assignment"), ("proof", "slot_prices")), path
        pairs = [tuple(pair) for pair in changed["result"]["assignment"]]
        assert exact.recheck(decision, pairs) == best
        assert Fraction(changed["proof"]["bound"]) <= best


@pytest.mark.parametrize("seed", [3, 8, 9])
def test_a_changed_period_certificate_fails_or_is_still_true(seed) -> None:
    """What is accepted are other starts or prices of the same worth."""
    problem: PeriodProblem = random_period(seed, waiting=4)
    saved = certificate(problem, solve(problem))
    for path, changed in survivors(saved):
        result = PeriodResult.from_json(json.dumps(changed["result"]))
        check = check_period(problem, result.x, result.prices.batch, result.prices.memory)
        assert not check.faults, path
        assert check.value == pytest.approx(result.value, rel=1e-8)
        assert check.bound == pytest.approx(result.bound, rel=1e-8)


def test_the_reason_names_what_is_wrong(e2) -> None:
    saved = certificate(e2, exact.solve(e2, solver="highs"))
    for field, value, reason in (
        ("objective", 2, "objective: the assignment is worth 1.0 tokens, not 2.0"),
        ("assignment", [[0, 0], [1, 0], [2, 1]], "worker 0 gets 2 requests, has 1 free slots"),
        ("assignment", [[0, 2], [0, 1], [2, 2]], "request 0 is admitted 2 times"),
        ("assignment", [[0, 2], [1, 1]], "2 requests are admitted, must be 3"),
        ("bound", 0, "status: 'optimal' means that value and bound are equal"),
        ("bound", 3, "bound 3.0 is above the value 1.0"),
        ("relative_gap", 0.5, "relative_gap: value and bound leave 0.0, not 0.5"),
        ("status", "time_limit", "status 'time_limit' does not follow from 'optimal'"),
    ):
        changed = {**saved, "result": {**saved["result"], field: value}}
        with pytest.raises(DoesNotHoldError, match=reason):
            verify(json.dumps(changed))
    with pytest.raises(DoesNotHoldError, match="it proves 1, not 2 as stated"):
        verify(json.dumps({**saved, "proof": {**saved["proof"], "bound": "2"}}))
    with pytest.raises(DoesNotHoldError, match="its SHA-256 is not instance_sha256"):
        verify(json.dumps({**saved, "instance_sha256": "0" * 64}))


def test_a_certificate_for_another_instance_is_refused(e1, e2) -> None:
    text = json.dumps(certificate(e2, exact.solve(e2, solver="highs")))
    spaced = json.dumps(json.loads(e2.to_json()), indent=3)
    assert verify(text, instance=spaced).value == "1"
    with pytest.raises(DoesNotHoldError, match="the certificate is for another one"):
        verify(text, instance=e1.to_json())


def broken_documents(e2: Decision) -> list[str]:
    saved = certificate(e2, exact.solve(e2, solver="highs"))
    text = json.dumps(saved)
    wrong: list[dict[str, Any]] = [
        {**saved, "schema": "olprouting/certificate/2"},
        {name: value for name, value in saved.items() if name != "proof"},
        {**saved, "more": 1},
        {**saved, "instance": 3},
        {**saved, "result": {**saved["result"], "schema": "olprouting/period-result/1"}},
        {**saved, "proof": {"kind": "peaks", "bound": "1"}},
        {**saved, "proof": {"kind": "level", "bound": "one"}},
        {**saved, "proof": {"kind": "level", "bound": "1/0"}},
        {**saved, "result": {"schema": "olprouting/solve-result/1"}},
        {**saved, "schema": ["olprouting/certificate/1"]},
        {**saved, "choices": {}},
        {**saved, "proof": {"kind": "forged", "bound": "1"}},
    ]
    numbers = ["NaN", "Infinity", "1e999999999", "1e-999999999", "9" * 5000]
    return [
        "{", "[]", "7", text[:-1], e2.to_json(), "[" * 100_000, *map(json.dumps, wrong),
        *(text.replace('"objective": 1', f'"objective": {number}') for number in numbers),
    ]  # fmt: skip


def test_what_is_no_certificate_is_bad_input(e2) -> None:
    """One line naming the file; never a raw error, and never a verdict."""
    for text in broken_documents(e2):
        with pytest.raises(InputError, match=r"^c\.json: ") as error:
            verify(text, "c.json")
        assert "\n" not in str(error.value)
