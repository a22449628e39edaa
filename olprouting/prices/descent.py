"""Algorithm 2 as a function with a result: prices by subgradient steps, judged honestly."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from olprouting.errors import InputError, member_named
from olprouting.instances._checks import positive, whole
from olprouting.prices.columns import SaaProblem, make_columns
from olprouting.prices.pricing_kernels import evaluate
from olprouting.prices.result import PriceResult, verdict
from olprouting.prices.scaling import Scaling
from olprouting.prices.tracking_kernels import descend_tracked

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]


class StepRule(StrEnum):
    """How long a step is."""

    CONSTANT = "constant"
    """eta times the subgradient (paper)."""
    INVERSE_SQRT = "inverse-sqrt"
    """Step number k has length eta / sqrt(k), whatever the subgradient's length."""


class Iterate(StrEnum):
    """Which iterate to return."""

    LAST = "last"
    AVERAGED = "averaged"
    BEST = "best"


@dataclass(frozen=True)
class DescentOptions:
    """Options of the subgradient method.

    Parameters
    ----------
    steps
        K >= 0.
    batch
        Columns in a mini-batch, >= 1; None takes the whole history at every step.
    step_size
        eta > 0, in the units of `olprouting.prices.Scaling`.
    step_rule
        ``"constant"`` or ``"inverse-sqrt"``. The defaults are those of the authors' script.

    Raises
    ------
    InputError
        If an option is out of range.
    """

    steps: int = 5
    batch: int | None = 64
    step_size: float = 0.01
    step_rule: StepRule | str = StepRule.CONSTANT

    def __post_init__(self) -> None:
        whole("steps", self.steps, 0)
        if self.batch is not None:
            whole("batch", self.batch, 1)
        object.__setattr__(self, "step_size", float(positive("step_size", self.step_size)))
        object.__setattr__(self, "step_rule", member_named(StepRule, "step rule", self.step_rule))

    @property
    def shrinking(self) -> bool:
        """Whether steps shrink."""
        return self.step_rule is StepRule.INVERSE_SQRT

    def batch_of(self, columns: int) -> int:
        """Return the size of a mini-batch, given the size of the history."""
        return max(1, columns if self.batch is None else min(self.batch, columns))

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some options changed, checked again."""
        return replace(self, **changes)


def learn_prices(
    problem: SaaProblem,
    rng: np.random.Generator,
    options: DescentOptions | None = None,
    *,
    iterate: Iterate | str = Iterate.BEST,
    start: PriceResult | tuple[Floats, Floats] | None = None,
    every: int = 1,
    tolerance: float = 0.01,
    minimum: float | None = None,
) -> PriceResult:
    """Return prices by Algorithm 2, evaluated over the whole history.

    Parameters
    ----------
    problem
        The sample's dual (`olprouting.prices.ResidualCapacity.problem`).
    rng
        Source of the mini-batches: the same state gives the same bytes.
    options
        Steps and their lengths.
    iterate
        ``"last"`` (paper), ``"averaged"`` or ``"best"``.
    start
        True prices to start from, shape (G, P) each, >= 0; None starts from 0. Beyond the
        problem's width they count as 0.
    every
        Evaluate after every so many steps, >= 1.
    tolerance
        Largest relative gap, >= 0, of prices called converged.
    minimum
        The minimum of f, or a lower bound on it, where one is known; one is found along the way,
        but it is loose when steps are few or mini-batches small.

    Returns
    -------
    PriceResult
        An empty history gives p = 0, which is then optimal.

    Raises
    ------
    InputError
        If an option is out of range or shapes do not fit.

    Notes
    -----
    Bid-price paper, section 3.3 and Algorithm 2; bounds and iterates are ours.
    """
    compile_learning()
    began = time.perf_counter()
    options = options or DescentOptions()
    iterate = member_named(Iterate, "iterate", iterate)
    whole("every", every, 1)
    count = problem.columns.size
    check_problem(problem)
    scaling = scaling_of(problem)
    last = _start(problem, start, scaling)
    best, averaged = last.copy(), last.copy()
    best_step, lower = 0, 0.0
    if count:
        _, best_step, lower = descend_tracked(
            problem,
            last,
            options.steps,
            options.batch_of(count),
            options.step_size,
            options.shrinking,
            every,
            rng,
            best,
            averaged,
        )
    prices = {Iterate.LAST: last, Iterate.AVERAGED: averaged, Iterate.BEST: best}[iterate]
    if not count:
        prices[:] = 0.0
    value = problem.reward_normalizer * evaluate(problem, prices[0], prices[1])
    lower *= problem.reward_normalizer
    lower = lower if minimum is None else max(lower, minimum)
    clipped = scaling.clipped(problem.columns.reward)
    scaling.warn_if_moot(clipped, count)
    converged, reason = verdict(value, lower, tolerance)
    batch, memory = scaling.true_prices(prices[0], prices[1])
    return PriceResult(
        kind=str(iterate),
        batch=batch,
        memory=memory,
        value=value,
        lower_bound=lower,
        converged=converged,
        reason=reason,
        steps=options.steps if count else 0,
        best_step=best_step,
        columns=count,
        clipped=clipped,
        wall_s=time.perf_counter() - began,
    )


def value_at(problem: SaaProblem, batch: npt.ArrayLike, memory: npt.ArrayLike) -> float:
    """Return f over the whole history at true prices: an upper bound on the sample's LP.

    Parameters
    ----------
    problem
        The sample's dual.
    batch, memory
        True prices, >= 0, shape (G, P).

    Raises
    ------
    InputError
        If shapes do not fit or a price is negative.
    """
    check_problem(problem)
    given = (np.asarray(batch, np.float64), np.asarray(memory, np.float64))
    scaled = _start(problem, given, scaling_of(problem))
    return float(problem.reward_normalizer * evaluate(problem, scaled[0], scaled[1]))


@functools.cache
def compile_evaluation() -> None:
    """Compile or load what evaluates prices, so that no reported time holds it."""
    problem = _tiny_problem()
    evaluate(problem, *np.zeros((2, 1, 1)))


@functools.cache
def compile_learning() -> None:
    """Compile or load what learns and evaluates prices, so that no reported time holds it."""
    compile_evaluation()
    last, best, averaged = np.zeros((3, 2, 1, 1))
    rng = np.random.default_rng(0)
    descend_tracked(_tiny_problem(), last, 1, 1, 1.0, False, 1, rng, best, averaged)


def _tiny_problem() -> SaaProblem:
    one = np.ones((1, 1))
    return SaaProblem(make_columns(1.0, 0, 1, 1, 1), one, one, 1.0, 1.0, 1.0, 1.0, np.inf, 1)


def scaling_of(problem: SaaProblem) -> Scaling:
    """Return the units that a problem is in."""
    return Scaling(
        problem.reward_normalizer, problem.mem_scale, clip=bool(np.isfinite(problem.reward_ceiling))
    )


def check_problem(problem: SaaProblem) -> None:
    """Refuse columns that compiled code would take outside of the arrays of prices.

    Raises
    ------
    InputError
        If a column's worker or first position does not exist.
    """
    workers, positions = problem.slots.shape
    columns = problem.columns
    for name, numbers, limit in (
        ("worker", columns.worker, workers),
        ("first", columns.first, positions),
    ):
        wrong = (numbers < 0) | (numbers >= limit)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(f"columns: {name}[{row}] = {numbers[row]} must be in 0..{limit - 1}")


def _start(
    problem: SaaProblem, start: PriceResult | tuple[Floats, Floats] | None, scaling: Scaling
) -> Floats:
    shape = problem.slots.shape
    if start is None:
        return np.zeros((2, *shape))
    given = (start.batch, start.memory) if isinstance(start, PriceResult) else start
    for prices in given:
        if np.shape(prices) != shape:
            raise InputError(f"prices must have shape {shape}, got {np.shape(prices)}")
        if not bool(np.all((prices >= 0) & np.isfinite(prices))):
            raise InputError("prices must be finite and >= 0")
    scaled = np.stack(scaling.scaled_prices(*given))
    scaled[:, :, problem.width :] = 0.0
    return scaled
