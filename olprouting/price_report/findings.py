"""What a report on prices found, in sentences with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.price_report.pairs import CONTROL, reward_difference

if TYPE_CHECKING:
    from olprouting.intervals import Interval
    from olprouting.price_report.report import PriceQuality, PriceReport, StartsQuality
    from olprouting.price_report.run_outcome import RunOutcome


def price_findings(report: PriceReport) -> tuple[str, ...]:
    """Return whether prices help, whether reordering does, and how good a period's starts are."""
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
        found.append(_period(report.starts, quality, len(report.records)))
        found += _ties(quality)
    return tuple(found)


def _prices(more: Interval, control: RunOutcome) -> str:
    share = f", {more.estimate / control.reward:+.1%}" if control.reward > 0 else ""
    said = f"Prices: bid-price collects {more.text('+,.0f')} reward beside prices-0{share}"
    if more.excludes_zero:
        return f"{said}; more than chance."
    return f"{said}; the two cannot be told apart."


def _reordering(report: PriceReport, best: RunOutcome) -> str:
    more = reward_difference(report.requests, CONTROL, best.policy)
    apart = "more than chance" if more.excludes_zero else "the two cannot be told apart"
    return (
        f"Order: prices-0, which chooses whom to admit by reward alone, collects "
        f"{more.text('+,.0f')} beside {best.policy}, the best of the others; {apart}."
    )


def _period(starts: tuple[StartsQuality, ...], quality: PriceQuality, periods: int) -> str:
    by_prices = next(row for row in starts if row.way == "subgradient")
    loss = "nothing" if by_prices.loss is None else f"{by_prices.loss:.1%}"
    return (
        f"One period: in {periods} sampled ones learned prices lose {loss} of the reward against "
        f"the integer optimum; in {quality.share_contested:.0%} of them not all that fits can be "
        f"admitted, and only there prices matter{_binding(quality)}."
    )


def _binding(quality: PriceQuality) -> str:
    """Say which resource binds: where capacity is short, it has a price."""
    slots, tokens = quality.exact_slots_cost, quality.exact_tokens_cost
    if slots is None or tokens is None or slots + tokens <= 0:
        return ""
    learned = quality.slots_cost + quality.tokens_cost
    share = "none" if learned <= 0 else f"{quality.tokens_cost / learned:.0%}"
    return (
        f"; KV tokens are {tokens / (slots + tokens):.0%} of what capacity costs at exact prices "
        f"(the rest slots), {share} at learned ones"
    )


def _ties(quality: PriceQuality) -> list[str]:
    if not quality.share_tied:
        return []
    said = (
        f"Ties: in {quality.share_tied:.0%} of these periods a request is worth just what it uses "
        "at exact prices; they do not tell whether to admit it, and can earn less for that."
    )
    return [said]
