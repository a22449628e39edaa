"""Writing a decision's program to an LP or MPS file with readable names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError, unknown_name
from olprouting.files import replacing

if TYPE_CHECKING:
    import highspy

    from olprouting.instances import Decision

SUFFIXES = (".lp", ".mps")


def export(decision: Decision, path: str | Path, formulation: str = "size-class") -> None:
    """Write the program of `decision` to a file.

    Parameters
    ----------
    decision
        The decision.
    path
        Where to; the suffix, ``.lp`` or ``.mps``, sets the format.
    formulation
        ``"size-class"`` (columns ``admit_s<size>_w<worker>``) or ``"assignment"`` (columns
        ``place_r<request>_w<worker>``).

    Raises
    ------
    InputError
        If the suffix or the formulation is unknown, or the file cannot be written.
    """
    from olprouting.exact.formulations import FORMULATIONS
    from olprouting.exact.highs import new_highs, pass_model
    from olprouting.exact.matrix import compile_model

    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}")
    if formulation not in FORMULATIONS:
        raise unknown_name("formulation", formulation, FORMULATIONS)
    matrix = compile_model(FORMULATIONS[formulation](decision).pyomo_model())
    solver = new_highs(verbose=False)
    pass_model(solver, matrix)
    for column, variable in enumerate(matrix.columns):
        solver.passColName(column, _label(variable))
    for row, constraint in enumerate(matrix.constraints):
        solver.passRowName(row, _label(constraint))
    write_model(solver, path)


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
