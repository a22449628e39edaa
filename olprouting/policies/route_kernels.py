"""One compiled entry to all compiled rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.compiling import Ints, compiled
from olprouting.policies.balance_route_kernels import route_balance
from olprouting.policies.fcfs_kernels import route_fcfs

if TYPE_CHECKING:
    import numpy as np

    from olprouting.policies.rules import RuleParameters
    from olprouting.policies.view import View


@compiled
def route_compiled(
    parameters: RuleParameters,
    view: View,
    pointer: Ints,
    rng: np.random.Generator,
    position: Ints,
    worker: Ints,
) -> int:
    """Fill `position` and `worker`, shape (U,), with the pairs that the rule admits.

    Returns their number: U, unless KV limits stand in the way.
    """
    admitted = route_fcfs(
        parameters.fcfs, parameters.random_ties, view, pointer, rng, position, worker
    )
    admitted += route_balance(
        parameters.balance, parameters.random_ties, view, rng, position, worker
    )
    return int(admitted)
