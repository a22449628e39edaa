"""One compiled entry to all compiled policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import Ints, compiled
from olprouting.policies.balance_route_kernels import route_balance
from olprouting.policies.fcfs_kernels import route_fcfs
from olprouting.policies.imbalance_kernels import route_least_imbalance
from olprouting.policies.record_kernels import route_by_record
from olprouting.policies.weighted_load_kernels import route_weighted_load

if TYPE_CHECKING:
    import numpy as np

    from olprouting.policies.parameters import PolicyParameters
    from olprouting.policies.view import View


@compiled
def route_compiled(
    parameters: PolicyParameters,
    view: View,
    memory: Ints,
    rng: np.random.Generator,
    position: Ints,
    worker: Ints,
) -> int:
    """Fill `position` and `worker`, shape (U,), with the pairs that the policy admits.

    Returns their number: U, unless KV limits stand in the way.
    """
    admitted = route_fcfs(
        parameters.fcfs, parameters.random_ties, view, memory, rng, position, worker
    )
    admitted += route_balance(
        parameters.balance, parameters.random_ties, view, rng, position, worker
    )
    admitted += route_least_imbalance(
        parameters.imbalance, parameters.random_ties, view, rng, position, worker
    )
    admitted += route_weighted_load(
        parameters.load_weights, parameters.random_ties, view, rng, position, worker
    )
    admitted += route_by_record(
        parameters.thresholds, parameters.random_ties, view, memory, rng, position, worker
    )
    return int(admitted)
