"""The growth experiment at its reduced size: what its tables and its text rely on."""

from __future__ import annotations

import importlib
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from olprouting.errors import InputError

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
FALSE_ALARM = 1e-4
"""Rate at which the comparison with exact values would fail by chance; the seeds are fixed."""


@pytest.fixture(scope="module")
def parts():
    """Modules of the experiment by name; its folder is on the path when it runs as a script."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXPERIMENTS)
        names = ("setting", "replications", "estimates", "looseness", "tables")
        found = {name: importlib.import_module(f"imbalance_growth.{name}") for name in names}
        found["script"] = importlib.import_module("sqrt_b_log_g")
        yield found


@pytest.fixture(scope="module")
def setting(parts):
    return parts["setting"].REDUCED


@pytest.fixture(scope="module")
def runs(parts, setting):
    run_cell = parts["replications"].run_cell
    return pd.concat([run_cell(cell, setting) for cell in setting.cells()], ignore_index=True)


@pytest.fixture(scope="module")
def summary(parts, runs, setting):
    return parts["estimates"].summarise(runs, setting)


def test_simulated_fcfs_policies_have_the_exact_stationary_mean(parts, runs, summary):
    """A wrong law, a missing warm-up or a starved queue would move the pooled mean."""
    found = parts["estimates"].agreement(runs, summary, 1 - FALSE_ALARM)
    mean, low, high = found.deviation
    assert high - mean < 0.2  # the interval says something
    assert low <= 0 <= high
    assert found.widened_inside == found.intervals == 20


def test_policies_that_select_by_size_do_not_have_that_mean(summary):
    """IO_0 is far below, farther than the interval above is wide."""
    exact = summary[summary.policy == "exact"]
    assert (exact.mean_tokens < 0.75 * exact.exact_fcfs_tokens).all()


def test_every_slot_is_full_after_warm_up(summary):
    """The stationary law supposes it."""
    assert (summary.full == 1).all()


def test_every_decision_of_io0_is_proven_at_the_reduced_sizes(summary):
    exact = summary[summary.policy == "exact"]
    assert len(exact) == 4
    assert (exact.decisions > 0).all()
    assert (exact.proven == exact.decisions).all()
    assert (exact.gap_share == 0).all()


def test_certified_bounds_hold(parts, summary, setting):
    table = parts["looseness"].looseness(summary, setting)
    assert (table.io0_bound_over_io0 > 1).all()
    assert (table.fcfs_over_lower_bound > 1).all()
    assert (table.certified_ratio < table.ratio).all()


def test_eps_falls_to_s_at_the_number_of_slots_that_the_table_names(parts, summary, setting):
    from olprouting.theory import constants

    s = setting.largest_prompt_tokens
    for row in parts["looseness"].looseness(summary, setting).itertuples():
        at = constants(s, row.p, row.workers, round(row.slots_to_eps_below_s))
        assert at.eps_tokens == pytest.approx(s, rel=1e-3)
        assert row.slots_to_uncap < row.slots_to_eps_below_s


def test_arrivals_must_meet_the_supply_condition(parts, setting):
    cell = setting.cells()[0]
    pattern = parts["replications"].release_pattern(cell, setting)
    rho = 1 - 1 / setting.largest_prompt_tokens
    assert pattern.mean() > cell.admissions / rho
    assert np.count_nonzero(pattern) == 1  # all at once, then silence
    with pytest.raises(InputError, match="the bounds do not apply"):
        parts["replications"].release_pattern(cell, replace(setting, supply_margin=0.9))


def test_fits_recover_exponents(parts):
    """I / G = 3 B^x (log G)^0.7 with x = 0.5 for one seed and 0.52 for the other."""
    grid = [(0.1, G, B, seed) for G in (2, 4, 16) for B in (8, 32) for seed in (0, 1)]
    table = pd.DataFrame(grid, columns=["p", "workers", "slots", "seed"]).assign(policy="jsq")
    law = 3 * table.slots ** (0.5 + 0.02 * table.seed) * np.log(table.workers) ** 0.7
    table["imbalance_tokens"] = table.workers * law
    a, b = parts["estimates"]._fit(table[table.seed == 0])
    assert (a, b) == pytest.approx((0.5, 0.7))
    assert parts["estimates"].slopes(table).slope.to_numpy() == pytest.approx(0.51)


def test_policies_are_compared_with_io0_on_the_same_requests(parts):
    """Seed 2 ran one size only, so that its mean over sizes would mean something else."""
    rows = [(8, 0, 10.0, 12.0), (8, 1, 20.0, 22.0), (32, 0, 5.0, 7.0), (32, 1, 10.0, 13.0)]
    rows += [(8, 2, 1.0, 9.0)]
    table = pd.DataFrame(rows, columns=["slots", "seed", "exact", "br0"])
    table = table.assign(p=0.1, workers=4).melt(
        ["p", "workers", "slots", "seed"], var_name="policy", value_name="imbalance_tokens"
    )
    (row,) = parts["estimates"].against_exact(table).itertuples()
    assert row.excess == pytest.approx(((0.2 + 0.4) / 2 + (0.1 + 0.3) / 2) / 2)


def test_intervals_are_students_t(parts):
    mean, low, high = parts["estimates"].interval(np.array([1.0, 3.0]))  # t(0.975, 1) = 12.7062
    assert (mean, low, high) == pytest.approx((2.0, 2 - 12.7062, 2 + 12.7062), abs=1e-4)


def test_files_are_written(parts, runs, setting, tmp_path):
    parts["script"].write(runs, setting, tmp_path)
    text = (tmp_path / "sqrt_b_log_g.md").read_text(encoding="utf-8")
    assert "intervals (95%) contain the exact value" in text
    assert len(pd.read_csv(tmp_path / "sqrt_b_log_g.csv")) == 4 * 8
    assert not math.isnan(pd.read_csv(tmp_path / "sqrt_b_log_g_bounds.csv").ratio.max())
    assert (tmp_path / "sqrt_b_log_g.png").stat().st_size > 5000
