"""No forgery passes, of any kind of document, however well its fields agree with one another."""

from __future__ import annotations

import copy
import hashlib
import json
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from certificate_cases import random_decision
from forgeries import IMPOSSIBLE, decision_forgeries, gap_of, malformed, period_forgeries
from test_certificates_of_gaps import chosen
from test_certificates_of_hindsight import random_problem, solved
from test_certificates_of_imbalance import CLUSTER, all_runs, exactly, found, saved
from test_certificates_of_periods import random_period

from olprouting import exact
from olprouting.certificates import (
    DoesNotHoldError,
    Verdict,
    certificate,
    imbalance_search,
    verify,
    verify_decision,
    verify_lines,
    write_certificates,
)
from olprouting.errors import InputError
from olprouting.exact import solve
from olprouting.hindsight.imbalance.run import total_imbalance
from olprouting.hindsight.schedule import Schedule
from olprouting.instances import Cluster, Decision, Trace
from olprouting.library.catalogue import entries

if TYPE_CHECKING:
    from collections.abc import Iterable

DECISIONS = {
    "short": random_decision(1, workers=3, waiting=4, horizon=1, gamma="0.86"),
    "whole": random_decision(2, workers=2, waiting=6, horizon=2, gamma="1"),
    "now": random_decision(5, workers=3, waiting=3, horizon=0),
    "enumerated": Decision([[0], [3]], [1, 1], [1, 5, 9]),
    "room": Decision([[5, 9], [9, 3], [2, 7]], [2, 2, 2], [4, 4, 7, 1], gamma="1/3"),
    "decimals": Decision([[0.5], [0.25]], [1, 2], [0.6, 0.3, 0.3, 1.7]),
}


def passing(forgeries: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    """The names of the forgeries that the check lets through."""
    tried = list(forgeries)
    assert len(tried) >= 8
    return [name for name, document in tried if holds(document)]


def holds(document: dict[str, Any]) -> bool:
    try:
        verify(json.dumps(document))
    except (DoesNotHoldError, InputError):
        return False
    return True


@pytest.mark.parametrize("name", DECISIONS)
def test_no_forged_decision_passes(name) -> None:
    """Worse assignments as optima, bounds beyond the optimum, choices better than it, answers that
    no decision has; with proofs that prove less, or say that they prove more."""
    decision = DECISIONS[name]
    original = certificate(decision, exact.solve(decision, solver="brute-force"))
    assert verify(json.dumps(original)).verdict is Verdict.OPTIMAL
    every = [(a, Fraction(exact.objective(decision, a))) for a in exact.assignments(decision)]
    assert passing(decision_forgeries(original, every)) == []


def test_an_optimum_out_of_reach_of_enumeration_cannot_be_replaced() -> None:
    """Exchanges find something better than what a simple policy chose. Catches an optimum that
    rests on the solver although any look at it refutes it."""
    for name in ("burst-g8-w32", "azure-g16-p64-c16-h80-y0.86"):
        document = copy.deepcopy(entries()[name].certificate("imbalance"))  # entries are shared
        pairs = document["result"]["assignment"]
        # all on the workers in their order
        places = sorted(g for _, g in pairs)
        worse = [(i, g) for (i, _), g in zip(pairs, places, strict=True)]
        value = exact.recheck(Decision.from_json(entries()[name].text()), worse)
        value = value if isinstance(value, int) else float(value)
        document["result"] |= {
            "assignment": [list(pair) for pair in worse], "objective": value, "bound": value,
            "absolute_gap": 0.0, "relative_gap": 0.0, "stop_reason": "optimal", "status": "optimal",
        }  # fmt: skip
        with pytest.raises(DoesNotHoldError, match=r"^bound: it is .*, but an assignment of "):
            verify(json.dumps(document))


def test_an_argument_that_proves_too_much_is_noticed(e2, monkeypatch) -> None:
    """The guard behind all arguments: a bound above a value that is reached proves nothing. No
    sound argument gets there, so one is made unsound."""
    document = certificate(e2, exact.solve(e2, solver="highs"))
    monkeypatch.setattr(verify_decision, "proven_bound", lambda decision, proof: Fraction(2))
    with pytest.raises(DoesNotHoldError, match=r"^proof: it bounds values by 2, but 1 is reached"):
        verify(json.dumps(document))


@pytest.mark.parametrize("form", ["lp", "dual", "reduced-dual"])
@pytest.mark.parametrize("seed", [3, 11])
def test_no_forged_period_passes(form, seed) -> None:
    """Starts left out, prices changed, removed or of another program, bounds moved with values."""
    problem = random_period(seed, waiting=5)
    original = certificate(problem, solve(problem, formulation=form))
    verify(json.dumps(original))
    assert passing(period_forgeries(original, problem)) == []


@pytest.mark.parametrize("prices", [None, "lp-relaxation", "fixed-integers"])
@pytest.mark.parametrize("seed", [1, 2, 8, 18])
def test_no_forged_integer_period_passes(prices, seed) -> None:
    """Regression: a suboptimal integer result that calls itself optimal rested on the solver."""
    problem = random_period(seed, waiting=6)
    original = certificate(problem, solve(problem, formulation="integer", prices=prices))
    finding = verify(json.dumps(original))
    assert finding.verdict in (Verdict.OPTIMAL, Verdict.WITHIN_TOLERANCE)
    assert "bound" not in finding.not_checked
    assert passing(period_forgeries(original, problem)) == []


def test_no_forged_hindsight_passes() -> None:
    """Bound and value are what prices and schedule prove; the status follows from them."""
    original = solved(random_problem(4)).to_document()
    verify(json.dumps(original))
    value, bound = original["value"], original["bound"]

    def claim(**changes: Any) -> dict[str, Any]:
        document = original | changes
        gap = document["bound"] - document["value"]
        return document | {"gap": gap / max(document["value"], 1e-9)}

    forgeries = [
        *((stop, claim(stop_reason=stop)) for stop in (*IMPOSSIBLE, "word", "optimal")),
        ("bound down", claim(bound=np.nextafter(bound, 0))),
        ("bound at value", claim(bound=value, stop_reason="optimal")),
        ("value at bound", claim(value=bound, stop_reason="optimal")),
        *(
            (f"both {shift}", claim(value=value + shift, bound=bound + shift))
            for shift in (-1.0, 1.0)
        ),
        ("asked for less", claim(stop_reason="optimal_within_gap", gap_option=0.0)),
        ("nobody starts", claim(worker=[-1] * 5, start_period=[-1] * 5)),
    ]
    assert passing(forgeries) == []


def test_no_forged_run_passes() -> None:
    """Every run but the best, as an optimum or with a bound between the two."""
    trace = Trace([5, 3, 6], [2, 1, 1], release_iteration=[1, 1, 1])
    original = saved(trace, CLUSTER)
    assert verify(json.dumps(original)).verdict is Verdict.OPTIMAL
    best, runs = original["total_tokens"], exactly(trace, CLUSTER)

    def claim(total: int, bound: int, stop: str, **run: Any) -> dict[str, Any]:
        stated = {"total_tokens": total, "bound_tokens": bound, "gap": gap_of(total, bound)}
        return original | stated | {"stop_reason": stop} | run

    forgeries = [(stop, claim(best, best, stop)) for stop in (*IMPOSSIBLE, "word", "time_limit")]
    forgeries += [(f"{n:+}", claim(best + n, best + n, "optimal")) for n in (-1, 1)]
    for worker, start in all_runs(trace, CLUSTER):
        try:
            total = runs.total(worker, start)
        except DoesNotHoldError:
            continue
        if total > best:
            run = {"worker": worker, "admission_iteration": start}
            forgeries.append((f"{run}", claim(total, total, "optimal", **run)))
            forgeries.append((f"{run} short", claim(total, best + 1, "time_limit", **run)))
    assert len(forgeries) > 15
    assert passing(forgeries) == []


def first_with_room(trace: Trace, cluster: Cluster) -> Schedule:
    """The run of a policy that fills the first worker first, in the order of arrival."""
    assert trace.release_iteration is not None
    ends: list[list[int]] = [[] for _ in range(cluster.workers)]
    worker, start, k = [], [], 1
    for release, decode in zip(trace.release_iteration, trace.decode_tokens, strict=True):
        k, g = max(k, int(release)), -1
        while g < 0:
            active = [sum(end > k for end in row) for row in ends]
            free = [g for g, n in enumerate(active) if n < cluster.slots[g]]
            k, g = (k, free[0]) if free else (k + 1, -1)
        ends[g].append(k + int(decode))
        worker.append(g)
        start.append(k)
    return Schedule(np.array(worker), np.array(start))


def test_a_run_out_of_reach_of_the_search_cannot_be_an_optimum(monkeypatch) -> None:
    """Too many runs for a proof, but a few situations at a time lead to a better one. Catches a
    bound that rests on the solver though any look refutes it."""
    monkeypatch.setattr(imbalance_search, "MOST_STEPS", 150_000)
    rng = np.random.default_rng(3)
    release = np.sort(rng.integers(1, 15, 20))
    trace = Trace(rng.integers(1, 90, 20), rng.integers(1, 9, 20), release_iteration=release)
    cluster = Cluster([2, 2])
    run = first_with_room(trace, cluster)
    total = total_imbalance(trace, cluster, run)
    with pytest.raises(imbalance_search.TooLongError):
        imbalance_search.least_below(exactly(trace, cluster), total)
    with pytest.raises(DoesNotHoldError, match=r"^bound_tokens: a run has"):
        verify(json.dumps(found(trace, cluster, total, run)))


def test_no_file_passes_whose_optima_are_the_policy_s_choices(tmp_path) -> None:
    """Every optimum of the file is replaced, and the file is listed anew as a forger would; or a
    line is listed as another's."""
    solved_all = []
    for seed in range(1, 5):
        decision = random_decision(seed, workers=3, waiting=6, horizon=2, gamma="0.86")
        every = sorted(exact.assignments(decision), key=lambda a: exact.objective(decision, a))
        document = chosen(decision, every[-1])
        solved_all.append((decision, exact.solve(decision), document["choices"]))
    path = tmp_path / "certificates.jsonl"
    write_certificates(solved_all, path)
    lines = path.read_text().splitlines()
    assert verify_lines(path.read_text()).holds
    forged = []
    for line in lines[:-1]:
        document = json.loads(line)
        (choice,), result = document["choices"], document["result"]
        value = choice["value_tokens"]
        result |= {
            "assignment": choice["assignment"], "objective": value, "bound": value,
            "absolute_gap": 0.0, "relative_gap": 0.0, "stop_reason": "optimal", "status": "optimal",
        }  # fmt: skip
        choice["gap_tokens"] = 0.0
        forged.append(json.dumps(document))
    findings = verify_lines("\n".join([*forged, relisted(lines[-1], forged)]))
    assert [line for line, _ in findings.failures] == [1, 2, 3, 4]
    listing = json.loads(lines[-1])
    listing["lines"][1]["policies"] = ["jsq"]
    findings = verify_lines("\n".join([*lines[:-1], json.dumps(listing)]))
    assert findings.failures == ((2, "it is not of jsq, iteration 1, as which it is listed"),)
    twice = json.loads(lines[-1])
    twice["lines"].append(twice["lines"][0])
    with pytest.raises(InputError, match=r"^c\.jsonl, last line: a line is listed twice$"):
        verify_lines("\n".join([*lines[:-1], json.dumps(twice)]), "c.jsonl")
    for name, text in malformed(json.loads(lines[-1])):
        with pytest.raises(InputError) as error:
            verify_lines("\n".join([*lines[:-1], text]), "c.jsonl")
        assert "\n" not in str(error.value), name


def relisted(listing: str, lines: list[str]) -> str:
    """The listing of changed lines."""
    document = json.loads(listing)
    for entry, line in zip(document["lines"], lines, strict=True):
        entry["sha256"] = hashlib.sha256(line.encode()).hexdigest()
    return json.dumps(document)


KINDS = ("decision", "peaks", "search", "period", "integer", "hindsight", "imbalance")


@cache
def documents() -> dict[str, dict[str, Any]]:
    """A small document of each kind."""
    room, period = DECISIONS["room"], random_period(3, waiting=3)
    flowing = entries()["azure-g4-p64-c8"].certificate("imbalance")
    searching = entries()["gaps-g4-p16"].certificate("imbalance")
    return {
        "decision": chosen(room, next(iter(exact.assignments(room)))),
        "peaks": flowing,
        "search": searching,
        "period": certificate(period, solve(period)),
        "integer": certificate(period, solve(period, formulation="integer")),
        "hindsight": json.loads(json.dumps(solved(random_problem(4)).to_document())),
        "imbalance": saved(Trace([5, 3], [2, 1], release_iteration=[1, 1]), CLUSTER),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_malformed_is_refused_at_every_level(kind) -> None:
    """A strange field, one given twice or missing, a number as text, true, a list or an object,
    NaN, 3,000 brackets: one line that names the file. Catches a level that nobody looks at."""
    document = documents()[kind]
    verify(json.dumps(document), "c.json")
    for name, text in malformed(document):
        with pytest.raises(InputError, match=r"^c\.json: ") as error:
            verify(text, "c.json")
        assert "\n" not in str(error.value), name
        assert len(str(error.value)) < 600, name


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_known_to_change_nothing_or_to_be_checked(kind) -> None:
    """Every field that a result writes is either named in the finding, or checked: then a change
    that keeps its type fails. Catches a field that is neither."""
    document = documents()[kind]
    finding = verify(json.dumps(document))
    unchecked = {*finding.about_the_run, *finding.not_checked}
    result = document.get("result", document)
    for name in result.keys() - unchecked - {"schema"}:
        for other in (result[name], "other", 7, -7.5, None, [], True):
            if other == result[name]:
                continue
            changed = result | {name: other}
            text = json.dumps(document | {"result": changed} if "result" in document else changed)
            with pytest.raises((DoesNotHoldError, InputError)):
                verify(text)
