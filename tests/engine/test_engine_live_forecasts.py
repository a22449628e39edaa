"""Forecasts that learn from the run: the compiled engine against the referee."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_engine import run_reference
from test_engine_against_reference import agree, clusters, traces

from olprouting.engine import KvOptions, simulate
from olprouting.errors import InputError
from olprouting.forecasts import ExactMatch, KaplanMeier, Survival
from olprouting.forecasts.learned.ensemble import TreeEnsemble
from olprouting.forecasts.learned.model import LearnedModel, RecentState
from olprouting.forecasts.learned.nominal_clock import nothing_completed
from olprouting.instances import Cluster, Trace
from olprouting.policies import PolicyOptions, make_policy


def law_of(lengths, age, horizon):
    """P(r > h) for h = 0..H among past lengths beyond `age`; certain to stay without any."""
    beyond = [length for length in lengths if length > age]
    if not beyond:
        return [1.0] * (horizon + 1)
    return [sum(length > age + h for length in beyond) / len(beyond) for h in range(horizon + 1)]


def product_limit(lengths, censored, age, horizon):
    """The same by Kaplan and Meier, from one factor per length at which a request completed."""

    def beyond(limit):
        chance = 1.0
        for length in sorted({length for length in lengths if length <= limit}):
            at_risk = sum(x >= length for x in lengths) + sum(x >= length for x in censored)
            chance *= 1 - lengths.count(length) / at_risk
        return chance

    if not lengths or beyond(age) < 1e-9:
        return [1.0] * (horizon + 1)
    return [beyond(age + h) / beyond(age) for h in range(horizon + 1)]


def outlook_of(kind, trace, past, horizon):
    """What the referee is to believe: outlook(row, age, what is known now, and then)."""
    decode, key = trace.decode_tokens.tolist(), None if trace.key is None else trace.key.tolist()

    def outlook(row, age, now, then):
        completed, running = now
        lengths = past + [decode[r] for r in completed]
        if kind == "learned":
            return by_trees(trace, row, age, then[0], horizon)
        if kind == "km":
            law = product_limit(lengths, list(running.values()), age, horizon)
        else:
            own = [decode[r] for r in completed if key[r] == key[row]] if key else []
            law = law_of(own or lengths, age, horizon)
        return sum(law), law

    return outlook


def tree_of(by_age, left, right, values):
    """A tree that splits by age first, then by a feature on either side."""
    (feature, at), (other, other_at) = left, right
    return TreeEnsemble(
        0.25,
        first=np.array([0, 7]),
        feature=np.array([1, feature, other, -1, -1, -1, -1]),
        threshold=np.array([by_age, at, other_at, 0.0, 0.0, 0.0, 0.0]),
        left=np.array([1, 3, 5, -1, -1, -1, -1]),
        right=np.array([2, 4, 6, -1, -1, -1, -1]),
        value=np.array([0.0, 0.0, 0.0, *values]),
    )


def model_of(horizon):
    """Trees whose answers `by_trees` knows by heart; prompt, mean prompt and mean decode matter."""
    return LearnedModel(
        horizon=horizon,
        finish_log_odds=tree_of(2.0, (5, 6.0), (0, 10.0), (0.8, -0.7, 0.4, -1.1)),
        finisher_remaining=tree_of(4.0, (0, 8.0), (3, 9.0), (2.2, 3.6, 1.1, 2.7)),
        recent=RecentState.of(nothing_completed(64, 0.25)),
        iterations_per_request=1.0,
        longest_decode_tokens=60,
        provenance={},
    )


def by_trees(trace, row, age, completed, horizon):
    """c and P(r > h) of `model_of`, whose context is what had completed at admission."""
    mean_prompt, mean_decode = (
        (sum(tokens[completed].tolist()) / len(completed) if completed else 0.0)
        for tokens in (trace.prompt_tokens, trace.decode_tokens)
    )
    prompt = trace.prompt_tokens[row]
    if age <= 2:
        log_odds = 0.25 + (0.8 if mean_decode <= 6 else -0.7)
    else:
        log_odds = 0.25 + (0.4 if prompt <= 10 else -1.1)
    if age <= 4:
        remaining = 0.25 + (2.2 if prompt <= 8 else 3.6)
    else:
        remaining = 0.25 + (1.1 if mean_prompt <= 9 else 2.7)
    p, mu = 1 / (1 + math.exp(-log_odds)), min(max(remaining, 1.0), horizon)
    law = [1.0 if h < mu else 1 - p for h in range(horizon + 1)]
    return (1 - p) * (horizon + 1) + p * mu, law


@settings(max_examples=80, deadline=None)
@given(
    trace=traces(),
    cluster=clusters(),
    kind=st.sampled_from(["survival", "km", "exact-match", "learned"]),
    past=st.lists(st.integers(1, 12), max_size=6),
    projection=st.sampled_from(["cutoff", "expected"]),
    refresh=st.sampled_from(["iteration", "horizon"]),
    horizon=st.integers(1, 6),
    data=st.data(),
)
def test_live_forecasts_equal_the_referee(
    trace, cluster, kind, past, projection, refresh, horizon, data
) -> None:
    """Catches completions learnt too early or late, wrong ages, and loads spread wrongly."""
    if kind == "exact-match":
        keys = st.lists(st.integers(0, 2), min_size=len(trace), max_size=len(trace))
        trace, past = trace.replace(key=np.array(data.draw(keys))), []
    history = Trace(np.ones(len(past), np.int64), np.array(past, np.int64))
    makers = {
        "survival": Survival,
        "km": KaplanMeier,
        "exact-match": ExactMatch,
        "learned": lambda _: model_of(horizon),
    }
    policy = make_policy(
        data.draw(st.sampled_from(["brh", "jsq"])),
        cluster.workers,
        PolicyOptions(ties="index", horizon=horizon, gamma=0.5, beta=3.0),
    )
    backlog = 3 if trace.arrival_s is None and trace.release_iteration is None else None
    views = []
    arguments = {"backlog": backlog, "refresh": refresh}
    asked = {
        "forecast": makers[kind](history if past else None),
        "projection": projection,
        "view_horizon": horizon,
        "series_every": 1,
    }
    result = simulate(
        trace,
        cluster,
        policy,
        on_decision=lambda made: views.append(made.view.copy()),
        **asked,
        **arguments,
    )
    run = run_reference(
        trace,
        cluster,
        lambda view, rng: policy.route(seen_by(policy, view), rng),
        horizon=horizon,
        outlook=outlook_of(kind, trace, past, horizon),
        projection=projection,
        **arguments,
    )
    assert len(views) == len(run.views)
    for ours, theirs in zip(views, run.views, strict=True):
        np.testing.assert_allclose(
            ours.projected_load_tokens,
            theirs.projected_load_tokens.astype(np.float64),
            rtol=1e-9,
            atol=1e-9,
        )
    if projection == "cutoff":  # else rounding errors may decide between equal scores
        agree(result, run)
        compiled = simulate(trace, cluster, policy, **asked, **arguments)
        np.testing.assert_array_equal(compiled.worker, result.worker)


def seen_by(policy, view):
    """The policy sees its own horizon of a view projected further."""
    width = policy.horizon + 1
    return view._replace(
        projected_load_tokens=np.ascontiguousarray(
            view.projected_load_tokens[:, :width].astype(np.float64)
        )
    )


def test_a_forecast_knows_nothing_of_what_has_not_completed() -> None:
    """Two traces that differ only in lengths still to come give the same first decisions."""
    prompts = np.random.default_rng(3).integers(1, 50, 60)
    lengths = np.random.default_rng(4).integers(30, 60, 60)
    policy = make_policy("brh", 3, PolicyOptions(horizon=9))
    workers = []
    for decode in (lengths, lengths[::-1].copy()):
        trace = Trace(prompts, decode, key=np.arange(60) % 3)
        run = simulate(trace, Cluster.homogeneous(3, 4), policy, backlog=20, forecast=ExactMatch())
        workers.append(run.worker[run.admission_iteration <= 25])
    np.testing.assert_array_equal(*workers)


@pytest.mark.parametrize(
    ("policy", "kv", "message"),
    [
        ("bid-price", KvOptions(), "bid-price plans with a decode length of every request"),
        ("jsq", KvOptions(mode="reserve"), "KV mode 'reserve' sets aside"),
    ],
)
def test_a_forecast_without_lengths_is_refused_where_they_are_needed(policy, kv, message) -> None:
    """Catches a policy that would plan with lengths of zero."""
    cluster = Cluster.homogeneous(2, 4, kv_tokens=[500, 500])
    with pytest.raises(InputError, match=message):
        simulate(
            Trace(np.array([3, 4]), np.array([5, 6])),
            cluster,
            make_policy(policy, 2),
            backlog=2,
            forecast=Survival(),
            kv=kv,
        )


def test_an_unknown_projection_is_named() -> None:
    """Catches a misspelt projection taken for the default."""
    with pytest.raises(InputError, match="projection"):
        simulate(
            Trace(np.array([3]), np.array([5])),
            Cluster.homogeneous(2, 4),
            make_policy("brh", 2),
            backlog=1,
            projection="mean",
        )
