"""Who stayed in which slot of a worker."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.engine import SimulationResult


def slots_of(run: SimulationResult, worker: int) -> pd.DataFrame:
    """Return the stays of requests in a worker's slots, in the order of admission.

    The engine counts slots and does not number them; here every request takes the lowest free one.

    Parameters
    ----------
    run
        A run by the barrier clock.
    worker
        Its number.

    Returns
    -------
    DataFrame
        ``request``, ``slot``, ``from_iteration``, ``to_iteration`` (the last, inclusive; the run's
        last one if the request is unfinished) and ``tokens``, prompt and output together.
    """
    import pandas as pd

    requests = np.flatnonzero((run.worker == worker) & (run.admission_iteration > 0))
    first = run.admission_iteration[requests]
    end = run.metrics.iterations + run.metrics.idle_iterations
    last = np.where(run.finish_iteration[requests] > 0, run.finish_iteration[requests], end)
    order = np.lexsort((requests, first))
    free, slots = list(range(int(run.cluster.slots[worker]))), []
    busy: list[tuple[int, int]] = []  # last iteration and slot
    for place in order.tolist():
        while busy and busy[0][0] < first[place]:
            heapq.heappush(free, heapq.heappop(busy)[1])
        slot = heapq.heappop(free)
        heapq.heappush(busy, (int(last[place]), slot))
        slots.append(slot)
    requests = requests[order]
    return pd.DataFrame(
        {
            "request": requests,
            "slot": np.array(slots, dtype=np.int64),
            "from_iteration": first[order],
            "to_iteration": last[order],
            "tokens": run.trace.prompt_tokens[requests] + run.trace.decode_tokens[requests],
        }
    )
