"""The figure of forecasts draws the data it is given."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd

from olprouting.plots.forecasts import plot_forecasts

mpl.use("Agg")


def test_both_panels_draw_their_tables_with_titles_and_labels() -> None:
    """Catches axes that are swapped, or forecasts mixed up."""
    calibration = pd.DataFrame(
        {
            "forecast": ["b", "b", "a"],
            "predicted_mean": [0.1, 0.9, 0.5],
            "observed_share": [0.2, 0.8, 0.4],
        }
    )
    coverage = pd.DataFrame(
        {
            "forecast": ["b", "b", "a"],
            "from_age_tokens": [0, 16, 0],
            "to_age_tokens": [16, 32, 16],
            "covered_share": [1, 0.5, 0],
        }
    )
    left, right = plot_forecasts(calibration, coverage).axes
    _, b, a = left.lines  # the first one is the diagonal
    assert (b.get_label(), a.get_label()) == ("b", "a")
    assert b.get_xdata().tolist() == [0.1, 0.9]
    assert b.get_ydata().tolist() == [0.2, 0.8]
    assert right.lines[0].get_xdata().tolist() == [0, 16, 32]
    assert right.lines[0].get_ydata().tolist() == [1, 0.5, 0.5]
    for ax in (left, right):
        assert ax.get_title()
        assert ax.get_ylabel().startswith("share")
    assert right.get_xlabel() == "age (tokens)"
