"""When pricing pays, and what limits the mixed reward: reduced runs, and paired summaries."""

from __future__ import annotations

import pandas as pd
import pytest
from experiment_scripts import load_script


@pytest.fixture(scope="module")
def script():
    return load_script("when_pricing_pays")


def test_a_cell_runs_every_policy_within_its_bound(script):
    """A policy above the bound ran on other requests, or was paid by other weights."""
    setting = script.Setting(periods=60, bound_s=0.3)
    rows = script.run_cell(setting, script.Cell(0.3, 10.0, 1.5, uneven=True), seed=0)
    rewards = {row["policy"]: row["reward"] for row in rows}
    assert {*script.LEARNED, script.CONTROL, script.DENSITY} < set(rewards)
    assert max(rewards.values()) == rewards["bound"] > 0
    assert setting.cluster(uneven=True).slots.tolist() == [6, 18]
    assert setting.cluster(uneven=False).slots.sum() == 24


def test_differences_are_paired_and_relative_to_the_bound(script):
    """Seeds of very different rewards, each 5 of 100 better: no width is left to chance."""
    rows = [
        {"share": 0.1, "ratio": 1.0, "load": 1.0, "uneven": False, "seed": seed, "policy": p}
        | {"reward": reward}
        for seed, control in enumerate((40.0, 80.0, 60.0))
        for p, reward in (("prices-0", control), ("mine", control + 5), ("bound", 100.0))
    ]
    found = script.summarise(pd.DataFrame(rows)).set_index("policy").loc["mine"]
    assert (found["more"], found["low"], found["high"]) == pytest.approx((5, 5, 5))
    assert found["closed"] == pytest.approx(5 / 40)


def test_the_mixed_reward_runs_each_order_on_the_same_requests():
    """A case left out, or shares of another bound, would show."""
    mixed = load_script("mixed_reward")
    bounds = pd.DataFrame(
        {"weights": mixed.Setting().weights, "seed": 0, "bound": [1000.0, 1000.0, 1000.0]}
    )
    table = mixed.run_all("azure-2023-conv-like", 60, 1, bounds)
    assert len(table) == 3 * len(mixed.CASES)
    assert table["of_bound"].to_numpy() == pytest.approx(table["reward"].to_numpy() / 10)
    only = mixed.run_all("azure-2023-conv-like", 20, 1, bounds, "reward-density")
    assert set(only["case"]) == {"reward-density, tokens", "reward-density, reserve"}
