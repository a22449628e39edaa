"""How imbalance grows with B and G: FCFS policies, IO_0 and BalanceRoute beside the theorem.

Balance paper (arXiv 2601.17855), section 4: prompts uniform on {1..s}, decode lengths Geometric(p),
requests released in batches that meet the supply condition. Every number is a mean over iterations
after warm-up; intervals are Student's t over independent replications (seeds).
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer
from imbalance_growth.estimates import summarise
from imbalance_growth.figure import draw
from imbalance_growth.looseness import looseness
from imbalance_growth.replications import run_cell
from imbalance_growth.setting import REDUCED, Setting
from imbalance_growth.tables import to_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator


def run_all(setting: Setting, jobs: int) -> Iterator[pd.DataFrame]:
    """Run every size, `jobs` at a time; yield the rows of each as it is done."""
    cells = setting.cells()
    with ProcessPoolExecutor(jobs) as pool:
        tasks = {pool.submit(run_cell, cell, setting): cell for cell in cells}
        try:
            for done, task in enumerate(as_completed(tasks), 1):
                yield task.result()
                p, workers, slots = tasks[task]
                typer.echo(f"{done}/{len(cells)}: p={p:g}, G={workers}, B={slots}", err=True)
        finally:
            pool.shutdown(cancel_futures=True)


def write(runs: pd.DataFrame, setting: Setting, out: Path) -> None:
    """Write summary, bounds, tables and figure to a folder."""
    out.mkdir(parents=True, exist_ok=True)
    summary = write_summary(runs, setting, out)
    bounds = looseness(summary, setting)
    bounds.to_csv(out / "sqrt_b_log_g_bounds.csv", index=False, float_format="%.6g")
    (out / "sqrt_b_log_g.md").write_text(to_markdown(runs, setting), encoding="utf-8")
    draw(summary, setting).savefig(out / "sqrt_b_log_g.png", dpi=66)


def write_summary(runs: pd.DataFrame, setting: Setting, out: Path) -> pd.DataFrame:
    """Write and return the table of `summarise`."""
    summary = summarise(runs, setting)
    summary.to_csv(out / "sqrt_b_log_g.csv", index=False, float_format="%.6g")
    return summary


def main(
    reduced: Annotated[bool, typer.Option(help="A few small sizes, in seconds.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    out: Annotated[Path, typer.Option(help="Folder for tables and figure.")] = Path("results"),
) -> None:
    """Run every size and write tables and figure; after Ctrl-C, means of the finished sizes."""
    setting = REDUCED if reduced else Setting()
    frames: list[pd.DataFrame] = []
    try:
        frames.extend(run_all(setting, jobs))
    except KeyboardInterrupt:
        if frames:
            out.mkdir(parents=True, exist_ok=True)
            write_summary(pd.concat(frames), setting, out)
        raise typer.Exit(130) from None
    write(pd.concat(frames), setting, out)
    typer.echo((out / "sqrt_b_log_g.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    typer.run(main)
