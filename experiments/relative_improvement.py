"""Improvement over a baseline in percent, as in Tables 1 and 2 of the bid-price paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd
import typer

from olprouting.errors import InputError, unknown_name
from olprouting.intervals import t_interval
from olprouting.studies import Results
from olprouting.studies.summary import LARGER_IS_BETTER, group_columns, metrics_of
from olprouting.studies.tables import to_markdown, wide

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.95
REPORT = Path("report")
NOTE = (
    "mean in percent ± half of the 95% t interval over seeds; positive is better. Differences are "
    "paired by seed and divided by the baseline's mean over seeds, whose own error the interval "
    "leaves out"
)


def improvements(
    cells: pd.DataFrame, metrics: Sequence[str], by: Sequence[str], baseline: str
) -> pd.DataFrame:
    """Return how much better than a baseline each policy is, in percent.

    Parameters
    ----------
    cells
        A row per policy, grid point and seed, with the columns ``policy`` and ``seed``.
    metrics
        Columns to compare. More is better of those in `LARGER_IS_BETTER`, less of all others.
    by
        Grid columns; the baseline's cells at the same point and seed are the reference.
    baseline
        A policy that ran at every point.

    Returns
    -------
    DataFrame
        ``policy``, `by`, ``metric``, ``seeds``, ``mean``, ``low`` and ``high``, as `summarise`
        returns them; infinite or missing where the baseline's mean is 0.

    Raises
    ------
    InputError
        If the baseline did not run.
    """
    if baseline not in set(cells["policy"]):
        raise unknown_name("baseline", baseline, dict.fromkeys(cells["policy"]))
    keys = [*by, "seed"]
    base = cells[cells["policy"] == baseline].set_index(keys)
    rows = []
    for key, group in cells.groupby(["policy", *by], sort=False, dropna=False):
        if key[0] == baseline:
            continue
        own = group.set_index(keys)
        for metric in metrics:
            paired = base.loc[own.index, metric].to_numpy(dtype=np.float64)
            sign = 1.0 if metric in LARGER_IS_BETTER else -1.0
            difference = sign * (own[metric].to_numpy(dtype=np.float64) - paired)
            known = np.isfinite(difference)
            with np.errstate(divide="ignore", invalid="ignore"):
                percent = 100 * difference[known] / paired[known].mean()
            mean, low, high = t_interval(percent, LEVEL)
            shared = dict(zip(("policy", *by), key, strict=True))
            numbers = {"seeds": int(known.sum()), "mean": mean, "low": low, "high": high}
            rows.append(shared | {"metric": metric} | numbers)
    return pd.DataFrame(rows)


def write(table: pd.DataFrame, by: Sequence[str], title: str, out: Path) -> str:
    """Write a table of improvements as CSV, and as Markdown, which is returned."""
    out.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(out.with_suffix(".csv"), index=False, float_format="%.5g", lineterminator="\n")
    text = to_markdown(wide(table, ["policy", *by]), title, NOTE)
    out.with_suffix(".md").write_text(text, encoding="utf-8")
    return text


def main(
    folder: Annotated[Path, typer.Argument(help="Folder of a finished study.")],
    baseline: Annotated[str, typer.Option(help="Policy to compare with.")] = "round-robin",
) -> None:
    """Write and print the improvements over a baseline, per grid point."""
    try:
        results = Results.read(folder)
        by = [name for name in group_columns(results) if name != "policy"]
        cells = results.frame("cells")
        metrics = metrics_of(results)
        table = improvements(cells, metrics, by, baseline)
    except InputError as error:
        typer.echo(error, err=True)
        raise typer.Exit(2) from None
    title = f"{results.study.name}, improvement over {baseline}"
    typer.echo(write(table, by, title, folder / REPORT / f"improvement_over_{baseline}"))


if __name__ == "__main__":
    typer.run(main)
