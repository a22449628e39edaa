"""What a routing rule may see at a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class View(NamedTuple):
    """The state of one decision, as plain arrays (a rule must not write to them).

    Attributes
    ----------
    projected_load_tokens
        Shape (G, H+1), float64: tokens that the current requests of worker g will hold h
        iterations ahead; column 0 is the observed load. H is the horizon the policy asks for.
    active_requests
        Shape (G,), int64: requests in service.
    free_slots
        Shape (G,), int64.
    waiting_prompt_tokens
        Shape (W,), int64: prompt sizes of the waiting requests in queue order.
    waiting_requests
        Shape (W,), int64: their row numbers in the trace.
    admissions
        U = min(W, total free slots): a rule admits exactly this many.
    iteration
        Number of the iteration, from 1.
    """

    projected_load_tokens: npt.NDArray[np.float64]
    active_requests: npt.NDArray[np.int64]
    free_slots: npt.NDArray[np.int64]
    waiting_prompt_tokens: npt.NDArray[np.int64]
    waiting_requests: npt.NDArray[np.int64]
    admissions: int
    iteration: int

    def copy(self) -> View:
        """Return a view whose arrays will not change when the run goes on."""
        return self._replace(
            projected_load_tokens=self.projected_load_tokens.copy(),
            active_requests=self.active_requests.copy(),
            free_slots=self.free_slots.copy(),
            waiting_prompt_tokens=self.waiting_prompt_tokens.copy(),
            waiting_requests=self.waiting_requests.copy(),
        )
