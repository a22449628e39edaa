"""What a report on prices found, in sentences with their intervals."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Final

from olprouting.price_report.pairs import CONTROL, reward_difference
from olprouting.report import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from olprouting.intervals import Interval
    from olprouting.price_report.judge import PeriodRecord
    from olprouting.price_report.report import PriceQuality, PriceReport, StartsQuality
    from olprouting.price_report.run_outcome import RunOutcome

FEW_CHOICES: Final = 20
"""With fewer periods that leave a choice, prices are hardly judged at all."""

EQUAL: Final = 1e-9
"""Relative difference of rewards that is rounding."""

MORE: Final = "take a higher --rate, fewer --slots or fewer --kv-tokens"
"""What makes capacity short."""


def price_findings(report: PriceReport) -> tuple[str, ...]:
    """Return whether prices help, whether reordering does, what binds, and what a period gets."""
    runs = {run.policy: run for run in report.runs}
    judged, control = runs.get("bid-price"), runs.get(CONTROL)
    found = []
    if judged is not None and control is not None:
        found.append(_prices(report.more_than_control("bid-price"), control))
        others = [run for run in report.runs if run not in (judged, control)]
        if others:
            found.append(_reordering(report, max(others, key=lambda run: run.reward)))
    quality = report.quality
    if quality is not None:
        found.append(_capacity(report.records, quality))
        found.append(_period(report.starts, quality, len(report.records)))
    return tuple(found)


def _prices(more: Interval, control: RunOutcome) -> str:
    share = f", {more.estimate / control.reward:+z.1%}" if control.reward > 0 else ""
    said = f"Prices: bid-price collects {more.text('+z,.0f')} reward beside prices-0{share}"
    if more.excludes_zero:
        return f"{said}; more than chance."
    return f"{said}; the two cannot be told apart."


def _reordering(report: PriceReport, best: RunOutcome) -> str:
    more = reward_difference(report.requests, CONTROL, best.policy)
    apart = "more than chance" if more.excludes_zero else "the two cannot be told apart"
    return (
        f"Order: prices-0, which chooses whom to admit by reward alone, collects "
        f"{more.text('+z,.0f')} beside {best.policy}, the best of the others; {apart}."
    )


def _capacity(records: Sequence[PeriodRecord], quality: PriceQuality) -> str:
    """Say what is short, when, and what it costs."""
    known = [record for record in records if record.must_wait is not None]
    short = [record.period for record in known if record.must_wait]
    if not known:
        said = "what binds is unknown, for no period's best starts were found"
    elif short:
        said = (
            f"in {len(short)} of {len(known)} sampled periods (first {min(short):,}, last "
            f"{max(short):,}) a request must wait, for lack of KV tokens in "
            f"{_count(records, 'tokens_bind')} and of slots in {_count(records, 'slots_bind')}; in "
            f"{_count(records, 'contested') or 'none'} of these one would fit by itself, so that "
            "there is a choice"
        )
    else:
        said = f"in none of {len(known)} sampled periods must a request wait"
    slot, tokens = price_text(quality, "slot"), price_text(quality, "token", 1000)
    return (
        f"Capacity: {said}. At learned prices (in brackets optimal ones) a slot costs {slot} "
        f"reward a period, 1,000 KV tokens {tokens}."
    )


def price_text(quality: PriceQuality, resource: str, units: int = 1) -> str:
    """Return what units of a resource cost at learned prices, and in brackets at optimal ones."""
    learned, low, high = (
        getattr(quality, f"{resource}_price{end}") for end in ("", "_low", "_high")
    )
    said = f"{units * learned:.2g}"
    if low is None or high is None:
        return f"{said} (unknown)"
    return f"{said} ({ends_text(units * low, units * high)})"


def ends_text(low: float, high: float) -> str:
    """Return both ends of what optimal prices leave open, or the number if they leave nothing."""
    if not isfinite(high):
        return f"{low:.2g} or more"
    texts = [f"{end:.2g}" for end in (low, high)]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def _count(records: Sequence[PeriodRecord], name: str) -> int:
    return sum(bool(getattr(record, name)) for record in records)


def _period(starts: tuple[StartsQuality, ...], quality: PriceQuality, periods: int) -> str:
    shares = {row.way: row.of_integer for row in starts}
    if shares["subgradient"] is None:
        return f"One period: no integer optimum of {periods} sampled ones is known."
    learned, exact = (text_of(shares[way], ".0%") for way in ("subgradient", "exact"))
    said = (
        f"One period: what learned prices admit in {periods} sampled ones is worth {learned} of "
        "the integer optimum of the period alone, which keeps nothing for later arrivals; by "
        f"optimal prices {exact}"
    )
    if quality.share_tied:
        said += (
            f" (in {quality.share_tied:.0%} of them these leave a tie, a request worth just what "
            "it uses, do not tell whether to admit it, and can earn less for that)"
        )
    return f"{said}."


def price_warnings(report: PriceReport) -> tuple[str, ...]:
    """Return who was never admitted or came after the end, and where prices say nothing."""
    return tuple(_warnings(report))


def _warnings(report: PriceReport) -> Iterator[str]:
    runs, asked = report.runs, report.settings
    period, requests = asked["period"], asked["requests"]
    never = [f"{run.policy} {run.never_admitted}" for run in runs if run.never_admitted]
    if never:
        fixed = period["last_period"] == "fixed"
        cause = f"; nobody is admitted past T={period['periods']}" if fixed else ""
        yield f"never admitted, of {requests} requests: {', '.join(never)}{cause}"
    late = max((run.never_released for run in runs), default=0)
    if late:
        yield (
            f"{late} of {requests} requests come after the last period and count nowhere; "
            f"give more than --periods {period['periods']}, or fewer --requests"
        )
    rewards = [run.reward for run in runs]
    if len(rewards) > 1 and max(rewards) - min(rewards) <= EQUAL * max(1.0, max(rewards)):
        yield f"all policies collect the same reward: nothing here tells them apart; {MORE}"
    records = report.records
    if report.interrupted:
        return
    if records and all(record.must_wait is False for record in records):
        yield (
            f"nothing binds: in none of {len(records)} sampled periods must a request wait; {MORE}"
        )
    elif asked["periods_with_a_choice"] < FEW_CHOICES:
        yield (
            f"only {asked['periods_with_a_choice']} periods left a choice: too few to judge prices "
            f"by; {MORE}"
        )


def advice(report: PriceReport) -> tuple[str, ...]:
    """Return what to run next."""
    found = ["next: --details shows who waits, what is short and when, and how good the prices are"]
    more = report.more_than_control("bid-price") if len(report.requests) else None
    if more is not None and not more.excludes_zero:
        found.append("next: more --requests (and --periods) narrow the intervals")
    elif more is not None:
        found.append("next: --pareto ttft_mean,throughput_tokens_per_s shows what weights trade")
    return tuple(found)
