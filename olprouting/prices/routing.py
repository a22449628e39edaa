"""Algorithm 1's admission as a function on arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import read_only
from olprouting.errors import InputError, unknown_name
from olprouting.prices.routing_kernels import admit_in_order

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


def greedy_admission(
    margins: Floats,
    active: Ints,
    tokens: Ints,
    slots: Ints,
    kv_tokens: Ints,
    *,
    ties: str = "random",
    rng: np.random.Generator | None = None,
) -> tuple[Ints, Ints]:
    """Return the requests to start and their workers, in order of admission.

    Pairs of positive margin are admitted in decreasing order; those that do not fit are skipped.

    Parameters
    ----------
    margins
        r - a'p, shape (J, G).
    active, tokens
        Number of active periods and KV tokens at age 0, shape (J,).
    slots, kv_tokens
        Residuals of the real workers in this and the following periods, shape (G, W); not changed.
    ties
        ``"random"``, which needs `rng`, or ``"index"``.

    Raises
    ------
    InputError
        If shapes do not fit, or ties are to be random without `rng`.

    Notes
    -----
    Bid-price paper, Algorithm 1, lines 10 to 16.
    """
    margins = np.ascontiguousarray(margins, np.float64)
    if ties not in ("random", "index"):
        raise unknown_name("policy for ties", ties, ["random", "index"])
    if ties == "random" and rng is None:
        raise InputError("ties = 'random' needs rng")
    if margins.ndim != 2:
        raise InputError(f"margins must be requests by workers, got shape {margins.shape}")
    requests, workers = margins.shape
    if np.shape(active) != (requests,) or np.shape(tokens) != (requests,):
        raise InputError(f"active and tokens must have {requests} entries")
    if np.ndim(slots) != 2 or np.shape(slots) != np.shape(kv_tokens) or len(slots) != workers:
        raise InputError(f"slots and kv_tokens must be {workers} workers by periods")
    flat = margins.ravel()
    positive = np.flatnonzero(flat > 0)
    pairs = positive[np.argsort(-flat[positive], kind="stable")]
    request, worker = np.empty(requests, np.int64), np.empty(requests, np.int64)
    count = admit_in_order(
        pairs,
        flat[pairs],
        np.array(active, np.int64),
        np.array(tokens, np.int64),
        read_only(slots),
        read_only(kv_tokens),
        ties == "random",
        rng or np.random.default_rng(0),
        request,
        worker,
    )
    return request[:count], worker[:count]
