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

    Clock, kernel and KV options of the run are to be given to `simulate` again.

    Parameters
    ----------
    requests
        `SimulationResult.to_frame` of a run, or that table read back from a file: its columns
        ``worker`` and ``admission_iteration`` are used.

    Raises
    ------
    InputError
        If a column is missing, a request was never admitted, or one was preempted: the table
        tells its last admission only.
    """
    missing = {"worker", "admission_iteration"} - set(requests.columns)
    if missing:
        raise InputError(f"not an exported run: column {', '.join(sorted(missing))} is missing")
    worker = requests["worker"].to_numpy(np.int64)
    admission = requests["admission_iteration"].to_numpy(np.int64)
    if "preemptions" in requests and requests["preemptions"].any():
        row = int(np.argmax(requests["preemptions"].to_numpy() > 0))
        raise InputError(
            f"row {row}: the request was preempted; the table tells its last admission only, so "
            "that the run cannot be replayed"
        )
    never = admission < 1
    if "rejected" in requests:
        never &= ~requests["rejected"].to_numpy(np.bool_)
    if never.any():
        raise InputError(
            f"row {int(np.argmax(never))}: the request was never admitted; a run that did not "
            "finish cannot be replayed"
        )

    def route(view: View, rng: np.random.Generator) -> Pairs:
        planned = admission[view.waiting_requests]
        if (planned < view.iteration).any():
            row = view.waiting_requests[np.argmin(planned)]
            raise InputError(
                f"row {row}: the request was admitted in iteration {planned.min()}, but in this "
                f"run it still waits in iteration {view.iteration}; trace, cluster and options "
                "must be those of the exported run"
            )
        now = np.flatnonzero(planned == view.iteration)
        return zip(now.tolist(), worker[view.waiting_requests[now]].tolist(), strict=True)

    return FunctionPolicy("replay", route, maximal=False)
