"""What a report on prices says: differences by request with intervals, ties, and who waits."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from olprouting.exact import solve
from olprouting.instances import Cluster, PeriodProblem, SloWeights, StepTime, Trace
from olprouting.policies import BidPriceOptions, PeriodOptions, PolicyOptions, make_policy
from olprouting.price_report import measure_prices
from olprouting.price_report.judge import what_binds
from olprouting.price_report.pairs import reward_difference


def requests_of_two(first, second, wait=None):
    return pd.DataFrame(
        {
            "policy": ["a"] * len(first) + ["b"] * len(second),
            "reward": [*first, *second],
            "ttft_periods": [*(wait or first), *([0.0] * len(second))],
        }
    )


def test_differences_are_those_of_pairs_in_blocks() -> None:
    """Twenty requests are ten blocks of two, whose differences are 2 and 4 in turn.

    By hand: in all 30; standard deviation of a block sqrt(10/9), t(0.975, 9) = 2.26216. Catches an
    interval from the two policies' own spread, which the requests they share make far too wide.
    """
    spread = np.arange(20) * 100.0
    more = np.repeat([1.0, 2.0] * 5, 2)
    difference = reward_difference(requests_of_two(spread + more, spread), "a", "b")
    half = 10 * 2.26216 * (10 / 9) ** 0.5 / 10**0.5
    assert difference == pytest.approx((30, 30 - half, 30 + half), rel=1e-5)
    assert difference.excludes_zero
    assert not reward_difference(requests_of_two(spread, spread), "a", "a").excludes_zero


@pytest.fixture(scope="module")
def report():
    """Slots for two, KV tokens for more: requests of different worth per period wait."""
    rng = np.random.default_rng(4)
    trace = Trace(
        rng.integers(1, 30, 60), rng.integers(2, 20, 60), release_iteration=np.arange(60) + 1
    )
    cluster = Cluster([2, 1], kv_tokens=[80, 50], step_time=StepTime(1.0, 0.0))
    options = PolicyOptions(period=PeriodOptions(periods=90, t1=20, t2=5), ties="index")
    return measure_prices(trace, cluster, ("jsq",), options=options, sample=6)


def test_the_control_is_the_same_policy_without_steps(report) -> None:
    """Catches a control that differs in more than its prices."""
    options = PolicyOptions(bid_price=BidPriceOptions(steps=0))
    control = make_policy("prices-0", 2, options)
    same = make_policy("bid-price", 2, options)
    assert type(control) is type(same)
    assert control.learning == same.learning
    assert report.more_than_control("prices-0") == (0, 0, 0)


def test_the_findings_say_what_the_table_says(report) -> None:
    prices, order, capacity, period = report.findings()
    more = report.more_than_control("bid-price")
    assert more.text("+,.0f") in prices
    assert ("cannot be told apart" in prices) != more.excludes_zero
    assert reward_difference(report.requests, "prices-0", "jsq").text("+,.0f") in order
    waits = [record for record in report.records if record.must_wait]
    assert f"in {len(waits)} of {len(report.records)} sampled periods" in capacity
    assert f"of slots in {sum(record.slots_bind for record in report.records)}; in" in capacity
    choices = sum(record.contested for record in report.records)
    assert f"in {choices or 'none'} of these one would fit by itself" in capacity
    assert f"1,000 KV tokens {1000 * report.quality.token_price:.2g} (" in capacity
    (learned,) = (row.of_integer for row in report.starts if row.way == "subgradient")
    assert f"is worth {learned:.0%} of the integer optimum" in period
    table = report.tables()[0]
    assert table.columns["more than prices-0"][:2] == [more.text(",.0f"), "-"]


def test_a_period_s_share_is_of_the_optimum_not_a_loss_over_what_was_collected(report) -> None:
    """Regression: starts worth 53% of the optimum were said to lose 88% of the reward."""
    for row in report.starts:
        rewards = [getattr(record, f"reward_{row.way}") for record in report.records]
        best = [record.reward_integer for record in report.records]
        assert row.of_integer == pytest.approx(sum(rewards) / sum(best))
    table = next(one for one in report.tables() if "Who is admitted" in one.title)
    assert table.columns["of integer"][-1] == "100.0%"


def test_ends_of_optimal_prices_hold_the_learned_ones_where_these_are_optimal(report) -> None:
    """Catches ends in another unit than the learned prices, and ends that are swapped."""
    assert report.records
    for record in report.records:
        for resource in ("slot", "token"):
            low, high = (getattr(record, f"{resource}_price_{end}") for end in ("low", "high"))
            assert 0 <= low <= high
            if record.f_gap <= 1e-9 and record.distance == 0:
                price = getattr(record, f"{resource}_price")
                assert low - 1e-9 <= price <= high + 1e-9


def test_what_binds_is_what_keeps_a_request_out() -> None:
    """One slot and 30 KV tokens, two requests of 10: the slot is short; with two slots neither.

    With two slots and 15 tokens, KV tokens are; with 5, neither request fits by itself, and both
    wait for tokens. Regression: those that do not fit what is free were not counted as waiting.
    """
    for slots, tokens, expected in (
        (1, 30, (True, False)),
        (2, 30, (False, False)),
        (2, 15, (False, True)),
        (2, 5, (False, True)),
    ):
        problem = PeriodProblem(
            period=1, periods=3, weights=SloWeights(0, 0, 0, 4, 0, 1), t1=5, t2=5,
            slots=[[slots] * 3], kv_tokens=[[tokens] * 3],
            prompt_tokens=[10, 10], decode_tokens=[2, 2], arrival_period=[1, 1],
        )  # fmt: skip
        best = solve(problem, formulation="integer")
        assert what_binds(problem, best) == expected


def test_without_best_starts_nothing_is_said_to_bind(report) -> None:
    """Regression: out of time, every period was said to leave a request waiting."""
    blank = dict.fromkeys(("must_wait", "slots_bind", "tokens_bind", "contested"))
    blank |= dict.fromkeys(("reward_integer", "integer_bound")) | {"integer_proven": False}
    records = tuple(replace(record, **blank) for record in report.records)
    unknown = replace(report, records=records)
    *_, capacity, period = unknown.findings()
    assert "what binds is unknown" in capacity
    assert period == f"One period: no integer optimum of {len(records)} sampled ones is known."
    assert not any("nothing binds" in warning for warning in unknown.warnings())
    assert unknown.tables()


def test_clipped_rewards_are_a_warning_of_the_report_and_of_nothing_else() -> None:
    """Regression: Python's own warnings, with a path, stood on stderr, and --strict passed."""
    trace = Trace([5] * 40, [6] * 40, release_iteration=np.arange(40) + 1)
    cluster = Cluster([2], kv_tokens=[40], step_time=StepTime(1.0, 0.0))
    options = PolicyOptions(
        period=PeriodOptions(periods=60, t1=20, t2=5),
        bid_price=BidPriceOptions(clip=True, reward_normalizer=0.01),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = measure_prices(trace, cluster, ("jsq",), options=options, sample=3)
    assert sum("are clipped" in warning for warning in report.warnings()) == 1


def test_it_warns_where_all_policies_collect_the_same(report) -> None:
    """Catches a ranking of policies that the workload cannot tell apart."""
    said = "all policies collect the same reward"
    assert not any(warning.startswith(said) for warning in report.warnings())
    same = tuple(replace(run, reward=7.0) for run in report.runs)
    assert any(warning.startswith(said) for warning in replace(report, runs=same).warnings())


def test_who_waits_is_counted_by_class(report) -> None:
    """Catches classes that are mixed up: each mean is that of its requests alone."""
    table = next(one for one in report.tables() if one.title.endswith("by class"))
    requests = report.requests[report.requests["policy"] == "jsq"]
    long_prompt = requests["prompt_tokens"] > requests["prompt_tokens"].median()
    long_decode = requests["decode_tokens"] > requests["decode_tokens"].median()
    mean = requests["ttft_periods"][long_prompt & ~long_decode].mean()
    place = table.labels["policy"].index("jsq")
    assert table.columns["long, short"][place] == f"{mean:.1f}"


def test_rewards_of_requests_add_up_to_those_of_runs(report) -> None:
    sums = report.requests.groupby("policy")["reward"].sum()
    assert {run.policy: pytest.approx(run.reward) for run in report.runs} == sums.to_dict()


def test_the_distance_is_measured_in_some_periods_and_compared_with_that_of_0(report) -> None:
    """Catches a ratio over periods in which one of the two is unknown."""
    measured = [record for record in report.records if record.distance is not None]
    assert measured
    assert all(record.distance >= 0 and record.distance_of_0 >= 0 for record in measured)
    total = sum(record.distance_of_0 for record in measured)
    ratio = sum(record.distance for record in measured) / total if total > 0 else None
    assert report.quality.distance_ratio == (None if ratio is None else pytest.approx(ratio))
