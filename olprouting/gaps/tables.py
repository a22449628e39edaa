"""The tables of a report on gaps, as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.gaps.findings import GapFindings, program_of
from olprouting.options import OWN_PATH, Dispatch
from olprouting.report import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from olprouting.gaps.policy_gaps import PolicyGaps
    from olprouting.gaps.report import GapReport
    from olprouting.gaps.runs import PolicyRun
    from olprouting.intervals import Interval


def gap_tables(report: GapReport) -> tuple[Table, ...]:
    """Return the runs; as details gaps per program, parts of the error, waits and times."""
    return tuple(_tables(report))


def _tables(report: GapReport) -> Iterator[Table]:
    yield _runs(report)
    for window in report.windows:
        yield _gaps(report, window)
    compared = [row for row in report.policies if row.share_compared is not None]
    if compared:
        yield _table(
            "Forecast error and heuristic error",
            compared,
            {
                "gap by forecast": [f"{row.gap_mean_tokens:,.0f}" for row in compared],
                "true gap": [f"{row.true_gap_mean_tokens:,.0f}" for row in compared],
                "forecast's": [f"{row.forecast_error_mean_tokens:,.0f}" for row in compared],
                "heuristic's": [f"{row.heuristic_error_mean_tokens:,.0f}" for row in compared],
                "compared": [f"{row.share_compared:.1%}" for row in compared],
            },
            "mean tokens of a decision; true: by the program that knows all lengths; forecast's: "
            "what the exact policy loses by trusting the forecast; heuristic's: the rest",
        )
    yield _times(report)


def _runs(report: GapReport) -> Table:
    """Return the one table that is always shown, within 80 columns."""
    findings, runs = GapFindings(report), report.runs
    best = findings.best
    first = {row.policy: row for row in reversed(report.policies)}  # of the first program
    return Table(
        "Mean imbalance (tokens), waiting times and slowest request (s)",
        {"policy": [run.policy for run in runs]},
        {
            "while\n waiting": [_mean(run, "waiting_imbalance_tokens", ",.0f") for run in runs],
            "above\n best %": [_above(run, best) for run in runs],
            "whole\n run": [_mean(run, "imbalance_tokens", ",.0f") for run in runs],
            "avoided %\n of jsq's": [
                _share(first[run.policy].captured) if run.policy in first else "-" for run in runs
            ],
            "mean\n wait": [_mean(run, "wait_mean_s", ".2f") for run in runs],
            "p99\n wait": [_mean(run, "wait_p99_s", ".2f") for run in runs],
            "slow-\n est": [_mean(run, "slowest_s", ".1f") for run in runs],
        },
        " ".join(_about_runs(report)),
    )


def _about_runs(report: GapReport) -> Iterator[str]:
    findings, asked = GapFindings(report), report.settings
    if (best := findings.best) is not None:
        window, whole = (best.mean(f"{part}iterations").estimate for part in ("waiting_", ""))
        least = min(report.runs, key=lambda run: run.mean("imbalance_tokens").estimate)
        on_arrival = asked["dispatch"] == Dispatch.ARRIVAL
        begins = "fills all slots or leaves a request queued" if on_arrival else "fills all slots"
        yield (
            f"While waiting: from the first iteration that {begins} to the last that "
            f"admits, {window:,.0f} of {whole:,.0f} under {best.policy}. "
            f"The others fill the slots or let long requests run out: {_tail(best)}. "
            f"Least over whole runs: {least.policy}."
        )
    if (replications := asked["replications"]) and best is not None:
        yield (
            f"Means of {replications + 1} runs: the trace, and {replications} workloads of blocks "
            f"of its requests drawn anew. Above best: paired with {best.policy}, ± 95%; (=): "
            "cannot be told apart."
        )
    if report.policies:
        window, number = report.windows[0], report.policies[0].sampled
        path = "its own path" if asked["states"] == OWN_PATH else f"{asked['states']}'s path"
        yield (
            f"Avoided: of {number} decisions on {path} that left a choice, {program_of(window)}, "
            "95% over blocks of them, from the proven bound to the best found."
        )
    times = [run.dispatch_p50_s for run in report.runs if run.dispatch_p50_s is not None]
    if times:
        low, high = (f"{1e6 * second:.0f}" for second in (min(times), max(times)))
        yield f"A decision takes {low} to {high} us (medians, compilation left out)."


def _tail(run: PolicyRun) -> str:
    """Say how much of a policy's imbalance arises while no request waits."""
    iterations = run.column("iterations") - run.column("waiting_iterations")
    waiting = run.column("waiting_imbalance_tokens") * run.column("waiting_iterations")
    whole = run.column("imbalance_tokens") * run.column("iterations")
    tokens = whole - np.nan_to_num(waiting)
    if not (iterations.sum() and whole.sum()):
        return "no imbalance arises there"
    return (
        f"{tokens.sum() / whole.sum():.0%} of its imbalance arises there, "
        f"{tokens.sum() / iterations.sum():,.0f} tokens on average"
    )


def _mean(run: PolicyRun, name: str, form: str) -> str:
    estimate = run.mean(name).estimate
    return "-" if np.isnan(estimate) else f"{estimate:{form}}"


def _above(run: PolicyRun, best: PolicyRun | None) -> str:
    """Return by how much a run is above the best, as a share of that."""
    if best is None or not run.binds:
        return "-"
    if run is best:
        return "best"
    more, base = run.above(best), best.mean().estimate
    if not base:  # perfect balance: no share of it
        return "more" if more.estimate > 0 else "(=)"
    text = f"{100 * more.estimate / base:+,.0f}"
    if not more.is_known:
        return text
    apart = "" if more.excludes_zero else " (=)"
    return f"{text} ±{100 * (more.high - more.estimate) / base:,.0f}{apart}"


def _share(share: Interval) -> str:
    if np.isnan(share.estimate):
        return "-"
    if not share.is_known:
        return f"{100 * share.estimate:z.0f}"
    estimate, low, high = (f"{100 * end:z.0f}" for end in share)
    return f"{estimate} ({low} to {high})"


def _gaps(report: GapReport, window: int) -> Table:
    rows = [row for row in report.policies if row.horizon == window]
    return _table(
        f"What a decision leaves, {program_of(window)}",
        rows,
        {
            "above best found": [row.found.text(",.0f") for row in rows],
            "unproven": [f"{row.unproven_mean_tokens:,.0f}" for row in rows],
            "optimal": [f"{row.share_optimal:.0%}" for row in rows],
            "avoided %": [_share(row.captured) for row in rows],
        },
        f"{_solved(rows)} Tokens, mean with 95% interval over blocks of decisions: above the best "
        "assignment found; unproven: the best found above the proven bound, at most lost beside "
        "that. Avoided: part of jsq's excess over the optimum, jsq on average over its ties.",
        with_window=False,
    )


def _solved(rows: Sequence[PolicyGaps]) -> str:
    proven = {round(row.share_proven * row.sampled) for row in rows}
    if len(proven) > 1:
        return ""
    return f"{proven.pop()} of {rows[0].sampled} optima proven." if rows else ""


def _times(report: GapReport) -> Table:
    rows = report.policies
    return _table(
        "Times",
        rows,
        {
            "route p50 us": [_scaled(row.dispatch_p50_s, 1e6) for row in rows],
            "route p99 us": [_scaled(row.dispatch_p99_s, 1e6) for row in rows],
            "solve p50 ms": [_scaled(row.solve_p50_s, 1e3) for row in rows],
            "solve p99 ms": [_scaled(row.solve_p99_s, 1e3) for row in rows],
        },
        "a routing call, its call from Python included, compilation not; an exact solve, model "
        "building included, one for all policies",
    )


def _scaled(seconds: float | None, scale: float) -> str:
    return "-" if seconds is None else f"{seconds * scale:.1f}"


def _table(
    title: str,
    rows: Sequence[PolicyGaps],
    columns: dict[str, list[str]],
    caption: str,
    *,
    with_window: bool = True,
) -> Table:
    labels = {"policy": [row.policy for row in rows]}
    if with_window:
        labels["H"] = [str(row.horizon) for row in rows]
    return Table(title, labels, columns, caption.strip(), detail=True)
