"""Prices that follow a run: one small update per period, warm-started at the last prices."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from olprouting.errors import InputError
from olprouting.instances.request_curves import Batching, active_periods, kv_tokens_at
from olprouting.prices.columns import Positions
from olprouting.prices.descent import DescentOptions, learn_prices
from olprouting.prices.descent_kernels import descend
from olprouting.prices.history import History
from olprouting.prices.routing import greedy_admission
from olprouting.prices.routing_kernels import pairs_to_record, request_margins
from olprouting.prices.scaling import Scaling, automatic_normalizer
from olprouting.prices.scarcity import ResidualCapacity

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.prices.columns import SaaProblem
    from olprouting.prices.result import PriceResult

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

AUTOMATIC = "auto"


@dataclass(frozen=True)
class PriceOptions:
    """How prices are learned during a run.

    Parameters
    ----------
    descent
        Options of Algorithm 2.
    reward_normalizer
        A number > 0, or ``"auto"``: a quantile of recent rewards.
    quantile, recent, refresh
        Which quantile, in [0, 1], of how many recent rewards, renewed after so many new ones (at
        first whenever their number has doubled).
    clip
        Whether normalised rewards above 1 become 1 (paper).
    mem_factor
        mem_scale times the largest KV capacity, > 0.
    batching, age_offset, positions, history_limit
        As for `olprouting.prices.History`.

    Raises
    ------
    InputError
        If an option is out of range.
    """

    descent: DescentOptions = field(default_factory=DescentOptions)
    reward_normalizer: float | str = AUTOMATIC
    quantile: float = 0.9
    recent: int = 512
    refresh: int = 64
    clip: bool = False
    mem_factor: float = 1.0
    batching: Batching | str = Batching.DECODE
    age_offset: int | None = None
    positions: Positions | str = Positions.ABSOLUTE
    history_limit: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.reward_normalizer, str) and self.reward_normalizer != AUTOMATIC:
            raise InputError(
                f"reward_normalizer = {self.reward_normalizer!r} must be a number or 'auto'"
            )
        if self.refresh < 1:
            raise InputError(f"refresh = {self.refresh} must be >= 1")
        automatic_normalizer(np.zeros(0), self.quantile, self.recent)  # checks the two

    @property
    def automatic(self) -> bool:
        """Whether the normalizer follows the rewards."""
        return self.reward_normalizer == AUTOMATIC

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some options changed, checked again."""
        return replace(self, **changes)


class BidPrices:
    """Prices of slots and KV tokens, with the history and residuals they are learned from.

    Per period: `observe` the residuals, `update` the prices, ask for `margins`, `record` columns.

    Parameters
    ----------
    slots, kv_tokens
        Capacities B and M of the workers, shape (G,).
    periods
        T >= 1; on relative positions the most that will be observed.
    options
        How prices are learned.

    Attributes
    ----------
    history, residuals
        What prices are learned from.
    scaling
        The units of `batch` and `memory`.
    batch, memory
        Prices in those units, shape (G, T).
    recorded, clipped
        How many columns were recorded, and how many of them were clipped.
    """

    def __init__(
        self,
        slots: npt.ArrayLike,
        kv_tokens: npt.ArrayLike,
        periods: int,
        options: PriceOptions | None = None,
    ) -> None:
        self.options = options or PriceOptions()
        self.residuals = ResidualCapacity(slots, kv_tokens, periods, self.options.positions)
        self.history = History(
            batching=self.options.batching,
            age_offset=self.options.age_offset,
            positions=self.options.positions,
            limit=self.options.history_limit,
        )
        fixed = 1.0 if self.options.automatic else float(self.options.reward_normalizer)
        self.scaling = Scaling.for_capacity(
            kv_tokens,
            factor=self.options.mem_factor,
            reward_normalizer=fixed,
            clip=self.options.clip,
        )
        self.batch, self.memory = np.zeros((2, *self.residuals.slots.shape))
        self.recorded = self.clipped = 0
        self._fresh = 0
        self._warned = False

    @property
    def workers(self) -> int:
        """Number of workers G."""
        return len(self.batch)

    def observe(
        self,
        period: int,
        slots: npt.ArrayLike,
        kv_tokens: npt.ArrayLike,
        *,
        slots_now: npt.ArrayLike | None = None,
    ) -> None:
        """Take over the residuals of period k and those after it (`ResidualCapacity.observe`)."""
        self.residuals.observe(period, slots, kv_tokens, slots_now=slots_now)

    def record(
        self, reward: float, worker: int, start_period: int, prompt_tokens: int, decode_tokens: int
    ) -> None:
        """Append a column to the history (`History.record`), and count it if it is clipped.

        Raises
        ------
        InputError
            If a number is out of range.
        """
        workers, periods = self.batch.shape
        late = self.residuals.positions is Positions.ABSOLUTE and start_period > periods
        if worker >= workers or late:
            raise InputError(
                f"worker = {worker} and start_period = {start_period} must be below {workers} and "
                f"at most {periods}"
            )
        self.history.record(reward, worker, start_period, prompt_tokens, decode_tokens)
        self.recorded += 1
        self._fresh += 1
        if self.options.clip and reward > self.scaling.reward_normalizer:
            self.clipped += 1
        known = self.recorded - self._fresh  # renew at 1, 2, 4, ... columns at first
        if self.options.automatic and self._fresh >= min(self.options.refresh, known):
            self._renew_normalizer()
        if not self._warned and self.recorded >= _FEW:
            self._warned = self.scaling.warn_if_moot(self.clipped, self.recorded)

    def update(self, n_remain: float, rng: np.random.Generator) -> None:
        """Take K steps from the last prices (Algorithm 2); an empty history gives 0.

        Parameters
        ----------
        n_remain
            Starts still to come (`olprouting.prices.remaining_starts`).
        rng
            Source of the mini-batches.
        """
        problem = self.problem(n_remain)
        options, columns = self.options.descent, problem.columns.size
        size = options.batch_of(columns)
        draws = (options.steps, size) if size < columns else (0, 0)
        descend(
            problem,
            self.batch,
            self.memory,
            options.steps,
            size,
            options.step_size,
            options.shrinking,
            rng.random(draws),
        )

    def problem(self, n_remain: float) -> SaaProblem:
        """Return the dual as it stands: views of what this object keeps."""
        return self.residuals.problem(self.history.columns, n_remain, self.scaling)

    def report(self, n_remain: float, *, minimum: float | None = None) -> PriceResult:
        """Return the prices as they stand, judged over the whole history."""
        options = self.options.descent.replace(steps=0)
        rng = np.random.default_rng(0)  # no step is taken
        start = self.scaling.true_prices(self.batch, self.memory)
        return learn_prices(
            self.problem(n_remain), rng, options, iterate="last", start=start, minimum=minimum
        )

    def true_prices(self) -> tuple[Floats, Floats]:
        """Return reward per slot and per KV token, shape (G, T) each."""
        return self.scaling.true_prices(self.batch, self.memory)

    def margins(
        self, period: int, rewards: Floats, prompt_tokens: Ints, decode_tokens: Ints
    ) -> Floats:
        """Return r - a'p of starting waiting requests now, shape (J, G), in units of reward.

        Parameters
        ----------
        period
            k, 1..T; on relative positions it does not matter.
        rewards
            r of each request at k, shape (J,). Where rewards are clipped, so are these.
        prompt_tokens, decode_tokens
            s and the predicted o, shape (J,).
        """
        batching, age_offset = self.options.batching, self.options.age_offset
        normalizer = self.scaling.reward_normalizer
        absolute = self.residuals.positions is Positions.ABSOLUTE
        margins = np.empty((len(rewards), self.workers))
        request_margins(
            np.minimum(rewards, normalizer * self.scaling.reward_ceiling),
            active_periods(decode_tokens, batching),
            kv_tokens_at(0, prompt_tokens, decode_tokens, batching, age_offset),
            self.batch,
            self.memory,
            period - 1 if absolute else 0,
            self.residuals.width,
            normalizer,
            self.scaling.mem_scale,
            margins,
        )
        return margins

    def _renew_normalizer(self) -> None:
        """Move to the quantile of recent rewards; true prices stay as they are."""
        self._fresh = 0
        rewards = self.history.columns.reward
        new = automatic_normalizer(rewards, self.options.quantile, self.options.recent)
        ratio = self.scaling.reward_normalizer / new
        self.batch *= ratio
        self.memory *= ratio
        self.scaling = self.scaling.replace(reward_normalizer=new)


_FEW = 32
"""Columns without which no share of clipped rewards is worth a warning."""


@functools.cache
def compile_run() -> None:
    """Compile or load what a run by bid prices needs, so that no reported time holds it."""
    rng, one = np.random.default_rng(0), np.ones(1, np.int64)
    prices = BidPrices(one, 4 * one, 2)
    prices.record(1.0, 0, 1, 1, 1)
    prices.update(1.0, rng)
    margins = prices.margins(1, np.ones(1), one, one)
    greedy_admission(margins, one, one, one[:, None], one[:, None], rng=rng)
    prices.observe(1, *np.ones((2, 1, 2), np.int64))
    pairs_to_record(margins, one > 1, False, True, rng, one.copy(), one.copy())
