"""The duality picture: corners, optimum and normals of a program that is known by hand."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from olprouting.plots import plot_duality


@pytest.fixture
def ax():
    return Figure().subplots()


def e3(ax, prices=(2.0, 0.5)):
    """Max 5x + 4y, x + y <= 10 (slots), 6x + 4y <= 48 (tokens): 44 at (4, 6), prices 2 and 1/2."""
    return plot_duality(
        [5, 4], [[1, 1], [6, 4]], [10, 48], prices, ("long", "short"), ("slots", "KV tokens"), ax
    )


def arrows(ax):
    """Each arrow as a vector, the objective's first."""
    return [np.subtract(text.xy, text.xyann) for text in ax.texts]


def test_the_feasible_region_and_the_optimum_are_those_of_the_hand_case(ax):
    """Corners (0, 0), (8, 0), (4, 6), (0, 10). Catches a row that is drawn with another's limit."""
    e3(ax)
    corners = {tuple(point) for point in ax.patches[0].get_xy().round(6).tolist()}
    assert corners == {(0, 0), (8, 0), (4, 6), (0, 10)}
    (optimum,) = (line for line in ax.lines if line.get_marker() == "o")
    assert optimum.get_xydata().tolist() == [[4, 6]]
    labels = ax.get_legend_handles_labels()[1]
    assert "slots: x + y ≤ 10, price 2" in labels
    assert "KV tokens: 6 x + 4 y ≤ 48, price 0.5" in labels
    assert "5 x + 4 y = 44" in labels


def test_the_objective_is_the_price_weighted_sum_of_the_normals(ax):
    """(5, 4) = 2 (1, 1) + 1/2 (6, 4); normals are perpendicular to their rows, on equal axes.

    Catches prices at the wrong rows, and arrows that are scaled each on its own.
    """
    objective, slots, tokens = arrows(e3(ax))
    assert slots + tokens == pytest.approx(objective)
    for arrow, normal in ((objective, [5, 4]), (slots, [1, 1]), (tokens, [6, 4])):
        assert arrow[0] * normal[1] == pytest.approx(arrow[1] * normal[0])
    assert ax.get_aspect() == 1


def test_a_row_without_a_price_has_no_arrow(ax):
    drawn = plot_duality(
        [1, 0], [[1, 1], [0, 1]], [3, 2], [1, 0], ("a", "b"), ("slots", "more"), ax
    )
    assert len(arrows(drawn)) == 2
    (optimum,) = (line for line in drawn.lines if line.get_marker() == "o")
    assert optimum.get_xydata().tolist() == [[3, 0]]
