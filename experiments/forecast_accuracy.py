"""Measure how well completions within 80 iterations are foreseen, on made and on public requests.

python experiments/forecast_accuracy.py --out experiments/results

`--trace FILE` (several times) adds traces; `--reduced` runs a small form in seconds.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from dispatch_on_arrival import draw_30002, draw_long

import olprouting as olp
from olprouting.files import write_table
from olprouting.forecast_report import evaluate_forecasts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FORECASTS = ("survival", "exact-match")
HORIZON = 80
SEEDS = 5


def drawn(name: str, requests: int, seed: int) -> olp.Trace:
    """Return made requests: long outputs like the paper's Azure 2024, or 30002's means."""
    return (draw_long if name == "long outputs" else draw_30002)(requests, seed)


def rows(name: str, trace: olp.Trace, seed: int) -> Iterator[dict[str, Any]]:
    """Yield a row per forecast: the first half trains, the second is asked about."""
    report = evaluate_forecasts(trace, FORECASTS, horizon=HORIZON, seed=seed)
    for score in report.to_frame().itertuples():
        yield {
            "requests": name,
            "seed": seed,
            "forecast": score.forecast,
            "auc": score.auc,
            "mae_tokens": score.mae_finisher_tokens,
            "finish_percent": 100 * score.finish_share,
        }


def main(arguments: Sequence[str] | None = None) -> None:
    """Evaluate all and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--trace", type=Path, action="append", default=[], help="a trace file")
    parser.add_argument("--reduced", action="store_true")
    options = parser.parse_args(arguments)
    table: list[dict[str, Any]] = []
    for seed in range(1 if options.reduced else SEEDS):
        for name in ("long outputs", "30002 means"):
            table += rows(name, drawn(name, 200 if options.reduced else 10_000, seed), seed)
        for file in options.trace:
            table += rows(file.stem, olp.resolve(str(file)), seed)
    options.out.mkdir(parents=True, exist_ok=True)
    write_table(pd.DataFrame(table).round(4), options.out / "forecast_accuracy.csv")


if __name__ == "__main__":
    main()
