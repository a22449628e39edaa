"""Interactive charts in pages: Plotly, packed into the page itself."""

from __future__ import annotations

import base64
import gzip
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from plotly.graph_objects import Figure

    Chart = Callable[[], Figure]


def specification(chart: Chart) -> str:
    """Return a chart as JSON that ends no element of a page early."""
    figure = chart()
    figure.update_layout(
        template="simple_white",
        font={"size": 12},
        margin={"l": 55, "r": 15, "t": 40, "b": 45},
        hoverlabel={"namelength": -1},
    )
    return str(figure.to_json()).replace("<", r"\u003c")


@cache
def packed_library() -> str:
    """Return Plotly's script, compressed (a third of its 4.7 MB), in base 64."""
    from plotly.offline import get_plotlyjs

    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode("ascii")
