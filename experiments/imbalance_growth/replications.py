"""Runs: requests under a batched schedule that meets the supply condition, policy by policy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import olprouting as olp
from imbalance_growth.setting import EXACT
from olprouting.theory import check_supply, constants
from olprouting.traces import geometric

if TYPE_CHECKING:
    from imbalance_growth.setting import Cell, Setting

RESERVE = 64
"""Requests waiting from the start at least; in few slots chance needs more than n."""


def release_pattern(cell: Cell, setting: Setting) -> np.ndarray:
    """Return arrivals of successive iterations, repeated for ever: one batch, then silence.

    Raises
    ------
    olp.InputError
        If they do not meet the supply condition of the theorem.
    """
    known = constants(setting.largest_prompt_tokens, *cell)
    needed = known.supply_requests_per_iteration
    pattern = np.zeros(round(setting.silence / cell.p), np.int64)
    pattern[0] = math.ceil(setting.supply_margin * (needed or 0) * len(pattern))
    supply = check_supply(known, pattern)
    if not supply.holds:
        raise olp.InputError(supply.message())
    return pattern


def requests(cell: Cell, setting: Setting, iterations: int, seed: int) -> olp.Trace:
    """Return the requests of one replication, which all policies share.

    The first batch is larger: n requests fill the slots, and n more, but at least `RESERVE`, are a
    reserve without which slots would stand empty before the pool has grown.
    """
    n = cell.workers * cell.slots
    pattern = release_pattern(cell, setting)
    released = np.resize(pattern, iterations)
    released[0] += n + max(n, RESERVE)
    rng = np.random.default_rng([seed, cell.workers, cell.slots, round(1 / cell.p)])
    trace = geometric(int(released.sum()), cell.p, setting.largest_prompt_tokens, rng)
    return trace.replace(release_iteration=np.repeat(np.arange(1, iterations + 1), released))


def run(name: str, cell: Cell, setting: Setting, seed: int) -> dict[str, Any]:
    """Run one policy on the requests of one seed.

    Returns
    -------
    dict
        ``imbalance_tokens`` and its means over both halves; ``full``, the share of measured
        iterations in which every slot was full; of IO_0 also ``decisions``, how many were
        ``proven`` optimal, what the others are above their bounds at most, and milliseconds.
    """
    warm_up = round(setting.warm_up / cell.p)
    iterations = warm_up + round(setting.measured / cell.p)
    options = olp.PolicyOptions(
        horizon=round(setting.horizon / cell.p) if name == "brh" else 0,
        beta=float(cell.workers),
        gamma=setting.gamma,
        solver="auto",
        time_limit_s=setting.time_limit_s,
    )
    policy = olp.make_policy(name, cell.workers, options)
    result = olp.simulate(
        requests(cell, setting, iterations, seed),
        olp.Cluster.homogeneous(cell.workers, cell.slots),
        policy,
        seed=seed,
        max_iterations=iterations,
        series_every=1,
    )
    if result.interrupted:  # a shorter run is none
        raise KeyboardInterrupt
    series = result.series_frame()[warm_up:]
    first, second = (half.mean() for half in np.array_split(series.imbalance_tokens, 2))
    row = {
        **cell._asdict(),
        "policy": name,
        "seed": seed,
        "imbalance_tokens": series.imbalance_tokens.mean(),
        "first_half_tokens": first,
        "second_half_tokens": second,
        "full": (series.active_requests == cell.workers * cell.slots).mean(),
    }
    if name == EXACT:
        row |= _proofs(policy.results)
    return row


def _proofs(results: list[olp.DecisionResult]) -> dict[str, float]:
    wall_s = np.array([result.wall_s + result.build_s for result in results])
    objective = sum(result.value for result in results)
    return {
        "decisions": len(results),
        "proven": sum(result.stop_reason is olp.StopReason.OPTIMAL for result in results),
        "gap_share": (objective - sum(result.bound or 0 for result in results)) / max(objective, 1),
        "median_ms": float(np.median(wall_s) * 1e3),
        "longest_ms": float(wall_s.max() * 1e3),
    }


def run_cell(cell: Cell, setting: Setting) -> pd.DataFrame:
    """Run all policies and seeds of one size; a row each."""
    return pd.DataFrame(
        [
            run(name, cell, setting, seed)
            for name, seeds in setting.policies(cell)
            for seed in range(seeds)
        ]
    )
