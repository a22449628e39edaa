"""A report on prices, and a front, as tables that people read."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

from olprouting.price_report.pairs import BLOCKS, CONTROL
from olprouting.report import Table, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from olprouting.price_report.bounds import BoundProof
    from olprouting.price_report.frontier import ParetoFront
    from olprouting.price_report.judge import PeriodRecord
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
    return Table(
        "Runs of bid-price",
        {"weights": list(front.names)},
        {
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
    """Return what policies achieve, and as details rates, latencies, waits, starts and prices."""
    tables = []
    if report.runs:
        tables += [
            achieved_table(report),
            rates_table(report.runs),
            latencies_table(report.runs),
            *waits_table(report),
            *classes_table(report),
        ]
    if report.quality is not None:
        tables += [
            when_table(report.records),
            costs_table(report.quality, len(report.records)),
            starts_table(report.starts, len(report.records)),
            proofs_table(report.bounds, len(report.records)),
        ]
    return (*tables, *times_table(report.runs))


def achieved_table(report: PriceReport) -> Table:
    """Return what each run achieved, and how its reward differs from that with prices 0."""
    runs = report.runs
    return Table(
        "What each policy achieves",
        {"policy": [run.policy for run in runs]},
        {
            "reward": [f"{run.reward:,.0f}" for run in runs],
            "more than prices-0": [_more(report, run.policy) for run in runs],
            "in time": [_percent(run.satisfaction) for run in runs],
            "TTFT": [text_of(run.ttft_until_end, ".0f") for run in runs],
            "E2E": [text_of(run.end_to_end_until_end, ".0f") for run in runs],
            "unfin.": [str(run.unfinished - run.never_released) for run in runs],
            "never": [str(run.never_admitted) for run in runs],
        },
        f"more than prices-0: reward, with the 95% interval over {BLOCKS} blocks of consecutive "
        "requests of this trace. in time: first token within t2. TTFT, E2E: mean periods "
        "from arrival to first token, to the end; requests without count until the run "
        "ended. unfin.: unfinished; never: never admitted",
    )


def _more(report: PriceReport, policy: str) -> str:
    return "-" if policy == CONTROL else report.more_than_control(policy).text("z,.0f")


def rates_table(runs: Sequence[RunOutcome]) -> Table:
    """Return the rates of each run."""
    return Table(
        "Rates",
        {"policy": [run.policy for run in runs]},
        {
            "requests/period": [text_of(run.requests_per_period, ".3f") for run in runs],
            "tokens/period": [text_of(run.tokens_per_period, ".1f") for run in runs],
            "tokens/s": [f"{run.throughput_tokens_per_s:,.0f}" for run in runs],
            "preempted": [str(run.preemptions) for run in runs],
            "rejected": [str(run.rejected) for run in runs],
        },
        detail=True,
    )


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
        "Latencies of the requests that got so far",
        {"policy": [f"{run.policy}{'*' if run.censored else ''}" for run in runs]},
        columns,
        "periods/seconds from arrival; *: unfinished requests are missing here, the slowest",
        detail=True,
    )


def waits_table(report: PriceReport) -> tuple[Table, ...]:
    """Return who waits how long for a first token, by size of the request and by class."""
    requests = report.requests
    if not len(requests) or requests["ttft_periods"].isna().all():
        return ()
    prompt, decode = requests["prompt_tokens"], requests["decode_tokens"]
    size = prompt + decode
    third = size.rank(method="first", pct=True).mul(3).clip(upper=2.999).astype(int)
    largest = [size[third == which].max() for which in range(3)]
    long_prompt, long_decode = prompt > prompt.median(), decode > decode.median()
    return (
        _waits(
            report,
            "by size",
            dict(enumerate(("smallest third", "middle third", "largest third"))),
            third,
            f"thirds of the requests by prompt and output: to {largest[0]:,}, {largest[1]:,} and "
            f"{largest[2]:,} tokens",
        ),
        _waits(
            report,
            "by class",
            dict(enumerate(("short, short", "short, long", "long, short", "long, long"))),
            2 * long_prompt + long_decode,
            f"prompt, output; long: more than {prompt.median():,.0f} and {decode.median():,.0f} "
            "tokens, the medians",
        ),
    )


def classes_table(report: PriceReport) -> tuple[Table, ...]:
    """Return what each run gave the requests of each SLO class, if there are any."""
    requests = report.requests
    if "slo_class" not in requests:
        return ()
    groups = requests.groupby(["slo_class", "policy"], sort=False)
    sums, means = groups["reward"].sum(), groups[["ttft_periods", "end_to_end_periods"]].mean()
    counts = groups["finished"].agg(["size", "sum"])
    rows = [(name, run.policy) for name in requests["slo_class"].unique() for run in report.runs]
    return (
        Table(
            "By SLO class",
            {"class": [name for name, _ in rows], "policy": [policy for _, policy in rows]},
            {
                "requests": [f"{counts['size'][row]:,}" for row in rows],
                "finished": [f"{counts['sum'][row]:,}" for row in rows],
                "reward": [f"{sums[row]:,.1f}" for row in rows],
                "TTFT": [text_of(means["ttft_periods"][row], ".1f") for row in rows],
                "E2E": [text_of(means["end_to_end_periods"][row], ".1f") for row in rows],
            },
            "reward by the weights of the class; TTFT, E2E: mean periods to the first token, to "
            "the end; requests without count until the run ended",
        ),
    )


def _waits(
    report: PriceReport, by: str, names: dict[int, str], which: pd.Series, caption: str
) -> Table:
    requests = report.requests
    mean = requests["ttft_periods"].groupby([requests["policy"], which]).mean()
    policies = [run.policy for run in report.runs]
    return Table(
        f"Who waits: mean periods to the first token, {by}",
        {"policy": policies},
        {
            name: [text_of(mean.get((policy, place)), ".1f") for policy in policies]
            for place, name in names.items()
        },
        caption,
        detail=True,
    )


def starts_table(rows: Sequence[StartsQuality], periods: int) -> Table:
    """Return how good the starts of the judged periods are, by who chose them."""
    return Table(
        f"Who is admitted in {periods} sampled periods of the bid-price run",
        {"chosen by": [WAYS[row.way] for row in rows]},
        {
            "reward": [f"{row.reward_mean:,.3f}" for row in rows],
            "of LP bound": [_percent(row.of_bound) for row in rows],
            "of integer": [_percent(row.of_integer) for row in rows],
            "most below": [f"{row.loss_max_reward:.3f}" for row in rows],
            "optimal": [f"{row.share_optimal:.0%}" for row in rows],
        },
        "reward: mean of a period; of LP bound, of integer: of the sums, what of the period's LP "
        "bound and integer optimum is reached; most below: the integer optimum in one period, in "
        "reward; optimal: periods in which it is the proven integer optimum. A period's optimum "
        "knows no later arrivals: what prices leave there may earn more later",
        detail=True,
    )


def when_table(records: Sequence[PeriodRecord]) -> Table:
    """Return what is short, by thirds of the sampled periods in time order."""
    count = len(records)
    cuts = [round(third * count / 3) for third in range(4)]
    ordered = sorted(records, key=lambda record: record.period)
    parts = [ordered[i:j] for i, j in pairwise(cuts) if j > i]

    def share(part: Sequence[PeriodRecord], name: str) -> str:
        known = [value for record in part if (value := getattr(record, name)) is not None]
        return f"{sum(known)} of {len(known)}"

    def mean(part: Sequence[PeriodRecord], name: str, units: int) -> str:
        return f"{units * sum(getattr(record, name) for record in part) / len(part):.2g}"

    return Table(
        "What is short, and when",
        {"periods": [f"{part[0].period:,} to {part[-1].period:,}" for part in parts]},
        {
            "waits": [share(part, "must_wait") for part in parts],
            "for tokens": [share(part, "tokens_bind") for part in parts],
            "for slots": [share(part, "slots_bind") for part in parts],
            "fits": [share(part, "contested") for part in parts],
            "a slot": [mean(part, "slot_price", 1) for part in parts],
            "1,000 tokens": [mean(part, "token_price", 1000) for part in parts],
        },
        "waits: sampled periods whose best whole starts leave a request waiting, for lack of KV "
        "tokens, of slots; fits: one that would fit by itself, so that there is a choice. a slot, "
        "1,000 KV tokens: for a period at learned prices, in reward",
        detail=True,
    )


def costs_table(quality: PriceQuality, periods: int) -> Table:
    """Return what capacity costs at learned and optimal prices, and how far they are apart."""
    rows = {"a slot": ("slot", 1), "1,000 KV tokens": ("token", 1000)}
    cells: dict[str, list[str]] = {"learned": [], "optimal, least": [], "optimal, most": []}
    for resource, units in rows.values():
        for heading, end in zip(cells, ("", "_low", "_high"), strict=True):
            price = getattr(quality, f"{resource}_price{end}")
            text = "no limit" if price == inf else text_of(price and units * price, ".3g")
            cells[heading].append(text)
    return Table(
        f"What capacity costs for a period, in reward, mean of {periods} sampled ones",
        {"": list(rows)},
        cells,
        "least and most: over all prices that minimise f, where single ones would mean nothing; "
        + _distances(quality),
        detail=True,
    )


def _distances(quality: PriceQuality) -> str:
    """Say how near learned prices are to optimal ones, by what steps lower, and by what they do."""
    if quality.distance_ratio is None:
        said = "how far the learned ones are from the nearest optimal ones was not measured"
    else:
        said = (
            "to the nearest optimal ones, learned prices are "
            f"{quality.distance_ratio:.2f} times as far as prices 0 are"
        )
    if quality.f_relative_gap_mean is not None:
        said += (
            f"; f, which the steps of learning lower, is {1 + quality.f_relative_gap_mean:.1f} "
            "times its minimum"
        )
    if quality.share_same_requests is not None:
        said += (
            f"; without ties both admit the same requests in {quality.share_same_requests:.0%} of "
            "the periods"
        )
    return said


def proofs_table(bounds: Sequence[BoundProof], periods: int) -> Table:
    """Return how each bound was proven, and in how many periods the solution found meets it."""
    return Table(
        "Bounds",
        {"bound": [bound.bounds for bound in bounds]},
        {
            "known": [f"{bound.periods}/{periods}" for bound in bounds],
            "reached": [f"{bound.met}/{periods}" for bound in bounds],
        },
        "\n".join(f"{bound.bounds}: {bound.proven_by}" for bound in bounds),
        detail=True,
    )


def times_table(runs: Sequence[RunOutcome]) -> tuple[Table, ...]:
    """Return the times of policies that plan by periods; others run compiled within the engine."""
    timed = [run for run in runs if run.route_p50_s is not None]
    if not timed:
        return ()
    return (
        Table(
            "Times of a routing call, ms",
            {"policy": [run.policy for run in timed]},
            {
                f"{name} {level}": [_ms(getattr(run, f"{field}_{level}_s")) for run in timed]
                for name, field in (("call", "route"), ("price update", "update"))
                for level in ("p50", "p99")
            },
            "the price update is part of the call; compilation is not",
            detail=True,
        ),
    )


def _ms(value_s: float | None) -> str:
    return "-" if value_s is None else f"{value_s * 1e3:.2f}"


def _percent(value: float | None) -> str:
    return text_of(value, ".1%")
