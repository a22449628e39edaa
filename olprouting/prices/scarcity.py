"""Scarcity d: residual capacity per start that is still to come.

Source: bid-price paper, equations (6) and (11).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import read_only
from olprouting.errors import InputError, member_named
from olprouting.prices.columns import Columns, Positions, SaaProblem, parse_positions
from olprouting.prices.scarcity_kernels import take_over

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.prices.scaling import Scaling

    Floats = npt.NDArray[np.float64]


class Remaining(StrEnum):
    """What n_remain, the number of starts still to come, is taken to be."""

    SLOTS = "slots"
    """All slots of all workers (authors' code)."""
    ARRIVALS = "arrivals"
    """The arrivals expected in the remaining periods."""
    KNOWN = "known"
    """A number that is given."""


def remaining_starts(
    policy: Remaining | str,
    *,
    slots: npt.ArrayLike | None = None,
    arrivals_per_period: float | None = None,
    periods_left: int | None = None,
    known: float | None = None,
) -> float:
    """Return n_remain >= 0.

    Parameters
    ----------
    policy
        ``"slots"``, ``"arrivals"`` or ``"known"``.
    slots
        Batch limits of the workers, shape (G,), for ``"slots"``.
    arrivals_per_period, periods_left
        Their product is the number for ``"arrivals"``.
    known
        The number for ``"known"``.

    Raises
    ------
    InputError
        If the policy is unknown, or what it needs is missing or negative.
    """
    policy = member_named(Remaining, "policy for n_remain", policy)
    given: dict[str, float | None] = {
        "slots": None if slots is None else float(np.sum(np.asarray(slots))),
        "arrivals_per_period": arrivals_per_period,
        "periods_left": periods_left,
        "known": known,
    }
    product = 1.0
    for name in _NEEDS[policy]:
        value = given[name]
        if value is None or not 0 <= value < np.inf:
            raise InputError(f"n_remain by {policy!s} needs {name} >= 0, got {value}")
        product *= value
    return product


_NEEDS = {
    Remaining.SLOTS: ("slots",),
    Remaining.ARRIVALS: ("arrivals_per_period", "periods_left"),
    Remaining.KNOWN: ("known",),
}


class ResidualCapacity:
    """Residual capacities on the positions of the prices, kept up to date without copies.

    On absolute positions, periods that have passed keep what was left of them (paper). On relative
    positions there are as many as periods are observed: all that remain before a fixed last period,
    or always the same number for a receding horizon.

    Parameters
    ----------
    slots, kv_tokens
        Capacities B and M of the workers, shape (G,), >= 0.
    periods
        T >= 1; on relative positions the most that will be observed.
    positions
        ``"absolute"`` or ``"relative"``.

    Attributes
    ----------
    slots, kv_tokens
        Float64, shape (G, T), >= 0.
    width
        How many positions are in use.
    clipped
        How many negative residuals became 0 so far.
    """

    def __init__(
        self,
        slots: npt.ArrayLike,
        kv_tokens: npt.ArrayLike,
        periods: int,
        positions: Positions | str = Positions.ABSOLUTE,
    ) -> None:
        limits = [np.atleast_1d(np.asarray(limit, np.float64)) for limit in (slots, kv_tokens)]
        if periods < 1:
            raise InputError(f"periods = {periods} must be >= 1")
        if limits[0].ndim != 1 or limits[0].shape != limits[1].shape or len(limits[0]) == 0:
            raise InputError("slots and kv_tokens must hold one capacity for each worker")
        if not all(bool(np.all((limit >= 0) & np.isfinite(limit))) for limit in limits):
            raise InputError("slots and kv_tokens must be finite and >= 0")
        self.positions = parse_positions(positions)
        self.slots, self.kv_tokens = (np.tile(limit[:, None], (1, periods)) for limit in limits)
        self.width = periods
        self.clipped = 0

    def observe(
        self,
        period: int,
        slots: npt.ArrayLike,
        kv_tokens: npt.ArrayLike,
        *,
        slots_now: npt.ArrayLike | None = None,
    ) -> None:
        """Take over the residuals of period k and those after it, as workers stand before it.

        Parameters
        ----------
        period
            k, 1..T; on relative positions it does not matter.
        slots, kv_tokens
            Shape (G, T-k+1), on relative positions (G, W) with 1 <= W <= T. Negative ones become 0
            and are counted.
        slots_now
            Slots of the first of these periods, shape (G,), in place of those in `slots`.

        Raises
        ------
        InputError
            If the period or a shape does not fit.
        """
        workers, periods = self.slots.shape
        if self.positions is Positions.ABSOLUTE:
            if not 1 <= period <= periods:
                raise InputError(f"period = {period} must be between 1 and {periods}")
            left = periods - period + 1
            place = slice(period - 1, periods)
        else:
            left = min(max(np.shape(slots)[-1] if np.ndim(slots) == 2 else 1, 1), periods)
            place = slice(0, left)
        for name, kept, seen in (
            ("slots", self.slots, read_only(slots)),
            ("kv_tokens", self.kv_tokens, read_only(kv_tokens)),
        ):
            if seen.shape != (workers, left):
                raise InputError(f"{name} must have shape {(workers, left)}, got {seen.shape}")
            self.clipped += take_over(seen, kept, place.start)
            if self.positions is Positions.RELATIVE:
                kept[:, left : self.width] = 0  # prices there stay as they are
        if slots_now is not None:
            self.slots[:, place.start] = slots_now
        if self.positions is Positions.RELATIVE:
            self.width = left

    def problem(self, columns: Columns, n_remain: float, scaling: Scaling) -> SaaProblem:
        """Return the dual with d = residual / max(1, n_remain), without copying anything.

        Raises
        ------
        InputError
            If n_remain is negative or not finite.
        """
        if not 0 <= n_remain < np.inf:
            raise InputError(f"n_remain = {n_remain} must be finite and >= 0")
        slot_factor = 1.0 / max(1.0, float(n_remain))
        return SaaProblem(
            columns=columns,
            slots=self.slots,
            kv_tokens=self.kv_tokens,
            slot_factor=slot_factor,
            kv_factor=slot_factor * scaling.mem_scale,
            mem_scale=scaling.mem_scale,
            reward_normalizer=scaling.reward_normalizer,
            reward_ceiling=scaling.reward_ceiling,
            width=self.width,
        )
