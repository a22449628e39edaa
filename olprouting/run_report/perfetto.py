"""A run as a trace that the Perfetto viewer (ui.perfetto.dev) and chrome://tracing open."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError
from olprouting.run_report.residents import slots_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from olprouting.engine import SimulationResult

Event = dict[str, Any]
MICROSECONDS = 1e6


def to_perfetto(run: SimulationResult) -> str:
    """Return a run in Chrome's trace event format.

    Every worker is a process and each of its slots a thread, in which a request stays from its
    admission to its last token (after preemption from its last admission); counters show the tokens
    of each worker, the requests that wait and the imbalance.

    Parameters
    ----------
    run
        A run by the barrier clock, with a series of every iteration.

    Returns
    -------
    str
        A JSON document, times in microseconds.

    Raises
    ------
    InputError
        If the clock is independent, or the series lacks iterations.
    """
    kept = 0 if run.series is None else len(run.series)
    check_perfetto(barrier=run.metrics.periods is not None, whole=kept == run.metrics.iterations)
    events = [*_workers(run), *_counters(run)]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"})


def check_perfetto(*, barrier: bool, whole: bool) -> None:
    """Refuse a run that is not by the barrier clock, or whose series lacks iterations."""
    if not barrier:
        raise InputError("perfetto: only by the barrier clock do workers share their iterations")
    if not whole:
        raise InputError("perfetto: it needs every iteration; take every = 1 (series_every = 1)")


def _workers(run: SimulationResult) -> Iterator[Event]:
    series = run.series_frame()
    starts = dict(zip(series["iteration"], series["start_s"], strict=True))
    end_s = float((series["start_s"] + series["step_s"]).max()) if len(series) else 0.0
    for worker in range(run.cluster.workers):
        yield _name("process_name", worker, 0, f"worker {worker}")
        stays = slots_of(run, worker)
        for slot in sorted(set(stays["slot"])):
            yield _name("thread_name", worker, int(slot), f"slot {slot}")
        for stay in stays.to_dict("records"):
            request = int(stay["request"])
            finished = run.finish_iteration[request] > 0
            start_s = starts[stay["from_iteration"]]
            stop_s = float(run.finish_s[request]) if finished else end_s
            yield {
                "ph": "X",
                "name": f"request {request}",
                "pid": worker,
                "tid": int(stay["slot"]),
                "ts": MICROSECONDS * start_s,
                "dur": MICROSECONDS * (stop_s - start_s),
                "args": {
                    "prompt_tokens": int(run.trace.prompt_tokens[request]),
                    "decode_tokens": int(run.trace.decode_tokens[request]),
                    "waited_s": start_s - float(run.release_s[request]),
                    "preemptions": int(run.preemptions[request]),
                    "finished": bool(finished),
                },
            }


def _counters(run: SimulationResult) -> Iterator[Event]:
    router = run.cluster.workers
    yield _name("process_name", router, 0, "router")
    for row in run.series_frame().to_dict("records"):
        ts = MICROSECONDS * row["start_s"]
        for name in ("waiting_requests", "imbalance_tokens"):
            yield {"ph": "C", "name": name, "pid": router, "ts": ts, "args": {name: row[name]}}
        for worker in range(run.cluster.workers):
            tokens = {"tokens": row[f"load_tokens_{worker}"]}
            yield {"ph": "C", "name": "load_tokens", "pid": worker, "ts": ts, "args": tokens}


def _name(kind: str, process: int, thread: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": name}}
