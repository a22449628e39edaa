"""What ``olprouting solve`` prints about a period: what each request costs, prices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pandas as pd

    from olprouting.instances import PeriodProblem, PeriodResult


SHEET = ("request", "worker", "share", "reward", "price x use", "margin", "slack")
PRICES = ("worker", "period", "slot", "kv_token")


def print_period(problem: PeriodProblem, result: PeriodResult) -> None:
    """Print a period's result as aligned text; starts, prices and option values of 0 are left out.

    Where there are prices, every request stands with its reward, what its resources cost at them,
    the margin that is left, and what the reward lacks for a start. What other optimal prices would
    say otherwise is printed as the range over all of them.
    """
    from olprouting.exact.period.price_sheet import has_ranges, price_ranges, price_sheet

    typer.echo(result.summary())
    if result.x is not None:
        starts = result.to_frame().itertuples(index=False)
        _print_table("starts", ("request", "worker", "share"), starts)
    if result.priced is None:
        return
    sheet = price_sheet(problem, result).astype(float).round(9) + 0.0  # no -0
    many = result.priced.unique is not True
    ranged = many and has_ranges(problem, result)
    which = "at all optimal prices" if ranged else "at these prices"
    _print_table(f"requests {which}", SHEET, _of_requests(sheet, ranged=ranged))
    if ranged:
        _print_table("prices", PRICES, _of_ranges(price_ranges(problem, result)))
        typer.echo("prices are not unique: least to greatest over all optimal ones")
        return
    prices = result.price_frame()
    costly = prices[(prices["batch"] > 0) | (prices["memory"] > 0)].itertuples(index=False)
    _print_table("prices", PRICES, costly)
    if many:
        typer.echo("others may be optimal too; --form lp shows between which ends they lie")
    values = [(j, y) for j, y in enumerate(result.priced.option_values.tolist()) if y > 0]
    _print_table("option values", ("request", "option_value"), values)


def _of_requests(sheet: pd.DataFrame, *, ranged: bool) -> Iterator[tuple[float | str, ...]]:
    for row in sheet.to_numpy(float).tolist():
        request, worker, share, reward, cost, margin, slack, least, most = row
        if not ranged:
            yield request, worker, share, reward, cost, margin, slack
            continue
        lacks = (0.0, 0.0) if share else (max(least - reward, 0.0), max(most - reward, 0.0))
        margins = _range(reward - most, reward - least)
        yield request, worker, share, reward, _range(least, most), margins, _range(*lacks)


def _of_ranges(prices: pd.DataFrame) -> Iterator[tuple[float | str, ...]]:
    for worker, period, *ends in prices.to_numpy(float).tolist():
        slot, token = _range(*ends[:2]), _range(*ends[2:])
        if (slot, token) != ("0", "0"):
            yield worker, period, slot, token


def _range(low: float, high: float) -> str:
    """Return both ends in words, or the one number that they are."""
    if math.isnan(low) or math.isnan(high):
        return "unknown"
    texts = [f"{end:.6g}" for end in (low, high)]
    if texts[0] == texts[1]:
        return texts[0]
    if math.isinf(high):
        return f"{texts[0]} or more"
    return f"{texts[1]} or less" if math.isinf(low) else " to ".join(texts)


def _print_table(
    title: str, headings: tuple[str, ...], rows: Iterable[tuple[float | str, ...]]
) -> None:
    """Print rows; those that differ in consecutive numbers of request or period alone are one."""
    runs = next(place for place in (1, 0) if headings[place] in ("request", "period"))
    lines: list[list[str]] = []
    last = 0.0
    for row in rows:
        cells = [one if isinstance(one, str) else f"{one:.6g}" for one in row]
        rest = cells[:runs] + cells[runs + 1 :]
        before = lines[-1] if lines else []
        if row[runs] == last + 1 and rest == before[:runs] + before[runs + 1 :]:
            before[runs] = f"{before[runs].split()[0]} to {cells[runs]}"
        else:
            lines.append(cells)
        last = float(row[runs])
    typer.echo(f"\n{title}" if lines else f"\n{title}: none above 0")
    if not lines:
        return
    table = [list(headings), *lines]
    widths = [max(len(line[column]) for line in table) for column in range(len(headings))]
    for line in table:
        typer.echo("  ".join(text.rjust(w) for text, w in zip(line, widths, strict=True)))
