"""One period judged: prices against the exact minimiser, starts against the period's optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.exact import DEFAULT_SOLVER, solve
from olprouting.exact.period import margins_of, used, value_of
from olprouting.exact.period.check_period import fits_whole
from olprouting.instances import StopReason, relative_gap
from olprouting.policies.bid_price import minimising_prices
from olprouting.policies.period_policy import admit_by_score
from olprouting.policies.period_programs import round_shares
from olprouting.prices import value_at
from olprouting.prices.optimal_set import OptimalSet, nearest_optimal

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.exact import SolveOptions
    from olprouting.instances import PeriodProblem, PeriodResult
    from olprouting.price_report.sampled_period import SampledPeriod
    from olprouting.prices import PriceResult

    Floats = npt.NDArray[np.float64]
    Pairs = list[tuple[int, int]]

TIE = 1e-6
"""Margins that small, relative to the reward, are 0: exact prices are proven up to that."""

NEGLIGIBLE = 1e-3
"""What a resource costs until the last period, relative to the largest reward, that is taken for 0:
the tolerance of the set of optimal prices leaves so much."""

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
    distance, distance_of_0
        What the workers' capacity from the current period on costs at the difference between the
        run's prices and the nearest optimal ones, in reward, and the same of prices 0
        (`nearest_optimal`); prices of past periods, which f has too, do not count. None where
        it was not measured or not proven.
    slot_price, slot_price_low, slot_price_high
        What a slot costs for one period, in reward, mean over workers and remaining periods: at the
        run's prices, and the least and the most at any prices that minimise f (infinite without
        limit, None where not proven).
    token_price, token_price_low, token_price_high
        The same of one KV token.
    must_wait
        Whether the best whole starts found leave a request waiting at all; None, like the next
        ones, if none were found.
    slots_bind, tokens_bind
        Whether that is for lack of slots, and for lack of KV tokens, on some worker.
    tied
        Whether at the exact prices a request that fits is worth what it uses, so that prices alone
        do not tell whether to admit it.
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
        Whether the best whole starts found leave a request waiting that would fit by itself; None
        if none were found.
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
    distance: float | None
    distance_of_0: float | None
    slot_price: float
    slot_price_low: float | None
    slot_price_high: float | None
    token_price: float
    token_price_low: float | None
    token_price_high: float | None
    must_wait: bool | None
    slots_bind: bool | None
    tokens_bind: bool | None
    tied: bool | None
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
    contested: bool | None
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


def judge_period(
    sampled: SampledPeriod, options: SolveOptions, *, with_distance: bool = True
) -> tuple[PeriodRecord, PriceResult]:
    """Compare the run's prices and starts with the exact ones of the same period, by HiGHS.

    Parameters
    ----------
    sampled
        The period.
    options
        How programs are solved.
    with_distance
        Whether the distance to the optimal prices is measured, two linear programs more, the
        largest of all.

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
    compared = _compared(sampled, exact, with_distance=with_distance)
    slot_price, token_price = unit_prices(sampled, sampled.batch, sampled.memory)
    slots_bind, tokens_bind = what_binds(problem, integer)
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
        slot_price=slot_price,
        token_price=token_price,
        must_wait=_fewer_start(integer, problem.waiting),
        slots_bind=slots_bind,
        tokens_bind=tokens_bind,
        exact_converged=exact.converged,
        reward_integer=integer.value,
        integer_bound=integer.bound,
        integer_proven=integer.proven,
        lp_bound=lp.bound,
        lp_proven=lp.proven,
        contested=_fewer_start(integer, int(fits_whole(problem).any(axis=1).sum())),
        gap_integer=relative_gap(integer.value, lp.bound, maximise=True),
        exact_s=exact.wall_s,
        lp_s=lp.wall_s + lp.build_s,
        integer_s=integer.wall_s + integer.build_s,
        **compared,
        **gaps,
    )
    return record, exact


def _compared(sampled: SampledPeriod, exact: PriceResult, *, with_distance: bool) -> dict[str, Any]:
    """Return the fields that compare the run's prices with exact ones, None where not proven."""
    names = (
        *("f_gap", "f_relative_gap", "distance", "distance_of_0", "tied", "same_requests"),
        *("slot_price_low", "slot_price_high", "token_price_low", "token_price_high"),
        *("same_pairs", "reward_exact"),
    )
    compared: dict[str, Any] = dict.fromkeys(names)
    if not exact.converged:
        return compared
    by_exact = _starts(sampled, exact.batch, exact.memory)
    by_run = _starts(sampled, sampled.batch, sampled.memory)
    f_gap = value_at(sampled.sample, sampled.batch, sampled.memory) - exact.value
    slot_price, token_price = _unit_ranges(sampled, exact)
    compared |= {
        "f_gap": f_gap,
        "f_relative_gap": f_gap / max(abs(exact.value), 1e-9),
        "slot_price_low": slot_price[0],
        "slot_price_high": slot_price[1],
        "token_price_low": token_price[0],
        "token_price_high": token_price[1],
        "tied": _is_tied(sampled, exact),
        "same_requests": {j for j, _ in by_run} == {j for j, _ in by_exact},
        "same_pairs": set(by_run) == set(by_exact),
        "reward_exact": reward_of(sampled.problem, by_exact),
    }
    if with_distance:
        nothing = np.zeros_like(sampled.batch)
        compared["distance"] = _distance(sampled, exact, sampled.batch, sampled.memory)
        compared["distance_of_0"] = _distance(sampled, exact, nothing, nothing)
    return compared


def _distance(
    sampled: SampledPeriod, exact: PriceResult, batch: Floats, memory: Floats
) -> float | None:
    """Return the distance of prices to the optimal ones, in what capacity costs from now on."""
    nearest = nearest_optimal(sampled.sample, batch, memory, capacity_weights(sampled), exact.value)
    return None if nearest is None else nearest.distance


def reward_of(problem: PeriodProblem, pairs: Pairs) -> float:
    """Return the reward of whole starts."""
    x = np.zeros((problem.waiting, problem.workers), np.int64)
    for request, worker in pairs:
        x[request, worker] = 1
    return value_of(problem, x)


def capacity_weights(sampled: SampledPeriod) -> tuple[Floats, Floats]:
    """Return the slots, and the KV tokens, of the workers in the remaining periods, else 0."""
    to_come = np.zeros(sampled.batch.shape)
    sampled.of_remaining(to_come)[:] = 1
    return to_come * sampled.slots[:, None], to_come * sampled.kv_tokens[:, None]


def capacity_costs(sampled: SampledPeriod, batch: Floats, memory: Floats) -> tuple[float, float]:
    """Return what all slots, and all KV tokens, of the remaining periods cost, in reward."""
    slots, tokens = capacity_weights(sampled)
    return float((slots * batch).sum()), float((tokens * memory).sum())


def unit_prices(sampled: SampledPeriod, batch: Floats, memory: Floats) -> tuple[float, float]:
    """Return what a slot, and a KV token, cost for a period, mean over all that there are."""
    costs = capacity_costs(sampled, batch, memory)
    slots, tokens = (
        cost / max(float(weights.sum()), 1.0)
        for cost, weights in zip(costs, capacity_weights(sampled), strict=True)
    )
    return slots, tokens


def _unit_ranges(
    sampled: SampledPeriod, exact: PriceResult
) -> tuple[tuple[float | None, float | None], tuple[float | None, float | None]]:
    """Return between which ends `unit_prices` lie over all prices that minimise f."""
    optimal = OptimalSet(sampled.sample, exact.value)
    slots, tokens = capacity_weights(sampled)
    nothing = np.zeros_like(slots)
    found = []
    for weights, ends in (
        (slots, optimal.ends(slots, nothing)),
        (tokens, optimal.ends(nothing, tokens)),
    ):
        units = max(float(weights.sum()), 1.0)
        rounding = NEGLIGIBLE * float(sampled.sample.columns.reward.max(initial=0.0))
        low, high = (
            None if np.isnan(end) else (0.0 if end <= rounding else end / units) for end in ends
        )
        found.append((low, high))
    return found[0], found[1]


def what_binds(
    problem: PeriodProblem, integer: PeriodResult
) -> tuple[bool, bool] | tuple[None, None]:
    """Return whether slots, and whether KV tokens, keep a request out of a worker.

    Parameters
    ----------
    problem
        The period.
    integer
        The best whole starts found; what they leave free is too little for whoever still waits.
        Without any, nothing is known.
    """
    if integer.x is None:
        return None, None
    whole = np.rint(integer.x).astype(np.int64)
    slots, tokens = used(problem, whole)
    waits = whole.sum(axis=1, keepdims=True) == 0
    plenty = np.full_like(problem.slots, np.iinfo(np.int32).max)
    by_slots = fits_whole(problem.replace(slots=problem.slots - slots, kv_tokens=plenty))
    by_tokens = fits_whole(problem.replace(slots=plenty, kv_tokens=problem.kv_tokens - tokens))
    return bool((waits & ~by_slots).any()), bool((waits & ~by_tokens).any())


def _starts(sampled: SampledPeriod, batch: Floats, memory: Floats) -> Pairs:
    """Return the greedy starts at given prices, ties by index; rewards clipped as in the dual."""
    rng = np.random.default_rng(0)  # draws nothing: ties go by index
    margins = _margins(sampled, batch, memory)
    return admit_by_score(sampled.problem, margins, random_ties=False, rng=rng)


def _margins(sampled: SampledPeriod, batch: Floats, memory: Floats) -> Floats:
    """Return what prices leave of each request's reward on each worker, shape (J, G)."""
    problem, sample = sampled.problem, sampled.sample
    prices = sampled.of_remaining(batch), sampled.of_remaining(memory)
    clipped = np.minimum(problem.rewards, sample.reward_normalizer * sample.reward_ceiling)
    return margins_of(problem, *prices) + (clipped - problem.rewards)[:, None]


def _is_tied(sampled: SampledPeriod, exact: PriceResult) -> bool:
    """Whether a request that fits somewhere is worth there what it uses, at exact prices."""
    margins = _margins(sampled, exact.batch, exact.memory)
    best = np.where(fits_whole(sampled.problem), margins, -np.inf).max(axis=1, initial=-np.inf)
    return bool((np.abs(best) <= TIE * np.maximum(1.0, sampled.problem.rewards)).any())


def _rounded(problem: PeriodProblem, lp: PeriodResult) -> Pairs:
    rng = np.random.default_rng(0)  # draws nothing: ties go by index
    return round_shares(problem, lp, random_ties=False, rng=rng)


def _fewer_start(result: PeriodResult, requests: int) -> bool | None:
    return None if result.x is None else round(float(result.x.sum())) < requests


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
