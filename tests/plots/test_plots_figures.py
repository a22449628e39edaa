"""Figures draw the data they are given, with titles, labels and units."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from olprouting.plots.gaps import (
    FAINT,
    imbalance_chart,
    plot_gap_distribution,
    plot_gaps,
    plot_imbalance,
)
from olprouting.plots.loads import plot_loads

mpl.use("Agg")


@pytest.fixture(scope="module")
def figure():
    gaps = pd.DataFrame(
        {
            "policy": ["jsq", "br0", "jsq", "br0"],
            "horizon": [0, 0, 80, 80],
            "share_captured_found": [0.0, 0.5, 0.0, None],
            "share_captured_low": [0.0, 0.4, 0.0, None],
            "share_captured_high": [0.0, 0.7, 0.0, None],
        }
    )
    runs = pd.DataFrame(
        {
            "policy": ["jsq", "br0"],
            "runs_waiting_imbalance_tokens": [90.0, None],
            "runs_waiting_imbalance_low_tokens": [80.0, None],
            "runs_waiting_imbalance_high_tokens": [100.0, None],
        }
    )
    return plot_gaps(runs, gaps)


@pytest.fixture
def series():
    """A constant imbalance of 7 tokens; the last request is admitted after 6 of 10 seconds."""
    time_s = np.arange(0, 10, 0.01)
    steps = pd.DataFrame(
        {"start_s": time_s, "imbalance_tokens": 7, "admitted_requests": time_s < 6}
    )
    return {"jsq": steps, "br0": steps.iloc[:0]}


def test_bars_are_as_long_as_the_mean_and_a_run_without_one_has_none(figure):
    (bars, interval) = figure.axes[0].containers
    assert bars[0].get_width() == 90
    assert np.isnan(bars[1].get_width())
    assert interval.lines[2][0].get_segments()[0][:, 0].tolist() == [80, 100]


def test_shares_stand_on_one_yardstick_with_their_intervals(figure):
    """Catches bars of the wrong length, and programs on scales of their own."""
    myopic, ahead = figure.axes[1].containers
    assert myopic.lines[0].get_xdata().tolist() == [0, 50]
    bars = myopic.lines[2][0].get_segments()
    assert bars[1][:, 0].tolist() == pytest.approx([40, 70])
    assert ahead.lines[0].get_xdata().tolist() == [0]  # what is not known is left out
    assert figure.axes[1].get_legend_handles_labels()[1] == ["H = 0", "H = 80"]


def test_the_distribution_reaches_each_share_at_its_gap():
    from matplotlib.figure import Figure

    records = pd.DataFrame(
        {"policy": ["jsq"] * 4 + ["br0"] * 2, "horizon": 0, "gap_tokens": [0, 10, 20, 30, 0, 5]}
    )
    jsq, br0 = plot_gap_distribution(records, Figure().subplots()).lines
    assert jsq.get_linestyle() != br0.get_linestyle()  # told apart in grey, too
    assert jsq.get_xdata().max() == 30
    assert jsq.get_ydata().max() == 1
    half = jsq.get_ydata()[jsq.get_xdata() == 10].max()
    assert half == 0.5  # two of four decisions lose at most 10 tokens
    assert br0.get_xdata().max() == 5


def test_a_smoothed_constant_is_the_constant_and_an_empty_series_is_left_out(series):
    """Faint after the last admission. Catches a tail drawn as if it were the policy's doing."""
    waits, tail = plot_imbalance(series).lines
    assert np.allclose([*waits.get_ydata(), *tail.get_ydata()], 7)
    assert waits.get_xdata().max() == pytest.approx(6, abs=0.1)
    assert tail.get_xdata().min() == pytest.approx(6, abs=0.1)
    assert tail.get_alpha() == FAINT


def test_the_chart_has_a_curve_for_each_run_that_there_is(series):
    (curve,) = imbalance_chart(series).data
    assert curve.name == "jsq"
    assert set(curve.y) == {7}
    assert "last admission 6.0 s" in curve.hovertemplate


def test_every_panel_has_a_title_and_labels_with_units(figure):
    for ax in figure.axes:
        assert ax.get_title()
        assert "(" in ax.get_xlabel()


def test_loads_draws_one_line_per_worker_on_the_axes_given():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    series = pd.DataFrame(
        {"start_s": [0.0, 1.0], "load_tokens_0": [5, 6], "load_tokens_1": [7, 8], "other": 0}
    )
    assert plot_loads(series, ax=ax, title="jsq") is ax
    assert [line.get_ydata().tolist() for line in ax.lines] == [[5, 6], [7, 8]]
    assert ax.get_title() == "jsq"
