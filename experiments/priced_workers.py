"""What the experiments on bid prices have in common: workers with KV limits, and requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import olprouting as olp
from olprouting.traces import profile_names

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np


@dataclass(frozen=True)
class PricedWorkers:
    """Workers and their limits, the same for every policy.

    Parameters
    ----------
    trace
        A name or a file that `olprouting.resolve` knows.
    noise
        Spread of forecast lengths.
    workers, slots, kv_tokens
        How many workers, and the slots and KV tokens of each.
    """

    trace: str = "azure-2023-conv-like"
    noise: float = 0.2
    workers: int = 4
    slots: int = 29
    kv_tokens: int = 30_000

    @property
    def cluster(self) -> olp.Cluster:
        """The workers."""
        step = olp.StepTime.preset("llama-2-7b-a100-tp1", self.slots)
        return olp.Cluster.homogeneous(
            self.workers, self.slots, kv_tokens=self.kv_tokens, step_time=step
        )

    def requests_of(self, seed: int, count: int, rows: Callable[[int], np.ndarray]) -> olp.Trace:
        """Return the requests of one seed: drawn from a profile, or some rows of a trace.

        Parameters
        ----------
        seed
            What a profile draws from.
        count
            Requests drawn from a profile.
        rows
            Which rows of a trace with so many requests are taken.
        """
        if self.trace in profile_names():
            return olp.resolve(self.trace, requests=count, seed=seed)
        trace = olp.resolve(self.trace)
        return trace.take(rows(len(trace)))
