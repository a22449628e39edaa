"""Solving a decision or a period, with any solver: the one way in."""

from __future__ import annotations

from typing import overload

from olprouting.errors import InputError
from olprouting.exact.options import DEFAULT_SOLVER, SolveOptions
from olprouting.instances import Decision, DecisionResult, PeriodProblem, PeriodResult


@overload
def solve(
    instance: Decision,
    *,
    solver: str = DEFAULT_SOLVER,
    formulation: str | None = None,
    options: SolveOptions | None = None,
) -> DecisionResult: ...


@overload
def solve(
    instance: PeriodProblem,
    *,
    solver: str = DEFAULT_SOLVER,
    formulation: str | None = None,
    options: SolveOptions | None = None,
    prices: str | None = None,
    reduce_rows: bool = True,
    drop_oversize: bool = False,
    test_uniqueness: bool = True,
) -> PeriodResult: ...


def solve(
    instance: Decision | PeriodProblem,
    *,
    solver: str = DEFAULT_SOLVER,
    formulation: str | None = None,
    options: SolveOptions | None = None,
    prices: str | None = None,
    reduce_rows: bool = True,
    drop_oversize: bool = False,
    test_uniqueness: bool = True,
) -> DecisionResult | PeriodResult:
    """Find the optimum of a decision or of a period, and prove it.

    Of a decision that is the assignment of least weighted imbalance; of a period the starts of most
    reward, and what slots and KV tokens are worth.

    Parameters
    ----------
    instance
        What is to be decided: a decision (balance paper, section 3) or a period (bid-price paper,
        section 3).
    solver
        A name of `solver_names`, or ``"pyomo:<name>"`` for any solver that Pyomo knows. The
        default ``"auto"`` is the native search, then HiGHS; of a period it is HiGHS. An LP or dual
        of a period takes any LP solver of CVXPY, by ``"cvxpy:<name>"`` or its plain name.
    formulation
        A name of `formulations_of`; None is the solver's default. Of a decision ``"size-class"`` or
        ``"assignment"``, for solvers with models. Of a period ``"lp"`` (bid-price paper, section
        3.1; the default), ``"integer"`` (whole starts), ``"dual"`` (prices and option values,
        section 3.2; x from its row duals) or ``"reduced-dual"`` (prices alone; it proves a bound
        and gives no x).
    options
        How to solve; None is ``SolveOptions()``: to optimality, without limits.
    prices
        Of a period's integer program: ``"lp-relaxation"``, the prices of the LP; or
        ``"fixed-integers"``, those of the LP of the requests left waiting when the admitted ones
        stay where they are (a program with integers only, fixed altogether, would leave nothing to
        price). None: none.
    reduce_rows
        Of a period: leave out capacity rows that cannot bind; value and prices stay optimal.
    drop_oversize
        Of a period: do not start any part of a request that fits whole on no worker. As published,
        the LP may start a fraction of one.
    test_uniqueness
        Of a period: find out whether the prices are the only optimal ones, at the cost of two small
        LPs.

    Returns
    -------
    DecisionResult or PeriodResult
        Why the solver stopped, and what it has. The solution has been rechecked, and its value
        recomputed: exactly for a decision; bound and prices of a period too. What contradicts the
        recheck has the stop reason ``error``. Reaching a limit raises nothing. Where a decision's
        numbers are too large for the solver's tolerances to prove anything, an exact solver answers
        instead: ``solver`` names it, and ``message`` says so.

    Raises
    ------
    InputError
        If a name is unknown, or the solver cannot do what the options ask for.
    SolverUnavailableError
        If the solver is not installed or not licensed.
    """
    options = options or SolveOptions()
    if isinstance(instance, PeriodProblem):
        from olprouting.exact.period.optimum import PeriodQuestion, best_starts

        asked = PeriodQuestion(
            solver, formulation or "lp", options, prices, reduce_rows, drop_oversize,
            test_uniqueness,
        )  # fmt: skip
        return best_starts(instance, asked)
    if prices is not None:
        raise InputError(f"prices = {prices!r} is for periods; a decision has none")
    from olprouting.exact.decision import best_assignment

    return best_assignment(instance, solver, formulation, options)
