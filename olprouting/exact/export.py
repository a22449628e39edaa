"""Writing an instance's program to an LP or MPS file with readable names."""

# mypy: allow-untyped-calls
# (highspy says that it is typed, and is in part)
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError, unknown_name
from olprouting.files import replacing
from olprouting.instances import Decision, PeriodProblem

if TYPE_CHECKING:
    import highspy

    from olprouting.exact.period.columns import PeriodColumns

SUFFIXES = (".lp", ".mps")

OF_PERIOD = ("lp", "integer")
"""Formulations of a period that are written."""


def export(
    instance: Decision | PeriodProblem,
    path: str | Path,
    formulation: str | None = None,
    *,
    reduce_rows: bool = True,
) -> None:
    """Write the program of a decision, or that of a period (a maximisation), to a file.

    Parameters
    ----------
    instance
        The decision or period.
    path
        Where to; the suffix, ``.lp`` or ``.mps``, sets the format.
    formulation
        Of a decision ``"size-class"`` (the default; columns ``admit_s<size>_w<worker>``) or
        ``"assignment"`` (columns ``place_r<request>_w<worker>``). Of a period ``"lp"`` (the
        default) or ``"integer"``; columns ``start_r<request>_g<worker>``, rows
        ``slots_g<worker>_k<period>``, ``kv_tokens_g<worker>_k<period>`` and ``once_r<request>``.
    reduce_rows
        Of a period: leave out capacity rows that cannot bind.

    Raises
    ------
    InputError
        If the suffix or the formulation is unknown, nothing waits in a period, or the file cannot
        be written.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}")
    if isinstance(instance, Decision):
        write_model(_decision(instance, formulation or "size-class"), path)
        return
    if instance.waiting == 0:
        raise InputError(f"{path}: nothing waits, so that there is no program to write")
    write_model(_period(instance, formulation or "lp", reduce_rows=reduce_rows), path)


def _decision(decision: Decision, formulation: str) -> highspy.Highs:
    from olprouting.exact.formulations import FORMULATIONS
    from olprouting.exact.highs import new_highs, pass_model
    from olprouting.exact.matrix import compile_model

    if formulation not in FORMULATIONS:
        raise unknown_name("formulation", formulation, FORMULATIONS)
    matrix = compile_model(FORMULATIONS[formulation](decision).pyomo_model())
    solver = new_highs(verbose=False)
    pass_model(solver, matrix)
    for column, variable in enumerate(matrix.columns):
        solver.passColName(column, _label(variable))
    for row, constraint in enumerate(matrix.constraints):
        solver.passRowName(row, _label(constraint))
    return solver


def _period(problem: PeriodProblem, formulation: str, *, reduce_rows: bool) -> highspy.Highs:
    import highspy

    from olprouting.exact.formulations import formulated
    from olprouting.exact.highs import new_highs, pass_model
    from olprouting.exact.matrix import compile_model
    from olprouting.exact.period.columns import period_columns

    if formulation not in OF_PERIOD:
        raise unknown_name("formulation to export", formulation, OF_PERIOD)
    columns = period_columns(problem, reduce_rows=reduce_rows)
    matrix = compile_model(formulated(columns, formulation).pyomo_model())
    solver = new_highs(verbose=False)
    pass_model(solver, matrix)
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    for column, variable in enumerate(matrix.columns):
        solver.changeColCost(column, -float(matrix.cost[column]))
        worker, request = divmod(variable.index(), problem.waiting)
        solver.passColName(column, f"start_r{request}_g{worker}")
    for row, constraint in enumerate(matrix.constraints):
        solver.passRowName(row, _row_name(problem, columns, constraint))
    return solver


def _row_name(problem: PeriodProblem, columns: PeriodColumns, constraint: Any) -> str:
    family, index = constraint.parent_component().local_name, constraint.index()
    if family == "once":
        return f"once_r{index}"
    place, offset = divmod(int(columns.row_place[index]), problem.remaining)
    worker, resource = divmod(place, 2)
    return f"{('slots', 'kv_tokens')[resource]}_g{worker}_k{problem.period + offset}"


def write_model(solver: highspy.Highs, path: Path) -> None:
    """Write the model that HiGHS holds; HiGHS itself is silent about a disk that is full.

    Raises
    ------
    NotWrittenError
        If not all of it could be written.
    """
    with replacing(path) as unfinished:
        status = solver.writeModel(str(unfinished))
        if status.name == "kError" or not unfinished.is_file():
            raise OSError("HiGHS cannot write there")
        with unfinished.open("rb") as file:
            file.seek(max(0, unfinished.stat().st_size - 20))
            if not file.read().rstrip().lower().endswith((b"end", b"endata")):
                raise OSError("its end is missing; is the disk full?")


def _label(component: Any) -> str:
    """Return a name that every LP and MPS reader takes: ``place[r2,w1]`` becomes place_r2_w1."""
    index = component.index()
    parts = index if isinstance(index, tuple) else () if index is None else (index,)
    return "_".join([component.parent_component().local_name, *map(str, parts)])
