"""What a routing policy may see at a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from olprouting.policies.worker_view import WorkerView

NO_LIMITS: Final = np.empty(0, np.int64)


class View(NamedTuple):
    """The state of one decision, as plain arrays (a policy must not write to them).

    Attributes
    ----------
    projected_load_tokens
        Shape (G, H+1), float64: tokens that the current requests of worker g will hold h
        iterations ahead; column 0 is the observed load. H is the horizon the policy asks for.
    active_requests
        Shape (G,), int64: requests in service.
    free_slots
        Shape (G,), int64; 0 where a worker is in the middle of a step (independent clock).
    waiting_prompt_tokens
        Shape (W,), int64: prompt sizes of the waiting requests in queue order.
    waiting_requests
        Shape (W,), int64: their row numbers in the trace.
    admissions
        U = min(W, total free slots): a maximal policy admits exactly this many, or under KV limits
        as many as fit; others admit at most so many.
    iteration
        Number of the iteration (period), from 1.
    kv_free_tokens
        Shape (G,), int64: KV tokens that the residents leave free in this iteration. Empty without
        KV limits.
    waiting_kv_tokens
        Shape (W,), int64: KV tokens that waiting requests need in their first iteration (after
        preemption: as many as were denied). Empty without KV limits.
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
    kv_free_tokens: npt.NDArray[np.int64] = NO_LIMITS
    waiting_kv_tokens: npt.NDArray[np.int64] = NO_LIMITS
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
        )
