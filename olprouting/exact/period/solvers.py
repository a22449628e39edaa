"""Which solver a name means for which form of a period's program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from olprouting.exact.options import SolveOptions
    from olprouting.exact.period.columns import PeriodColumns
    from olprouting.exact.period.outcome import PeriodOutcome

    Run = Callable[[PeriodColumns, str, str, SolveOptions], PeriodOutcome]

FORMS = ("lp", "integer", "dual", "reduced-dual")
_CVXPY, _PYOMO = "cvxpy:", "pyomo:"


def lp_solver_names() -> list[str]:
    """Return the names of the solvers that take forms lp and dual here."""
    import cvxpy

    list_installed: Any = cvxpy.installed_solvers
    return sorted(name.lower() for name in list_installed())


def load(solver: str, form: str) -> tuple[Run, str]:
    """Return the function that runs `solver` on `form`, and the solver's name there.

    Parameters
    ----------
    solver
        ``"highs"``; a CVXPY solver, ``"cvxpy:<name>"`` or its plain name (LP and duals); or
        ``"pyomo:<name>"`` (LP and integer program).
    form
        One of `FORMS`.

    Raises
    ------
    InputError
        If a name is unknown, or the solver does not do this form.
    """
    if form not in FORMS:
        raise unknown_name("form", form, FORMS)
    if solver.startswith(_PYOMO):
        if form not in ("lp", "integer"):
            raise InputError(f"form {form!r} is a CVXPY model; {solver!r} solves lp and integer")
        from olprouting.exact.period import pyomo_period

        return pyomo_period.run, solver.removeprefix(_PYOMO)
    if form == "integer":
        if solver != "highs":
            raise InputError(
                f"solver {solver!r} does not solve form 'integer'; highs and pyomo:<name> do"
            )
        from olprouting.exact.period import highs_integer

        return highs_integer.run, solver
    from olprouting.exact.period import cvxpy_solver

    return cvxpy_solver.run, cvxpy_solver.solver_name(solver.removeprefix(_CVXPY))
