"""The stationary law against the engine: FCFS policies on geometric lengths with a full queue."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from olprouting.engine import simulate
from olprouting.instances import Cluster
from olprouting.policies import PolicyOptions, make_policy
from olprouting.theory import stationary_imbalance, worker_load_law
from olprouting.traces import geometric

FALSE_ALARM = 1e-4
"""Rate at which each test below would fail by chance over seeds; the seeds are fixed."""


def series(policy: str, s: int, p: float, G: int, B: int, iterations: int, seed: int):
    rng = np.random.default_rng(seed)
    needed = int(1.2 * iterations * G * B * p) + 4 * G * B
    result = simulate(
        geometric(needed, p, s, rng),
        Cluster.homogeneous(G, B),
        make_policy(policy, G, PolicyOptions()),
        backlog=G * B,  # as many visible as there are slots: every slot is full from the start
        seed=seed,
        max_iterations=iterations,
        series_every=1,
    )
    frame = result.series_frame()
    assert len(frame) == iterations
    return frame


@pytest.mark.parametrize("policy", ["jsq", "round-robin", "random", "power-of-two", "least-load"])
@pytest.mark.parametrize(("s", "p", "G", "B"), [(20, 0.1, 4, 8), (3, 0.4, 3, 2)])
def test_the_mean_imbalance_of_fcfs_policies_is_the_stationary_value(policy, s, p, G, B):
    # Batch means: 30 batches of 600 iterations, some 60 relaxation times 1/p each or more; the
    # warm-up of 20/p iterations leaves e^-20 of the start.
    batches, length, warm_up = 30, 600, int(20 / p)
    frame = series(policy, s, p, G, B, warm_up + batches * length, seed=11)
    imbalance = frame["imbalance_tokens"].to_numpy()[warm_up:].reshape(batches, length)
    means = imbalance.mean(axis=1)
    t = stats.t.ppf(1 - FALSE_ALARM / 2, batches - 1)
    half_width = t * means.std(ddof=1) / math.sqrt(batches)
    exact = stationary_imbalance(s, p, G, B).imbalance_tokens
    assert half_width < 0.1 * exact  # the interval says something
    assert abs(means.mean() - exact) <= half_width


def test_a_policy_that_looks_at_sizes_leaves_the_stationary_value():
    # The interval above is not so wide that it would accept anything: BR-0 lies far below.
    frame = series("br0", 20, 0.1, 4, 8, 6000, seed=11)
    exact = stationary_imbalance(20, 0.1, 4, 8).imbalance_tokens
    assert frame["imbalance_tokens"].to_numpy()[200:].mean() < 0.7 * exact


@pytest.mark.parametrize(("G", "B"), [(1, 1), (2, 3)])
def test_loads_follow_the_stationary_law(G, B):
    # Loads 40 iterations apart share a request with probability q^40 < 2e-4 per slot: as good as
    # independent for a chi-square test on 1500 of them.
    s, p, apart, samples = 6, 0.2, 40, 1500
    frame = series("jsq", s, p, G, B, apart * (samples + 1), seed=5)
    loads = frame["load_tokens_0"].to_numpy()[apart::apart][:samples]
    law = worker_load_law(s, p, B)
    edges = np.unique(law.load_tokens[np.searchsorted(law.cumulative, np.linspace(0.05, 0.95, 19))])
    observed = np.bincount(np.searchsorted(edges, loads), minlength=len(edges) + 1)
    at_most = np.r_[0, law.cumulative[edges - law.window.first], 1]
    expected = samples * np.diff(at_most)
    assert expected.min() > 5
    assert stats.chisquare(observed, expected).pvalue > FALSE_ALARM
