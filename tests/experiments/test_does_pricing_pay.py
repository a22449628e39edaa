"""The pricing experiment at a tiny size: all rows, equal limits, intervals around their means."""

from __future__ import annotations

import pandas as pd
import pytest
from experiment_scripts import load_script


@pytest.fixture(scope="module")
def script():
    return load_script("does_pricing_pay")


@pytest.fixture(scope="module")
def setting(script):
    return script.Setting(requests=20, periods=200, rate=1.0, workers=2, slots=5, kv_tokens=9000)


@pytest.fixture(scope="module")
def runs(script, setting):
    return pd.concat([script.run_seed(setting, seed) for seed in (0, 1)], ignore_index=True)


def test_there_is_a_row_per_case_seed_and_metric(script, runs):
    names = [case.name for case in script.CASES]
    assert len(set(names)) == len(names)
    assert runs.case.tolist() == names * 2
    summary = script.summarise(runs)
    assert len(summary) == len(names) * len(script.METRICS)
    assert (summary.seeds == 2).all()


def test_every_policy_ran_at_the_same_limits(runs):
    """A policy that may hold more requests than another is not a better policy."""
    assert set(zip(runs.slots, runs.kv_tokens, strict=True)) == {(10, 18000)}


def test_intervals_contain_means(script, runs):
    summary = script.summarise(runs)
    assert (summary.low <= summary["mean"]).all()
    assert (summary["mean"] <= summary.high).all()
    assert (summary.difference_low <= summary.difference).all()
    assert (summary.difference <= summary.difference_high).all()


def test_differences_are_paired_and_round_robin_differs_nowhere_from_itself(script, runs):
    own = runs[runs.case == "round-robin"]
    assert (own[[f"difference_{metric}" for metric in script.METRICS]] == 0).all(axis=None)
    for seed in (0, 1):
        base = own[own.seed == seed].iloc[0]
        row = runs[(runs.case == "bid-price, K=5") & (runs.seed == seed)].iloc[0]
        assert row.difference_reward == pytest.approx(row.reward - base.reward)


def test_differences_to_the_policy_without_prices_leave_out_other_loads_and_rewards(script, runs):
    table = script.compare(runs, script.UNPRICED).set_index(["case", "metric"]).difference
    assert (table[script.UNPRICED] == 0).all()
    reward = runs.groupby("case").reward.mean()
    expected = reward["bid-price, K=5"] - reward[script.UNPRICED]
    assert table["bid-price, K=5", "reward"] == pytest.approx(expected)
    assert not {"K=5, load x 0.4", "K=5, receding T"} & set(table.index.get_level_values("case"))


def test_prices_and_causes_change_something_in_a_crowd(runs):
    """A switch that does nothing anywhere would make the experiment worthless."""
    rewards = runs.groupby("case").reward.sum()
    for case in ("K=5, perfect lengths", "K=5, open-loop"):
        assert rewards[case] != rewards["bid-price, K=5"]


def test_files_are_written(script, runs, tmp_path):
    script.write(runs, tmp_path)
    table = (tmp_path / "does_pricing_pay.md").read_text(encoding="utf-8")
    assert all(f"| {case.name} |" in table for case in script.CASES)
    assert len(pd.read_csv(tmp_path / "does_pricing_pay_runs.csv")) == len(runs)
    assert (tmp_path / "does_pricing_pay.png").stat().st_size > 5000
