"""Who waits how long, in a page: every request of every policy's run as a point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.plots.axes import colour

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

MARKS = ("circle", "square", "diamond", "cross", "x", "triangle-up")
"""By policy, as the colours: the chart must be readable in grey."""

SHOWN_FIRST = 2
"""So many policies are shown at once; the others come by a click on the legend."""


def waits_chart(requests: pd.DataFrame) -> Figure:
    """Return the chart.

    Parameters
    ----------
    requests
        ``policy``, ``request``, ``prompt_tokens``, ``decode_tokens`` and ``ttft_periods``: time to
        the first token, or until the run ended for those without one; NaN is left out.
    """
    from plotly.graph_objects import Figure as NewFigure
    from plotly.graph_objects import Scatter

    figure = NewFigure()
    known = requests.dropna(subset=["ttft_periods"])
    for index, (policy, rows) in enumerate(known.groupby("policy", sort=False)):
        sizes = rows["prompt_tokens"] + rows["decode_tokens"]
        columns = ["request", "prompt_tokens", "decode_tokens"]
        figure.add_trace(
            Scatter(
                x=sizes.tolist(),
                y=rows["ttft_periods"].tolist(),
                name=str(policy),
                mode="markers",
                marker={
                    "color": colour(index),
                    "symbol": MARKS[index % len(MARKS)],
                    "opacity": 0.7,
                },
                customdata=rows[columns].to_numpy().tolist(),
                hovertemplate="request %{customdata[0]}: %{customdata[1]:,} + %{customdata[2]:,} "
                "tokens, %{y:,} periods",
                visible=True if index < SHOWN_FIRST else "legendonly",
            )
        )
    figure.update_layout(
        xaxis={"title": {"text": "prompt and output (tokens)"}, "type": "log"},
        yaxis={"title": {"text": "to the first token (periods)"}, "rangemode": "tozero"},
        legend={"orientation": "h", "y": -0.2},
    )
    return figure
