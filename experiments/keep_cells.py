"""Keep one row per run of a finished study, so that policies can be compared seed by seed.

python experiments/keep_cells.py results/mixes --out experiments/results/mixes.csv
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from olprouting.files import write_table
from olprouting.studies import Results
from olprouting.studies.summary import group_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


def cells(results: Results) -> pd.DataFrame:
    """Return policy, grid point, seed and the study's metrics of every run."""
    names = [*group_columns(results), "seed", *results.manifest.study.outputs.metrics]
    kept = results.frame("cells")[names]
    return kept.sort_values(names[:-1], kind="stable", ignore_index=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the folder of a study and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    write_table(cells(Results.read(options.folder)), options.out)


if __name__ == "__main__":
    main()
