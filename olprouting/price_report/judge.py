"""One period judged: prices against the exact minimiser, starts against the period's optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.exact import DEFAULT_SOLVER, solve
from olprouting.exact.period import margins_of, value_of
from olprouting.exact.period.check_period import fits_whole
from olprouting.instances import StopReason, relative_gap
from olprouting.policies.bid_price import minimising_prices
from olprouting.policies.period_policy import admit_by_score
from olprouting.policies.period_programs import round_shares
from olprouting.prices import value_at

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.exact import SolveOptions
    from olprouting.instances import PeriodProblem, PeriodResult
    from olprouting.price_report.sampled_period import SampledPeriod
    from olprouting.prices import PriceResult

    Floats = npt.NDArray[np.float64]
    Pairs = list[tuple[int, int]]

WAYS = ("subgradient", "exact", "rounding", "integer")
"""Ways to choose a period's starts: by either prices, the LP rounded, the integer program."""


@dataclass(frozen=True)
class PeriodRecord:
    """One sampled period of the bid-price run.

    Attributes
    ----------
    period, waiting, columns
        When, how many requests waited, and the size of the history.
    f_subgradient, f_exact, f_bound
        f over the whole history at the run's prices and at the exact ones, and the proven lower
        bound on its minimum.
    f_gap, f_relative_gap
        f_subgradient - f_exact, and that over max(|f_exact|, 1e-9).
    exact_converged
        Whether the exact prices were found and proven. If not, what compares with them is None.
    price_distance
        What the workers' capacity costs at |p - p*| relative to p*, from the current period on:
        sum of |differences| x limits over sum of p* x limits; None where all p* are 0.
    same_requests, same_pairs
        Whether both prices start the same requests, and on the same workers (ties by index).
    reward_subgradient, reward_exact, reward_rounding
        Reward of the starts by the run's own prices, by exact ones, and of the LP rounded.
    reward_integer, integer_bound, integer_proven
        Best whole starts found, their proven bound, and whether they agree.
    lp_bound, lp_proven
        Upper bound by the period's LP over the requests that fit whole on some worker, and whether
        the LP's solution agrees with it.
    contested
        Whether the best whole starts found leave a request waiting that would fit by itself.
    gap_subgradient, gap_exact, gap_rounding, gap_integer
        (LP bound - reward) / max(|reward|, 1e-9) (maximisation).
    loss_subgradient, loss_exact, loss_rounding
        (reward of the integer optimum - reward) / max(|reward|, 1e-9); against the integer
        program's bound where it is not proven.
    exact_s, lp_s, integer_s
        Seconds of the solves, model building included.
    """

    period: int
    waiting: int
    columns: int
    f_subgradient: float
    f_exact: float
    f_bound: float
    f_gap: float | None
    f_relative_gap: float | None
    exact_converged: bool
    price_distance: float | None
    same_requests: bool | None
    same_pairs: bool | None
    reward_subgradient: float
    reward_exact: float | None
    reward_rounding: float
    reward_integer: float | None
    integer_bound: float | None
    integer_proven: bool
    lp_bound: float | None
    lp_proven: bool
    contested: bool
    gap_subgradient: float | None
    gap_exact: float | None
    gap_rounding: float | None
    gap_integer: float | None
    loss_subgradient: float | None
    loss_exact: float | None
    loss_rounding: float | None
    exact_s: float
    lp_s: float
    integer_s: float


def judge_period(sampled: SampledPeriod, options: SolveOptions) -> tuple[PeriodRecord, PriceResult]:
    """Compare the run's prices and starts with the exact ones of the same period, by HiGHS.

    Parameters
    ----------
    sampled
        The period.
    options
        How programs are solved.

    Returns
    -------
    tuple
        The record and the exact prices.

    Raises
    ------
    KeyboardInterrupt
        If a solve was interrupted.
    """
    problem = sampled.problem
    exact = minimising_prices(sampled.sample, DEFAULT_SOLVER, options)
    lp = _solved(problem, "lp", options)
    integer = _solved(problem, "integer", options)
    best = integer.value if integer.proven else integer.bound
    rewards: dict[str, float | None] = {
        "subgradient": reward_of(problem, list(sampled.admitted)),
        "rounding": reward_of(problem, _rounded(problem, lp)),
    }
    compared = _compared(sampled, exact)
    rewards["exact"] = compared.pop("reward_exact")
    gaps: dict[str, Any] = {}
    for way, value in rewards.items():
        gaps[f"reward_{way}"] = value
        gaps[f"gap_{way}"] = relative_gap(value, lp.bound, maximise=True)
        gaps[f"loss_{way}"] = relative_gap(value, best, maximise=True)
    record = PeriodRecord(
        period=sampled.period,
        waiting=problem.waiting,
        columns=exact.columns,
        f_subgradient=value_at(sampled.sample, sampled.batch, sampled.memory),
        f_exact=exact.value,
        f_bound=exact.lower_bound,
        exact_converged=exact.converged,
        reward_integer=integer.value,
        integer_bound=integer.bound,
        integer_proven=integer.proven,
        lp_bound=lp.bound,
        lp_proven=lp.proven,
        contested=_admitted(integer) < int(fits_whole(problem).any(axis=1).sum()),
        gap_integer=relative_gap(integer.value, lp.bound, maximise=True),
        exact_s=exact.wall_s,
        lp_s=lp.wall_s + lp.build_s,
        integer_s=integer.wall_s + integer.build_s,
        **compared,
        **gaps,
    )
    return record, exact


def _compared(sampled: SampledPeriod, exact: PriceResult) -> dict[str, Any]:
    """Return the fields that compare the run's prices with exact ones, None where not proven."""
    if not exact.converged:
        names = ("f_gap", "f_relative_gap", "price_distance", "same_requests", "same_pairs")
        return dict.fromkeys((*names, "reward_exact"))
    by_exact = _starts(sampled, exact.batch, exact.memory)
    by_run = _starts(sampled, sampled.batch, sampled.memory)
    f_gap = value_at(sampled.sample, sampled.batch, sampled.memory) - exact.value
    return {
        "f_gap": f_gap,
        "f_relative_gap": f_gap / max(abs(exact.value), 1e-9),
        "price_distance": price_distance(sampled, exact),
        "same_requests": {j for j, _ in by_run} == {j for j, _ in by_exact},
        "same_pairs": set(by_run) == set(by_exact),
        "reward_exact": reward_of(sampled.problem, by_exact),
    }


def reward_of(problem: PeriodProblem, pairs: Pairs) -> float:
    """Return the reward of whole starts."""
    x = np.zeros((problem.waiting, problem.workers), np.int64)
    for request, worker in pairs:
        x[request, worker] = 1
    return value_of(problem, x)


def price_distance(sampled: SampledPeriod, exact: PriceResult) -> float | None:
    """Return what capacity costs at the prices' difference, relative to exact prices."""
    apart = capacity_cost(
        sampled, np.abs(sampled.batch - exact.batch), np.abs(sampled.memory - exact.memory)
    )
    total = capacity_cost(sampled, exact.batch, exact.memory)
    return apart / total if total > 0 else None


def capacity_cost(sampled: SampledPeriod, batch: Floats, memory: Floats) -> float:
    """Return what the workers' whole capacity in the remaining periods costs, in reward."""
    slots, tokens = sampled.of_remaining(batch), sampled.of_remaining(memory)
    return float(sampled.slots @ slots.sum(axis=1) + sampled.kv_tokens @ tokens.sum(axis=1))


def _starts(sampled: SampledPeriod, batch: Floats, memory: Floats) -> Pairs:
    """Return the greedy starts at given prices, ties by index; rewards clipped as in the dual."""
    problem, sample = sampled.problem, sampled.sample
    prices = sampled.of_remaining(batch), sampled.of_remaining(memory)
    clipped = np.minimum(problem.rewards, sample.reward_normalizer * sample.reward_ceiling)
    margins = margins_of(problem, *prices) + (clipped - problem.rewards)[:, None]
    rng = np.random.default_rng(0)  # draws nothing: ties go by index
    return admit_by_score(problem, margins, random_ties=False, rng=rng)


def _rounded(problem: PeriodProblem, lp: PeriodResult) -> Pairs:
    rng = np.random.default_rng(0)  # draws nothing: ties go by index
    return round_shares(problem, lp, random_ties=False, rng=rng)


def _admitted(result: PeriodResult) -> int:
    return 0 if result.x is None else round(float(result.x.sum()))


def _solved(problem: PeriodProblem, formulation: str, options: SolveOptions) -> PeriodResult:
    result = solve(
        problem,
        formulation=formulation,
        drop_oversize=True,
        test_uniqueness=False,
        options=options,
    )
    if result.stop_reason is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    return result
