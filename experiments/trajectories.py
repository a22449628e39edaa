"""Balance paper, Figure 4: loads over time at G = 8 and 16, on the paper's means and on Azure's.

python experiments/trajectories.py --out experiments/results

`--reduced` runs a small form in seconds.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib import rc_context

import olprouting as olp
from olprouting.files import write_table
from olprouting.options import WorkloadOptions
from olprouting.plots import plot_trajectories
from olprouting.report.figures import STYLE
from olprouting.traces import load_workload

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCES = {"30002": "ratio:3197:1185:4382", "azure": "azure-2023-conv-like"}
WORKERS = (8, 16)
POLICIES = {"JSQ": "jsq", "BR-0": "br0", "BR-H": "brh"}
OPTIONS = olp.PolicyOptions(horizon=80, beta=14.67, gamma=0.64)
SEEDS = 5


def run(source: str, workers: int, policy: str, seed: int, **size: int) -> olp.SimulationResult:
    """Run a policy while requests wait; the backlog starts all workers at once."""
    requests = size["requests"] * workers
    trace = load_workload(WorkloadOptions(source=SOURCES[source], requests=requests), seed).trace
    return olp.simulate(
        trace,
        olp.Cluster.homogeneous(workers, size["slots"]),
        olp.make_policy(POLICIES[policy], workers, OPTIONS),
        backlog=4 * workers,
        seed=seed,
        series_every=1,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all, write the table, and draw the first seed's loads."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--reduced", action="store_true")
    options = parser.parse_args(arguments)
    size, seeds = ({"requests": 60, "slots": 12}, 1) if options.reduced else (
        {"requests": 1000, "slots": 72}, SEEDS
    )  # fmt: skip
    options.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for source, workers in product(SOURCES, WORKERS):
        drawn = {}
        for policy, seed in product(POLICIES, range(seeds)):
            done = run(source, workers, policy, seed, **size)
            waiting = done.metrics.while_waiting
            rows.append(
                {
                    "source": source,
                    "workers": workers,
                    "policy": policy,
                    "seed": seed,
                    "imbalance_tokens": waiting.mean_imbalance_tokens,
                }
            )
            if seed == 0:
                series = done.series_frame()
                drawn[policy] = series[: len(series) // 2 : max(1, len(series) // 2000)]
        with rc_context(STYLE):
            figure = plot_trajectories(drawn)
            figure.set_size_inches(8, 5)
            figure.savefig(options.out / f"trajectories_{source}_{workers}.png", dpi=90)
    write_table(pd.DataFrame(rows).round(1), options.out / "trajectories.csv")


if __name__ == "__main__":
    main()
