"""The exact minimiser of the sample's dual, beside the subgradient method's."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from olprouting.exact.options import DEFAULT_SOLVER
from olprouting.exact.period.columns import binding_rows
from olprouting.exact.period.saa import SaaResult, solve_saa
from olprouting.instances import StopReason
from olprouting.prices.descent import check_problem, compile_evaluation, scaling_of, value_at
from olprouting.prices.result import PriceResult, verdict

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.exact.options import SolveOptions
    from olprouting.prices.columns import SaaProblem

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]


def exact_prices(
    problem: SaaProblem,
    *,
    solver: str = DEFAULT_SOLVER,
    options: SolveOptions | None = None,
    tolerance: float = 1e-6,
) -> PriceResult:
    """Return the prices that minimise f, by an LP (bid-price paper, equation (6)).

    Coordinates that cannot bind are left out of the LP and have price 0: between two ends of
    columns the use does not fall, so that the last period has the largest.

    Parameters
    ----------
    problem
        The sample's dual.
    solver, options
        As for `olprouting.exact.period.solve_saa`.
    tolerance
        Largest relative gap of prices called converged.

    Returns
    -------
    PriceResult
        Of kind ``"exact"``. If the solver stopped early, p = 0 and the reason says so.
    """
    compile_evaluation()
    began = time.perf_counter()
    check_problem(problem)
    columns, scaling = problem.columns, scaling_of(problem)
    batch, memory = np.zeros(problem.slots.shape), np.zeros(problem.slots.shape)
    solved = _solve(problem, batch, memory, solver, options) if columns.size else _NOTHING
    value = value_at(problem, batch, memory)
    lower = 0.0 if solved.bound is None else solved.bound
    # f is a sum of margins: rewards of which prices take back nearly all
    rounding = float(np.finfo(float).eps * columns.reward.max(initial=0.0))
    converged, reason = verdict(value, lower, tolerance, rounding)
    if solved.price is None:
        reason = f"not converged: {solved.stop_reason} ({solved.message})"
        converged = False
    clipped = scaling.clipped(columns.reward)
    scaling.warn_if_moot(clipped, columns.size)
    return PriceResult(
        kind="exact",
        batch=batch,
        memory=memory,
        value=value,
        lower_bound=lower,
        converged=converged,
        reason=reason,
        steps=0,
        best_step=None,
        columns=columns.size,
        clipped=clipped,
        wall_s=time.perf_counter() - began,
    )


_NOTHING = SaaResult(StopReason.OPTIMAL, np.zeros(0), 0.0, 0.0, 0.0, 0.0, "no history")


def _solve(
    problem: SaaProblem, batch: Floats, memory: Floats, solver: str, options: SolveOptions | None
) -> SaaResult:
    """Solve the LP, and fill `batch` and `memory` with true prices if it was solved."""
    columns = problem.columns
    rewards = np.minimum(columns.reward, problem.reward_normalizer * problem.reward_ceiling)
    places = [_kept_positions(problem, g) for g in range(len(problem.slots))]
    solved = solve_saa(
        scarcity_of(problem, places),
        rewards,
        usage_of(problem, places),
        solver=solver,
        options=options,
    )
    if solved.price is not None:
        at = 0
        for g, kept in enumerate(places):
            batch[g, kept] = solved.price[at : at + len(kept)]
            memory[g, kept] = solved.price[at + len(kept) : at + 2 * len(kept)]
            at += 2 * len(kept)
    return solved


def _ends(problem: SaaProblem) -> Ints:
    """Return one past the last position of each column, shape (N,)."""
    ends: Ints = np.minimum(problem.columns.first + problem.columns.active, problem.width)
    return ends


def _kept_positions(problem: SaaProblem, g: int) -> Ints:
    """Return the positions of a worker where slots or KV tokens can bind."""
    mine = (problem.columns.worker == g) & (problem.columns.first < problem.width)
    last = _ends(problem)[mine] - 1
    rows = [
        binding_rows(residual[g, : problem.width], last)  # type: ignore[arg-type]
        for residual in (problem.slots, problem.kv_tokens)
    ]
    return np.union1d(*rows)


def scarcity_of(problem: SaaProblem, places: list[Ints]) -> Floats:
    """Return d, in true units, at these positions of each worker: slots, then KV tokens."""
    parts = [
        residual[g, kept] * problem.slot_factor
        for g, kept in enumerate(places)
        for residual in (problem.slots, problem.kv_tokens)
    ]
    return np.concatenate(parts)


def usage_of(problem: SaaProblem, places: list[Ints]) -> sp.csr_array:
    """Return what each column uses at these positions (`scarcity_of`), shape (N, m)."""
    columns, ends = problem.columns, _ends(problem)
    row, place, used = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    at = 0
    for g, kept in enumerate(places):
        mine = np.flatnonzero((columns.worker == g) & (columns.first < ends))
        low, high = np.searchsorted(kept, columns.first[mine]), np.searchsorted(kept, ends[mine])
        count = high - low
        column = np.repeat(mine, count)
        nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        index = np.repeat(low, count) + nth
        tokens = columns.tokens[column] + kept[index] - columns.first[column]
        row += [column, column]
        place += [at + index, at + len(kept) + index]
        used += [np.ones(len(index)), tokens.astype(np.float64)]
        at += 2 * len(kept)
    entries = np.concatenate(used), (np.concatenate(row), np.concatenate(place))
    return sp.csr_array(sp.coo_array(entries, shape=(columns.size, at)))
