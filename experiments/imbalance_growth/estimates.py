"""Estimates over seeds, with Student t intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from imbalance_growth.setting import CELL, EXACT, FCFS, LABELS, Setting
from olprouting.intervals import t_interval
from olprouting.theory import stationary_imbalance

LEVEL = 0.95


def interval(values: pd.Series | np.ndarray, level: float = LEVEL) -> tuple[float, float, float]:
    """Return mean and Student t interval of independent values."""
    return t_interval(np.asarray(values, np.float64), level)


def summarise(runs: pd.DataFrame, setting: Setting) -> pd.DataFrame:
    """Return a row per size and policy: intervals, the exact value of FCFS policies, and proofs."""
    rows = []
    for cell, at_cell in runs.groupby(CELL):
        exact = stationary_imbalance(setting.largest_prompt_tokens, *cell)
        for policy, group in at_cell.groupby("policy"):
            mean, low, high = interval(group.imbalance_tokens)
            row = dict(zip(CELL, cell, strict=True)) | {
                "policy": policy,
                "seeds": len(group),
                "mean_tokens": mean,
                "low_tokens": low,
                "high_tokens": high,
                "exact_fcfs_tokens": exact.imbalance_tokens,
                "exact_error_tokens": exact.error_tokens,
                "full": group.full.min(),
            }
            rows.append(row | (_proofs_of(group) if policy == EXACT else {}))
    order = {name: index for index, name in enumerate((*FCFS, *LABELS))}
    return pd.DataFrame(rows).sort_values([*CELL, "policy"], key=lambda c: c.replace(order))


def _proofs_of(group: pd.DataFrame) -> dict[str, float]:
    return {
        "decisions": group.decisions.sum(),
        "proven": group.proven.sum(),
        "gap_share": group.gap_share.mean(),
        "median_ms": group.median_ms.median(),
        "longest_ms": group.longest_ms.max(),
    }


def exponents(runs: pd.DataFrame, setting: Setting) -> pd.DataFrame:
    """Fit I / G = c B^a (log G)^b by least squares of logarithms, once per seed.

    Returns
    -------
    DataFrame
        A row per FCFS policy and one for the exact values, at the p with most values of G: ``a``
        and ``b`` with t intervals over seeds.
    """
    p = max(setting.workers, key=lambda pair: len(pair[1]))[0]
    at_p = runs[runs.p == p]
    rows = []
    for policy in FCFS:
        fits = [_fit(g) for _, g in at_p[at_p.policy == policy].groupby("seed")]
        a, b = (interval(column) for column in np.array(fits).T)
        rows.append({"policy": policy, **_named("a", a), **_named("b", b)})
    cells = at_p[CELL].drop_duplicates()
    imbalance = [
        stationary_imbalance(setting.largest_prompt_tokens, *cell).imbalance_tokens
        for cell in cells.itertuples(index=False)
    ]
    a, b = _fit(cells.assign(imbalance_tokens=imbalance))
    rows.append({"policy": "exact value", **_named("a", (a, a, a)), **_named("b", (b, b, b))})
    return pd.DataFrame(rows)


def _fit(rows: pd.DataFrame) -> tuple[float, float]:
    logs = np.log(rows.slots), np.log(np.log(rows.workers)), np.ones(len(rows))
    worker = np.log(rows.imbalance_tokens / rows.workers)
    a, b, _ = np.linalg.lstsq(np.column_stack(logs), worker, rcond=None)[0]
    return float(a), float(b)


def _named(name: str, estimate: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), estimate, strict=True))


def _complete(runs: pd.DataFrame) -> pd.DataFrame:
    """Keep the seeds that were run at every size."""
    sizes = runs.groupby("seed").size()
    return runs[runs.seed.map(sizes) == sizes.max()]


def slopes(runs: pd.DataFrame) -> pd.DataFrame:
    """Fit d log I / d log B for each p, G and policy, over all B and over the larger half of them.

    Returns
    -------
    DataFrame
        ``slope`` and ``late``, with t intervals over seeds; NaN where fewer than two B were run.
    """
    rows = []
    for key, group in runs.groupby(["p", "workers", "policy"], sort=True):
        row = dict(zip(("p", "workers", "policy"), key, strict=True))
        sizes = np.sort(group.slots.unique())
        for name, used in (("slope", sizes), ("late", sizes[len(sizes) // 2 :])):
            part = _complete(group[group.slots.isin(used)])
            fits = [
                np.polyfit(np.log(g.slots), np.log(g.imbalance_tokens), 1)[0]
                for _, g in part.groupby("seed")
                if len(used) > 1
            ]
            row |= _named(name, interval(np.array(fits)) if fits else (math.nan,) * 3)
        rows.append(row | {"largest_slots": sizes[-1]})
    return pd.DataFrame(rows)


def against_exact(runs: pd.DataFrame) -> pd.DataFrame:
    """Return imbalance over that of IO_0 on the same requests, less 1, averaged over B.

    Returns
    -------
    DataFrame
        A row per p, G and BalanceRoute policy: ``excess`` with its t interval over seeds.
    """
    key = [*CELL, "seed"]
    exact = runs[runs.policy == EXACT].set_index(key).imbalance_tokens
    others = runs[runs.policy.isin(LABELS) & (runs.policy != EXACT)].set_index(key)
    both = others.join(exact.rename("io0_tokens"), how="inner").reset_index()
    both["excess"] = both.imbalance_tokens / both.io0_tokens - 1
    rows = []
    for key, group in both.groupby(["p", "workers", "policy"]):
        means = _complete(group).groupby("seed").excess.mean()
        row = dict(zip(("p", "workers", "policy"), key, strict=True))
        rows.append(row | _named("excess", interval(means)))
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Agreement:
    """Simulated FCFS means beside the exact stationary values.

    Parameters
    ----------
    intervals, inside
        How many intervals of confidence `LEVEL`, and how many contain the exact value.
    widened_inside
        How many do if widened so that all do with probability at least `LEVEL` (Bonferroni).
    deviation
        Relative deviation averaged over sizes and policies, with its t interval over seeds.
    """

    intervals: int
    inside: int
    widened_inside: int
    deviation: tuple[float, float, float]


def agreement(runs: pd.DataFrame, summary: pd.DataFrame, level: float = LEVEL) -> Agreement:
    """Compare FCFS policies with the exact values; `level` is of the pooled deviation."""
    rows = summary[summary.policy.isin(FCFS)]
    exact = rows.exact_fcfs_tokens
    inside = (rows.low_tokens <= exact) & (exact <= rows.high_tokens)
    half = rows.high_tokens - rows.mean_tokens
    t = stats.t.ppf(1 - (1 - LEVEL) / 2, rows.seeds - 1)
    widened = stats.t.ppf(1 - (1 - LEVEL) / 2 / len(rows), rows.seeds - 1) / t
    table = runs.merge(rows[[*CELL, "policy", "exact_fcfs_tokens"]], on=[*CELL, "policy"])
    relative = table.imbalance_tokens / table.exact_fcfs_tokens - 1
    return Agreement(
        len(rows),
        int(inside.sum()),
        int(((rows.mean_tokens - exact).abs() <= half * widened).sum()),
        interval(relative.groupby(table.seed).mean(), level),
    )


def drift(runs: pd.DataFrame) -> pd.DataFrame:
    """Return second over first half of the measured iterations, less 1, averaged over sizes."""
    relative = runs.assign(drift=runs.second_half_tokens / runs.first_half_tokens - 1)
    rows = []
    for policy, group in relative.groupby("policy", sort=False):
        means = _complete(group).groupby("seed").drift.mean()
        rows.append({"policy": policy, **_named("drift", interval(means))})
    return pd.DataFrame(rows)
