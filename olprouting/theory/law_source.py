"""Where a prompt law comes from: a formula, a table, or the prompts of a trace."""

from __future__ import annotations

import csv
from pathlib import Path

from olprouting.errors import InputError, shown
from olprouting.theory.prompt_law import PromptLaw

EXPECTED = "expected uniform:SMALLEST:LARGEST, FILE.csv (size,probability), or trace:FILE|NAME"


def read_prompt_law(text: str) -> PromptLaw:
    """Return the law that a text names.

    Parameters
    ----------
    text
        ``uniform:1:2000``; a ``.csv`` file with columns ``size`` and ``probability``; or
        ``trace:`` and a trace (a file or a known name), whose prompts give the empirical law.

    Raises
    ------
    InputError
        If the text is not understood or the file is not such a law.
    """
    kind, _, rest = text.partition(":")
    if kind == "uniform":
        ends = rest.split(":")
        if len(ends) != 2 or not all(end.isdecimal() and len(end) < 10 for end in ends):
            raise InputError(f"prompt law {shown(text)}: {EXPECTED}")
        return PromptLaw.uniform(int(ends[0]), int(ends[1]))
    if kind == "trace":
        from olprouting.traces import resolve

        return PromptLaw.empirical(resolve(rest).prompt_tokens, text)
    if text.endswith(".csv"):
        return _read_table(Path(text))
    raise InputError(f"prompt law {text!r}: {EXPECTED}")


def _read_table(path: Path) -> PromptLaw:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file)
            if not {"size", "probability"} <= set(rows.fieldnames or ()):
                raise InputError(f"{path}: the first row must name columns size and probability")
            table = [
                (
                    _number(path, rows.line_num, row, "size"),
                    _number(path, rows.line_num, row, "probability"),
                )
                for row in rows
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot read the law: {error}") from None
    try:
        return PromptLaw([size for size, _ in table], [weight for _, weight in table], str(path))  # type: ignore[arg-type]  # the law converts
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _number(path: Path, line: int, row: dict[str, str | None], column: str) -> float:
    try:
        return float(row[column] or "")
    except ValueError:
        raise InputError(
            f"{path}: row {line}, column {column}: {row[column]!r} is not a number"
        ) from None
