"""Run experiments/lookahead.toml and measure every run while requests wait.

python experiments/lookahead.py --out experiments/results

`--reduced` runs the small form in seconds.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from olprouting.files import write_table
from olprouting.studies import read_study
from olprouting.studies.measure import run_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olprouting.studies.definition import Study

STUDY = Path(__file__).resolve().with_suffix(".toml")


def measured(study: Study) -> pd.DataFrame:
    """Return a row per run: its parameters, and two means of imbalance, in tokens.

    `mean_imbalance_tokens` is of the whole run, `waiting_imbalance_tokens` of the iterations while
    requests wait.
    """
    kept = []
    for cell in study.cells:
        tables = run_cell(replace(cell, keeps_series=True)).tables
        (run,) = tables["cells"]
        series = pd.DataFrame(tables["series"])
        slots = cell.settings["workers"] * cell.settings["slots"]
        kept.append(
            {"policy": cell.policy.name, "seed": cell.seed, **cell.point}
            | {
                "mean_imbalance_tokens": run["mean_imbalance_tokens"],
                "waiting_imbalance_tokens": waiting_mean(series, slots),
            }
        )
    return pd.DataFrame(kept)


def waiting_mean(series: pd.DataFrame, slots: int) -> float:
    """Return one run's mean imbalance in tokens from full slots to the last admission.

    NaN where the slots of all workers together, `slots`, are never full while requests wait.
    """
    last = int(np.flatnonzero(series.admitted_requests)[-1])
    full = np.flatnonzero(series.active_requests[: last + 1] == slots)
    return float(series.imbalance_tokens[full[0] : last + 1].mean()) if len(full) else np.nan


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--reduced", action="store_true")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    study = read_study(STUDY, reduced=options.reduced)
    write_table(measured(study), options.out / "lookahead.csv")


if __name__ == "__main__":
    main()
