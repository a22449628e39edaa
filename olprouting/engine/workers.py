"""The worker view of a decision, built from the state of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.engine.state import BY_TIME
from olprouting.engine.worker_kernels import list_residents
from olprouting.instances.request_curves import Batching
from olprouting.policies.worker_view import NO_LIMIT_TOKENS, WorkerView

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.engine.state import Settings, State
    from olprouting.policies.view import View


def worker_view(
    settings: Settings, state: State, view: View, slo_class: npt.NDArray[np.str_] | None
) -> WorkerView:
    """Return the residents of every worker and what is forecast of them.

    `slo_class` names the class of each request of the trace, where it has any.
    """
    waiting = state.requests[view.waiting_requests]
    rows = list_residents(state.requests, state.workers)
    residents = state.requests[rows]
    worker = residents["worker"].copy()
    age = state.workers["own_iteration"][worker] - residents["began"]
    arrival = "arrival_s" if settings.release_mode == BY_TIME else "release_s"
    limit = state.workers["kv_limit"] if settings.kv_limited else NO_LIMIT_TOKENS
    return WorkerView(
        clock_s=float(state.now["clock_s"][0]),
        slots=state.workers["slots"].copy(),
        kv_tokens=np.full(len(state.workers), limit),
        waiting_decode_tokens=waiting["forecast"] - settings.prefill_steps,
        waiting_arrival_period=waiting["release"].copy(),
        waiting_arrival_s=waiting[arrival].copy(),
        resident_requests=rows,
        resident_worker=worker,
        resident_prompt_tokens=residents["prompt"].copy(),
        resident_age=age,
        resident_remaining=np.maximum(1, residents["forecast"] - age),
        resident_reserved_tokens=residents["reserved"].copy(),
        batching=Batching.MIXED if settings.prefill_steps else Batching.DECODE,
        age_offset=settings.age_offset,
        block_tokens=settings.block_tokens,
        waiting_slo_class=None if slo_class is None else slo_class[view.waiting_requests],
    )
