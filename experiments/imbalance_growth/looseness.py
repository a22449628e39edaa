"""Each bound of the theorem beside what it bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
from scipy import optimize

from imbalance_growth.setting import CELL, EXACT, Setting
from olprouting.theory import certified_ratio, constants, stationary_imbalance

if TYPE_CHECKING:
    from olprouting.theory import TheoremConstants


def looseness(summary: pd.DataFrame, setting: Setting) -> pd.DataFrame:
    """Return a row per size: each bound of the theorem beside what it bounds.

    Ratios are NaN where IO_0 was not run. ``capped`` says that min{1, 4 G exp(-kappa B)} in eps
    is 1; ``io0_bound_without_eps`` is (G-1) s / p, to which the bound tends, no bound by itself.
    """
    rows = []
    measured = summary[summary.policy == EXACT].set_index(CELL).mean_tokens
    for key in summary.groupby(CELL).groups:
        known = constants(setting.largest_prompt_tokens, *key)
        exact = stationary_imbalance(setting.largest_prompt_tokens, *key)
        io0, upper = measured.get(key, math.nan), known.io0_upper_bound_tokens or math.nan
        without = (known.workers - 1) * known.largest_prompt_tokens / known.p
        rows.append(
            dict(zip(CELL, key, strict=True))
            | {
                "fcfs_exact_tokens": exact.imbalance_tokens,
                "fcfs_over_scale": exact.normalised,
                "fcfs_over_lower_bound": exact.imbalance_tokens / known.fcfs_lower_bound_tokens,
                "io0_tokens": io0,
                "io0_bound_tokens": upper,
                "io0_bound_over_io0": upper / io0,
                "io0_bound_without_eps_over_io0": without / io0,
                "io0_bound_over_fcfs": upper / exact.imbalance_tokens,
                "eps_tokens": known.eps_tokens,
                "capped": 4 * known.workers * math.exp(-known.kappa_per_slot * known.slots) >= 1,
                "slots_to_uncap": math.log(4 * known.workers) / known.kappa_per_slot,
                "slots_to_eps_below_s": _slots_to_eps_below_s(known),
                "ratio": exact.imbalance_tokens / io0,
                "ratio_bound": known.ratio_lower_bound,
                "certified_ratio": certified_ratio(known, exact),
            }
        )
    return pd.DataFrame(rows)


def _slots_to_eps_below_s(known: TheoremConstants) -> float:
    """Return the B from which on eps <= s, where eps only falls with B."""

    def excess(log_slots: float) -> float:
        n = known.workers * math.exp(log_slots)
        log_rare = math.log(4 * known.workers) - known.kappa_per_slot * math.exp(log_slots)
        spread = 8 * n * known.p * (1 - known.p) * known.mu2_tokens2
        return math.log(spread) + log_rare - 2 * math.log(known.largest_prompt_tokens)

    last = math.log(known.slots) + 100
    return math.exp(optimize.brentq(excess, -math.log(known.kappa_per_slot), last))
