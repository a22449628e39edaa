"""The metrics of a run (balance paper, sections 2 and 6)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from olprouting.instances.documents import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

_GROUPS: Final = ("while_waiting", "periods", "kv", "queues")


@dataclass(frozen=True)
class Quantiles:
    """Mean, quantiles and maximum of a latency in seconds; None where no request has one."""

    mean_s: float | None
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None
    max_s: float | None

    @classmethod
    def of(cls, values_s: npt.NDArray[np.float64]) -> Quantiles:
        """Return those of `values_s` (linear interpolation between ranks)."""
        if not len(values_s):
            return cls(None, None, None, None, None)
        p50, p95, p99, largest = (float(q) for q in np.quantile(values_s, (0.5, 0.95, 0.99, 1)))
        return cls(float(values_s.mean()), p50, p95, p99, largest)


@dataclass(frozen=True)
class PeriodQuantiles:
    """Mean and quantiles of a latency in periods; None where no request has one."""

    mean: float | None
    p50: float | None
    p95: float | None
    p99: float | None

    @classmethod
    def of(cls, values: npt.NDArray[np.int64]) -> PeriodQuantiles:
        """Return mean and quantiles of `values` (linear interpolation between ranks)."""
        seconds = Quantiles.of(values.astype(np.float64))
        return cls(seconds.mean_s, seconds.p50_s, seconds.p95_s, seconds.p99_s)


@dataclass(frozen=True)
class WaitingWindow:
    """The part of a run in which requests wait for slots: there a policy's choices matter.

    It begins with the first iteration whose admissions leave no slot free (or, under KV limits,
    with a policy that holds requests back or with queues at workers, leave a request waiting) and
    ends with the last iteration that admits. After it a few long requests run out, which no policy
    can move.

    Attributes
    ----------
    iterations
        Its length, iterations without an active request not counted.
    mean_imbalance_tokens
        Unweighted mean of I(k) over them.
    """

    iterations: int
    mean_imbalance_tokens: float


@dataclass(frozen=True)
class PeriodMetrics:
    """What a run achieved per period, which is an iteration of the barrier clock.

    Attributes
    ----------
    ttft
        From arrival to the period of the first token, of requests that have one: 0 if it comes in
        the period of arrival. With PD-mixing the first token comes a period after the start.
    end_to_end
        From arrival to the first period after the last token, of finished requests.
    tokens_per_period, requests_per_period
        Decode tokens and finished requests, per period of the run, idle ones included.
    """

    ttft: PeriodQuantiles
    end_to_end: PeriodQuantiles
    tokens_per_period: float
    requests_per_period: float


@dataclass(frozen=True)
class KvMetrics:
    """What KV limits did to a run.

    Attributes
    ----------
    preemptions, preempted_requests
        How often requests were sent back, and how many requests ever were.
    recomputed_tokens
        Prompt and generated tokens whose KV entries were thrown away; a request sent back before
        its first step had none.
    preempting_step_share
        Share of busy iterations before which requests were preempted; with the independent clock
        of all workers' steps, counting those that were emptied.
    peak_tokens
        Largest use on each worker in a step, shape (G,).
    peak_share
        Largest use of a worker over its limit.
    """

    preemptions: int
    preempted_requests: int
    recomputed_tokens: int
    preempting_step_share: float
    peak_tokens: tuple[int, ...]
    peak_share: float


@dataclass(frozen=True)
class QueueMetrics:
    """How requests that were dispatched on arrival waited.

    Attributes
    ----------
    before_dispatch
        From arrival to dispatch, of dispatched requests: with the barrier clock the rest of a step.
        0 where arrivals have no times of their own.
    after_dispatch
        From dispatch to the first admission, in the queue of the worker, of admitted requests.
    mean_queued_requests
        Requests in the queues of workers while steps run: mean over iterations that are busy, with
        the independent clock over events.
    mean_stranded_slots
        Free slots for which a request is queued somewhere, likewise: the smaller of all free slots
        and all queued requests. One queue for all would fill them, but for KV limits and for
        workers in the middle of a step.
    """

    before_dispatch: Quantiles
    after_dispatch: Quantiles
    mean_queued_requests: float
    mean_stranded_slots: float


@dataclass(frozen=True)
class Metrics:
    """What a run achieved.

    Attributes
    ----------
    arrived, finished, rejected, unfinished
        Requests; ``arrived = finished + rejected + unfinished``. Rejected are those that no worker
        could ever hold, and those that the policy turned away.
    censored
        Whether requests are unfinished, so that latencies miss the slowest ones.
    iterations, idle_iterations
        Iterations with at least one active request, and without (the clock of seconds jumps over
        idle time in which nobody waits). With the independent clock the steps of all workers.
    mean_imbalance_tokens
        Unweighted mean of I(k) over the iterations with at least one active request.
    mean_imbalance_with_idle_tokens
        The same over all iterations (the paper's definition).
    while_waiting
        The same while requests wait; None where the slots never fill, or without the barrier.
    mean_idle_share
        Mean over busy iterations of barrier waiting / (G x step time). This, the imbalances and
        the energy belong to the barrier clock; None otherwise.
    makespan_s
        From the first release to the last completed step.
    decode_tokens, throughput_tokens_per_s, requests_per_s
        Generated tokens, and per second of makespan.
    waiting_time
        From release to the first admission, of admitted requests. With a backlog a request is
        released when it comes into sight.
    tpot, ttft, end_to_end
        Time per output token after the first, time to first token and end-to-end latency, both
        from release, of finished requests.
    single_token_requests
        Finished requests with one decode token, which have no time per output token.
    energy_j
        Energy of all workers.
    periods
        The same run in periods; None with the independent clock.
    kv
        What KV limits did; None without limits.
    queues
        How requests waited at workers; None under a central queue.
    """

    arrived: int
    finished: int
    rejected: int
    unfinished: int
    censored: bool
    iterations: int
    idle_iterations: int
    mean_imbalance_tokens: float | None
    mean_imbalance_with_idle_tokens: float | None
    while_waiting: WaitingWindow | None
    mean_idle_share: float | None
    makespan_s: float
    decode_tokens: int
    throughput_tokens_per_s: float
    requests_per_s: float
    waiting_time: Quantiles
    tpot: Quantiles
    ttft: Quantiles
    end_to_end: Quantiles
    single_token_requests: int
    energy_j: float | None
    periods: PeriodMetrics | None
    kv: KvMetrics | None
    queues: QueueMetrics | None

    def to_row(self) -> dict[str, float | int | bool | None]:
        """Return the metrics as one flat row.

        Quantiles become ``tpot_p95_s`` or ``periods_ttft_p95``, lists ``kv_peak_tokens_0`` and so
        on; a group that does not apply is left out.
        """
        return dict(_flat("", asdict(self)))

    def summary(self) -> str:
        """Return aligned lines for people."""
        return aligned({name: _text(value) for name, value in self.to_row().items()})


def _flat(prefix: str, parts: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in parts.items():
        if isinstance(value, tuple):
            value = dict(enumerate(value))
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}_", value)
        elif value is not None or name not in _GROUPS:
            yield f"{prefix}{name}", value


def _text(value: float | bool | None) -> str:
    if value is None:
        return "none"
    return (
        f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if value > 1 else str(value)
    )
