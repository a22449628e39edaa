"""Balance paper, section 6.4: how long a routing decision takes at G = 8 and R_max = 4.

Every policy replays the same requests several times; each decision counts with its fastest
repetition, so that interruptions by other work leave little trace. A decision is the call of the
compiled routing policy, projected loads given; the quantiles of single repetitions tell the noise.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd
import typer

import olprouting as olp

if TYPE_CHECKING:
    import numpy.typing as npt

POLICIES = ("jsq", "br0", "brh")


def decision_times(
    trace: olp.Trace, policy: str, slots: int, options: olp.PolicyOptions
) -> npt.NDArray[np.float64]:
    """Return the seconds of every decision of a run at G = 8, in order."""
    taken: list[float] = []
    olp.simulate(
        trace,
        olp.Cluster.homogeneous(8, slots, step_time=olp.StepTime.preset("balance-authors", slots)),
        olp.make_policy(policy, 8, options),
        backlog=32,
        on_decision=lambda event: taken.append(event.dispatch_s),
    )
    return np.array(taken)


def timing(trace: olp.Trace, slots: int, repetitions: int, horizon: int = 80) -> pd.DataFrame:
    """Time every policy.

    Parameters
    ----------
    trace
        The requests, all known in order.
    slots
        Slots per worker.
    repetitions
        Runs per policy, >= 1; policies take turns.
    horizon
        Lookahead of BR-H.

    Returns
    -------
    DataFrame
        A row per policy: ``decisions``; ``median_ms``, ``mean_ms`` and ``p99_ms`` over decisions of
        the fastest repetition of each; ``single_median_low_ms`` and ``single_median_high_ms``, the
        smallest and largest median of a single repetition.
    """
    options = olp.PolicyOptions(horizon=horizon, r_max=4)
    taken: dict[str, list[npt.NDArray[np.float64]]] = {policy: [] for policy in POLICIES}
    for policy in POLICIES:
        decision_times(trace.head(100), policy, slots, options)  # compiles
    for _ in range(repetitions):
        for policy in POLICIES:
            taken[policy].append(1000 * decision_times(trace, policy, slots, options))
    rows = []
    for policy, runs in taken.items():
        fastest = np.min(runs, axis=0)
        medians = [float(np.median(run)) for run in runs]
        rows.append(
            {
                "policy": policy,
                "decisions": len(fastest),
                "median_ms": float(np.median(fastest)),
                "mean_ms": float(fastest.mean()),
                "p99_ms": float(np.quantile(fastest, 0.99)),
                "single_median_low_ms": min(medians),
                "single_median_high_ms": max(medians),
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
    """Time all policies on 8,000 requests and 72 slots per worker, 7 times each."""
    requests, slots, repetitions = (200, 12, 2) if reduced else (8000, 72, 7)
    whole = olp.resolve(trace)
    table = timing(whole.head(min(requests, len(whole))), slots, repetitions)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "dispatcher_timing.csv"
    table.to_csv(path, index=False, float_format="%.4g", lineterminator="\n")
    typer.echo(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    typer.run(main)
