"""Shares of the peaks from the dual of the linear relaxation, rounded to exact fractions.

The relaxation stands over size classes, with each worker's sum and number of new requests as
columns of their own, so that the rows of the peaks stay short. The dual of those rows is
G gamma^h times the shares; whatever rounding does to them, `peaks_bound` is valid for the result.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.certificates.decision_bounds import Peaks
from olprouting.instances import Growth

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from olprouting.instances import Decision

    Floats = npt.NDArray[np.float64]

LIMIT_S = 10.0
"""Seconds for the relaxation, which may be far larger than what the decision took to solve, and
during which Ctrl-C waits."""

UNIT = 2**44
"""Shares are multiples of 1/UNIT."""

PRICE_UNIT = 2**20
"""Prices of slots, in tokens, are multiples of 1/PRICE_UNIT."""


def relaxed_peaks(
    decision: Decision, sums: Mapping[int, int] | None = None, end_s: float = math.inf
) -> Peaks | None:
    """Return the shares and slot prices of the linear relaxation's dual, or None on failure.

    Parameters
    ----------
    decision
        The decision.
    sums
        Sums of new sizes of some workers, which the relaxation keeps to.
    end_s
        When to give up (`time.monotonic`).
    """
    from scipy.optimize import linprog

    program = _Program(decision)
    solve: Any = linprog  # its stubs know arrays of limits only as pairs
    result = solve(
        program.cost,
        A_ub=program.rows("peak", "supply", "slots"),
        b_ub=program.right_side("peak", "supply", "slots"),
        A_eq=program.rows("tokens", "number", "all"),
        b_eq=program.right_side("tokens", "number", "all"),
        bounds=program.limits(sums or {}),
        method="highs",
        options={"time_limit": max(0.0, min(LIMIT_S, end_s - time.monotonic()))},
    )
    if result.status != 0:
        return None
    dual = np.maximum(-result.ineqlin.marginals, 0)
    loads = decision.projected_load_tokens
    return Peaks(
        _shares(dual[: loads.size].reshape(loads.shape), loads),
        tuple(Fraction(round(v * PRICE_UNIT), PRICE_UNIT) for v in dual[-len(loads) :].tolist()),
    )


class _Program:
    """The relaxation: columns n[class, g], b_g, n_g and M_h >= 0 in this order, and named rows."""

    def __init__(self, decision: Decision) -> None:
        sizes, supply = np.unique(decision.waiting_prompt_tokens, return_counts=True)
        G, K, W = decision.workers, len(sizes), decision.horizon + 1
        discount = np.array([float(decision.gamma**h) for h in range(W)])
        grown = np.arange(W) * float(decision.growth is Growth.GROWING)
        self._width = K * G + 2 * G + W
        worker, size = np.tile(np.arange(G), K), np.repeat(np.arange(K), G)
        each, tokens = np.arange(K * G), K * G + np.arange(G)
        count, peak = tokens + G, K * G + 2 * G + np.arange(W)
        self._tokens = tokens
        per_token, per_request = -discount.sum(), -discount @ grown
        self.cost = np.repeat([0.0, per_token, per_request, 0.0], [K * G, G, G, W])
        self.cost[peak] = G * discount
        g, h = (axis.ravel() for axis in np.indices((G, W)))
        row = np.arange(G * W)
        of_worker, one = np.arange(G), np.ones(G)
        self._entries: dict[str, list[tuple[Any, Any, Any]]] = {  # row, column, coefficient
            # b_g + h n_g - M_h <= -A[g,h]
            "peak": [
                (row, tokens[g], np.ones(G * W)),
                (row, count[g], grown[h]),
                (row, peak[h], -np.ones(G * W)),
            ],
            "supply": [(size, each, np.ones(K * G))],
            "slots": [(of_worker, count, one)],
            "tokens": [(worker, each, sizes[size].astype(float)), (of_worker, tokens, -one)],
            "number": [(worker, each, np.ones(K * G)), (of_worker, count, -one)],
            "all": [(np.zeros(G, np.int64), count, one)],
        }
        self._right: dict[str, Floats] = {
            "peak": -decision.projected_load_tokens.ravel().astype(float),
            "supply": supply.astype(float),
            "slots": decision.free_slots.astype(float),
            "tokens": np.zeros(G),
            "number": np.zeros(G),
            "all": np.array([float(decision.admissions)]),
        }

    def limits(self, sums: Mapping[int, int]) -> Floats:
        """Return lower and upper limits of the columns, shape (columns, 2)."""
        limits = np.tile([0.0, np.inf], (self._width, 1))
        for g, total in sums.items():
            limits[self._tokens[g]] = total
        return limits

    def rows(self, *names: str) -> Any:
        """Return the coefficients of some rows, one group above the other."""
        from scipy import sparse

        height, parts = 0, []
        for name in names:
            parts += [(row + height, column, by) for row, column, by in self._entries[name]]
            height += len(self._right[name])
        row, column, by = (np.concatenate(part) for part in zip(*parts, strict=True))
        return sparse.coo_array((by, (row, column)), shape=(height, self._width)).tocsr()

    def right_side(self, *names: str) -> Floats:
        """Return the right-hand sides of the same rows."""
        return np.concatenate([self._right[name] for name in names])


def _shares(
    dual: Floats, loads: npt.NDArray[np.int64] | npt.NDArray[np.float64]
) -> dict[tuple[int, int], Fraction]:
    """Return the columns of `dual` as fractions that sum to 1; an empty one goes to the fullest."""
    shares = {}
    for h in range(dual.shape[1]):
        column = dual[:, h] if dual[:, h].any() else (np.arange(len(dual)) == loads[:, h].argmax())
        parts = np.rint(column / column.sum() * UNIT).astype(np.int64)
        parts[parts.argmax()] += UNIT - int(parts.sum())
        for g in np.flatnonzero(parts).tolist():
            shares[g, h] = Fraction(int(parts[g]), UNIT)
    return shares
