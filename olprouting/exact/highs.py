"""Backend HiGHS: the Pyomo models, compiled to matrices and handed to highspy directly.

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
from olprouting.exact.backend import Abilities, Outcome
from olprouting.exact.bounds import closing_gap_tokens, proven_bound
from olprouting.exact.formulations import FORMULATIONS, Formulation
from olprouting.exact.highs_threads import fresh_thread_pool
from olprouting.exact.incumbents import IncumbentWatch
from olprouting.exact.interruptible import Interruptible
from olprouting.exact.matrix import MatrixForm, compile_model
from olprouting.instances import Decision, StopReason

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.exact.options import SolveOptions
    from olprouting.instances.solve_result import Assignment

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
    # an imbalance has the bound 0, so that an unbounded model is a wrong model
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


LARGEST_REQUEST = 1e6
"""A count may miss a whole number by 1e-6. Of random decisions with requests and loads of this size
2,000 of 2,000 were solved; of ten times this size, 3% were not."""


class Highs:
    """HiGHS through highspy."""

    abilities = Abilities(
        tuple(FORMULATIONS),
        warm_start=True,
        on_incumbent=True,
        node_limit=True,
        largest_request=LARGEST_REQUEST,
    )

    def run(
        self,
        decision: Decision,
        formulation: str,
        options: SolveOptions,
        start: Assignment | None,
    ) -> Outcome:
        """Solve `decision`; see `Backend`."""
        began = time.perf_counter()
        program = FORMULATIONS[formulation](decision)
        model = program.pyomo_model()
        if start is not None:
            program.set_values(model, program.counts(start))
        matrix = compile_model(model)
        table = [matrix.column_of[id(variable)] for variable in program.pyomo_counts(model)]
        solver = new_highs(verbose=options.verbose)
        set_options(solver, options, mip_abs_gap=closing_gap_tokens(decision), **TUNED)
        pass_model(solver, matrix)
        if start is not None:
            _set_start(solver, matrix)
        watch = IncumbentWatch(decision, options)
        if options.on_incumbent:
            _subscribe(solver, watch, decision, program, table)
        built = time.perf_counter()
        solver.HandleUserInterrupt = True  # lets cancelSolve work
        run = Interruptible(lambda: run_alone(solver), solver.cancelSolve)
        run.result()
        watch.raise_error()
        return _outcome(solver, decision, options, program, table, built, built - began)


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


def _subscribe(
    solver: highspy.Highs,
    watch: IncumbentWatch,
    decision: Decision,
    program: Formulation,
    table: list[int],
) -> None:
    def improved(event: Any) -> None:
        data = event.data_out
        values = np.asarray(data.mip_solution)
        bound = proven_bound(data.mip_dual_bound, decision)
        watch.report(_read(program, values, table), bound, data.running_time)
        if watch.stop:
            solver.cancelSolve()

    solver.cbMipImprovingSolution.subscribe(improved)


def _read(program: Formulation, values: npt.NDArray[np.float64], table: list[int]) -> Assignment:
    """Return the assignment of a solution vector, near-integers rounded."""
    return program.assignment(np.rint(values[table]).astype(np.int64).reshape(program.shape))


def _outcome(
    solver: highspy.Highs,
    decision: Decision,
    options: SolveOptions,
    program: Formulation,
    table: list[int],
    built: float,
    build_s: float,
) -> Outcome:
    status, info = solver.getModelStatus(), solver.getInfo()
    stop = STOP_REASONS[status.name]
    if stop is StopReason.NODE_LIMIT and options.node_limit is None:
        stop = StopReason.OTHER_LIMIT
    feasible = int(highspy.SolutionStatus.kSolutionStatusFeasible)
    assignment = None
    if info.primal_solution_status == feasible:
        assignment = _read(program, np.asarray(solver.getSolution().col_value), table)
    bound = proven_bound(info.mip_dual_bound, decision) if info.valid else None
    message = solver.modelStatusToString(status)
    return Outcome(stop, assignment, bound, time.perf_counter() - built, build_s, message)
