"""Run one cell."""

from __future__ import annotations

import time
import traceback
import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from olprouting.engine import simulate
from olprouting.errors import InputError, said
from olprouting.forecasts import make_forecast
from olprouting.gaps import measure_gaps
from olprouting.options import Clock, ClockOptions
from olprouting.price_report import RunOutcome, measure_prices, requests_of
from olprouting.price_report.runner import Runner, check_conditions
from olprouting.price_report.study import JUDGED
from olprouting.studies.outcome import (
    CELLS,
    CONVERGENCE,
    PRICES,
    RECORDS,
    SERIES,
    TIMING,
    CellOutcome,
)
from olprouting.studies.parameters import Kind, arguments_of, policy_options
from olprouting.studies.workload import workload_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from olprouting.gaps import GapReport
    from olprouting.options import PolicyOptions
    from olprouting.price_report import PriceReport
    from olprouting.studies.cell import Cell
    from olprouting.traces import Workload

Rows = list[dict[str, Any]]

WALL_CLOCK: Final = frozenset(
    {"dispatch_p50_s", "dispatch_p99_s", "solve_p50_s", "solve_p99_s", "solve_s", "build_s"}
    | {"route_p50_s", "route_p99_s", "update_p50_s", "update_p99_s"}
    | {"exact_p50_s", "exact_p99_s", "exact_s", "lp_s", "integer_s"}
)
"""Columns of the reports that hold wall-clock times."""


def run_cell(cell: Cell) -> CellOutcome:
    """Run a cell and return its rows, or what went wrong.

    Raises
    ------
    KeyboardInterrupt
        If it was interrupted.
    """
    started = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tables = _MEASURES[cell.kind](cell)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # one broken cell must not end the study
        text = str(error) if isinstance(error, InputError) else said(error)
        return CellOutcome.failure(cell, text, traceback.format_exc())
    # others, such as those of imports, depend on what the process did before
    ours = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
    notices = " | ".join(dict.fromkeys(ours))
    for row in tables[CELLS]:
        row["notices"] = notices
    wall = {"wall_s": time.perf_counter() - started}
    tables[TIMING] = [wall | row for row in tables.get(TIMING, [{}])]
    own = dict.fromkeys(tables, cell.row) | {CELLS: cell.row | cell.point}
    return CellOutcome(
        cell.id, {name: [own[name] | row for row in rows] for name, rows in tables.items()}
    )


def _simulate(cell: Cell) -> dict[str, Rows]:
    options = policy_options(cell.settings)
    arguments = arguments_of(cell.kind, cell.settings)
    clock = str(arguments.get("clock", Clock.BARRIER))
    if options.period.receding or clock == Clock.INDEPENDENT:
        arguments.pop("periods", None)  # T is then no iteration at which a run could stop
    workload, forecast = _workload(cell, options)
    run = simulate(
        workload.trace,
        cell.cluster.cluster(),
        cell.make_policy(),
        **workload.release,
        forecast=forecast,
        seed=cell.seed,
        series_every=cell.outputs.series_every if cell.keeps_series else None,
        **arguments,
    )
    _refuse_interrupted(run)
    row: dict[str, Any] = run.metrics.to_row()
    if clock == Clock.BARRIER or options.period.period_s is not None:
        batching = arguments.get("batching", "decode")
        requests = requests_of(run, options.period, batching)
        outcome = RunOutcome.of(run, requests, options.period.t2, [], [])
        row |= {n: getattr(outcome, n) for n in ("reward", "satisfaction", "never_admitted")}
    tables: dict[str, Rows] = {CELLS: [row], TIMING: [{"run_s": run.wall_s}]}
    if run.series is not None:
        tables[SERIES] = _plain(run.series_frame())
    return tables


def _measure_gaps(cell: Cell) -> dict[str, Rows]:
    options = policy_options(cell.settings)
    workload, forecast = _workload(cell, options)
    report = measure_gaps(
        workload.trace,
        cell.cluster.cluster(),
        [cell.policy_name],
        options=options,
        **workload.release,
        forecast=forecast,
        seed=cell.seed,
        **arguments_of(cell.kind, cell.settings),
    )
    _refuse_unfinished(report)
    entries = [_renamed(asdict(entry)) for entry in report.policies]
    records = [_stable(asdict(record)) for record in report.records]
    timing = [{"window": entry["window"]} | _wall_clock(entry) for entry in entries]
    tables = {CELLS: list(map(_stable, entries)), TIMING: timing, RECORDS: records}
    every = cell.outputs.series_every
    if every is not None and cell.keeps_series:
        (series,) = report.series.values()
        tables[SERIES] = _plain(series.iloc[::every])
    return tables


def _measure_prices(cell: Cell) -> dict[str, Rows]:
    options = policy_options(cell.settings)
    workload, forecast = _workload(cell, options)
    cluster = cell.cluster.cluster()
    arguments = arguments_of(cell.kind, cell.settings)
    policy = cell.make_policy()
    if policy.name != JUDGED:
        time = ClockOptions.of(cell.settings)
        check_conditions(cluster, options, time.clock, sample=None)
        runner = Runner(
            workload.trace,
            cluster,
            options,
            forecast,
            time.clock,
            time.batching,
            arguments["kv"],
            cell.seed,
            on_progress=None,
        )
        outcome, _ = runner.outcome(runner.run(policy, None))
        row = asdict(outcome)
        _warn_of(runner.notices)
        return {CELLS: [_stable(row)], TIMING: [_wall_clock(row)]}
    report = measure_prices(
        workload.trace,
        cluster,
        [JUDGED],
        options=options,
        forecast=forecast,
        seed=cell.seed,
        **arguments,
    )
    _refuse_unfinished(report)
    _warn_of(report.notices)
    row = asdict(report.runs[0])
    if report.quality is not None:
        quality = asdict(report.quality)
        row |= {n if n in WALL_CLOCK else f"price_{n}": v for n, v in quality.items()}
    for starts in report.starts:
        values = asdict(starts)
        row |= {f"starts_{starts.way}_{n}": v for n, v in values.items() if n != "way"}
    tables = {
        CELLS: [_stable(row)],
        TIMING: [_wall_clock(row)],
        RECORDS: [_stable(asdict(record)) for record in report.records],
    }
    if cell.keeps_series:
        tables |= {PRICES: _plain(report.prices), CONVERGENCE: _plain(report.convergence)}
    return tables


_MEASURES: Final[Mapping[Kind, Callable[[Cell], dict[str, Rows]]]] = {
    Kind.SIMULATE: _simulate,
    Kind.GAPS: _measure_gaps,
    Kind.PRICES: _measure_prices,
}


def _workload(cell: Cell, options: PolicyOptions) -> tuple[Workload, Any]:
    """Return the requests of a cell, and the forecast that its policy has of them."""
    period_s = options.period.period_s
    workload = workload_of(
        cell.workload, cell.seed, cell.trace_sha256, period_s, options.period.classes
    )
    forecast = make_forecast(
        cell.foresight.name, workload.history, horizon=options.horizon, seed=cell.seed
    )
    return workload, forecast


def _warn_of(notices: Sequence[str]) -> None:
    for notice in notices:
        warnings.warn(notice, stacklevel=2)


def _refuse_interrupted(result: Any) -> None:
    if result.interrupted:
        raise KeyboardInterrupt


def _refuse_unfinished(report: GapReport | PriceReport) -> None:
    _refuse_interrupted(report)
    if report.failures:
        raise InputError(report.failures[0])


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose columns are no names of parameters."""
    names = {"horizon": "window", "decisions": "decisions_met"}
    return {names.get(name, name): value for name, value in row.items()}


def _stable(row: dict[str, Any]) -> dict[str, Any]:
    """Return what does not depend on the clock on the wall; the cell names policy itself."""
    return {n: v for n, v in row.items() if n not in WALL_CLOCK and n != "policy"}


def _wall_clock(row: dict[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in row.items() if n in WALL_CLOCK}


def _plain(frame: pd.DataFrame) -> Rows:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]
