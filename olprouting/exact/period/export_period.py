"""Writing a period's program to an LP or MPS file with readable names."""

# mypy: allow-untyped-calls
# (highspy says that it is typed, and is in part)
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from olprouting.errors import InputError, unknown_name
from olprouting.exact.export import SUFFIXES, write_model

if TYPE_CHECKING:
    from olprouting.exact.period.columns import PeriodColumns
    from olprouting.instances import PeriodProblem

FORMS = ("lp", "integer")


def export_period(
    problem: PeriodProblem, path: str | Path, form: str = "lp", *, reduce_rows: bool = True
) -> None:
    """Write a period's program, a maximisation, to a file.

    Parameters
    ----------
    problem
        The problem.
    path
        Where to; the suffix, ``.lp`` or ``.mps``, sets the format. Columns are named
        ``start_r<request>_g<device>``, rows ``slots_g<device>_k<period>``,
        ``kv_tokens_g<device>_k<period>`` and ``once_r<request>``.
    form
        ``"lp"`` or ``"integer"``.
    reduce_rows
        Leave out capacity rows that cannot bind.

    Raises
    ------
    InputError
        If the suffix or the form is unknown, nothing waits, or the file cannot be written.
    """
    import highspy

    from olprouting.exact.highs import new_highs, pass_model
    from olprouting.exact.matrix import compile_model
    from olprouting.exact.period.columns import period_columns
    from olprouting.models import period_integer

    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}")
    if form not in FORMS:
        raise unknown_name("form to export", form, FORMS)
    if problem.waiting == 0:
        raise InputError(f"{path}: nothing waits, so that there is no program to write")
    columns = period_columns(problem, reduce_rows=reduce_rows)
    matrix = compile_model(period_integer.build(*columns.arrays, integer=form == "integer"))
    highs = new_highs(verbose=False)
    pass_model(highs, matrix)
    highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
    for column, variable in enumerate(matrix.columns):
        highs.changeColCost(column, -float(matrix.cost[column]))
        device, request = divmod(variable.index(), problem.waiting)
        highs.passColName(column, f"start_r{request}_g{device}")
    for row, constraint in enumerate(matrix.constraints):
        highs.passRowName(row, _row_name(problem, columns, constraint))
    write_model(highs, path)


def _row_name(problem: PeriodProblem, columns: PeriodColumns, constraint: object) -> str:
    family, index = constraint.parent_component().local_name, constraint.index()  # type: ignore[attr-defined]
    if family == "once":
        return f"once_r{index}"
    place, offset = divmod(int(columns.row_place[index]), problem.remaining)
    device, resource = divmod(place, 2)
    return f"{('slots', 'kv_tokens')[resource]}_g{device}_k{problem.period + offset}"
