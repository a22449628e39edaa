"""One call of a routing policy: what it chose, as arrays, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.policies.policy import CompiledPolicy

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.policies.policy import Policy
    from olprouting.policies.view import View


def timed_route(
    policy: Policy, view: View, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], float]:
    """Ask a policy for a decision: waiting positions, workers, and the seconds it took.

    It sees no further than its own horizon; a compiled policy is prepared before
    (`CompiledPolicy.prepare`), or the time includes that.

    Raises
    ------
    InputError
        If it returns no pairs of integers. Whatever a user's policy raises is passed on.
    """
    seen = view
    width = policy.horizon + 1
    if view.projected_load_tokens.shape[1] > width:
        seen = view._replace(
            projected_load_tokens=np.ascontiguousarray(view.projected_load_tokens[:, :width])
        )
    if isinstance(policy, CompiledPolicy):
        started = time.perf_counter()
        position, worker = policy.route_arrays(seen, rng)
        return position, worker, time.perf_counter() - started
    seen = seen.copy()  # a policy that counts down free slots in place must not change the run
    started = time.perf_counter()
    chosen = policy.route(seen, rng)
    pairs = list(chosen) if isinstance(chosen, Iterable) else None
    dispatch_s = time.perf_counter() - started
    position, worker = _pair_columns(pairs)
    return position, worker, dispatch_s


def _pair_columns(
    pairs: list[tuple[int, int]] | None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    wrong = InputError("route must return (waiting position, worker) pairs of integers")
    if pairs is None:
        raise wrong
    try:
        table = np.array(pairs or np.empty((0, 2), np.int64))
    except ValueError:  # NumPy's word for ragged rows
        raise wrong from None
    if table.shape != (len(pairs), 2) or table.dtype.kind not in "iu":
        raise wrong
    table = table.astype(np.int64)
    return table[:, 0].copy(), table[:, 1].copy()
