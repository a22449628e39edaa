"""Figures draw the data they are given, with titles, labels and units."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from olprouting.plots.gaps import plot_gap_distribution, plot_gaps
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
    steps = pd.DataFrame({"start_s": np.arange(1000.0), "imbalance_tokens": 7})
    return plot_gaps(gaps, {"jsq": steps, "br0": steps.iloc[:0]})


def test_shares_stand_on_one_yardstick_with_their_intervals(figure):
    """Catches bars of the wrong length, and programs on scales of their own."""
    myopic, ahead = figure.axes[0].containers
    assert myopic.lines[0].get_xdata().tolist() == [0, 50]
    bars = myopic.lines[2][0].get_segments()
    assert bars[1][:, 0].tolist() == pytest.approx([40, 70])
    assert ahead.lines[0].get_xdata().tolist() == [0]  # what is not known is left out
    assert figure.axes[0].get_legend_handles_labels()[1] == ["H = 0", "H = 80"]


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


def test_a_smoothed_constant_is_the_constant_and_an_empty_series_is_left_out(figure):
    (line,) = figure.axes[1].lines
    assert np.allclose(line.get_ydata(), 7)


def test_every_panel_has_a_title_and_labels_with_units(figure):
    for ax in figure.axes:
        assert ax.get_title()
        assert "(" in ax.get_xlabel()
    assert figure.axes[1].get_ylabel() == "imbalance (tokens)"


def test_loads_draws_one_line_per_worker_on_the_axes_given():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    series = pd.DataFrame(
        {"start_s": [0.0, 1.0], "load_tokens_0": [5, 6], "load_tokens_1": [7, 8], "other": 0}
    )
    assert plot_loads(series, ax=ax, title="jsq") is ax
    assert [line.get_ydata().tolist() for line in ax.lines] == [[5, 6], [7, 8]]
    assert ax.get_title() == "jsq"
