"""A run replayed in a page: loads and queue of one iteration at a time, with a slider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.plots.axes import COLOURS

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

MOST_FRAMES = 240
"""Iterations on the slider; of longer runs every so many."""


def replayed(series: pd.DataFrame) -> Figure:
    """Return the chart.

    Parameters
    ----------
    series
        ``iteration``, ``start_s``, ``max_load_tokens``, ``waiting_requests`` and
        ``load_tokens_0``, ... of a run, with at least one row.
    """
    from plotly.graph_objects import Figure as NewFigure
    from plotly.graph_objects import Frame

    places = np.unique(np.linspace(0, len(series) - 1, MOST_FRAMES).astype(int))
    shown = series.iloc[places]
    columns = [column for column in series.columns if column.startswith("load_tokens_")]
    loads = shown[columns].to_numpy()
    barriers, waiting = shown["max_load_tokens"].tolist(), shown["waiting_requests"].tolist()
    frames = [
        Frame(name=str(number), data=_traces(loads[row].tolist(), barriers[row], waiting[row]))
        for row, number in enumerate(shown["iteration"].tolist())
    ]
    moment = {"mode": "immediate", "frame": {"duration": 60, "redraw": False}}
    moment["transition"] = {"duration": 0}
    steps = [
        {
            "label": f"{frame.name} ({start:.1f} s)",
            "method": "animate",
            "args": [[frame.name], moment],
        }
        for frame, start in zip(frames, shown["start_s"].tolist(), strict=True)
    ]
    buttons = [
        {"label": "Play", "method": "animate", "args": [None, moment | {"fromcurrent": True}]},
        {"label": "Stop", "method": "animate", "args": [[None], moment]},
    ]
    figure = NewFigure(data=frames[0].data, frames=frames)
    figure.update_layout(
        xaxis={"domain": [0, 0.78], "title": {"text": "worker"}, "dtick": 1},
        yaxis={
            "title": {"text": "load (tokens)"},
            "range": [0, 1.05 * max(max(barriers), 1)],
        },
        xaxis2={"domain": [0.88, 1], "anchor": "y2"},
        yaxis2={
            "anchor": "x2",
            "title": {"text": "waiting (requests)"},
            "range": [0, 1.05 * max(max(waiting), 1)],
        },
        showlegend=False,
        sliders=[{"steps": steps, "currentvalue": {"prefix": "iteration "}, "x": 0, "len": 1}],
        updatemenus=[
            {"type": "buttons", "direction": "right", "buttons": buttons, "x": 0, "y": 1.15}
            | {"xanchor": "left", "yanchor": "bottom"}
        ],
    )
    return figure


def _traces(loads: list[int], barrier: int, waiting: int) -> list[Any]:
    from plotly.graph_objects import Bar, Scatter

    workers = list(range(len(loads)))
    ends = [-0.5, len(loads) - 0.5]
    line = {"color": "black", "dash": "dash"}
    return [
        Bar(x=workers, y=loads, name="load", marker={"color": COLOURS[0]}),
        Scatter(x=ends, y=[barrier] * 2, name="barrier", mode="lines", line=line),
        Bar(
            x=["queue"],
            y=[waiting],
            name="waiting",
            marker={"color": COLOURS[4]},
            xaxis="x2",
            yaxis="y2",
        ),
    ]
