"""Solving one period of the batch/KV model: what lies around a backend's run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError, unknown_name
from olprouting.exact import solvers
from olprouting.exact.backend import Outcome
from olprouting.exact.options import DEFAULT_SOLVER, SolveOptions
from olprouting.exact.period.check_period import (
    best_margins,
    check_period,
    fits_whole,
    margins_of,
    primal_faults,
    used,
    value_bound,
    value_of,
)
from olprouting.exact.period.columns import PeriodColumns, period_columns
from olprouting.exact.period.scaling import Scaled, repaired, scaled
from olprouting.exact.period.uniqueness import prices_unique
from olprouting.exact.trust import without_doubtful_bound
from olprouting.instances import PeriodPrices, PeriodProblem, PeriodResult, StopReason

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.exact.backend import Backend

    Floats = npt.NDArray[np.float64]

PRICE_SOURCES = ("lp-relaxation", "fixed-integers")
"""What may stand in for the prices that an integer program has not."""

INTEGRALITY_TOLERANCE = 1e-4
"""A start farther than this from an integer means that the solver did not keep it integer."""

DUAL_TOLERANCE = 1e-7
"""By how much a MIP solver's node LPs let a reduced cost be violated."""

_DONE = (StopReason.OPTIMAL, StopReason.OPTIMAL_WITHIN_GAP)


@dataclass(frozen=True)
class PeriodQuestion:
    """What is asked of a period: the arguments of `olprouting.exact.solve`, all but the period."""

    solver: str
    formulation: str
    options: SolveOptions
    prices: str | None
    reduce_rows: bool
    drop_oversize: bool
    test_uniqueness: bool

    @property
    def integer(self) -> bool:
        """Whether starts are whole."""
        return self.formulation == "integer"


def best_starts(problem: PeriodProblem, asked: PeriodQuestion) -> PeriodResult:
    """Find the starts of most reward in a period, and prices; see `olprouting.exact.solve`."""
    if asked.solver == DEFAULT_SOLVER:
        asked = replace(asked, solver="highs")
    backend = solvers.load(asked.solver, PeriodProblem, asked.formulation)
    _refuse(asked)
    fits: npt.NDArray[np.bool_] = np.asarray(fits_whole(problem).any(axis=1))
    # what fits whole nowhere cannot start whole; its reward would only spoil the scaling
    kept = fits | (not asked.drop_oversize and not asked.integer)
    result = _solve(_subset(problem, kept), asked, backend)
    if asked.prices is not None and result.has_solution:
        result = _with_prices(_subset(problem, kept), result, asked)
    oversize = tuple(np.flatnonzero(~fits).tolist())
    return replace(_spread(result, kept), oversize=oversize)


def _refuse(asked: PeriodQuestion) -> None:
    if asked.prices is not None and asked.prices not in PRICE_SOURCES:
        raise unknown_name("source of prices", asked.prices, PRICE_SOURCES)
    if asked.prices is not None and not asked.integer:
        raise InputError(
            f"prices = {asked.prices!r} is for formulation 'integer'; {asked.formulation!r} has "
            "its own"
        )
    for option in ("warm_start", "on_incumbent"):
        if getattr(asked.options, option) is not None:
            raise InputError(f"{option} is for routing decisions; a period's program takes none")
    if asked.options.node_limit is not None and not asked.integer:
        raise InputError(
            f"node_limit is for formulation 'integer'; {asked.formulation!r} has no nodes"
        )


def _solve(problem: PeriodProblem, asked: PeriodQuestion, backend: Backend) -> PeriodResult:
    columns = period_columns(problem, reduce_rows=asked.reduce_rows)
    if problem.waiting == 0:
        return _nothing_waits(problem, columns, asked)
    program = scaled(columns)
    outcome = backend.run(program.columns, asked.formulation, asked.options, None)
    if asked.integer:
        outcome = without_doubtful_bound(outcome, asked.solver, asked.options.native)
    result = _unsolved(problem, columns, asked, outcome)
    if asked.integer:
        return _integer(problem, program, outcome, result)
    if outcome.price is None:
        return result
    return _continuous(problem, program, outcome, asked, result)


def _unsolved(
    problem: PeriodProblem, columns: PeriodColumns, asked: PeriodQuestion, outcome: Outcome[Floats]
) -> PeriodResult:
    """Return the result of an outcome, without what must be rechecked first."""
    options, stop = asked.options, outcome.stop_reason
    return PeriodResult(
        solver=asked.solver,
        formulation=asked.formulation,
        period=problem.period,
        # OPTIMAL is for the recheck to give
        stop_reason=StopReason.OPTIMAL_WITHIN_GAP if stop is StopReason.OPTIMAL else stop,
        value=None,
        bound=None,
        solution=None,
        priced=None,
        oversize=(),
        clipped=problem.clipped,
        rows=len(columns.capacity),
        rows_in_full=columns.rows_in_full,
        wall_s=outcome.wall_s,
        build_s=outcome.build_s,
        limit_s=options.time_limit_s,
        threads=options.threads,
        seed=options.seed,
        message=outcome.message,
    )


def _nothing_waits(
    problem: PeriodProblem, columns: PeriodColumns, asked: PeriodQuestion
) -> PeriodResult:
    message = "nothing waits"
    outcome: Outcome[Floats] = Outcome(StopReason.OPTIMAL, None, None, 0.0, 0.0, message)
    x = np.zeros((0, problem.workers))
    free, nobody = np.zeros(problem.slots.shape), np.zeros(0)
    unique = prices_unique(problem, x) if asked.test_uniqueness else None
    return replace(
        _unsolved(problem, columns, asked, outcome),
        stop_reason=StopReason.OPTIMAL,
        value=0.0,
        bound=0.0,
        solution=x,
        priced=None
        if asked.integer
        else PeriodPrices(free, free, nobody, asked.formulation, unique),
    )


def _continuous(
    problem: PeriodProblem,
    program: Scaled,
    outcome: Outcome[Floats],
    asked: PeriodQuestion,
    result: PeriodResult,
) -> PeriodResult:
    """Return the rechecked result of an LP or a dual whose solver claims to be done."""
    price = program.price(outcome)
    assert price is not None
    if not np.isfinite(price).all():
        return _faulty(result, ["the solver gave no finite prices"])
    batch, memory = program.columns.by_period(price)
    option_values = best_margins(margins_of(problem, batch, memory))
    result = replace(result, bound=value_bound(problem, batch, memory))
    if outcome.solution is None:
        priced = PeriodPrices(batch, memory, option_values, asked.formulation, None)
        return replace(result, priced=priced)
    x = _by_request(problem, outcome.solution)
    if not np.isfinite(x).all():
        return _faulty(result, ["the solver gave no finite starts"])
    x = repaired(problem, x)  # however far it was out of bounds: the check judges what is left
    check = check_period(problem, x, batch, memory)
    if check.faults:
        return _faulty(result, list(check.faults))
    unique = prices_unique(problem, x) if asked.test_uniqueness else None
    priced = PeriodPrices(batch, memory, option_values, asked.formulation, unique)
    return _closed(replace(result, value=check.value, solution=x, priced=priced))


def _integer(
    problem: PeriodProblem, program: Scaled, outcome: Outcome[Floats], result: PeriodResult
) -> PeriodResult:
    """Return the rechecked result of an integer program."""
    result = replace(result, bound=_integer_bound(problem, program, outcome))
    if outcome.solution is None:
        return result
    x = _by_request(problem, outcome.solution)
    whole = np.rint(x).astype(np.int64)
    if np.abs(x - whole).max(initial=0.0) > INTEGRALITY_TOLERANCE:
        return _faulty(result, ["starts are fractional: is it a MIP solver?"])
    faults = primal_faults(problem, whole, tolerance=0)
    if faults:
        return _faulty(result, faults)
    result = replace(result, solution=whole.astype(np.float64), value=value_of(problem, whole))
    gap = result.absolute_gap
    if gap is not None and gap < 0:
        claim = f"{result.solver} claims a bound of {result.bound!r}, below the value of its starts"
        return _faulty(replace(result, bound=None), [claim])
    return _closed(result)


def _integer_bound(
    problem: PeriodProblem, program: Scaled, outcome: Outcome[Floats]
) -> float | None:
    """Return the upper bound that a MIP solver's bound proves.

    Each start may miss its reduced cost by the solver's tolerance, and there are at most as many
    starts as slots in the first period. Where all rewards are whole the optimum is too, and the
    bound may be rounded down.
    """
    bound = program.bound(outcome)
    if bound is None:
        return None
    starts = min(problem.waiting, int(problem.slots[:, 0].sum()))
    bound += DUAL_TOLERANCE * starts * program.reward_unit
    whole = bool((problem.rewards == np.floor(problem.rewards)).all())
    return float(np.floor(bound)) if whole else bound


def _closed(result: PeriodResult) -> PeriodResult:
    """Return `result` as OPTIMAL if its gap is 0, and with a bound not below its value."""
    value, bound = result.value, result.bound
    if result.stop_reason in _DONE and value is not None and value == bound:
        return replace(result, stop_reason=StopReason.OPTIMAL)
    if value is not None and bound is not None and bound < value:
        # by rounding only: the check has passed
        message = f"{result.message}; bound {bound!r} was below the value by rounding"
        return replace(result, bound=value, message=message)
    return result


def _faulty(result: PeriodResult, faults: list[str]) -> PeriodResult:
    message = f"{result.message}; the recheck failed: {'; '.join(faults)}"
    return replace(result, stop_reason=StopReason.ERROR, message=message)


def _with_prices(
    problem: PeriodProblem, result: PeriodResult, asked: PeriodQuestion
) -> PeriodResult:
    """Return an integer result with the prices of an LP, and the LP's time added."""
    assert result.x is not None
    assert asked.prices is not None
    left, kept, source = problem, np.ones(problem.waiting, dtype=np.bool_), asked.prices
    if source == "fixed-integers":
        left, kept = _left_waiting(problem, result.x)
    of_lp = replace(asked, formulation="lp", options=replace(asked.options, node_limit=None))
    backend = solvers.load(asked.solver, PeriodProblem, "lp")
    lp = _spread(_solve(left, of_lp, backend), kept)
    if lp.priced is None:
        return replace(result, message=f"{result.message}; no prices: {lp.message}")
    bound = result.bound
    if source == "lp-relaxation" and lp.bound is not None:
        bound = lp.bound if bound is None else min(bound, lp.bound)
    return _closed(
        replace(
            result,
            bound=bound,
            priced=replace(lp.priced, source=source),
            wall_s=result.wall_s + lp.wall_s,
            build_s=result.build_s + lp.build_s,
        )
    )


def _left_waiting(problem: PeriodProblem, x: Floats) -> tuple[PeriodProblem, npt.NDArray[np.bool_]]:
    """Return the problem that remains when whole starts `x` are made, and who is in it."""
    slots, tokens = used(problem, x.astype(np.int64))
    waiting = x.sum(axis=1) == 0
    capacities = {"slots": problem.slots - slots, "kv_tokens": problem.kv_tokens - tokens}
    return _subset(problem.replace(**capacities), waiting), waiting


def _subset(problem: PeriodProblem, kept: npt.NDArray[np.bool_]) -> PeriodProblem:
    if kept.all():
        return problem
    return problem.replace(
        prompt_tokens=problem.prompt_tokens[kept],
        decode_tokens=problem.decode_tokens[kept],
        arrival_period=problem.arrival_period[kept],
        slo_class=None if problem.slo_class is None else problem.slo_class[kept],
    )


def _spread(result: PeriodResult, kept: npt.NDArray[np.bool_]) -> PeriodResult:
    """Return a result for some requests as one for all: the others are not admitted."""
    if kept.all():
        return result
    if result.x is not None:
        x = np.zeros((len(kept), result.x.shape[1]))
        x[kept] = result.x
        result = replace(result, solution=x)
    if result.priced is not None:
        option_values = np.zeros(len(kept))
        option_values[kept] = result.priced.option_values
        result = replace(result, priced=replace(result.priced, option_values=option_values))
    return result


def _by_request(problem: PeriodProblem, start: Floats) -> Floats:
    return start.reshape(problem.workers, problem.waiting).T.copy()
