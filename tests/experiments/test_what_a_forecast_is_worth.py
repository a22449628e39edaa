"""The forecast experiment at a tiny size: the same requests for all, differences by window."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from experiment_scripts import load_script

import olprouting as olp


@pytest.fixture(scope="module")
def script():
    return load_script("what_a_forecast_is_worth")


@pytest.fixture(scope="module")
def runs(script):
    trace = olp.resolve("azure-2023-conv-like", requests=900)
    parts = script.windows(trace, 300, 200, 5)
    assert [(len(past), len(run)) for past, run in parts] == [(300, 200)] * 3
    return pd.concat(
        [script.run_window(*part, 3, 12, 2).assign(window=n) for n, part in enumerate(parts)]
    )


def test_windows_follow_each_other_without_a_gap(script) -> None:
    """Catches a run that meets requests its own forecast has learnt from."""
    trace = olp.Trace(np.arange(1, 31), np.ones(30, np.int64))
    (past, run), (later_past, later_run) = script.windows(trace, 10, 8, 2)
    np.testing.assert_array_equal(past.prompt_tokens, np.arange(1, 11))
    np.testing.assert_array_equal(run.prompt_tokens, np.arange(11, 19))
    np.testing.assert_array_equal(later_past.prompt_tokens, np.arange(9, 19))
    np.testing.assert_array_equal(later_run.prompt_tokens, np.arange(19, 27))


def test_every_case_has_a_row_and_differences_are_paired(script, runs) -> None:
    """Catches means over different windows, and the baseline compared with another."""
    summary = script.summarise(runs)
    assert len(summary) == len(script.CASES)
    oracle = summary[(summary.forecast == "oracle")].iloc[0]
    assert (oracle.difference_tokens, oracle.difference_half_width) == (0, 0)
    for row in summary.itertuples():
        mine = runs[
            (runs.policy == row.policy)
            & (runs.forecast == row.forecast)
            & (runs.projection == row.projection)
        ]
        assert row.imbalance_tokens == pytest.approx(mine.imbalance_tokens.mean())
        assert row.difference_tokens == pytest.approx(
            row.imbalance_tokens - oracle.imbalance_tokens
        )


def test_the_figure_shows_the_means(script, runs) -> None:
    """Catches points drawn in another order than their labels."""
    summary = script.summarise(runs)
    ax = script.plot(summary).axes[0]
    drawn = np.asarray(ax.lines[0].get_xdata(), np.float64)
    np.testing.assert_allclose(drawn, summary.imbalance_tokens)
    assert ax.get_yticklabels()[1].get_text() == "brh, oracle"
