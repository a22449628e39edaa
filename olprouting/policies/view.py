"""What a routing policy may see at a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from olprouting.policies.worker_view import WorkerView

NOTHING: Final = np.empty(0, np.int64)


class View(NamedTuple):
    """The state of one decision, as plain arrays (a policy must not write to them).

    Under a central queue it is about the requests that wait there, and a policy says which start
    where. Under dispatch on arrival it is about those just released, a policy says where each is
    sent, and what workers have been given counts whether it is in service or still queued.

    Attributes
    ----------
    projected_load_tokens
        Shape (G, H+1), float64: tokens that the current requests of worker g will hold h
        iterations ahead; column 0 is the observed load. H is the horizon the policy asks for.
        The prompts of queued requests count at every offset.
    active_requests
        Shape (G,), int64: requests in service, and queued at the worker.
    free_slots
        Shape (G,), int64: how many requests a worker can be given; 0 where it is in the middle of a
        step (independent clock). On arrival all can be sent to any worker: W everywhere.
    waiting_prompt_tokens
        Shape (W,), int64: prompt sizes of the waiting requests in queue order.
    waiting_requests
        Shape (W,), int64: their row numbers in the trace.
    admissions
        U = min(W, total free slots): a maximal policy admits exactly this many, or under KV limits
        as many as fit; others admit at most so many. On arrival all W are to be sent.
    iteration
        Number of the iteration (period), from 1.
    kv_free_tokens
        Shape (G,), int64: KV tokens that the residents leave free in this iteration. Empty without
        KV limits.
    waiting_kv_tokens
        Shape (W,), int64: KV tokens that waiting requests need in their first iteration (after
        preemption: as many as were denied). Empty without KV limits.
    queued_requests, queued_tokens
        Shape (G,), int64: how many of `active_requests` are queued at the worker, and their prompt
        tokens. Empty under a central queue.
    workers
        The residents of every worker and the forecasts, for policies with ``needs_residents``; None
        for others.
    """

    projected_load_tokens: npt.NDArray[np.float64]
    active_requests: npt.NDArray[np.int64]
    free_slots: npt.NDArray[np.int64]
    waiting_prompt_tokens: npt.NDArray[np.int64]
    waiting_requests: npt.NDArray[np.int64]
    admissions: int
    iteration: int
    kv_free_tokens: npt.NDArray[np.int64] = NOTHING
    waiting_kv_tokens: npt.NDArray[np.int64] = NOTHING
    queued_requests: npt.NDArray[np.int64] = NOTHING
    queued_tokens: npt.NDArray[np.int64] = NOTHING
    workers: WorkerView | None = None

    def copy(self) -> View:
        """Return a view whose arrays will not change when the run goes on."""
        return self._replace(
            projected_load_tokens=self.projected_load_tokens.copy(),
            active_requests=self.active_requests.copy(),
            free_slots=self.free_slots.copy(),
            waiting_prompt_tokens=self.waiting_prompt_tokens.copy(),
            waiting_requests=self.waiting_requests.copy(),
            kv_free_tokens=self.kv_free_tokens.copy(),
            waiting_kv_tokens=self.waiting_kv_tokens.copy(),
            queued_requests=self.queued_requests.copy(),
            queued_tokens=self.queued_tokens.copy(),
        )
