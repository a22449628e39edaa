"""What a forecast is worth: BalanceRoute under every forecast, by cutoff and by expectation.

A trace is cut into windows. In each, forecasts learn from the requests before the run and from what
completes in it; every forecast meets the same requests. Intervals are Student's t over windows.
Windows follow each other in time and are not independent, so that intervals are a guide only.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  (typer reads it)
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd
import typer

import olprouting as olp
from olprouting.intervals import t_interval
from olprouting.plots.axes import axes_or_new, labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from olprouting.forecasts import Forecast

LEVEL = 0.95
HORIZON = 80
BASELINE = "oracle"
LEARNING = ("survival", "km", "exact-match", "learned")
CASES = (
    ("br0", "none", "-"),
    ("brh", "oracle", "-"),
    ("brh", "noisy:0.2", "-"),
    *(("brh", name, how) for name in LEARNING for how in ("cutoff", "expected")),
)


def windows(
    trace: olp.Trace, history: int, requests: int, count: int
) -> list[tuple[olp.Trace, olp.Trace]]:
    """Return (history, run) of `count` windows whose runs do not overlap."""
    most = (len(trace) - history) // requests
    if most < 1:
        raise typer.BadParameter(f"{len(trace)} requests hold no window of {history} + {requests}")
    starts = [number * requests for number in range(min(count, most))]
    return [
        olp.split_history(trace.take(slice(start, start + history + requests)), history)
        for start in starts
    ]


def run_window(
    past: olp.Trace, run: olp.Trace, workers: int, slots: int, seeds: int
) -> pd.DataFrame:
    """Return one row per case: mean imbalance of the same requests, over seeds of tie-breaks."""
    cluster = olp.Cluster.homogeneous(workers, slots)
    policies = {
        policy: olp.make_policy(policy, workers, olp.PolicyOptions(horizon=HORIZON))
        for policy in ("br0", "brh")
    }
    known: dict[str, Forecast] = {
        name: olp.make_forecast(name, past, horizon=HORIZON)
        for name in ("oracle", "noisy:0.2", *LEARNING)
    }

    def imbalance(policy: str, name: str, projection: str, seed: int) -> float:
        result = olp.simulate(
            run,
            cluster,
            policies[policy],
            backlog=32,
            forecast=known.get(name),
            projection="cutoff" if projection == "-" else projection,
            seed=seed,
        )
        return result.metrics.mean_imbalance_tokens

    rows = [(*case, np.mean([imbalance(*case, seed) for seed in range(seeds)])) for case in CASES]
    return pd.DataFrame(rows, columns=["policy", "forecast", "projection", "imbalance_tokens"])


def summarise(runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean imbalance per case, and its difference to BR-H with the oracle, by window."""
    table = runs.pivot_table(
        index="window", columns=["policy", "forecast", "projection"], values="imbalance_tokens"
    )
    rows = []
    for case in CASES:
        difference = table[case] - table["brh", BASELINE, "-"]
        rows.append(
            {
                "policy": case[0],
                "forecast": case[1],
                "projection": case[2],
                "windows": len(table),
                "imbalance_tokens": table[case].mean(),
                "half_width": _half_width(table[case]),
                "difference_tokens": difference.mean(),
                "difference_half_width": _half_width(difference),
            }
        )
    return pd.DataFrame(rows)


def _half_width(values: pd.Series) -> float:
    mean, _, high = t_interval(values.to_numpy(), LEVEL)
    return high - mean


def plot(summary: pd.DataFrame) -> Figure:
    """Draw mean imbalance per case with its interval."""
    ax = axes_or_new(None)
    labels = [
        f"{row.policy}, {row.forecast}" + ("" if row.projection == "-" else f", {row.projection}")
        for row in summary.itertuples()
    ]
    ax.errorbar(
        summary.imbalance_tokens, range(len(summary)), xerr=summary.half_width.fillna(0), fmt="o"
    )
    ax.set_yticks(range(len(summary)), labels)
    ax.invert_yaxis()
    ax.set_xlabel(f"mean {labelled('imbalance_tokens')}")
    ax.set_title("BalanceRoute under different forecasts")
    figure: Figure = ax.figure
    figure.set_size_inches(7, 4.5)
    return figure


def main(
    trace: Annotated[str, typer.Option(help="A file or a name.")] = "azure-2023-conv-like",
    history: Annotated[int, typer.Option(min=1, help="Requests to learn from.")] = 4000,
    requests: Annotated[int, typer.Option(min=1, help="Requests of a run.")] = 3000,
    count: Annotated[int, typer.Option("--windows", min=1, help="Windows at most.")] = 5,
    seeds: Annotated[int, typer.Option(min=1, help="Runs per window.")] = 8,
    workers: int = 8,
    slots: int = 72,
    out: Annotated[Path | None, typer.Option(help="Folder for table and figure.")] = None,
    reduced: Annotated[bool, typer.Option(help="Two small windows, some seconds.")] = False,
) -> None:
    """Run BalanceRoute under every forecast on the same requests."""
    if reduced:
        history, requests, count, seeds, workers, slots = 400, 300, 2, 2, 4, 16
    source = olp.resolve(trace)
    runs = []
    for number, (past, run) in enumerate(windows(source, history, requests, count)):
        runs.append(run_window(past, run, workers, slots, seeds).assign(window=number))
        typer.echo(f"window {number + 1} done", err=True)
    summary = summarise(pd.concat(runs, ignore_index=True))
    typer.echo(summary.to_string(index=False, float_format="{:,.0f}".format))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        stem = out / f"what_a_forecast_is_worth_{source.name.split('.')[0]}"
        summary.to_csv(stem.with_suffix(".csv"), index=False)
        plot(summary).savefig(stem.with_suffix(".png"), dpi=90)


if __name__ == "__main__":
    typer.run(main)
