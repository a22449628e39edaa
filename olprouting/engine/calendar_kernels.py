"""Who is on a worker, and when they complete: compiled lists that allow removal in between.

Every worker counts its own iterations. A request admitted at its iteration b is active for
prefill and decode steps up to b + prefill + decode - 1. The calendar of a worker is a wheel: the
list at slot (last iteration modulo its length) holds the requests that complete then, or whole
turns of the wheel later. Both lists are linked in both directions, for preemption takes requests
out before their time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olprouting.compiling import Ints, inlined

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Records = npt.NDArray[np.void]


@inlined
def last_iteration(resident: Any, prefill_steps: int) -> int:
    """Return the own iteration of its worker in which a resident generates its last token."""
    return int(resident.began + prefill_steps + resident.decode - 1)


@inlined
def enlist(
    requests: Records, workers: Records, calendar: Ints, prefill_steps: int, request: int
) -> None:
    """Make an admitted request the newest resident of its worker and note when it completes."""
    resident = requests[request]
    worker = workers[resident.worker]
    resident.older = worker.newest
    resident.newer = -1
    if worker.newest >= 0:
        requests[worker.newest].newer = request
    worker.newest = request
    slot = last_iteration(resident, prefill_steps) % calendar.shape[1]
    following = calendar[resident.worker, slot]
    resident.complete_next = following
    resident.complete_previous = -1
    if following >= 0:
        requests[following].complete_previous = request
    calendar[resident.worker, slot] = request


@inlined
def delist(
    requests: Records, workers: Records, calendar: Ints, prefill_steps: int, request: int
) -> None:
    """Take a request off its worker and out of the calendar."""
    resident = requests[request]
    if resident.older >= 0:
        requests[resident.older].newer = resident.newer
    if resident.newer >= 0:
        requests[resident.newer].older = resident.older
    else:
        workers[resident.worker].newest = resident.older
    following = resident.complete_next
    if following >= 0:
        requests[following].complete_previous = resident.complete_previous
    if resident.complete_previous >= 0:
        requests[resident.complete_previous].complete_next = following
    else:
        slot = last_iteration(resident, prefill_steps) % calendar.shape[1]
        calendar[resident.worker, slot] = following
