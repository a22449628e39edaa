"""A report on prices, and a front, as people read them: tables, findings and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.instances import WEIGHT_SETS
from olprouting.report import Table, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olprouting.price_report.bounds import BoundProof
    from olprouting.price_report.frontier import ParetoFront
    from olprouting.price_report.report import PriceQuality, PriceReport, StartsQuality
    from olprouting.price_report.run_outcome import RunOutcome

WAYS = {
    "subgradient": "bid prices",
    "exact": "exact prices",
    "rounding": "LP rounded",
    "integer": "integer program",
}


def front_table(front: ParetoFront) -> Table:
    """Return the runs of a front, each under the name of its weights."""
    first, second = front.metrics
    points = front.points
    named = {weights: name for name, weights in WEIGHT_SETS.items()}
    return Table(
        "Runs of bid-price",
        {"weights": [named.get(point.weights, "") for point in points]},
        {
            "": [str(number) for number in range(len(points))],
            **{
                metric: [text_of(getattr(p.outcome, metric), ",.6g") for p in points]
                for metric in front.metrics
            },
            "unfin.": [str(p.outcome.unfinished) for p in points],
            "on the front": ["yes" if p.non_dominated else "no" for p in points],
        },
        f"front: no other run is as good in {first} and {second} and better in one;\n"
        "latencies lack the unfinished requests",
    )


def price_tables(report: PriceReport) -> tuple[Table, ...]:
    """Return runs and latencies, and the starts of the judged periods."""
    tables = [runs_table(report.runs), latencies_table(report.runs)] if report.runs else []
    if report.records:
        tables.append(starts_table(report.starts, len(report.records)))
    return tuple(tables)


def price_findings(report: PriceReport) -> tuple[str, ...]:
    """Return how good prices and bounds are, and how long policies take, in words."""
    found = []
    if report.quality is not None:
        found += [_prices(report.quality), *_bounds(report.bounds, len(report.records))]
    return (*found, *_times(report.runs))


def never_admitted(report: PriceReport) -> tuple[str, ...]:
    """Return in a line how many requests each policy never admitted, if there are any."""
    counts = [f"{run.policy} {run.never_admitted}" for run in report.runs if run.never_admitted]
    if not counts:
        return ()
    period = report.settings["period"]
    fixed = period["last_period"] == "fixed"
    cause = f"; nobody is admitted past T={period['periods']}" if fixed else ""
    return (
        f"never admitted, of {report.settings['requests']} requests: {', '.join(counts)}{cause}",
    )


def censored(report: PriceReport) -> tuple[str, ...]:
    """Return in a sentence whose latencies lack requests, if there are any."""
    names = [run.policy for run in report.runs if run.censored]
    if not names:
        return ()
    period = report.settings["period"]
    fixed = period["last_period"] == "fixed"
    where = f"past T={period['periods']} nobody is admitted; " if fixed else ""
    return (f"{where}requests are unfinished with {', '.join(names)}, the latencies lack them",)


def runs_table(runs: Sequence[RunOutcome]) -> Table:
    """Return what each run achieved."""
    return Table(
        "Runs",
        {"policy": [run.policy for run in runs]},
        {
            "reward": [f"{run.reward:,.1f}" for run in runs],
            "sat.": [_percent(run.satisfaction) for run in runs],
            "req/p.": [text_of(run.requests_per_period, ".3f") for run in runs],
            "tok/p.": [text_of(run.tokens_per_period, ".1f") for run in runs],
            "tok/s": [f"{run.throughput_tokens_per_s:,.0f}" for run in runs],
            "unfin.": [f"{run.unfinished}{'*' if run.censored else ''}" for run in runs],
            "never": [str(run.never_admitted) for run in runs],
            "preempt": [str(run.preemptions) for run in runs],
            **_rejected(runs),
        },
        "sat.: first token within t2; * latencies lack these; never: never admitted",
    )


def _rejected(runs: Sequence[RunOutcome]) -> dict[str, list[str]]:
    """Return the column of rejected requests, if there are any."""
    counts = [run.rejected for run in runs]
    return {"rej.": [str(count) for count in counts]} if any(counts) else {}


def latencies_table(runs: Sequence[RunOutcome]) -> Table:
    """Return the latencies of each run."""
    columns = {
        f"{heading} {what}": [
            f"{text_of(getattr(run, f'{name}_{what}'), '.0f')}"
            f"/{text_of(getattr(run, f'{name}_{what}_s'), '.2f')}"
            for run in runs
        ]
        for heading, name in (("TTFT", "ttft"), ("E2E", "end_to_end"))
        for what in ("mean", "p95", "p99")
    }
    return Table(
        "Latencies",
        {"policy": [run.policy for run in runs]},
        columns,
        "periods/seconds from arrival",
    )


def starts_table(rows: Sequence[StartsQuality], periods: int) -> Table:
    """Return how good the starts of the judged periods are, by who chose them."""
    return Table(
        f"Starts in {periods} sampled periods of the bid-price run",
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


def _prices(quality: PriceQuality) -> str:
    return (
        f"prices: f is {text_of(quality.f_gap_mean, '.4g')} above its exact minimum on average "
        f"({_percent(quality.f_relative_gap_mean)}), at most {text_of(quality.f_gap_max, '.4g')};\n"
        f"they differ from exact prices by {text_of(quality.price_distance_mean, '.2f')} of those, "
        f"which start the same requests in {_percent(quality.share_same_requests)}\n"
        f"of the periods, on the same workers in {_percent(quality.share_same_pairs)}; "
        f"not all that fits can start in {_percent(quality.share_contested)} of them.\n"
        f"exact prices are proven in {_percent(quality.share_proven)} of periods, a solve takes "
        f"{quality.exact_p50_s * 1e3:.0f} ms (p99 {quality.exact_p99_s * 1e3:.0f})"
    )


def _bounds(bounds: Sequence[BoundProof], periods: int) -> list[str]:
    """Return how each bound was proven, and in how many periods the solution found meets it."""
    found = []
    for bound in bounds:
        known = f"known in {bound.periods}" if bound.periods < periods else "known in all"
        found.append(
            f"{bound.name}: {bound.bounds}, {known} {periods} periods and met in {bound.met},\n"
            f"  by {bound.proven_by}"
        )
    return found


def _times(runs: Sequence[RunOutcome]) -> list[str]:
    """Return the times of policies that plan by periods; others run compiled within the engine."""
    found = []
    for run in runs:
        if run.route_p50_s is None:
            continue
        update = _pair(run.update_p50_s, run.update_p99_s)
        learning = "" if run.update_p50_s is None else f", the price update in it {update}"
        times = _pair(run.route_p50_s, run.route_p99_s)
        found.append(f"{run.policy}: a routing call takes {times} ms (p50/p99){learning}")
    return found


def _percent(value: float | None) -> str:
    return text_of(value, ".1%")


def _pair(first: float | None, second: float | None) -> str:
    if first is None or second is None:
        return "-"
    return f"{first * 1e3:.2f}/{second * 1e3:.1f}"
