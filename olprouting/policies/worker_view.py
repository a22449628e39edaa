"""What a policy may know of the residents of every worker: enough to plan periods ahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from olprouting.errors import shown
from olprouting.instances._checks import require_memory

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from olprouting.instances.request_curves import Batching

NO_LIMIT_TOKENS: Final = 2**52
"""The KV limit of a worker that has none: never in the way, and exact in double precision."""


class WorkerResiduals(NamedTuple):
    """Room on the workers, from the current period on.

    Attributes
    ----------
    slots, kv_tokens
        Shape (G, periods), int64, >= 0.
    clipped
        How many entries were negative before: workers fuller than was forecast.
    """

    slots: npt.NDArray[np.int64]
    kv_tokens: npt.NDArray[np.int64]
    clipped: int


@dataclass(frozen=True, eq=False)
class WorkerView:
    """The real state of the workers at a decision, with forecasts of what is left.

    Parameters
    ----------
    clock_s
        Time of the decision in seconds.
    slots, kv_tokens
        Limits, shape (G,); `NO_LIMIT_TOKENS` on a cluster without KV limits.
    waiting_decode_tokens
        Forecast decode lengths of the waiting requests, shape (W,), >= 1; of what is left, where
        preemption turned generated tokens into prompt.
    waiting_arrival_period, waiting_arrival_s
        When they joined the queue for the first time, shape (W,): period, and seconds.
    resident_requests
        Row numbers in the trace of the requests in service, shape (R,): by worker, in each the
        earliest admission first.
    resident_worker, resident_prompt_tokens
        Shape (R,).
    resident_age
        Shape (R,): their age in the current period, or in the step that their worker is running.
    resident_remaining
        Shape (R,), >= 1: in how many periods they are forecast to be active, the current one
        included; max(1, forecast - age).
    resident_reserved_tokens
        KV tokens that they are charged at least, shape (R,); 0 unless reserved.
    batching, age_offset, block_tokens
        How KV tokens are counted; `block_tokens` is 1 where they are not rounded.
    waiting_slo_class
        Class of each waiting request, shape (W,); None where the trace has none.
    """

    clock_s: float
    slots: npt.NDArray[np.int64]
    kv_tokens: npt.NDArray[np.int64]
    waiting_decode_tokens: npt.NDArray[np.int64]
    waiting_arrival_period: npt.NDArray[np.int64]
    waiting_arrival_s: npt.NDArray[np.float64]
    resident_requests: npt.NDArray[np.int64]
    resident_worker: npt.NDArray[np.int64]
    resident_prompt_tokens: npt.NDArray[np.int64]
    resident_age: npt.NDArray[np.int64]
    resident_remaining: npt.NDArray[np.int64]
    resident_reserved_tokens: npt.NDArray[np.int64]
    batching: Batching
    age_offset: int
    block_tokens: int
    waiting_slo_class: npt.NDArray[np.str_] | None = None

    def residuals(self, periods: int) -> WorkerResiduals:
        """Return the slots and KV tokens left in the current and the next `periods` - 1 periods."""
        from olprouting.policies.residual_kernels import residuals

        workers = len(self.slots)
        require_memory(f"{shown(periods)} periods of {workers} workers", 48 * workers * periods)
        return WorkerResiduals(
            *residuals(
                self.slots,
                self.kv_tokens,
                self.resident_worker,
                self.resident_prompt_tokens,
                self.resident_age,
                self.resident_remaining,
                self.resident_reserved_tokens,
                periods,
                self.age_offset,
                self.block_tokens,
            )
        )
