"""What a cell runs on: its requests, its cluster, and what is known of decode lengths."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from olprouting.errors import InputError, unknown_name
from olprouting.forecasts import check_forecast_name, make_forecast
from olprouting.instances import Cluster, StepTime
from olprouting.price_report import poisson_by_period
from olprouting.studies.hashing import file_sha256
from olprouting.traces import (
    as_recorded,
    batches,
    geometric,
    poisson,
    profile_names,
    ratio,
    require_arrivals,
    resolve,
    split_history,
)
from olprouting.traces.catalogue import PUBLIC_TRACES, locate
from olprouting.traces.columns import ColumnChoice
from olprouting.traces.data_folder import data_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from olprouting.forecasts.registry import NamedForecast
    from olprouting.instances import Trace

ARRIVALS: Final = ("backlog", "recorded", "poisson", "poisson-by-period", "batches")
SYNTHETIC: Final = {"ratio": 3, "geometric": 2}
"""Laws by name, and how many numbers follow each."""


class Workload(NamedTuple):
    """What is run, and what went before it."""

    trace: Trace
    history: Trace | None


@dataclass(frozen=True)
class TraceSource:
    """Where the requests of a cell come from, and how they are released.

    Parameters
    ----------
    source
        A name of `trace_names`, a file, ``"ratio:PROMPT:DECODE:MEAN_TOTAL"`` (a mix of geometric
        lengths) or ``"geometric:P:S"`` (the model of the balance paper's theory). What is drawn is
        drawn with the cell's seed.
    columns
        Columns of a file, where its own names do not tell, such as
        ``"arrival=t,prompt=n_in,decode=n_out,unit=ms"`` (see `read_trace`).
    requests
        How many, >= 1; None takes all of a file, and as many as a profile's source had.
    history
        So many requests come before those, >= 0: forecasts learn from them, and nobody runs them.
    rows
        Which of a file: ``"first"``, or ``"random"`` ones, drawn with the cell's seed.
    arrivals
        ``"backlog"`` (all known in order, `waiting` of them visible), ``"recorded"``,
        ``"poisson"`` (`rate` per second), ``"poisson-by-period"`` (`rate` per period) or
        ``"batches"`` (`batch_requests` every `batch_every_s` seconds).
    waiting
        Visible requests of a backlog, >= 1.
    rate
        Of Poisson arrivals, > 0.
    speed_up
        Factor > 0 of recorded arrivals.
    batch_requests, batch_every_s
        Size of a batch, >= 1, and the distance between batches in seconds, > 0.

    Raises
    ------
    InputError
        If an option is unknown, or a rate or batch is missing.
    """

    source: str = "azure-2023-conv-like"
    columns: str | None = None
    requests: int | None = None
    history: int = 0
    rows: str = "first"
    arrivals: str = "backlog"
    waiting: int = 32
    rate: float | None = None
    speed_up: float = 1.0
    batch_requests: int | None = None
    batch_every_s: float | None = None

    def __post_init__(self) -> None:
        if self.arrivals not in ARRIVALS:
            raise unknown_name("arrivals", self.arrivals, ARRIVALS)
        if self.rows not in ("first", "random"):
            raise unknown_name("rows", self.rows, ("first", "random"))
        if self.requests is not None and self.requests < 1:
            raise InputError(f"requests = {self.requests} must be >= 1")
        if self.history < 0:
            raise InputError(f"history = {self.history} must be >= 0")
        if (self.rate is None) == self.arrivals.startswith("poisson"):
            needs = "needs" if self.rate is None else "takes no"
            raise InputError(f"arrivals = {self.arrivals!r} {needs} rate")
        batch = (self.batch_requests, self.batch_every_s)
        if self.arrivals == "batches" and None in batch:
            raise InputError("arrivals = 'batches' needs batch_requests and batch_every_s")
        if self.arrivals != "batches" and batch != (None, None):
            raise InputError("batch_requests and batch_every_s need arrivals = 'batches'")
        drawn = _law(self.source) is not None or self.source in profile_names()
        if self.columns is not None and drawn:
            raise InputError(f"columns = {self.columns!r}: {self.source} is drawn, not read")
        ColumnChoice.of(self.columns)

    @property
    def backlog(self) -> int | None:
        """Visible requests of a backlog; None where time releases requests."""
        return self.waiting if self.arrivals == "backlog" else None

    @property
    def file(self) -> Path | None:
        """The file that the requests depend on; None where a law draws them."""
        if _law(self.source) is not None:
            return None
        if self.source in profile_names():
            return data_folder() / "profiles" / f"{self.source}.json"
        return locate(self.source)

    def load(self, seed: int, sha256: str | None, period_s: float | None = None) -> Workload:
        """Return the requests of one seed, and those before them.

        Parameters
        ----------
        seed
            Draws requests, rows and arrivals.
        sha256
            What the file must have; None where there is none.
        period_s
            Length of a period in seconds, for arrivals by period with the independent clock.

        Raises
        ------
        InputError
            If the file cannot be read or has changed, or arrival times are missing.
        """
        requests = None if self.requests is None else self.requests + self.history
        trace = _requests(self.source, self.columns, requests, self.rows, seed, sha256)
        if not self.history:
            return Workload(self._released(trace, seed, period_s), None)
        history, trace = split_history(trace, self.history)
        return Workload(self._released(trace, seed, period_s), history)

    def _released(self, trace: Trace, seed: int, period_s: float | None) -> Trace:
        rng = np.random.default_rng([seed, 2])
        if self.arrivals == "poisson":
            return poisson(trace, self.rate or 0.0, rng)
        if self.arrivals == "poisson-by-period":
            return poisson_by_period(trace, self.rate or 0.0, rng, period_s)
        if self.arrivals == "batches":
            return batches(trace, self.batch_requests or 0, every_s=self.batch_every_s)
        if self.arrivals == "recorded" and trace.release_iteration is None:
            require_arrivals(trace)
            return as_recorded(trace, self.speed_up)
        return trace


@functools.lru_cache(maxsize=8)
def _requests(
    source: str,
    columns: str | None,
    requests: int | None,
    rows: str,
    seed: int,
    sha256: str | None,
) -> Trace:
    law = _law(source)
    if law is not None:
        if requests is None:
            raise InputError(f"source = {source!r} needs requests")
        return law(requests, np.random.default_rng(seed))
    if source in profile_names():
        return resolve(source, requests=requests, seed=seed)
    trace = _whole_file(source, columns, sha256)
    if requests is None or requests >= len(trace):
        return trace
    if rows == "first":
        return trace.head(requests).with_notice(f"first {requests} of {len(trace)} requests kept")
    kept = np.random.default_rng([seed, 1]).permutation(len(trace))[:requests]
    return trace.take(np.sort(kept)).with_notice(f"{requests} of {len(trace)} requests drawn")


@functools.lru_cache(maxsize=2)
def _whole_file(source: str, columns: str | None, sha256: str | None) -> Trace:
    """Read a trace once per process, if it is what the study began with."""
    if sha256 is not None and file_sha256(locate(source)) != sha256:
        raise InputError(f"{locate(source)} is not the trace this study began with")
    return resolve(source, columns=columns)


def is_file_name(source: str) -> bool:
    """Whether a source names a file, rather than a law, a profile or a public trace."""
    return _law(source) is None and source not in (*profile_names(), *PUBLIC_TRACES)


def _law(source: str) -> Callable[[int, np.random.Generator], Trace] | None:
    name, *texts = source.split(":")
    if name not in SYNTHETIC or os.path.exists(source):
        return None
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        numbers = []
    if len(numbers) != SYNTHETIC[name]:
        raise InputError(
            f"source = {source!r}: expected ratio:PROMPT:DECODE:MEAN_TOTAL or geometric:P:S"
        )
    if name == "ratio":
        prompt, decode, mean_total = numbers
        return lambda requests, rng: ratio(requests, prompt, decode, mean_total, rng)
    return lambda requests, rng: geometric(requests, numbers[0], int(numbers[1]), rng)


@dataclass(frozen=True)
class ClusterSize:
    """A cluster of equal workers.

    Parameters
    ----------
    workers, slots
        Workers G and slots per worker B, each >= 1.
    kv_tokens
        KV limit per worker in tokens, >= 1; None means no limit.
    step_time
        A step-time preset (`StepTime.preset_names`).
    """

    workers: int = 8
    slots: int = 72
    kv_tokens: int | None = None
    step_time: str = "balance-authors"

    def cluster(self) -> Cluster:
        """Return the cluster.

        Raises
        ------
        InputError
            If a number is out of range or the preset is unknown.
        """
        step = StepTime.preset(self.step_time, self.slots)
        return Cluster.homogeneous(
            self.workers, self.slots, kv_tokens=self.kv_tokens, step_time=step
        )


@dataclass(frozen=True)
class Foresight:
    """What the rules know of decode lengths.

    Parameters
    ----------
    forecast
        A name that `make_forecast` knows; what learns does so from the trace's history, and from
        what completes in the run.
    noise
        Spread of a noisy oracle, in [0, 1]; short for ``forecast = "noisy:SPREAD"``.

    Raises
    ------
    InputError
        If the name is unknown, or both are given.
    """

    forecast: str | None = None
    noise: float | None = None

    def __post_init__(self) -> None:
        check_forecast_name(self.name)
        if self.forecast is not None and self.noise is not None:
            raise InputError(
                f"noise = {self.noise} is a forecast of its own; leave out "
                f"forecast = {self.forecast!r}"
            )

    @property
    def name(self) -> str:
        """Name of the forecast, the oracle by default."""
        return f"noisy:{self.noise!r}" if self.noise is not None else self.forecast or "oracle"

    def make(self, history: Trace | None, horizon: int, seed: int) -> NamedForecast:
        """Return the forecast; see `make_forecast`."""
        return make_forecast(self.name, history, horizon=horizon, seed=seed)
