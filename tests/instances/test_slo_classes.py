"""Classes of requests: what texts stand for, what is refused, and what equal weights change."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from command_line import olprouting
from hypothesis import given, settings
from hypothesis import strategies as st

from olprouting.certificates import DoesNotHoldError, verify
from olprouting.errors import InputError
from olprouting.exact import solve
from olprouting.hindsight import HindsightProblem, solve_hindsight
from olprouting.instances import WEIGHT_SETS, PeriodProblem, SloClasses, SloWeights, Trace
from olprouting.instances.documents import fingerprint
from olprouting.instances.reward import reward
from olprouting.studies.parameters import policy_options
from olprouting.traces import read_trace, write_trace

URGENT, CHEAP = SloWeights(0, 0, 0, 0, 1, 3), SloWeights(0, 0, 0, 1, 0, 0)
TWO = SloClasses(("urgent", "cheap"), (URGENT, CHEAP))


def tiny_period(seed: int, weights=TWO, waiting: int = 4) -> PeriodProblem:
    rng = np.random.default_rng(seed)
    names = np.array(["urgent", "cheap"])[rng.integers(0, 2, waiting)]
    return PeriodProblem(
        period=2,
        periods=6,
        weights=weights,
        t1=4,
        t2=2,
        slots=rng.integers(0, 3, (2, 5)),
        kv_tokens=rng.integers(5, 30, (2, 5)),
        prompt_tokens=rng.integers(1, 12, waiting),
        decode_tokens=rng.integers(1, 6, waiting),
        arrival_period=rng.integers(0, 3, waiting),
        slo_class=names if isinstance(weights, SloClasses) else None,
    )


def tiny_trace(seed: int, weights=TWO, requests: int = 5) -> HindsightProblem:
    rng = np.random.default_rng(seed)
    names = np.array(["urgent", "cheap"])[rng.integers(0, 2, requests)]
    return HindsightProblem(
        prompt_tokens=rng.integers(1, 20, requests),
        decode_tokens=rng.integers(1, 6, requests),
        arrival_period=np.sort(rng.integers(1, 8, requests)),
        slots=[1, 1],
        kv_tokens=[30, 20],
        weights=weights,
        periods=8,
        t1=5,
        t2=3,
        batching="decode",
        age_offset=1,
        slo_class=names if isinstance(weights, SloClasses) else None,
    )


def test_texts_name_classes_shares_and_weights():
    classes = SloClasses.parse("interactive:0.3:tail-only, batch:0.7:1,0,0,1/2,0,0")
    assert classes.names == ("interactive", "batch")
    assert classes.shares == (0.3, 0.7)
    assert classes.weights == (WEIGHT_SETS["tail-only"], SloWeights(1, 0, 0, 0.5, 0, 0))
    assert SloClasses.parse("a:requests,b:latency").shares is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("interactive", "NAME:SHARE:WEIGHTS"),
        ("a:0.5:tail-only,b:0.6:requests", "add up to 1.1"),
        ("a:0.5:tail-only,b:requests", "every class has a share"),
        ("a:0.5:tail-only,a:0.5:requests", "name of its own"),
        ("a:half:tail-only", "is no number"),
        ("a:1:tail-onyl", "tail-only"),
        ("a:0:tail-only,b:1:requests", "in (0, 1]"),
    ],
)
def test_a_text_that_stands_for_no_classes_is_refused(text, says):
    with pytest.raises(InputError) as refused:
        SloClasses.parse(text)
    assert says in str(refused.value)


def test_classes_are_drawn_by_share_and_only_where_there_are_none():
    trace = Trace(prompt_tokens=np.full(2000, 3), decode_tokens=np.full(2000, 2))
    classes = SloClasses(("a", "b"), (URGENT, CHEAP), (0.25, 0.75))
    drawn = classes.assigned(trace, seed=1)
    assert 0.2 < np.mean(drawn.slo_class == "a") < 0.3
    assert (classes.assigned(trace, seed=1).slo_class == drawn.slo_class).all()
    with pytest.raises(InputError, match="give no shares"):
        classes.assigned(drawn, seed=1)
    with pytest.raises(InputError, match="give shares"):
        TWO.assigned(trace, seed=1)
    with pytest.raises(InputError, match="class 'a'"):
        TWO.assigned(drawn, seed=1)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_keeps_the_classes(tmp_path, suffix):
    """Rows are sorted when read: a class that stayed behind would stand beside another request."""
    trace = Trace([5, 6, 7], [1, 2, 3], arrival_s=[0.0, 1.0, 2.0], slo_class=["x", "y", "x"])
    write_trace(trace, tmp_path / f"trace{suffix}")
    assert read_trace(tmp_path / f"trace{suffix}").slo_class.tolist() == ["x", "y", "x"]
    assert trace.take(np.array([1])).slo_class.tolist() == ["y"]
    (tmp_path / "gap.csv").write_text("prompt_tokens,decode_tokens,slo_class\n1,1,a\n1,1,\n")
    with pytest.raises(InputError, match=r"row 2.*slo_class.*empty"):
        read_trace(tmp_path / "gap.csv")


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**20))
def test_the_best_starts_are_those_of_a_search_that_knows_each_class(seed):
    """Every assignment is tried, its reward summed with the weights of each request's class."""
    problem = tiny_period(seed)
    worth = [
        float(
            reward(
                dict(zip(TWO.names, TWO.weights, strict=True))[own],
                o,
                t,
                start_period=2,
                periods=6,
                t1=4,
                t2=2,
            )
        )
        for own, o, t in zip(
            problem.slo_class, problem.decode_tokens, problem.arrival_period, strict=True
        )
    ]
    best = 0.0
    for choice in product((-1, 0, 1), repeat=problem.waiting):
        slots, tokens = problem.slots.copy(), problem.kv_tokens.copy()
        for j, g in enumerate(choice):
            ages = np.arange(min(int(problem.decode_tokens[j]), 5))
            if g >= 0:
                slots[g, ages] -= 1
                tokens[g, ages] -= problem.prompt_tokens[j] + ages + 1
        if slots.min() >= 0 and tokens.min() >= 0:
            best = max(best, sum(worth[j] for j, g in enumerate(choice) if g >= 0))
    result = solve(problem, formulation="integer")
    assert result.value == pytest.approx(best)
    assert solve(problem, formulation="lp").bound >= best - 1e-6
    again = PeriodProblem.from_json(problem.to_json())
    assert (again.rewards == problem.rewards).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**20), st.sampled_from(sorted(WEIGHT_SETS)))
def test_classes_of_equal_weights_are_no_classes(seed, name):
    weights = WEIGHT_SETS[name]
    alike = SloClasses(("urgent", "cheap"), (weights, weights))
    assert (tiny_period(seed, alike).rewards == tiny_period(seed, weights).rewards).all()


@pytest.mark.parametrize("seed", range(4))
def test_hindsight_with_classes_is_proven_by_the_certificate(seed):
    """The check has its own arithmetic: weights of the wrong request would change both sides."""
    found = solve_hindsight(tiny_trace(seed), time_limit_s=0.3, gap=0.0)
    document = found.to_document()
    proven = verify(json.dumps(document))
    assert float(Fraction(proven.bound)) == pytest.approx(found.bound, rel=1e-15)
    assert float(Fraction(proven.value)) == pytest.approx(found.value, rel=1e-15)
    swapped = [{"urgent": "cheap", "cheap": "urgent"}[n] for n in document["problem"]["slo_class"]]
    if len(set(swapped)) > 1 and found.value:
        document["problem"]["slo_class"] = swapped
        document["problem_sha256"] = fingerprint(document["problem"])
        with pytest.raises(DoesNotHoldError):
            verify(json.dumps(document))


def test_hindsight_with_equal_weights_is_hindsight_without_classes():
    weights = WEIGHT_SETS["tail-latency"]
    alike = SloClasses(("urgent", "cheap"), (weights, weights))
    one, other = (
        solve_hindsight(tiny_trace(3, given), time_limit_s=0.3, gap=0.0)
        for given in (alike, weights)
    )
    assert one.value == other.value
    assert one.bound == pytest.approx(other.bound, rel=1e-9)


def test_requests_without_classes_are_refused_where_weights_have_some():
    with pytest.raises(InputError, match="0 entries for 4"):
        tiny_period(0).replace(slo_class=None)
    with pytest.raises(InputError, match="know no classes"):
        tiny_period(0).replace(weights=URGENT)
    document = json.loads(tiny_period(0).to_json())
    del document["requests"][0]["slo_class"]
    with pytest.raises(InputError, match="lacks slo_class"):
        PeriodProblem.from_json(json.dumps(document))


def test_commands_say_what_each_class_got(tmp_path):
    """A class that the tables left out, or rewards by the weights of another, would show here."""
    classes = ("--classes", "urgent:0.5:0,0,0,0,0,1,cheap:0.5:0,0,0,2,0,0")
    run = olprouting("simulate", "--policy", "jsq", "--requests", "40", *classes)
    assert run.returncode == 0, run.stderr
    assert "By SLO class" in run.stdout
    asked = ("--requests", "30", "--periods", "80", "--policies", "", *classes)
    found = olprouting("prices", *asked, "--sample", "1", "--out", tmp_path)
    assert found.returncode == 0, found.stderr
    starts = pd.read_csv(tmp_path / "requests.csv")
    assert set(starts[starts["slo_class"] == "cheap"]["reward"]) <= {0.0, 2.0}
    assert set(starts[starts["slo_class"] == "urgent"]["reward"]) <= {0.0, 1.0}
    table = starts.groupby(["slo_class", "policy"])["reward"].sum()
    assert f"{table['cheap', 'prices-0']:,.1f}" in found.stdout.split("By SLO class")[1]
    refused = olprouting("prices", "--pareto", "reward,ttft_mean", *classes)
    assert refused.returncode == 2
    assert "leave out --classes" in refused.stderr


def test_a_study_names_classes_as_the_command_does():
    text = "urgent:0.5:tail-only,cheap:0.5:requests"
    assert policy_options({"classes": text}).period.classes == SloClasses.parse(text)
    assert policy_options({}).period.classes is None
