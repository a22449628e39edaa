"""The metrics of a run in a few small tables, each of one kind of question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.report import Table, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from olprouting.engine import SimulationResult
    from olprouting.engine.metrics import Metrics, PeriodQuantiles, Quantiles

LEVELS = ("mean", "p95", "p99")
QUANTILES = ("mean", "half within", "95% within", "99% within")


def balance(metrics: Metrics) -> Table | None:
    """Return how evenly the workers were loaded; None where no barrier makes them wait."""
    if metrics.mean_imbalance_tokens is None:
        return None
    rows = [
        ("load that workers lack to the fullest, whole run", metrics.mean_imbalance_tokens),
        ("the same, iterations without requests included", metrics.mean_imbalance_with_idle_tokens),
    ]
    window = metrics.while_waiting
    if window is not None:
        rows.insert(
            0, ("load that workers lack, while requests wait", window.mean_imbalance_tokens)
        )
    lines = [(what, text_of(value, ",.0f"), "tokens") for what, value in rows]
    idle = metrics.mean_idle_share
    lines.append(("time that workers wait for the fullest", text_of(idle, ".1%"), ""))
    return _lines("Imbalance, mean over iterations", lines)


def latencies(metrics: Metrics) -> Table:
    """Return how long finished requests took."""
    rows = {
        "for a slot": metrics.waiting_time,
        "to the first token": metrics.ttft,
        "per token after it": metrics.tpot,
        "until finished": metrics.end_to_end,
    }
    return _quantiles(
        "Waiting, seconds per request",
        {what: _seconds(times) for what, times in rows.items()},
        ".3f",
        "for a slot: of admitted requests, else of finished ones; from arrival on",
    )


def throughput(metrics: Metrics) -> Table:
    """Return how much work was done, and its energy."""
    lines = [
        ("duration", f"{metrics.makespan_s:,.2f}", "s"),
        ("generated tokens", f"{metrics.throughput_tokens_per_s:,.1f}", "per s"),
        ("finished requests", f"{metrics.requests_per_s:,.3f}", "per s"),
    ]
    if metrics.energy_j is not None:
        lines.append(("energy of all workers", f"{metrics.energy_j / 1000:,.1f}", "kJ"))
    return _lines("Throughput and energy", lines)


def completion(metrics: Metrics) -> Table:
    """Return what became of the requests."""
    lines = [
        ("arrived", f"{metrics.arrived:,}", ""),
        ("finished", f"{metrics.finished:,}", ""),
        ("turned away", f"{metrics.rejected:,}", ""),
        ("not finished when the run ended", f"{metrics.unfinished:,}", ""),
    ]
    return _lines("Requests", lines)


def by_class(frame: pd.DataFrame) -> Table | None:
    """Return what the run gave the requests of each SLO class; None if there are none.

    Parameters
    ----------
    frame
        `classes_frame` of the run.
    """
    if frame.empty:
        return None
    shown = {
        "arrived": [f"{count:,}" for count in frame["arrived"]],
        "finished": [f"{count:,}" for count in frame["finished"]],
        **{
            f"{what} {level}": [text_of(value, ".3f") for value in frame[f"{name}_{level}_s"]]
            for what, name in (("TTFT", "ttft"), ("E2E", "end_to_end"))
            for level in LEVELS
        },
    }
    caption = "seconds from arrival to first token, and until finished, of those that got so far"
    return Table("By SLO class", {"class": list(frame["slo_class"])}, shown, caption)


def classes_frame(run: SimulationResult) -> pd.DataFrame:
    """Return a row per SLO class of the trace: requests, and latencies in seconds."""
    import pandas as pd

    from olprouting.engine.metrics import Quantiles

    names = run.trace.slo_class
    rows = []
    for name in [] if names is None else dict.fromkeys(names.tolist()):
        own = names == name
        row = {
            "slo_class": name,
            "arrived": int((own & (run.release_iteration > 0)).sum()),
            "finished": int((own & (run.finish_iteration > 0)).sum()),
            "rejected": int((own & run.rejected).sum()),
        }
        for what, reached_s in (("ttft", run.first_token_s), ("end_to_end", run.finish_s)):
            taken_s = (reached_s - run.release_s)[own & (run.finish_iteration > 0)]
            values = Quantiles.of(taken_s)
            row |= {f"{what}_{level}_s": getattr(values, f"{level}_s") for level in LEVELS}
        rows.append(row)
    return pd.DataFrame(rows)


def details(metrics: Metrics) -> list[Table]:
    """Return what only those who ask see: the run in periods, KV limits, counts."""
    tables = []
    if metrics.periods is not None:
        rows = {
            "to the first token": _periods(metrics.periods.ttft),
            "until finished": _periods(metrics.periods.end_to_end),
        }
        caption = (
            f"a period is an iteration; each generated {metrics.periods.tokens_per_period:,.2f} "
            f"tokens and finished {metrics.periods.requests_per_period:,.4f} requests"
        )
        tables.append(
            _quantiles("Waiting, periods per request", rows, ",.1f", caption, detail=True)
        )
    if metrics.queues is not None:
        queues = metrics.queues
        rows = {
            "before it is sent": _seconds(queues.before_dispatch),
            "in its worker's queue": _seconds(queues.after_dispatch),
        }
        caption = (
            f"in queues: {queues.mean_queued_requests:,.2f} requests, mean over iterations; "
            f"{queues.mean_stranded_slots:,.2f} slots that they could fill are free elsewhere"
        )
        tables.append(_quantiles("Dispatch on arrival, seconds per request", rows, ".3f", caption))
    if metrics.kv is not None:
        kv = metrics.kv
        lines = [
            ("times that requests were preempted", f"{kv.preemptions:,}", ""),
            ("requests ever preempted", f"{kv.preempted_requests:,}", ""),
            ("work thrown away by that", f"{kv.recomputed_tokens:,}", "tokens"),
            ("iterations that began with it", f"{kv.preempting_step_share:.2%}", ""),
            ("largest use of a worker", f"{max(kv.peak_tokens, default=0):,}", "tokens"),
            ("the same, of its limit", f"{kv.peak_share:.1%}", ""),
        ]
        tables.append(_lines("KV limits", lines, detail=True))
    lines = [
        ("iterations with requests", f"{metrics.iterations:,}", ""),
        ("iterations without", f"{metrics.idle_iterations:,}", ""),
        ("generated tokens", f"{metrics.decode_tokens:,}", ""),
        ("finished requests of one token", f"{metrics.single_token_requests:,}", ""),
    ]
    return [*tables, _lines("Counts", lines, detail=True)]


def _lines(title: str, lines: Iterable[tuple[str, str, str]], *, detail: bool = False) -> Table:
    names, values, units = zip(*lines, strict=True)
    columns = {"value": values} | ({"unit": units} if any(units) else {})
    return Table(title, {"": names}, columns, detail=detail)


def _quantiles(
    title: str,
    rows: dict[str, tuple[float | None, ...]],
    form: str,
    caption: str,
    *,
    detail: bool = False,
) -> Table:
    columns = zip(*rows.values(), strict=True)
    cells = {
        name: [text_of(value, form) for value in column]
        for name, column in zip((*QUANTILES, "slowest"), columns, strict=False)
    }
    return Table(title, {"": list(rows)}, cells, caption, detail=detail)


def _seconds(times: Quantiles) -> tuple[float | None, ...]:
    return times.mean_s, times.p50_s, times.p95_s, times.p99_s, times.max_s


def _periods(times: PeriodQuantiles) -> tuple[float | None, ...]:
    return times.mean, times.p50, times.p95, times.p99
