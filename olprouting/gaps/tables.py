"""The tables of a report on gaps, as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.report import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from olprouting.gaps.report import PolicyGaps


def gap_tables(rows: Sequence[PolicyGaps]) -> tuple[Table, ...]:
    """Return shares, gaps, parts of the error where there is a forecast, and times."""
    return tuple(_tables(rows))


def _tables(rows: Sequence[PolicyGaps]) -> Iterator[Table]:
    yield _table(
        "Shares of the sampled decisions",
        {
            "mean imbalance": [f"{row.mean_imbalance_tokens:,.0f}" for row in rows],
            "solved": [f"{row.sampled}/{row.decisions}" for row in rows],
            "proven": [f"{row.share_proven:.1%}" for row in rows],
            "optimal": [f"{row.share_optimal:.1%}" for row in rows],
            "captured": [
                "-" if row.share_captured is None else f"{row.share_captured:.1%}" for row in rows
            ],
        },
        rows,
        "captured: part of JSQ's excess over the optimum avoided on the same states",
    )
    yield _table(
        "Gap of a decision",
        {
            f"{name}{unit}": [f"{getattr(row, f'gap_{name}{field}'):{form}}" for row in rows]
            for field, unit, form in (("_tokens", "", ",.0f"), ("", " %", ".1%"))
            for name in ("mean", "median", "p95", "max")
        },
        rows,
        "in tokens, and as a share of the decision's own value; against the bound where unproven",
    )
    compared = [row for row in rows if row.share_compared is not None]
    if compared:
        yield _table(
            "Forecast error and heuristic error",
            {
                "gap by forecast": [f"{row.gap_mean_tokens:,.0f}" for row in compared],
                "true gap": [f"{row.true_gap_mean_tokens:,.0f}" for row in compared],
                "forecast's": [f"{row.forecast_error_mean_tokens:,.0f}" for row in compared],
                "heuristic's": [f"{row.heuristic_error_mean_tokens:,.0f}" for row in compared],
                "compared": [f"{row.share_compared:.1%}" for row in compared],
            },
            compared,
            "mean tokens of a decision; true: by the program that knows all lengths; forecast's: "
            "what the exact policy loses by trusting the forecast; heuristic's: the rest",
        )
    yield _table(
        "Times",
        {
            "route p50 us": [f"{row.dispatch_p50_s * 1e6:.1f}" for row in rows],
            "route p99 us": [f"{row.dispatch_p99_s * 1e6:.1f}" for row in rows],
            "solve p50 ms": [f"{row.solve_p50_s * 1e3:.1f}" for row in rows],
            "solve p99 ms": [f"{row.solve_p99_s * 1e3:.1f}" for row in rows],
        },
        rows,
        "a routing call, its call from Python included; an exact solve, model building included",
    )


def _table(
    title: str, columns: dict[str, list[str]], rows: Sequence[PolicyGaps], caption: str
) -> Table:
    labels = {"policy": [row.policy for row in rows], "H": [str(row.horizon) for row in rows]}
    return Table(title, labels, columns, caption)
