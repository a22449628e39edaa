"""Imbalances and bounds for growing numbers of workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.theory.stationary import stationary_imbalance
from olprouting.theory.theorem import constants

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.theory.prompt_law import PromptLaw


def bounds_by_workers(law: PromptLaw, p: float, workers: int, slots: int) -> pd.DataFrame:
    """Return exact imbalances and bounds for G = 2, 4, 8, ... up to four times `workers`.

    Parameters
    ----------
    law, p, workers, slots
        See `stationary_imbalance`.

    Returns
    -------
    DataFrame
        ``workers``, ``fcfs_tokens`` (exact), ``io0_upper_bound_tokens`` and
        ``fcfs_lower_bound_tokens`` (the theorem's, for an unknown B_0); NaN where there is none.
        `workers` itself is among them if it is at least 2.
    """
    import numpy as np
    import pandas as pd

    counts = {2**power for power in range(1, (4 * workers).bit_length())}
    rows = []
    for count in sorted(counts | ({workers} - {1})):
        found = constants(law, p, count, slots)
        rows.append(
            (
                count,
                stationary_imbalance(law, p, count, slots).imbalance_tokens,
                found.io0_upper_bound_tokens,
                found.fcfs_lower_bound_tokens,
            )
        )
    names = ["workers", "fcfs_tokens", "io0_upper_bound_tokens", "fcfs_lower_bound_tokens"]
    return pd.DataFrame(rows, columns=names).fillna(np.nan).astype(dict.fromkeys(names[1:], float))
