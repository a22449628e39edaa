"""Draw the pictures of the README and of the gallery: python docs/pictures/draw.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib import rc_context

import olprouting as olp
from olprouting.plots import plot_duality, plot_trajectories
from olprouting.report.figures import STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent


def draw_loads() -> Figure:
    """Draw the loads of eight workers under JSQ and under BR-0, on the same requests."""
    trace = olp.resolve("azure-2023-conv-like", requests=2000)
    cluster = olp.Cluster.homogeneous(workers=8, slots=72)
    runs = {}
    for name, title in (("jsq", "JSQ: fewest requests"), ("br0", "BR-0: balances tokens")):
        policy = olp.make_policy(name, cluster.workers)
        run = olp.simulate(trace, cluster, policy, backlog=32, series_every=1)
        runs[title] = run.series_frame()[:700]
    figure = plot_trajectories(runs)
    figure.set_size_inches(8, 4)
    return figure


def draw_duality() -> Figure:
    """Draw the program of data/examples/e3.json: ten slots, 48 KV tokens, two kinds of requests."""
    axes = plot_duality(
        rewards=[5, 4],
        usage=[[1, 1], [6, 4]],
        capacity=[10, 48],
        prices=[2, 0.5],
        names=["requests that earn 5", "requests that earn 4"],
        resources=["slots", "KV tokens"],
    )
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def main(folder: Path = HERE) -> None:
    """Draw all of them."""
    with rc_context(STYLE):
        for name, draw in (("loads", draw_loads), ("duality", draw_duality)):
            draw().savefig(folder / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main()
