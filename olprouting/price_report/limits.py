"""Only runs at equal limits are compared, and requests beyond any limit are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olprouting.engine import SimulationResult


def require_equal_limits(runs: Sequence[SimulationResult]) -> None:
    """Refuse to compare runs whose workers had different slots or KV limits.

    A policy that may hold more requests on a worker than another is not a better policy.

    Raises
    ------
    InputError
        If limits differ; the message names the runs.
    """
    for run in runs[1:]:
        for name in ("slots", "kv_tokens"):
            first, other = getattr(runs[0].cluster, name), getattr(run.cluster, name)
            if not _equal(first, other):
                raise InputError(
                    f"{name}: {runs[0].policy} ran with {_text(first)} and {run.policy} with "
                    f"{_text(other)}; comparisons need equal limits"
                )


def oversize_notices(run: SimulationResult) -> list[str]:
    """Return a sentence on the requests that a run of a bid-price policy rejected on arrival.

    The policy itself turns nobody away before a period has passed.

    Raises
    ------
    InputError
        If those are all requests.
    """
    oversize = run.rejected & (run.rejection_iteration == run.release_iteration)
    count, limit = int(oversize.sum()), run.cluster.kv_tokens
    if not count or limit is None:
        return []
    if count == len(run.trace):
        raise InputError(
            f"kv_tokens: none of the {count} requests fits on a worker; the largest holds "
            f"{int(limit.max())} KV tokens, give workers more"
        )
    row = int(np.argmax(oversize))
    need = f"{run.trace.prompt_tokens[row]} prompt + {run.trace.decode_tokens[row]} decode tokens"
    largest = int(limit.max())
    what = f"request {row} ({need}) is more than any worker can hold ({largest} KV tokens)"
    return [f"{what}; rejected, like all such requests: {count}"]


def _equal(first: object, other: object) -> bool:
    if first is None or other is None:
        return first is other
    return np.array_equal(np.asarray(first), np.asarray(other))


def _text(limits: object) -> str:
    return "no limit" if limits is None else str(np.asarray(limits).tolist())
