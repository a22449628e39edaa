"""Draw the picture of the README: python docs/pictures/draw.py."""

from __future__ import annotations

from pathlib import Path

from matplotlib import rc_context

import olprouting as olp
from olprouting.plots import plot_trajectories
from olprouting.report.figures import STYLE

HERE = Path(__file__).resolve().parent


def main(folder: Path = HERE) -> None:
    """Draw the loads of eight workers under JSQ and under BR-0, on the same requests."""
    trace = olp.resolve("azure-2023-conv-like", requests=2000)
    cluster = olp.Cluster.homogeneous(workers=8, slots=72)
    runs = {}
    for name, title in (("jsq", "JSQ: fewest requests"), ("br0", "BR-0: balances tokens")):
        policy = olp.make_policy(name, cluster.workers)
        run = olp.simulate(trace, cluster, policy, backlog=32, series_every=1)
        runs[title] = run.series_frame()[:700]
    with rc_context(STYLE):
        figure = plot_trajectories(runs)
        figure.set_size_inches(8, 4)
        figure.savefig(folder / "loads.png", dpi=110)


if __name__ == "__main__":
    main()
