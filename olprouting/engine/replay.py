"""Repeat the admissions of an exported run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.policies.policy import FunctionPolicy, Pairs

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.policies.view import View


def replay_policy(requests: pd.DataFrame) -> FunctionPolicy:
    """Return a policy that repeats the admissions of an exported run.

    Parameters
    ----------
    requests
        `SimulationResult.to_frame` of a run, or that table read back from a file: its columns
        ``worker`` and ``admission_iteration`` are used.

    Raises
    ------
    InputError
        If a column is missing or a request was never admitted.
    """
    missing = {"worker", "admission_iteration"} - set(requests.columns)
    if missing:
        raise InputError(f"not an exported run: column {', '.join(sorted(missing))} is missing")
    worker = requests["worker"].to_numpy(np.int64)
    admission = requests["admission_iteration"].to_numpy(np.int64)
    never = admission < 1
    if never.any():
        raise InputError(
            f"row {int(np.argmax(never))}: the request was never admitted; a run that did not "
            "finish cannot be replayed"
        )

    def route(view: View, rng: np.random.Generator) -> Pairs:
        now = np.flatnonzero(admission[view.waiting_requests] == view.iteration)
        return zip(now.tolist(), worker[view.waiting_requests[now]].tolist(), strict=True)

    return FunctionPolicy("replay", route)
