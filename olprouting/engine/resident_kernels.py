"""Compiled list of who is on which worker."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from olprouting.compiling import Ints, compiled


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
