"""Reduced forms of the bid-price paper's tables and of the dispatcher's timing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from experiment_scripts import EXPERIMENTS, load_script

from olprouting.studies import read_study


@pytest.mark.parametrize("name", ["slo_weights", "tail_weight", "mixes"])
def test_published_rates_and_the_threshold_of_figure_13(name):
    study = read_study(EXPERIMENTS / f"{name}.toml")
    assert study.grid["rate"] == (0.4, 0.5)
    assert study.settings["t2"] == 49
    assert study.settings["workers"] == 4


def test_the_mixes_have_the_published_ratios():
    study = read_study(EXPERIMENTS / "mixes.toml")
    assert study.grid["source"] == ("ratio:1:4:264", "ratio:4:1:264")


def test_all_published_baselines_run_at_the_limits_of_the_bid_price_policy():
    study = read_study(EXPERIMENTS / "slo_weights.toml")
    assert {"round-robin", "jsq", "random", "power-of-two"} <= {p.name for p in study.policies}
    assert len({cell.cluster for cell in study.cells}) == 1


def test_the_rate_shifts_at_half_time():
    """Counts of 20,000 Poisson periods a half lie within five standard deviations."""
    module = load_script("rate_shift")
    setting = module.Setting(arrival_periods=40_000, periods=40_000)
    release = module.shifting_releases(setting, np.random.default_rng(0))
    assert (np.diff(release) >= 0).all()
    first = int((release <= 20_000).sum())
    assert first == pytest.approx(8_000, abs=5 * 8_000**0.5)
    assert len(release) - first == pytest.approx(12_000, abs=5 * 12_000**0.5)


def test_every_policy_of_table_2_gets_the_same_requests_and_all_are_counted():
    module = load_script("rate_shift")
    setting = module.Setting(arrival_periods=60, periods=400, workers=1, guard_window=10)
    runs = module.run_seed(setting, 0)
    assert runs.policy.tolist() == list(module.policies(setting))
    assert runs.requests.nunique() == 1
    assert (runs.unfinished >= 0).all()
    table = module.improvements(runs, module.METRICS, [], module.BASELINE)
    assert set(table.policy) == set(runs.policy) - {module.BASELINE}
    unguarded = runs[runs.policy != "bid-price, guard"]
    assert (unguarded.alarms == "").all()


def test_without_arrivals_after_half_time_the_rate_after_is_none_of_the_first_half():
    """The two rates must not be swapped."""
    module = load_script("rate_shift")
    setting = replace(module.Setting(), rate=2.0, rate_after=1e-9)
    release = module.shifting_releases(setting, np.random.default_rng(0))
    assert release.max() <= setting.arrival_periods // 2


def test_the_timing_covers_every_decision_and_its_quantiles_are_ordered():
    import olprouting as olp

    module = load_script("dispatcher_timing")
    trace = olp.resolve("azure-2023-conv-like", requests=60, seed=0)
    options = olp.PolicyOptions(horizon=10)
    table = module.timing(module.Replay(trace, 8, 4, options), repetitions=2)
    assert table.policy.tolist() == list(module.POLICIES)
    assert (table.decisions >= 60 / 32).all()
    assert (table.median_ms <= table.p99_ms).all()
    assert (table.median_ms <= table.single_median_low_ms).all()  # fastest of each decision
    assert (table.single_median_low_ms <= table.single_median_high_ms).all()
    assert (table.iteration_us > 0).all()
