"""Figures of studies: what their artists hold is the data they were given."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from olprouting.plots.axes import labelled, literal
from olprouting.plots.loads import plot_trajectories
from olprouting.plots.parameters import plot_heat_map, plot_response
from olprouting.plots.pareto import plot_pareto
from olprouting.plots.performance_profile import plot_performance_profile
from olprouting.plots.prices import (
    plot_convergence,
    plot_price_map,
    plot_price_strip,
    plot_reward_differences,
)
from olprouting.plots.waits import waits_chart

mpl.use("Agg")


@pytest.fixture
def ax():
    return Figure().subplots()


def test_a_heat_map_puts_every_mean_at_its_pair_and_leaves_missing_pairs_white(ax):
    table = pd.DataFrame(
        {"beta": [1, 1, 43], "gamma": [0.5, 1.0, 0.5], "mean_imbalance_tokens": [1000.0, 2.0, 3.0]}
    )
    assert plot_heat_map(table, "beta", "gamma", "mean_imbalance_tokens", ax, "brh") is ax
    shown = np.ma.filled(ax.images[0].get_array(), np.nan)
    assert np.array_equal(shown, [[1000, 3], [2, np.nan]], equal_nan=True)  # rows: gamma
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    assert texts == {(0, 0): "1,000", (1, 0): "3", (0, 1): "2"}
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "43"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["0.5", "1"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("beta", "gamma", "brh")
    assert ax.figure.axes[1].get_ylabel() == "mean imbalance (tokens)"


def test_a_response_is_a_line_per_series_in_the_order_of_x_with_its_band(ax):
    table = pd.DataFrame(
        {
            "series": ["jsq", "br0", "jsq", "br0"],
            "rate": [2, 2, 1, 1],
            "mean": [20.0, 10.0, 2.0, 1.0],
            "low": [19.0, 9.0, 1.5, 0.5],
            "high": [21.0, 11.0, 2.5, 1.5],
        }
    )
    plot_response(table, "rate", "ttft_p99_s", ax, interval="95% t interval")
    jsq, br0 = ax.lines
    assert (jsq.get_label(), jsq.get_xydata().tolist()) == ("jsq", [[1, 2], [2, 20]])
    assert br0.get_ydata().tolist() == [1, 10]
    band = ax.collections[1].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (0.5, 11)
    assert ax.get_ylabel() == "ttft p99 (s)"
    assert "95% t interval" in ax.get_title()


def test_a_performance_profile_steps_where_a_share_of_instances_is_reached(ax):
    """Two policies on four instances: a is best on three; b fails on one and is never 3x worse."""
    ratios = pd.DataFrame({"a": [1.0, 1.0, 1.0, 2.0], "b": [3.0, 1.5, np.inf, 1.0]})
    plot_performance_profile(ratios, "energy_j", ax)
    share = {}
    for line in ax.lines:
        at, height = line.get_data()
        share[line.get_label()] = lambda x, at=at, height=height: height[at <= x].max()
    assert share["a"](1) == 0.75
    assert share["a"](2) == 1
    assert share["b"](1) == 0.25
    assert share["b"](1.5) == 0.5
    assert share["b"](100) == 0.75  # its failure is never within any factor
    assert ax.get_ylabel() == "share of 4 instances"
    assert ax.get_xlabel().startswith("energy j over that of the best")


def test_trajectories_are_a_panel_per_policy_with_a_line_per_worker():
    frame = pd.DataFrame({"start_s": [0.0, 1.0], "load_tokens_0": [5, 6], "load_tokens_1": [7, 8]})
    figure = plot_trajectories({"jsq": frame, "br0": frame * 2})
    assert [ax.get_title() for ax in figure.axes] == ["jsq", "br0"]
    lines = [[line.get_ydata().tolist() for line in ax.lines] for ax in figure.axes]
    assert lines == [[[5, 6], [7, 8]], [[10, 12], [14, 16]]]
    assert figure.axes[0].get_ylabel() == "load (tokens)"


def test_the_front_is_joined_and_the_rest_are_points(ax):
    points = pd.DataFrame({"x": [3, 1, 2], "y": [1, 3, 9], "non_dominated": [True, True, False]})
    plot_pareto(points, "x", "y", ax)
    rest, front = ax.lines
    assert rest.get_xydata().tolist() == [[2, 9]]
    assert front.get_xydata().tolist() == [[1, 3], [3, 1]]
    assert {text.get_text() for text in ax.texts} == {"0", "1", "2"}


def test_rewards_stand_beside_the_control_with_their_intervals(ax):
    """Catches bars of the wrong length, and an estimate that is drawn as an end."""
    rows = pd.DataFrame(
        {"policy": ["bid-price", "jsq"], "estimate": [5.0, -3.0], "low": [-1.0, None]}
    ).assign(high=[11.0, None])
    plot_reward_differences(rows, "prices-0", ax)
    (bars,) = ax.containers
    assert bars.lines[0].get_xdata().tolist() == [5, -3]
    segments = bars.lines[2][0].get_segments()
    assert segments[0][:, 0].tolist() == [-1, 11]
    assert segments[1][:, 0].tolist() == [-3, -3]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["bid-price", "jsq"]


def test_a_strip_has_capacity_above_prices_and_a_price_without_limit_fills_the_panel():
    rows = [
        (name, first, first + 4, 10.0, 0.5, 0.0, high)
        for name, highs in (("slots", (1.0, np.inf)), ("KV tokens", (0.0, 0.0)))
        for first, high in zip((1, 6), highs, strict=True)
    ]
    columns = ["resource", "first_period", "last_period", "free", "learned", "low", "high"]
    figure = plot_price_strip(pd.DataFrame(rows, columns=columns))
    assert [ax.get_title() for ax in figure.axes[:2]] == ["Free slots", "Free KV tokens"]
    below = figure.axes[2]
    top = below.get_ylim()[1]
    assert top == pytest.approx(1.1)
    band = below.patches[0].get_data()
    assert band.values.tolist() == pytest.approx([1.0, top])
    assert band.edges.tolist() == [1, 6, 11]
    assert figure.axes[3].get_ylim()[1] == pytest.approx(0.55)  # the learned price alone


def test_every_request_is_a_point_under_its_policy():
    """Catches sizes or waits of another policy's run, and requests without a time drawn at 0."""
    requests = pd.DataFrame(
        {
            "policy": ["a", "a", "b", "b"],
            "request": [0, 1, 0, 1],
            "prompt_tokens": [5, 50, 5, 50],
            "decode_tokens": [1, 2, 1, 2],
            "ttft_periods": [0.0, 7.0, 3.0, None],
        }
    )
    first, second = waits_chart(requests).data
    assert (first.name, list(first.x), list(first.y)) == ("a", [6, 52], [0, 7])
    assert (second.name, list(second.x), list(second.y)) == ("b", [6], [3])
    assert list(second.customdata[0]) == [0, 5, 1]


def test_price_maps_have_a_row_of_panels_per_kind_and_workers_by_periods():
    rows = [
        (kind, worker, period, scale * (10 * worker + period), scale)
        for kind, scale in (("subgradient", 1.0), ("exact", 2.0))
        for worker in (0, 1)
        for period in (5, 6, 7)
    ]
    figure = plot_price_map(
        pd.DataFrame(rows, columns=["kind", "worker", "period", "batch", "memory"])
    )
    images = [ax.images[0].get_array().tolist() for ax in figure.axes if ax.images]
    assert images[0] == [[5, 6, 7], [15, 16, 17]]
    assert images[2] == [[10, 12, 14], [30, 32, 34]]


def test_convergence_is_drawn_beside_the_exact_minimum(ax):
    plot_convergence(pd.DataFrame({"step": [0, 1, 10], "f": [5.0, 4.0, 3.0], "f_exact": 2.5}), ax)
    subgradient, exact = ax.lines
    assert subgradient.get_xydata().tolist() == [[0, 5], [1, 4], [10, 3]]
    assert set(exact.get_ydata()) == {2.5}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("throughput_tokens_per_s", "throughput (tokens/s)"),
        ("requests_per_s", "requests (1/s)"),
        ("mean_imbalance_tokens", "mean imbalance (tokens)"),
        ("energy_j", "energy (J)"),
        ("ttft_mean", "ttft mean (periods)"),
        ("ttft_mean_s", "ttft mean (s)"),
        ("weights.zeta2", "weights.zeta2"),
    ],
)
def test_labels_name_the_unit(name, label):
    assert labelled(name) == label


def test_a_dollar_in_a_name_begins_no_formula(ax):
    r"""Catches a policy called ``$\foo$``, which fails when the figure is saved."""
    table = pd.DataFrame({"x": [1.0, 2.0], "mean": [1.0, 2.0], "series": [r"$\foo$"] * 2})
    for band in ("low", "high"):
        table[band] = table["mean"]
    plot_response(table, "x", "energy_j", ax)
    ax.set_title(literal(r"a $\bar$ b"))
    ax.legend()
    ax.figure.canvas.draw()
    assert ax.get_legend().get_texts()[0].get_text() == r"\$\foo\$"
