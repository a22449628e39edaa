"""Compiled answers about the residents of every worker: who they are, and their true future."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from olprouting.compiling import Floats, Ints, compiled


@compiled
def list_residents(requests: npt.NDArray[np.void], workers: npt.NDArray[np.void]) -> Ints:
    """Return the resident requests: worker by worker, in each the earliest admission first."""
    active = 0
    for g in range(len(workers)):
        active += workers[g].active
    residents = np.empty(active, np.int64)
    end = 0
    for g in range(len(workers)):
        end += workers[g].active
        place = end
        request = workers[g].newest
        while request >= 0:
            place -= 1
            residents[place] = request
            request = requests[request].older
    return residents


@compiled
def project_truth(
    requests: npt.NDArray[np.void],
    workers: npt.NDArray[np.void],
    iteration: int,
    prefill_steps: int,
    horizon: int,
) -> Floats:
    """Return the loads that residents will hold at offsets 0..H, shape (G, H+1)."""
    load = np.zeros((len(workers), horizon + 1))
    for g in range(len(workers)):
        request = workers[g].newest
        while request >= 0:
            resident = requests[request]
            workload = resident.prompt + iteration - resident.admission
            steps_left = prefill_steps + resident.decode - (iteration - resident.admission)
            for offset in range(min(steps_left, horizon + 1)):
                load[g, offset] += workload + offset
            request = resident.older
    return load
