"""Low value first, high value later, one slot: what prices must bring, and who gets it, by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import olprouting

import olprouting as olp
from olprouting.errors import InputError
from olprouting.hindsight import hindsight, hindsight_price
from olprouting.instances import SloClasses, SloWeights
from olprouting.policies.fixed_prices import FixedPricePolicy, best_later_margin
from olprouting.price_report.run_outcome import collected_reward

CYCLES, PERIODS = 25, 100
CLASSES = SloClasses(
    ("cheap", "urgent"), (SloWeights(0, 0, 0, 1, 0, 0), SloWeights(0, 0, 0, 0, 0, 3))
)
"""A cheap start is worth 1 whenever; an urgent one 3, in the period of its arrival (t2 = 1)."""

PERIOD = olp.PeriodOptions(classes=CLASSES, periods=PERIODS, t2=1)
CLUSTER = olp.Cluster([1], kv_tokens=[100])


def collected(policy) -> float:
    run = olp.simulate(olp.example("low-value-first"), CLUSTER, policy, periods=PERIODS)
    return collected_reward(run, PERIOD, "decode")


def named(name: str, **learning: str):
    learned = olp.BidPriceOptions(**learning)
    return olp.make_policy(name, 1, olp.PolicyOptions(period=PERIOD, bid_price=learned))


@pytest.fixture(scope="module")
def found():
    trace = olp.example("low-value-first")
    return hindsight(trace, CLUSTER, CLASSES, periods=PERIODS, t2=1, time_limit_s=2, gap=0.0)


def test_the_optimum_by_hand(found):
    """A cheap request takes the slot for 4 periods, and one period in 4 brings an urgent one.

    So every cheap start costs an urgent one, 3 for 1, but for a start after the last urgent one has
    come and gone, of which the single slot allows one: 3 x 25 + 1 = 76. Weak duality proves it, up
    to what the search leaves.
    """
    assert found.value == 3 * CYCLES + 1
    assert found.bound == pytest.approx(76, rel=1e-4)


def test_prices_0_start_what_is_there_and_get_one_for_three():
    """The cheap request comes a period before the urgent one, always: 25 cheap starts."""
    assert collected(named("prices-0")) == CYCLES


def test_prices_of_the_future_must_be_learned_as_such():
    """Absolute positions learn what past periods were worth, which nobody can sell any more.

    Relative ones learn that the slot will be wanted in the next period: more than half of the
    distance, in spite of the start without any history.
    """
    for record in ("period", "request"):
        assert collected(named("bid-price", record=record)) == CYCLES
    assert collected(named("bid-price", positions="relative", record="request")) > 40


def test_clairvoyant_prices_get_all_but_the_tie(found):
    """At the best prices the last cheap start is worth just what it uses: 75 or 76."""
    options = olp.PolicyOptions(period=PERIOD)
    for timed in (False, True):
        assert 75 <= collected(hindsight_price(found, options, timed=timed)) <= 76


def test_a_timed_start_waits_for_the_cheaper_period():
    """Slot prices 0.6, 0.2, 0 over three periods; a start of one token is worth 1 in any of them.

    Its margin now is 0.4, later 0.8 and 1: it waits; by the rule of Algorithm 1 it starts now.
    """
    problem = olp.PeriodProblem(
        period=1,
        periods=3,
        weights=SloWeights(0, 0, 0, 1, 0, 0),
        t1=9,
        t2=9,
        slots=[[1, 1, 1]],
        kv_tokens=[[9, 9, 9]],
        prompt_tokens=[2, 2],
        decode_tokens=[1, 2],
        arrival_period=[1, 1],
    )
    slot, token = np.array([[0.6, 0.2, 0.0]]), np.array([[0.0, 0.1, 0.0]])
    # held: 3 tokens at age 0; for the second request 4 at age 1
    # start in period 2: 1 - 0.2 - 0.3; in period 3: 1
    assert best_later_margin(problem, slot, token).tolist() == pytest.approx([1.0, 1.0])
    token[0, 2] = 0.2
    # period 3: 1 - 0.6 = 0.4; period 2: 0.5, and for the second 1 - 0.2 - 0.3 - 4 x 0.2 < 0
    assert best_later_margin(problem, slot, token).tolist() == pytest.approx([0.5, 0.4])


def test_prices_of_other_periods_are_refused():
    flat = np.zeros((1, 5))
    with pytest.raises(InputError, match="T is 100"):
        FixedPricePolicy("fixed", PERIOD, flat, flat, random_ties=False)


def test_reward_density_prefers_what_needs_less_room():
    """One slot, rewards 1 and 1, lengths 4 and 1: the short one first, whatever came first."""
    trace = olp.Trace([1, 1], [4, 1], release_iteration=[1, 1])
    weights = SloWeights(0, 0, 0, 1, 0, 0)
    period = olp.PeriodOptions(weights=weights, periods=9)
    policy = olp.make_policy("reward-density", 1, olp.PolicyOptions(period=period))
    run = olp.simulate(trace, CLUSTER, policy, periods=9)
    assert run.admission_iteration.tolist() == [2, 1]


def test_the_command_runs_both_controls():
    names = "hindsight-price,hindsight-price-timed,reward-density"
    asked = ("--requests", 20, "--periods", 60, "--time-limit", 0.2, "--policies", names)
    done = olprouting("hindsight", *asked, "--json")
    assert done.returncode == 0, done.stderr
    assert [run["policy"] for run in json.loads(done.stdout)["policies"]] == names.split(",")
