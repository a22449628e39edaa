"""Which sizes, policies and replications are run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

FCFS = ("random", "round-robin", "power-of-two", "jsq", "least-load")
EXACT = "exact"
LABELS = {EXACT: "IO_0", "br0": "BR-0", "brh": "BR-H"}
CELL = ["p", "workers", "slots"]


class Cell(NamedTuple):
    """A size: completion probability p, workers G, and slots B of each."""

    p: float
    workers: int
    slots: int

    @property
    def admissions(self) -> float:
        """Mean admissions per iteration when every slot is full, n p."""
        return self.workers * self.slots * self.p


@dataclass(frozen=True)
class Setting:
    """What is simulated.

    Parameters
    ----------
    largest_prompt_tokens
        s.
    workers
        Values of G, for each p.
    slots
        Values of B.
    seeds, selecting_seeds, few_seeds
        Replications of the FCFS policies; of the policies that select requests by their size; and
        of these where there is much to do.
    warm_up, measured
        Iterations, in mean decode lengths 1/p.
    supply_margin
        Arrivals over n p / rho, > 1.
    silence
        Iterations between batches, in mean decode lengths.
    horizon, gamma
        Of BR-H, the horizon in mean decode lengths; its beta is G, and it knows all decode lengths.
    many_admissions, most_admissions
        Largest n p at which `selecting_seeds` applies, and at which IO_0 and BR-H are run.
    time_limit_s
        Per decision of IO_0.
    """

    largest_prompt_tokens: int = 20
    workers: tuple[tuple[float, tuple[int, ...]], ...] = (
        (0.05, (2, 4, 8, 16, 32, 64)),
        (0.1, (4, 16)),
    )
    slots: tuple[int, ...] = (8, 16, 32, 64, 128, 256)
    seeds: int = 12
    selecting_seeds: int = 8
    few_seeds: int = 4
    warm_up: int = 8
    measured: int = 20
    supply_margin: float = 1.01
    silence: int = 2
    horizon: int = 1
    gamma: float = 0.86
    many_admissions: float = 52.0
    most_admissions: float = 205.0
    time_limit_s: float = 5.0

    def cells(self) -> list[Cell]:
        """Return all sizes, the largest first."""
        cells = [Cell(p, G, B) for p, many in self.workers for G in many for B in self.slots]
        return sorted(cells, key=lambda cell: -cell.admissions)

    def policies(self, cell: Cell) -> list[tuple[str, int]]:
        """Return the policies run at a size, each with its number of seeds."""
        few = cell.admissions > self.many_admissions
        selecting = self.few_seeds if few else self.selecting_seeds
        chosen = [(name, self.seeds) for name in FCFS] + [("br0", selecting)]
        if cell.admissions <= self.most_admissions:
            chosen += [("brh", selecting), (EXACT, selecting)]
        return chosen


REDUCED = Setting(workers=((0.1, (2, 4)),), slots=(8, 16), seeds=8, selecting_seeds=2, measured=30)
"""What `--reduced` runs."""
