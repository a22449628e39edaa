"""Write the pages of this folder from the results, or check that they agree with them.

python experiments/pages.py            writes experiments/README.md and experiments/pages/*.md
python experiments/pages.py --check    exits 1 where a committed page differs

Templates in experiments/templates take numbers from experiments/results. A sentence that these must
bear out stands behind `{{ claim(condition) }}`, which fails where they do not. Some templates still
hold numbers that were typed; the index says which pages do not.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jinja2
import numpy as np
import pandas as pd

from olprouting.files import write_text
from olprouting.intervals import t_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HERE: Final = Path(__file__).resolve().parent
TEMPLATES: Final = HERE / "templates"
RESULTS: Final = HERE / "results"
CONFIDENCE: Final = 0.95


class DisagreementError(Exception):
    """A sentence of a page says what the results do not."""


def claim(holds: object) -> str:
    """Return nothing; a sentence of a template depends on `holds`.

    Raises
    ------
    DisagreementError
        If it does not hold.
    """
    if not bool(holds):
        raise DisagreementError
    return ""


def rows(frame: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """Return the rows with these values; None is a missing one."""
    for name, value in wanted.items():
        column = frame[name.replace("__", ".")]
        frame = frame[column.isna() if value is None else column == value]
    if frame.empty:
        raise DisagreementError(f"no row of the results has {wanted}")
    return frame


def one(frame: pd.DataFrame, column: str, **wanted: object) -> Any:
    """Return the one value of a column in the row with these values."""
    found = rows(frame, **wanted)[column]
    if len(found) != 1:
        raise DisagreementError(f"{len(found)} rows of the results have {wanted}, not one")
    return found.iloc[0]


class Interval:
    """A mean and its 95% Student t interval, printed as mean ± half width."""

    def __init__(self, mean: float, low: float, high: float) -> None:
        self.mean, self.low, self.high = mean, low, high

    @classmethod
    def of(cls, values: pd.Series) -> Interval:
        """Return the interval of the mean over seeds."""
        return cls(*t_interval(values.to_numpy(np.float64), CONFIDENCE))

    @property
    def sign(self) -> int:
        """-1 or 1 where the interval is below or above 0, else 0."""
        return int(self.low > 0) - int(self.high < 0)

    def shown(self, unit: float = 1.0, digits: int = 0) -> str:
        """Return mean ± half width in `unit`s."""
        half = (self.high - self.mean) / unit
        return f"{self.mean / unit:,.{digits}f} ± {half:,.{digits}f}"


def over_seeds(frame: pd.DataFrame, column: str, **wanted: object) -> Interval:
    """Return the mean of a column over the seeds of one policy at one point."""
    return Interval.of(rows(frame, **wanted)[column])


def by_seed(frame: pd.DataFrame, column: str, **wanted: object) -> pd.Series:
    """Return a column by seed.

    Raises
    ------
    DisagreementError
        If a seed occurs twice, so that more than one point was meant.
    """
    found = rows(frame, **wanted).set_index("seed")[column]
    if found.index.has_duplicates:
        raise DisagreementError(f"{wanted} names more than one point of the grid")
    return found


def saved(
    frame: pd.DataFrame, column: str, policy: Mapping[str, object], base: Mapping[str, object]
) -> Interval:
    """Return by how many percent `policy` is below `base`, paired by seed."""
    other = by_seed(frame, column, **base)
    return Interval.of(100 * (1 - by_seed(frame, column, **policy) / other).dropna())


def ratio(
    frame: pd.DataFrame, column: str, policy: Mapping[str, object], base: Mapping[str, object]
) -> Interval:
    """Return how many times `base` `policy` has, paired by seed."""
    return Interval.of((by_seed(frame, column, **policy) / by_seed(frame, column, **base)).dropna())


def summary(frame: pd.DataFrame, metric: str, **wanted: object) -> Interval:
    """Return the interval of a summarised study's metric: its columns are mean and high."""
    found = rows(frame, metric=metric, **wanted)
    mean, high = float(one(found, "mean")), float(one(found, "high"))
    return Interval(mean, 2 * mean - high, high)


def results(name: str) -> pd.DataFrame:
    """Return a table of experiments/results by the name of its file."""
    return pd.read_csv(RESULTS / f"{name}.csv")


def pages() -> dict[Path, str]:
    """Return the text of every page by the file it belongs in."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    tools: tuple[Callable[..., object], ...] = (
        claim, rows, one, over_seeds, by_seed, saved, ratio, summary, results
    )  # fmt: skip
    environment.globals |= {tool.__name__: tool for tool in tools}
    environment.filters["grouped"] = lambda value, digits=0: f"{value:,.{digits}f}"
    texts = {}
    for template in sorted(TEMPLATES.glob("*.md.j2")):
        name = template.name.removesuffix(".j2")
        folder = HERE if name == "README.md" else HERE / "pages"
        texts[folder / name] = environment.get_template(template.name).render()
    return texts


def disagreeing() -> list[Path]:
    """Return the committed pages that the results do not lead to, and those without a template."""
    texts = pages()
    written = {HERE / "README.md", *(HERE / "pages").glob("*.md")}
    stale = [page for page, text in texts.items() if not _same(page, text)]
    return sorted({*stale, *(written - set(texts))})


def _same(page: Path, text: str) -> bool:
    return page.exists() and page.read_text(encoding="utf-8") == text


def main(arguments: Sequence[str] | None = None) -> None:
    """Write every page, or name those that disagree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true", help="write nothing; compare")
    if parser.parse_args(arguments).check:
        if stale := disagreeing():
            sys.exit("not what the results say: " + ", ".join(page.name for page in stale))
        return
    for page, text in pages().items():
        write_text(page, text)


if __name__ == "__main__":
    main()
