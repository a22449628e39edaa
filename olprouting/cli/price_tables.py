"""The tables of `olprouting prices`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from olprouting.cli.tables import print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olprouting.price_report import (
        BoundProof,
        ParetoFront,
        PriceReport,
        RunOutcome,
        StartsQuality,
    )

WAYS = {
    "subgradient": "bid prices",
    "exact": "exact prices",
    "rounding": "LP rounded",
    "integer": "integer program",
}


def print_report(report: PriceReport) -> None:
    """Print the tables of a report on stdout, and notes on stderr."""
    settings = report.settings
    typer.echo(
        f"{settings['trace']}: {settings['requests']} requests on {len(settings['slots'])} devices "
        f"x {max(settings['slots'])} slots x {max(settings['kv_tokens']):,} KV tokens, "
        f"{settings['forecast']}, T={settings['period']['periods']} "
        f"({settings['period']['last_period']}), every rule at these limits"
    )
    if report.runs:
        _print_runs(report.runs)
        _print_latencies(report.runs)
    if report.records:
        _print_starts(report)
        _print_prices(report)
        _print_bounds(report.bounds, len(report.records))
    _print_times(report.runs)
    for notice in (*settings["notices"], *report.notices):
        typer.echo(f"note: {notice}", err=True)
    censored = [run.policy for run in report.runs if run.censored]
    if censored:
        fixed = settings["period"]["last_period"] == "fixed"
        where = f" past T={settings['period']['periods']} nobody is admitted;" if fixed else ""
        typer.echo(
            f"note:{where} requests are unfinished with {', '.join(censored)}, the latencies lack "
            "them",
            err=True,
        )
    if report.interrupted:
        typer.echo("interrupted: the tables hold what was finished", err=True)


def print_front(front: ParetoFront, names: Sequence[str]) -> None:
    """Print the runs of a front on stdout, each under the name of its weights, and notes."""
    first, second = front.metrics
    points = front.points
    print_table(
        "Runs of bid-price",
        {"weights": names[: len(points)]},
        {
            "": [str(number) for number in range(len(points))],
            **{
                metric: [_number(getattr(p.outcome, metric), ",.6g") for p in points]
                for metric in front.metrics
            },
            "unfin.": [str(p.outcome.unfinished) for p in points],
            "on the front": ["yes" if p.non_dominated else "no" for p in points],
        },
        f"front: no other run is as good in {first} and {second} and better in one;\n"
        "latencies lack the unfinished requests",
    )
    for notice in front.notices:
        typer.echo(f"note: {notice}", err=True)
    if front.interrupted:
        typer.echo("interrupted: the table holds the runs that were finished", err=True)


def warn_never_started(report: PriceReport) -> None:
    """Say on stderr, in one line, how many requests each rule never started."""
    counts = [f"{run.policy} {run.never_started}" for run in report.runs if run.never_started]
    if not counts:
        return
    period = report.settings["period"]
    fixed = period["last_period"] == "fixed"
    cause = f"; nobody is admitted past T={period['periods']}" if fixed else ""
    typer.secho(
        f"WARNING: never started, of {report.settings['requests']} requests: "
        f"{', '.join(counts)}{cause}",
        err=True,
        bold=True,
    )


def _print_runs(runs: Sequence[RunOutcome]) -> None:
    print_table(
        "Runs",
        {"policy": [run.policy for run in runs]},
        {
            "reward": [f"{run.reward:,.1f}" for run in runs],
            "sat.": [_percent(run.satisfaction) for run in runs],
            "req/p.": [_number(run.requests_per_period, ".3f") for run in runs],
            "tok/p.": [_number(run.tokens_per_period, ".1f") for run in runs],
            "tok/s": [f"{run.throughput_tokens_per_s:,.0f}" for run in runs],
            "unfin.": [f"{run.unfinished}{'*' if run.censored else ''}" for run in runs],
            "never": [str(run.never_started) for run in runs],
            "preempt": [str(run.preemptions) for run in runs],
            **_rejected(runs),
        },
        "sat.: first token within t2; * latencies lack these; never: never started",
    )


def _rejected(runs: Sequence[RunOutcome]) -> dict[str, list[str]]:
    """Return the column of rejected requests, if there are any."""
    counts = [run.rejected for run in runs]
    return {"rej.": [str(count) for count in counts]} if any(counts) else {}


def _print_latencies(runs: Sequence[RunOutcome]) -> None:
    columns = {
        f"{heading} {what}": [
            f"{_number(getattr(run, f'{name}_{what}'), '.0f')}"
            f"/{_number(getattr(run, f'{name}_{what}_s'), '.2f')}"
            for run in runs
        ]
        for heading, name in (("TTFT", "ttft"), ("E2E", "end_to_end"))
        for what in ("mean", "p95", "p99")
    }
    print_table(
        "Latencies",
        {"policy": [run.policy for run in runs]},
        columns,
        "periods/seconds from arrival",
    )


def _print_starts(report: PriceReport) -> None:
    rows: Sequence[StartsQuality] = report.starts
    print_table(
        f"Starts in {len(report.records)} sampled periods of the bid-price run",
        {"chosen by": [WAYS[row.way] for row in rows]},
        {
            "reward": [f"{row.reward_mean:,.3f}" for row in rows],
            "gap to LP": [_percent(row.gap) for row in rows],
            "most": [f"{row.gap_max_reward:.3f}" for row in rows],
            "to integer": [_percent(row.loss) for row in rows],
            "most ": [f"{row.loss_max_reward:.3f}" for row in rows],
            "optimal": [f"{row.share_optimal:.0%}" for row in rows],
        },
        "gaps of the sums, over the reward; most: in one period, in reward",
    )


def _print_prices(report: PriceReport) -> None:
    quality = report.quality
    assert quality is not None
    typer.echo(
        f"prices: f is {_number(quality.f_gap_mean, '.4g')} above its exact minimum on average "
        f"({_percent(quality.f_relative_gap_mean)}), at most {_number(quality.f_gap_max, '.4g')};\n"
        f"they differ from exact prices by {_number(quality.price_distance_mean, '.2f')} of those, "
        f"which start the same requests in {_percent(quality.share_same_requests)}\n"
        f"of the periods, on the same devices in {_percent(quality.share_same_pairs)}; "
        f"not all that fits can start in {_percent(quality.share_contested)} of them.\n"
        f"exact prices are proven in {_percent(quality.share_proven)} of periods, a solve takes "
        f"{quality.exact_p50_s * 1e3:.0f} ms (p99 {quality.exact_p99_s * 1e3:.0f})"
    )


def _print_bounds(bounds: Sequence[BoundProof], periods: int) -> None:
    """Say how each bound was proven, and in how many periods the solution found meets it."""
    for bound in bounds:
        known = f"known in {bound.periods}" if bound.periods < periods else "known in all"
        typer.echo(
            f"{bound.name}: {bound.bounds}, {known} {periods} periods and met in {bound.met},\n"
            f"  by {bound.proven_by}"
        )


def _print_times(runs: Sequence[RunOutcome]) -> None:
    """Print the times of rules that plan by periods; others run compiled within the engine."""
    for run in runs:
        if run.route_p50_s is None:
            continue
        update = _pair(run.update_p50_s, run.update_p99_s)
        learning = "" if run.update_p50_s is None else f", the price update in it {update}"
        times = _pair(run.route_p50_s, run.route_p99_s)
        typer.echo(f"{run.policy}: a routing call takes {times} ms (p50/p99){learning}")


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"


def _percent(value: float | None) -> str:
    return _number(value, ".1%")


def _pair(first: float | None, second: float | None) -> str:
    if first is None or second is None:
        return "-"
    return f"{first * 1e3:.2f}/{second * 1e3:.1f}"
