"""Balance paper, section 6.4: how long a routing decision takes at R_max = 4, by number of workers.

Every policy replays the same requests several times; each decision counts with its fastest
repetition, so that interruptions by other work leave little trace. A decision is the call of the
compiled routing policy, projected loads given; the quantiles of single repetitions tell the noise.
Beside it, a whole iteration of the compiled engine: the decision, where there is one, the
projection of loads, and the step.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
import typer

import olprouting as olp

if TYPE_CHECKING:
    import numpy.typing as npt

POLICIES = ("jsq", "br0", "brh")
WORKERS = (4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Replay:
    """The requests, and what they meet.

    Attributes
    ----------
    trace
        All known in order; 4 per worker are visible.
    workers, slots
        G, and slots per worker.
    options
        Of the policies.
    """

    trace: olp.Trace
    workers: int
    slots: int
    options: olp.PolicyOptions

    def run(self, policy: str, **options: Any) -> olp.SimulationResult:
        """Replay them under a policy."""
        step_time = olp.StepTime.preset("balance-authors", self.slots)
        return olp.simulate(
            self.trace,
            olp.Cluster.homogeneous(self.workers, self.slots, step_time=step_time),
            olp.make_policy(policy, self.workers, self.options),
            backlog=4 * self.workers,
            **options,
        )

    def decision_times(self, policy: str) -> npt.NDArray[np.float64]:
        """Return the seconds of every decision, in order."""
        taken: list[float] = []
        self.run(policy, on_decision=lambda event: taken.append(event.dispatch_s))
        return np.array(taken)

    def iteration_us(self, policy: str) -> float:
        """Return the processor time of an iteration in the compiled engine, in microseconds."""
        began = time.process_time()
        iterations = self.run(policy).metrics.iterations
        return 1e6 * (time.process_time() - began) / iterations


def timing(replay: Replay, repetitions: int) -> pd.DataFrame:
    """Time every policy.

    Parameters
    ----------
    replay
        What is replayed.
    repetitions
        Runs per policy, >= 1; policies take turns.

    Returns
    -------
    DataFrame
        A row per policy: ``workers``, ``decisions``; ``median_ms``, ``mean_ms`` and ``p99_ms`` over
        decisions of the fastest repetition of each; ``single_median_low_ms`` and
        ``single_median_high_ms``, the smallest and largest median of a single repetition;
        ``iteration_us``, the fastest repetition's mean iteration.
    """
    taken: dict[str, list[npt.NDArray[np.float64]]] = {policy: [] for policy in POLICIES}
    iteration_us = dict.fromkeys(POLICIES, np.inf)
    for policy in POLICIES:  # compiles
        tiny = replace(replay, trace=replay.trace.head(100))
        tiny.decision_times(policy)
        tiny.iteration_us(policy)
    for _ in range(repetitions):
        for policy in POLICIES:
            taken[policy].append(1000 * replay.decision_times(policy))
            iteration_us[policy] = min(iteration_us[policy], replay.iteration_us(policy))
    rows = []
    for policy, runs in taken.items():
        fastest = np.min(runs, axis=0)
        medians = [float(np.median(run)) for run in runs]
        rows.append(
            {
                "workers": replay.workers,
                "policy": policy,
                "decisions": len(fastest),
                "median_ms": float(np.median(fastest)),
                "mean_ms": float(fastest.mean()),
                "p99_ms": float(np.quantile(fastest, 0.99)),
                "single_median_low_ms": min(medians),
                "single_median_high_ms": max(medians),
                "iteration_us": iteration_us[policy],
            }
        )
    return pd.DataFrame(rows)


def main(
    trace: Annotated[str, typer.Option(help="A profile, a public trace, or a file.")] = (
        "azure-2023-conv-like"
    ),
    reduced: Annotated[bool, typer.Option("--reduced", help="Small, in seconds.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the table.")] = Path("results"),
) -> None:
    """Time all policies on 1,000 requests and 72 slots per worker, 7 times each."""
    requests, slots, repetitions = (25, 12, 2) if reduced else (1000, 72, 7)
    options = olp.PolicyOptions(horizon=80, r_max=4)
    tables = []
    for workers in WORKERS[:2] if reduced else WORKERS:
        requested = olp.resolve(trace, requests=requests * workers)
        tables.append(timing(Replay(requested, workers, slots, options), repetitions))
    table = pd.concat(tables, ignore_index=True)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "dispatcher_timing.csv"
    table.to_csv(path, index=False, float_format="%.4g", lineterminator="\n")
    typer.echo(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    typer.run(main)
