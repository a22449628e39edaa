"""Repeat the admissions and rejections of an exported run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError, member_named
from olprouting.instances._checks import token_vector
from olprouting.options import Dispatch, DispatchOptions
from olprouting.policies.policy import REJECT, FunctionPolicy, Pairs

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from olprouting.policies.view import View


def replay_policy(
    requests: pd.DataFrame, dispatch: Dispatch | str = DispatchOptions.dispatch
) -> FunctionPolicy:
    """Return a policy that repeats the admissions and rejections of an exported run.

    Clock, batching and KV options of the run are to be given to `simulate` again.

    Parameters
    ----------
    requests
        `SimulationResult.to_frame` of a run, or that table read back from a file: its columns
        ``worker`` and ``admission_iteration`` are used, and ``rejection_iteration`` if it is there.
    dispatch
        That of the run. On arrival the worker of every request is all that is repeated.

    Raises
    ------
    InputError
        If a column is missing, a request was neither admitted nor rejected, or one was preempted:
        the table tells its last admission only.
    """
    missing = {"worker", "admission_iteration"} - set(requests.columns)
    if missing:
        raise InputError(f"not an exported run: column {', '.join(sorted(missing))} is missing")

    def column(name: str) -> npt.NDArray[np.int64]:
        return token_vector(name, requests[name].to_numpy(), at_least=-1)

    worker, admission = column("worker"), column("admission_iteration")
    if member_named(Dispatch, "dispatch", dispatch) is Dispatch.ARRIVAL:
        return FunctionPolicy("replay", partial(_send_again, worker))
    if "preemptions" in requests and (preempted := column("preemptions") > 0).any():
        row = int(np.argmax(preempted))
        raise InputError(
            f"row {row}: the request was preempted; the table tells its last admission only, so "
            "that the run cannot be replayed"
        )
    rejected = np.zeros(len(requests), np.bool_)
    if "rejection_iteration" in requests:
        rejection = column("rejection_iteration")
        rejected = rejection > 0
        worker = np.where(rejected, REJECT, worker)
        admission = np.where(rejected, rejection, admission)
    if (admission < 1).any():
        raise InputError(
            f"row {int(np.argmax(admission < 1))}: the request was never admitted; a run that did "
            "not finish cannot be replayed"
        )

    def route(view: View, rng: np.random.Generator) -> Pairs:
        if view.waiting_requests.max(initial=-1) >= len(admission):
            raise InputError(
                f"the exported run has {len(admission)} requests, this trace has more; it must be "
                "that of the exported run"
            )
        planned = admission[view.waiting_requests]
        if (planned < view.iteration).any():
            row = view.waiting_requests[np.argmin(planned)]
            what = "rejected" if rejected[row] else "admitted"
            raise InputError(
                f"row {row}: the request was {what} in iteration {planned.min()}, but in this "
                f"run it still waits in iteration {view.iteration}; trace, cluster and options "
                "must be those of the exported run"
            )
        now = np.flatnonzero(planned == view.iteration)
        return zip(now.tolist(), worker[view.waiting_requests[now]].tolist(), strict=True)

    # a rejection may come when no slot is free; only policies that ask for workers are asked then
    return FunctionPolicy("replay", route, maximal=False, needs_residents=bool(rejected.any()))


def _send_again(worker: npt.NDArray[np.int64], view: View, rng: np.random.Generator) -> Pairs:
    """Send every request to the worker it was sent to."""
    if view.waiting_requests.max(initial=-1) >= len(worker):
        raise InputError(
            f"the exported run has {len(worker)} requests, this trace has more; it must be "
            "that of the exported run"
        )
    sent = worker[view.waiting_requests]
    if (sent < 0).any():
        row = view.waiting_requests[np.argmin(sent)]
        raise InputError(f"row {row}: the request was never sent to a worker")
    return enumerate(sent.tolist())
