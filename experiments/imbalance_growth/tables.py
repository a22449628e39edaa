"""Markdown tables of the estimates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from imbalance_growth.estimates import (
    against_exact,
    agreement,
    drift,
    exponents,
    slopes,
    summarise,
)
from imbalance_growth.looseness import looseness
from imbalance_growth.setting import CELL, EXACT, FCFS, LABELS, Setting

if TYPE_CHECKING:
    import pandas as pd


def to_markdown(runs: pd.DataFrame, setting: Setting) -> str:
    """Return all tables with the sentences that say how they came about."""
    summary = summarise(runs, setting)
    found = agreement(runs, summary)
    mean, low, high = found.deviation
    parts = [
        "## FCFS policies against the exact stationary value",
        (
            f"{found.inside} of {found.intervals} intervals (95%) contain the exact value, "
            f"{found.widened_inside} of {found.intervals} if widened to hold jointly (Bonferroni). "
            "Relative deviation averaged over sizes and policies: "
            f"{mean:+.2%} [{low:+.2%}, {high:+.2%}]."
        ),
        "## I / G = c B^a (log G)^b",
        _table(exponents(runs, setting), {"a": "a", "b": "b"}, 3),
        "## Growth in B: d log I / d log B, over all B and over the larger half of them",
        _table(
            slopes(runs[runs.policy.isin(("jsq", *LABELS))]),
            {"slope": "all B", "late": "larger B"},
            2,
        ),
        "## Imbalance per worker, I / G in tokens",
        _imbalances(summary),
        "## Decisions of IO_0",
        _proof_table(summary),
        "## BalanceRoute over IO_0 on the same requests, less 1, averaged over B",
        _table(against_exact(runs), {"excess": "excess"}, 2),
        "## Bound over measured",
        _looseness_table(looseness(summary, setting)),
        "## Second half of the measured iterations over the first, less 1",
        _table(drift(runs), {"drift": "drift"}, 3),
    ]
    return "\n\n".join(parts) + "\n"


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _table(frame: pd.DataFrame, estimates: dict[str, str], digits: int) -> str:
    hidden = {f"{name}{end}" for name in estimates for end in ("", "_low", "_high")}
    plain = [c for c in frame.columns if c not in hidden]
    rows = []
    for _, row in frame.iterrows():
        cells = [LABELS.get(str(row[c]), str(row[c])) for c in plain]
        for name in estimates:
            values = (row[name], row[f"{name}_low"], row[f"{name}_high"])
            cells.append(_estimate(values, digits))
        rows.append(cells)
    return _markdown([*plain, *estimates.values()], rows)


def _estimate(values: tuple[float, float, float], digits: int) -> str:
    mean, low, high = (f"{value:.{digits}f}" for value in values)
    if math.isnan(values[0]):
        return "-"
    return mean if low == high else f"{mean} [{low}, {high}]"


def _imbalances(summary: pd.DataFrame) -> str:
    rows = []
    for (p, workers, slots), group in summary.groupby(CELL):
        by_policy = group.set_index("policy")
        exact = by_policy.exact_fcfs_tokens.iloc[0] / workers
        cells = [f"{p:g}", str(workers), str(slots), f"{exact:.1f}"]
        for policy in (*FCFS, *LABELS):
            cell = "-"
            if policy in by_policy.index:
                row = by_policy.loc[policy]
                half = (row.high_tokens - row.mean_tokens) / workers
                cell = f"{row.mean_tokens / workers:.1f} ± {half:.1f}"
            cells.append(cell)
        rows.append(cells)
    names = [LABELS.get(policy, policy) for policy in (*FCFS, *LABELS)]
    return _markdown(["p", "G", "B", "FCFS, exact", *names], rows)


def _proof_table(summary: pd.DataFrame) -> str:
    rows = [
        [
            f"{row.p:g}",
            str(row.workers),
            str(row.slots),
            f"{row.decisions:.0f}",
            f"{row.decisions - row.proven:.0f}",
            f"{row.gap_share:.2%}",
            f"{row.median_ms:.1f}",
            f"{row.longest_ms:.0f}",
        ]
        for row in summary[summary.policy == EXACT].itertuples()
    ]
    head = ["p", "G", "B", "decisions", "unproven", "gap at most", "median ms", "longest ms"]
    return _markdown(head, rows)


def _looseness_table(frame: pd.DataFrame) -> str:
    columns = {
        "fcfs_over_scale": "FCFS / scale",
        "fcfs_over_lower_bound": "FCFS / lower bound",
        "io0_bound_over_io0": "upper bound / IO_0",
        "io0_bound_without_eps_over_io0": "(G-1)s/p / IO_0",
        "io0_bound_over_fcfs": "upper bound / FCFS",
        "eps_tokens": "eps",
        "slots_to_uncap": "B that uncaps eps",
        "slots_to_eps_below_s": "B for eps <= s",
        "ratio": "FCFS / IO_0",
        "ratio_bound": "theorem's ratio",
        "certified_ratio": "certified ratio",
    }
    rows = [
        [f"{row.p:g}", str(row.workers), str(row.slots)]
        + ["-" if math.isnan(getattr(row, c)) else f"{getattr(row, c):.3g}" for c in columns]
        for row in frame.itertuples()
    ]
    return _markdown(["p", "G", "B", *columns.values()], rows)
