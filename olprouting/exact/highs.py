"""Backend HiGHS: the Pyomo models with integers, compiled to matrices for highspy.

Pyomo's own interfaces to HiGHS hide what we need: time limits per solve, thread changes, warm
starts, callbacks, the dual bound, and silence.
"""

# mypy: allow-untyped-calls
# (highspy says that it is typed, and is in part)
from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np

from olprouting.errors import InputError, unknown_name
from olprouting.exact.backend import HIGHS_LARGEST_REQUEST, Abilities, Outcome, not_started
from olprouting.exact.bounds import closing_gap_tokens
from olprouting.exact.formulations import FORMULATIONS, formulated
from olprouting.exact.incumbents import IncumbentWatch
from olprouting.exact.matrix import MatrixForm, compile_model
from olprouting.exact.running import Interruptible, fresh_thread_pool
from olprouting.instances import Decision, Sense, StopReason

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.exact.formulations import Formulation
    from olprouting.exact.options import SolveOptions
    from olprouting.exact.period.columns import PeriodColumns

STOP_REASONS = {
    "kOptimal": StopReason.OPTIMAL,
    "kModelEmpty": StopReason.OPTIMAL,
    "kInfeasible": StopReason.INFEASIBLE,
    "kUnboundedOrInfeasible": StopReason.INFEASIBLE_OR_UNBOUNDED,
    "kTimeLimit": StopReason.TIME_LIMIT,
    "kSolutionLimit": StopReason.NODE_LIMIT,  # HiGHS's word for mip_max_nodes
    "kInterrupt": StopReason.INTERRUPTED,
    "kHighsInterrupt": StopReason.INTERRUPTED,
    "kIterationLimit": StopReason.OTHER_LIMIT,
    "kObjectiveBound": StopReason.OTHER_LIMIT,
    "kObjectiveTarget": StopReason.OTHER_LIMIT,
    "kMemoryLimit": StopReason.OTHER_LIMIT,
    # imbalances have the bound 0, and rewards one by capacity: an unbounded model is a wrong one
    "kUnbounded": StopReason.ERROR,
    "kNotset": StopReason.ERROR,
    "kLoadError": StopReason.ERROR,
    "kModelError": StopReason.ERROR,
    "kPresolveError": StopReason.ERROR,
    "kSolveError": StopReason.ERROR,
    "kPostsolveError": StopReason.ERROR,
    "kUnknown": StopReason.ERROR,
}
"""By name, because the members vary with HiGHS's version."""

TUNED = {"presolve": "off", "mip_heuristic_run_feasibility_jump": False}
"""Our programs are small and have no rows to spare: on decisions of 8 workers, 3 free slots, 32
waiting and H = 80, presolve took nine tenths of the time and the heuristic a third of the rest."""


class Highs:
    """HiGHS through highspy, for decisions and for whole starts of a period."""

    abilities = Abilities(
        tuple(FORMULATIONS),
        warm_start=True,
        on_incumbent=True,
        node_limit=True,
        largest_request=HIGHS_LARGEST_REQUEST,
    )

    def run(
        self,
        instance: Decision | PeriodColumns,
        formulation: str,
        options: SolveOptions,
        start: Any,
    ) -> Outcome[Any]:
        """Solve an instance; see `Backend`."""
        began = time.perf_counter()
        program = formulated(instance, formulation)
        model = program.pyomo_model()
        if start is not None:
            program.set_values(model, start)
        matrix = compile_model(model)
        # a variable in no row and without cost is not in the matrix
        columns = [matrix.column_of.get(id(v), -1) for v in program.pyomo_columns(model)]
        reading = _Reading(program, np.array(columns, np.int64))
        solver = new_highs(verbose=options.verbose)
        if isinstance(instance, Decision):
            set_options(solver, options, mip_abs_gap=closing_gap_tokens(instance), **TUNED)
        else:
            set_options(solver, options, mip_abs_gap=0.0)
        pass_model(solver, matrix)
        if start is not None:
            _set_start(solver, matrix)
        watch = None
        if isinstance(instance, Decision) and options.on_incumbent:
            watch = IncumbentWatch(instance, options)
            _subscribe(solver, watch, reading)
        built = time.perf_counter()
        if options.time_limit_s == 0 and not isinstance(instance, Decision):
            # its presolve may finish a small program within no time
            return not_started(built - began)
        solver.HandleUserInterrupt = True  # lets cancelSolve work
        Interruptible(lambda: run_alone(solver), solver.cancelSolve).result()
        if watch is not None:
            watch.raise_error()
        return reading.outcome(solver, options, built, built - began)


class _Reading:
    """How a program's solutions and bounds are read from HiGHS, which always minimises.

    Parameters
    ----------
    program
        The program.
    columns
        HiGHS's column of each variable that a solution is read from, -1 for one that it has not.
    """

    def __init__(self, program: Formulation, columns: npt.NDArray[np.int64]) -> None:
        self._program, self._columns = program, columns
        self._sign = 1 if program.sense is Sense.MINIMISE else -1

    def solution(self, values: Any) -> Any:
        """Return the solution of a vector of columns."""
        return self._program.solution(np.append(np.asarray(values), 0.0)[self._columns])

    def bound(self, dual_bound: float) -> Any:
        """Return what HiGHS's dual bound says of the value."""
        return self._program.bound(self._sign * dual_bound)

    def outcome(
        self, solver: highspy.Highs, options: SolveOptions, built: float, build_s: float
    ) -> Outcome[Any]:
        """Return what HiGHS has at the end of a run."""
        status, info = solver.getModelStatus(), solver.getInfo()
        stop = STOP_REASONS[status.name]
        if stop is StopReason.NODE_LIMIT and options.node_limit is None:
            stop = StopReason.OTHER_LIMIT
        feasible = int(highspy.SolutionStatus.kSolutionStatusFeasible)
        solution = None
        if info.primal_solution_status == feasible:
            solution = self.solution(solver.getSolution().col_value)
        bound = self.bound(info.mip_dual_bound) if info.valid else None
        message = solver.modelStatusToString(status)
        return Outcome(stop, solution, bound, time.perf_counter() - built, build_s, message)


class _QuietHighs(highspy.Highs):
    """HiGHS that writes nothing, from the start.

    ``highspy.Highs()`` prints a banner when it registers its callback handler in the constructor,
    before any option can be set; so output is switched off just before that.
    """

    def enableCallbacks(self) -> None:  # noqa: N802 (highspy's name)
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()


def new_highs(*, verbose: bool) -> highspy.Highs:
    """Return a fresh HiGHS object (its run clock would add up over solves)."""
    return highspy.Highs() if verbose else _QuietHighs()


def pass_model(solver: highspy.Highs, matrix: MatrixForm) -> None:
    """Hand a compiled model to HiGHS."""
    status = solver.passModel(
        len(matrix.columns),
        len(matrix.row_lower),
        len(matrix.coefficients),
        int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMinimize),
        matrix.offset,
        matrix.cost,
        matrix.lower,
        matrix.upper,
        matrix.row_lower,
        matrix.row_upper,
        matrix.starts,
        matrix.rows,
        matrix.coefficients,
        matrix.integer,
    )
    if status == highspy.HighsStatus.kError:
        raise RuntimeError("HiGHS refused the model")


def set_options(solver: highspy.Highs, options: SolveOptions, **ours: Any) -> None:
    """Set the options of a solve: those of ours, and over them native ones.

    Raises
    ------
    InputError
        If HiGHS has no such native option, or refuses its value.
    """
    settings: dict[str, Any] = {
        "threads": options.threads,
        "random_seed": options.seed,
        "mip_rel_gap": options.relative_gap,
        **ours,
    }
    if options.time_limit_s is not None:
        settings["time_limit"] = float(options.time_limit_s)
    if options.node_limit is not None:
        settings["mip_max_nodes"] = options.node_limit
    for name, value in settings.items():
        solver.setOptionValue(name, value)
    for name, value in options.native.items():
        _set_native(solver, name, value)


def _set_native(solver: highspy.Highs, name: str, value: Any) -> None:
    status, kind = solver.getOptionType(name)
    if status != highspy.HighsStatus.kOk:
        known = [known for known in dir(highspy.HighsOptions) if not known.startswith("_")]
        raise unknown_name("highs option", name, known)
    try:
        accepted = solver.setOptionValue(name, value) == highspy.HighsStatus.kOk
    except (TypeError, RuntimeError):
        accepted = False
    if not accepted:
        expected = str(kind).rpartition(".k")[2].lower()
        raise InputError(f"highs option {name} = {value!r}: expected a {expected} in its range")


def _set_start(solver: highspy.Highs, matrix: MatrixForm) -> None:
    solution = highspy.HighsSolution()
    solution.col_value = [float(column.value) for column in matrix.columns]
    solver.setSolution(solution)


def run_alone(solver: highspy.Highs) -> None:
    """Solve with as many threads as the options say, whatever ran before in this process."""
    with fresh_thread_pool():
        solver.run()


def _subscribe(solver: highspy.Highs, watch: IncumbentWatch, reading: _Reading) -> None:
    def improved(event: Any) -> None:
        data = event.data_out
        solution, bound = reading.solution(data.mip_solution), reading.bound(data.mip_dual_bound)
        watch.report(solution, bound, data.running_time)
        if watch.stop:
            solver.cancelSolve()

    solver.cbMipImprovingSolution.subscribe(improved)
