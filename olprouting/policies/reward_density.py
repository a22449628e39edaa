"""The policy ``reward-density``: what earns most for the room that it takes starts first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.policies.period_policy import PeriodPolicy, admit_by_score
from olprouting.policies.period_situation import workers_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from olprouting.policies.period_situation import PeriodSituation
    from olprouting.policies.policy import Pairs
    from olprouting.policies.view import View
    from olprouting.policies.worker_view import WorkerView


class RewardDensityPolicy(PeriodPolicy):
    """Start requests in decreasing order of reward over room, as far as they fit.

    The room of a request on a worker is what it takes of the worker's slots and KV tokens, as
    shares, summed over the periods in which it is active: the greedy order of a knapsack with two
    resources at prices in proportion to 1 / capacity. No price is learned.
    """

    def choose(self, situation: PeriodSituation, view: View, rng: np.random.Generator) -> Pairs:
        """Return the pairs that fit, by decreasing reward over room."""
        problem = situation.problem
        density = problem.rewards[:, None] / room_of(situation, workers_of(view))
        return admit_by_score(problem, density, random_ties=self.random_ties, rng=rng)


def room_of(situation: PeriodSituation, workers: WorkerView) -> npt.NDArray[np.float64]:
    """Return the shares of slots and of KV tokens that starts take, summed over periods, (J, G)."""
    problem = situation.problem
    active = problem.active_remaining[:, None]
    held = active * problem.tokens_at_start[:, None] + active * (active - 1) / 2
    room: npt.NDArray[np.float64] = active / workers.slots + held / workers.kv_tokens
    return room
