"""Annealing of a schedule from loose to strict: overloads cheap at first, and unaffordable at last.

Rates of overloads are the dual's prices, but never below what a slot with its share of KV tokens is
worth at about that time, for slots and for tokens alike: where the dual has only slots bind, KV
tokens cost nothing in fractions, and yet one worker may lack what another has left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.hindsight.reward.annealing_kernels import Soft, anneal, put, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from olprouting.hindsight.reward.dual_kernels import Starts
    from olprouting.hindsight.reward.problem import HindsightProblem

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

FACTORS = (1.0, 1.5, 3.0, 6.0, 12.0, 25.0, 50.0, 150.0, 1e3, 1e5)
"""Of the rates, evenly spaced over a pass; between them, and between temperatures, geometric."""

TEMPERATURES = (3e-3, 2.5e-3, 2e-3, 2e-3, 2e-3, 2e-3, 2e-3, 2e-3, 1e-3, 4e-4)
"""In mean rewards of a admitted request."""

LEAST_LEVEL = 0.1
"""Room is worth at least so much of what it is on average."""

REACH = 25
"""How far a request moves or settles at most, in periods."""

ROUNDS = 20_000
"""Proposals between two looks at the progress, at most."""

PERIODS = 10_000_000
"""Periods that requests are active in, over as many proposals, about, at most."""


class Annealing:
    """A schedule under annealing.

    Parameters
    ----------
    problem, starts
        What is given, twice.
    prices
        Shape (2, C, T).
    worker, start
        A schedule to begin with, shape (J,), periods from 0; -1 where there is no start.
    """

    def __init__(
        self, problem: HindsightProblem, starts: Starts, prices: Floats, worker: Ints, start: Ints
    ) -> None:
        self._starts = starts
        kind, _, slots, kv_tokens = problem.classes()
        mean_active = int(np.minimum(problem.active, problem.periods).mean())
        self._rounds = max(1, min(ROUNDS, PERIODS // mean_active))
        per_slot = (kv_tokens / slots)[:, None]
        level = _smoothed(prices[0] + prices[1] * per_slot, mean_active)
        level = np.maximum(level, LEAST_LEVEL * level.mean() or 1.0)
        nobody = np.full(len(problem), -1)
        periods = problem.periods
        self._soft = Soft(
            kind=kind,
            slots=np.repeat(problem.slots[:, None].astype(np.float64), periods, axis=1),
            room=np.repeat(problem.kv_tokens[:, None].astype(np.float64), periods, axis=1),
            slot_rate=np.maximum(prices[0], level),
            token_rate=np.maximum(prices[1], level / per_slot),
            ages=np.arange(min(periods, int(problem.active.max())), dtype=np.float64),
            worker=nobody,
            start=nobody.copy(),
            latest=np.full((len(kind), periods), -1),
        )
        for j in np.flatnonzero(start >= 0).tolist():
            put(self._starts, self._soft, j, worker[j], start[j])

    def run(
        self,
        wishes: Ints,
        block: int,
        mean_reward: float,
        share: Callable[[int], float],
        rng: np.random.Generator,
    ) -> Iterator[None]:
        """Anneal; yield after so many proposals that the next look at `share` is due.

        Parameters
        ----------
        wishes, block
            As `neighbourhood_kernels.list_wishes` filled them.
        mean_reward
            Of a admitted request: the unit of temperatures.
        share
            How much of the pass is done, 1 at its end, given the number of proposals so far.
        """
        done = 0
        spots = np.linspace(0.0, 1.0, len(FACTORS))
        while (now := share(done)) < 1:
            factor, temperature = (
                float(np.exp(np.interp(now, spots, np.log(knots))))
                for knots in (FACTORS, TEMPERATURES)
            )
            anneal(
                self._starts,
                self._soft,
                wishes,
                block,
                REACH,
                factor,
                temperature * mean_reward,
                self._rounds,
                rng,
            )
            done += self._rounds
            yield

    def settled(self, slots: Ints, room: Ints) -> tuple[float, Ints, Ints]:
        """Return reward, workers and starts of a feasible schedule close to the present one.

        `slots` and `room` of empty workers, shape (G, T), are made those that it leaves.
        """
        worker, start = self._soft.worker.copy(), self._soft.start.copy()
        order = np.argsort(start, kind="stable")
        kind = self._soft.kind
        value = settle(self._starts, kind, order, REACH, slots, room, worker, start)
        return value, worker, start


def _smoothed(rows: Floats, half: int) -> Floats:
    """Return means over the `half` entries on either side, as far as there are any."""
    count = rows.shape[1]
    sums = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)], axis=1)
    places = np.arange(count)
    low, high = np.maximum(places - half, 0), np.minimum(places + half + 1, count)
    means: Floats = (sums[:, high] - sums[:, low]) / (high - low)
    return means
