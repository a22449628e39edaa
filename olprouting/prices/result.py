"""Prices, and what is known about their quality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.instances._checks import frozen
from olprouting.instances.documents import aligned
from olprouting.instances.result import relative_gap

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PriceResult:
    """Prices p of the sample's dual f(p) = d'p + mean (r - a'p)+.

    Parameters
    ----------
    kind
        ``"exact"``, or which iterate of the subgradient method: ``"last"``, ``"averaged"`` or
        ``"best"`` (smallest f among those evaluated).
    batch, memory
        Gain in reward per extra slot and per extra KV token, >= 0, shape (G, P).
    value
        f there over the whole history: an upper bound on the sample's LP. Never the value of a
        mini-batch.
    lower_bound
        Proven lower bound on the minimum of f.
    converged
        Whether the gap between the two is within the tolerance that was asked for.
    reason
        Why, in words; "not converged: ..." where it is not.
    steps
        Subgradient steps taken; 0 for ``"exact"``.
    best_step
        After how many steps the best iterate was found; None for ``"exact"``.
    columns
        Size N of the history.
    clipped
        How many rewards were clipped; value and bound are then those of the clipped rewards.
    wall_s
        Seconds.
    """

    kind: str
    batch: Floats
    memory: Floats
    value: float
    lower_bound: float
    converged: bool
    reason: str
    steps: int
    best_step: int | None
    columns: int
    clipped: int
    wall_s: float

    def __post_init__(self) -> None:
        for name in ("batch", "memory"):
            object.__setattr__(self, name, frozen(np.asarray(getattr(self, name), np.float64)))

    @property
    def gap(self) -> float:
        """(value - lower bound) / max(|lower bound|, 1e-9), >= 0."""
        return gap_of(self.value, self.lower_bound)

    def summary(self) -> str:
        """Return a few aligned lines for people."""
        rows = {
            "prices": self.kind,
            "verdict": self.reason,
            "value": f"{self.value:.9g} (whole history, {self.columns} columns)",
            "lower_bound": f"{self.lower_bound:.9g}",
            "gap": f"{self.gap:.3%}",
            "steps": self.steps,
            "clipped": self.clipped,
            "slot_price": f"up to {self.batch.max(initial=0.0):.6g}",
            "kv_token_price": f"up to {self.memory.max(initial=0.0):.6g}",
            "wall_s": round(self.wall_s, 6),
        }
        return aligned(rows)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per worker and position: worker, position (from 0), batch, memory."""
        import pandas as pd

        worker, position = np.indices(self.batch.shape)
        return pd.DataFrame(
            {
                "worker": worker.ravel(),
                "position": position.ravel(),
                "batch": self.batch.ravel(),
                "memory": self.memory.ravel(),
            }
        )


def gap_of(value: float, lower_bound: float) -> float:
    """Return the relative gap of a maximisation with this upper and lower bound."""
    if value <= lower_bound:  # up to rounding
        return 0.0
    gap = relative_gap(lower_bound, value, maximise=True)
    assert gap is not None
    return gap


def verdict(
    value: float, lower_bound: float, tolerance: float, rounding: float = 0.0
) -> tuple[bool, str]:
    """Return whether prices are converged, and why; values `rounding` apart may be equal."""
    gap = gap_of(value, lower_bound + rounding)
    if gap <= tolerance:
        return True, f"converged: gap {gap:.3g} <= {tolerance:g} to a proven lower bound"
    return False, f"not converged: gap {gap:.3g} > {tolerance:g} to a proven lower bound"
