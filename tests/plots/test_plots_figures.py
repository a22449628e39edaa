"""Figures draw the data they are given, with titles, labels and units."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from olprouting.plots.gaps import plot_gaps
from olprouting.plots.loads import plot_loads

mpl.use("Agg")


@pytest.fixture(scope="module")
def figure():
    records = pd.DataFrame(
        {"policy": ["jsq"] * 4 + ["br0"] * 2, "horizon": 0, "gap_tokens": [0, 10, 20, 30, 0, 5]}
    )
    steps = pd.DataFrame({"start_s": np.arange(1000.0), "imbalance_tokens": 7})
    return plot_gaps(records, {"jsq": steps, "br0": steps.iloc[:0]})


def test_the_distribution_reaches_each_share_at_its_gap(figure):
    jsq, br0 = figure.axes[0].lines
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
        assert ax.get_xlabel().endswith(")")
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
