"""What ``olprouting solve`` prints about a period: starts, prices, option values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from olprouting.instances import PeriodResult


def print_period(result: PeriodResult) -> None:
    """Print a period's result as aligned text; what is 0 is left out."""
    typer.echo(result.summary())
    if result.x is not None:
        starts = result.to_frame().itertuples(index=False)
        _print_table("starts", ("request", "worker", "share"), starts)
    if result.priced is None:
        return
    prices = result.price_frame()
    costly = prices[(prices["batch"] > 0) | (prices["memory"] > 0)].itertuples(index=False)
    _print_table("prices", ("worker", "period", "slot", "kv_token"), costly)
    values = [(j, y) for j, y in enumerate(result.priced.option_values.tolist()) if y > 0]
    _print_table("option values", ("request", "option_value"), values)


def _print_table(title: str, headings: tuple[str, ...], rows: Iterable[tuple[float, ...]]) -> None:
    cells = [[f"{value:.6g}" for value in row] for row in rows]
    typer.echo(f"\n{title}" if cells else f"\n{title}: none above 0")
    if not cells:
        return
    table = [list(headings), *cells]
    widths = [max(len(line[column]) for line in table) for column in range(len(headings))]
    for line in table:
        typer.echo("  ".join(text.rjust(w) for text, w in zip(line, widths, strict=True)))
