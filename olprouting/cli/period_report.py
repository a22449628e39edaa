"""What ``olprouting solve`` prints about a period: what each request costs, prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from olprouting.instances import PeriodProblem, PeriodResult


SHEET = ("request", "worker", "share", "reward", "price x use", "margin", "slack")


def print_period(problem: PeriodProblem, result: PeriodResult) -> None:
    """Print a period's result as aligned text; starts, prices and option values of 0 are left out.

    Where there are prices, every request stands with its reward, what its resources cost at them,
    the margin that is left, and what the reward lacks for a start.
    """
    from olprouting.exact.period.price_sheet import price_sheet

    typer.echo(result.summary())
    if result.x is not None:
        starts = result.to_frame().itertuples(index=False)
        _print_table("starts", ("request", "worker", "share"), starts)
    if result.priced is None:
        return
    prices = result.price_frame()
    sheet = price_sheet(problem, result).round(9) + 0.0  # no -0
    _print_table("requests at these prices", SHEET, sheet.itertuples(index=False))
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
