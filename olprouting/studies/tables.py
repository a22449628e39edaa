"""Summaries as tables for people: Markdown, CSV, LaTeX and HTML."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

import numpy as np

_LATEX: Final = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "±": r"$\pm$",
    }
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


def wide(summary: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return one row per group and a column of text per metric: mean ± half the interval.

    Parameters
    ----------
    summary
        What `summarise` returned.
    by
        The columns it was grouped by.
    """
    import pandas as pd

    rows = []
    for key, group in summary.groupby(list(by), sort=False, dropna=False):
        row = {name: _label(value) for name, value in zip(by, key, strict=True)}
        row["seeds"] = str(int(group["seeds"].max()))
        numbers = group[["mean", "high"]].to_numpy(dtype=np.float64)
        for metric, (mean, high) in zip(group["metric"], numbers.tolist(), strict=True):
            row[str(metric)] = _cell(mean, high)
        rows.append(row)
    return pd.DataFrame(rows)


def caption(confidence: float, drawn: str) -> str:
    """Return what the cells of `wide` are; `drawn` says what the seeds draw (`drawn_by_seed`)."""
    nothing = (
        "which draw ties alone: all have the same requests (rows = 'blocks' resamples a trace)"
    )
    which = f"which draw {drawn}, and ties" if drawn else nothing
    return (
        f"mean ± half width of the {confidence:.0%} confidence interval over seeds (Student's t), "
        f"{which}"
    )


def to_markdown(table: pd.DataFrame, title: str, note: str) -> str:
    """Return a table in Markdown."""
    head = [_markdown(name) for name in table.columns]
    lines = [f"**{_markdown(title)}**: {note}", "", _row(head), _row(["---"] * len(head))]
    lines += [_row([_markdown(cell) for cell in row]) for row in table.to_numpy()]
    return "\n".join(lines) + "\n"


def to_latex(table: pd.DataFrame, title: str, note: str) -> str:
    """Return a table in LaTeX, for the package booktabs."""
    plain = table.map(_latex)
    plain.columns = [_latex(str(name).replace("_", " ")) for name in table.columns]
    return plain.to_latex(index=False, escape=False, caption=_latex(f"{title}: {note}"))


def _markdown(text: object) -> str:
    """Return text that Markdown shows as it is; a ``_`` within a word is left alone."""
    one_line = " ".join(str(text).splitlines())
    return re.sub(r"[\\`*|<>\[\]~$]|(?<!\w)_|_(?!\w)", r"\\\g<0>", one_line)


def _latex(text: object) -> str:
    """Return text that LaTeX shows as it is."""
    return " ".join(str(text).splitlines()).translate(_LATEX)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _label(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cell(mean: float, high: float) -> str:
    if math.isnan(mean):
        return ""
    if math.isnan(high):
        return _number(mean, mean)
    half = high - mean
    return f"{_number(mean, half)} ± {_number(half, half)}"


def _number(value: float, scale: float) -> str:
    """Return a number with as many digits as a quantity of size `scale` deserves."""
    size = abs(scale) or abs(value)
    if 0 < max(size, abs(value)) < 1e-4:
        return f"{value:.3g}"
    digits = 0 if size == 0 else min(9, max(0, 2 - math.floor(math.log10(size))))
    return f"{value:,.{digits}f}"
