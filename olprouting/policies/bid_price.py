"""The bid-price policies (bid-price paper, Algorithm 1): start what is worth more than it uses."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from olprouting.instances import StopReason
from olprouting.policies.period_policy import PeriodPolicy, admit_by_score
from olprouting.policies.period_situation import workers_of
from olprouting.policies.policy import REJECT
from olprouting.prices import (
    BidPrices,
    DescentOptions,
    PriceOptions,
    RateGuard,
    compile_run,
    exact_prices,
    pairs_to_record,
    remaining_starts,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.exact import SolveOptions
    from olprouting.instances import PeriodProblem
    from olprouting.options import BidPriceOptions, PeriodOptions
    from olprouting.policies.period_situation import PeriodSituation
    from olprouting.policies.policy import Pairs
    from olprouting.policies.view import View
    from olprouting.policies.worker_view import WorkerView
    from olprouting.prices import PriceResult, RateShift, SaaProblem

    Floats = npt.NDArray[np.float64]


class PricedPeriod(NamedTuple):
    """What a decision was based on.

    Attributes
    ----------
    problem
        The period's program.
    sample
        The dual whose history the prices were learned from. Its arrays are those of the policy:
        copy them to keep them.
    """

    problem: PeriodProblem
    sample: SaaProblem


class BidPricePolicy(PeriodPolicy):
    """Algorithm 1 with subgradient prices.

    In each period in which requests wait: take over the real residuals, take K steps from the last
    prices, record the pairs that become history, and start the pairs of positive margin in
    decreasing order, as far as they fit. Before there is history, prices are 0. The others wait,
    or are turned away (``learning.reject_after``).

    Parameters
    ----------
    name, options, random_ties
        As for `PeriodPolicy`.
    learning
        How prices are learned.

    Attributes
    ----------
    prices
        Prices and history; None before the first decision.
    last
        What the last decision was based on, or None.
    update_s
        Seconds that each update of the prices took.
    shifts
        Alarms of the rate guard.
    """

    def __init__(
        self, name: str, options: PeriodOptions, learning: BidPriceOptions, *, random_ties: bool
    ) -> None:
        super().__init__(name, options, random_ties=random_ties)
        self.learning = learning
        self._descent = DescentOptions(learning.steps, learning.batch, learning.step_size)
        self.begin_run()

    def begin_run(self) -> None:
        """Forget prices and history."""
        super().begin_run()
        self.prices: BidPrices | None = None
        self.last: PricedPeriod | None = None
        self.update_s: list[float] = []
        self.shifts: list[RateShift] = []
        window = self.learning.guard_window
        self._guard = None if window is None else RateGuard(window, 10 * window)
        self._period = 0
        self._waits_since = np.zeros(0, np.int64)
        self._recorded = self._was_worth_it = np.zeros(0, np.bool_)
        self._arrived = self._arrived_in_period = self._admitted = 0

    def choose(self, situation: PeriodSituation, view: View, rng: np.random.Generator) -> Pairs:
        """Return the pairs of positive margin that fit, in decreasing order; then rejections."""
        prices = self._prices(workers_of(view))
        problem, period = situation.problem, situation.period
        begins = period != self._period
        if begins:
            self._close_period(period, prices)
        self._count_arrivals(view.waiting_requests)
        if begins:
            self._update(situation, view, prices, rng)
        assert self.last is not None
        self.last = self.last._replace(problem=problem)
        margins = prices.margins(
            period, problem.rewards, problem.prompt_tokens, problem.decode_tokens
        )
        if begins or self.learning.record == "request":
            self._record(margins, situation, view, prices, rng)
        pairs = admit_by_score(problem, margins, random_ties=self.random_ties, rng=rng)
        self._admitted += len(pairs)
        return pairs + self._rejections(margins, view.waiting_requests, period)

    def learn(self, prices: BidPrices, n_remain: float, rng: np.random.Generator) -> None:
        """Move the prices: K steps of Algorithm 2."""
        prices.update(n_remain, rng)

    def _prices(self, workers: WorkerView) -> BidPrices:
        if self.prices is None:
            compile_run()
            learning, receding = self.learning, self.options.receding
            self.prices = BidPrices(
                workers.slots,
                workers.kv_tokens,
                self.options.periods,
                PriceOptions(
                    descent=self._descent,
                    reward_normalizer=learning.reward_normalizer,
                    clip=learning.clip,
                    batching=workers.batching,
                    age_offset=workers.age_offset,
                    positions="relative" if receding else learning.positions,
                ),
            )
        return self.prices

    def _update(
        self, situation: PeriodSituation, view: View, prices: BidPrices, rng: np.random.Generator
    ) -> None:
        began = time.perf_counter()
        problem = situation.problem
        prices.observe(
            situation.period, problem.slots, problem.kv_tokens, slots_now=situation.slots_now
        )
        n_remain = self._n_remain(situation, workers_of(view))
        sample = prices.problem(n_remain)
        self.learn(prices, n_remain, rng)
        self.update_s.append(time.perf_counter() - began)
        self.last = PricedPeriod(situation.problem, sample)

    def _n_remain(self, situation: PeriodSituation, workers: WorkerView) -> float:
        rate, known = self.learning.arrivals_per_period, self.learning.known_starts
        return remaining_starts(
            self.learning.n_remain,
            slots=workers.slots,
            arrivals_per_period=self._arrived / situation.period if rate is None else rate,
            periods_left=situation.problem.remaining,
            known=None if known is None else max(0.0, known - self._admitted),
        )

    def _close_period(self, period: int, prices: BidPrices) -> None:
        """Tell the guard what arrived in the periods before this one."""
        for past in range(max(1, self._period), period) if self._guard is not None else ():
            arrivals = self._arrived_in_period if past == self._period else 0
            shift = self._guard.observe(arrivals)  # type: ignore[union-attr]  # narrowed above
            if shift is not None:
                self.shifts.append(shift)
                prices.history.drop_before(shift.since)
        self._period = period
        self._arrived_in_period = 0

    def _count_arrivals(self, requests: npt.NDArray[np.int64]) -> None:
        """Count the requests that wait for the first time (a preempted one waits again)."""
        missing = int(requests.max(initial=-1)) + 1 - len(self._recorded)
        if missing > 0:
            more = np.zeros(max(missing, len(self._recorded)), np.bool_)
            self._waits_since = np.concatenate([self._waits_since, more])
            self._recorded = np.concatenate([self._recorded, more])
            self._was_worth_it = np.concatenate([self._was_worth_it, more])
        new = requests[self._waits_since[requests] == 0]
        self._waits_since[new] = self._period
        self._arrived += len(new)
        self._arrived_in_period += len(new)

    def _rejections(
        self, margins: Floats, requests: npt.NDArray[np.int64], period: int
    ) -> list[tuple[int, int]]:
        """Return the requests to turn away, for the option `reject_after`."""
        patience = self.learning.reject_after
        if patience is None:
            return []
        self._was_worth_it[requests] |= margins.max(axis=1) >= 0
        waited = period - self._waits_since[requests]
        hopeless = (waited >= patience) & ~self._was_worth_it[requests]
        return [(j, REJECT) for j in np.flatnonzero(hopeless).tolist()]

    def _record(
        self,
        margins: Floats,
        situation: PeriodSituation,
        view: View,
        prices: BidPrices,
        rng: np.random.Generator,
    ) -> None:
        problem, requests = situation.problem, view.waiting_requests
        recorded = self._recorded[requests]
        chosen, worker = np.empty((2, problem.waiting), np.int64)
        per_request = self.learning.record == "request"
        count = pairs_to_record(
            margins, recorded, per_request, self.random_ties, rng, chosen, worker
        )
        self._recorded[requests] = recorded
        rewards = problem.rewards
        for j, g in zip(chosen[:count].tolist(), worker[:count].tolist(), strict=True):
            prices.record(
                float(rewards[j]),
                g,
                situation.period,
                int(problem.prompt_tokens[j]),
                int(problem.decode_tokens[j]),
            )


class ExactBidPricePolicy(BidPricePolicy):
    """Algorithm 1 with prices that minimise the sample's dual, every `exact_every` updates.

    A solve that reaches its limit leaves the prices as they are; `unsolved` counts those.
    """

    def __init__(
        self,
        name: str,
        options: PeriodOptions,
        learning: BidPriceOptions,
        *,
        random_ties: bool,
        solver: str,
        solve_options: SolveOptions,
    ) -> None:
        self.solver, self.solve_options = solver, solve_options
        super().__init__(name, options, learning, random_ties=random_ties)

    def begin_run(self) -> None:
        """Forget prices and history."""
        super().begin_run()
        self.unsolved = 0

    def learn(self, prices: BidPrices, n_remain: float, rng: np.random.Generator) -> None:
        """Move to the minimiser, if its turn has come."""
        if len(self.update_s) % self.learning.exact_every:
            return
        problem = prices.problem(n_remain)
        result = minimising_prices(problem, self.solver, self.solve_options)
        if not result.converged:
            self.unsolved += 1
            return
        prices.batch[:], prices.memory[:] = prices.scaling.scaled_prices(
            result.batch, result.memory
        )


def minimising_prices(problem: SaaProblem, solver: str, options: SolveOptions) -> PriceResult:
    """Return exact prices (`olprouting.prices.exact_prices`).

    Raises
    ------
    KeyboardInterrupt
        If the solve was interrupted.
    """
    result = exact_prices(problem, solver=solver, options=options)
    if result.reason.startswith(f"not converged: {StopReason.INTERRUPTED}"):
        raise KeyboardInterrupt
    return result
