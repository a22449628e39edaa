"""What a whole run under one policy achieved, in the terms of the bid-price paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from olprouting.instances.request_curves import Batching, first_token_delay
from olprouting.instances.reward import PerTerm, reward
from olprouting.instances.slo_classes import weight_rows

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from olprouting.engine import SimulationResult
    from olprouting.policies import PeriodOptions


@dataclass(frozen=True)
class RunOutcome:
    """One policy's run.

    Attributes
    ----------
    policy
        Which policy.
    reward
        Reward of all starts (`collected_reward`).
    finished, unfinished, rejected
        Requests.
    never_admitted
        Those among the unfinished that were released, but never dispatched to a worker.
    never_released
        Those that come after the last period of the run: no part of it.
    censored
        Whether requests are unfinished, so that latencies miss the slowest.
    satisfaction
        Share of the arrived requests with a time to first token of at most t2 periods, 0..1;
        None with the independent clock.
    preemptions
        How often requests were sent back because KV tokens ran out.
    requests_per_period, tokens_per_period
        Per period of the run; None with the independent clock.
    throughput_tokens_per_s, requests_per_s
        Per second of the run.
    ttft_until_end, end_to_end_until_end
        Means over all released requests but the rejected, in periods; one that did not get so far
        counts with its time until the run ended, a lower bound. None with the independent clock.
    ttft_mean, ttft_p95, ttft_p99, end_to_end_mean, end_to_end_p95, end_to_end_p99
        In periods, of the requests that got so far; None with the independent clock.
    ttft_mean_s, ttft_p95_s, ttft_p99_s, end_to_end_mean_s, end_to_end_p95_s, end_to_end_p99_s
        In seconds.
    route_p50_s, route_p99_s
        Time of a routing call in seconds; None for policies that run compiled within the engine.
    update_p50_s, update_p99_s
        Part of it in which prices were learned; None for policies without prices.
    """

    policy: str
    reward: float
    finished: int
    unfinished: int
    rejected: int
    never_admitted: int
    never_released: int
    censored: bool
    satisfaction: float | None
    preemptions: int
    requests_per_period: float | None
    tokens_per_period: float | None
    throughput_tokens_per_s: float
    requests_per_s: float
    ttft_until_end: float | None
    end_to_end_until_end: float | None
    ttft_mean: float | None
    ttft_p95: float | None
    ttft_p99: float | None
    end_to_end_mean: float | None
    end_to_end_p95: float | None
    end_to_end_p99: float | None
    ttft_mean_s: float | None
    ttft_p95_s: float | None
    ttft_p99_s: float | None
    end_to_end_mean_s: float | None
    end_to_end_p95_s: float | None
    end_to_end_p99_s: float | None
    route_p50_s: float | None
    route_p99_s: float | None
    update_p50_s: float | None
    update_p99_s: float | None

    @classmethod
    def of(
        cls,
        run: SimulationResult,
        requests: pd.DataFrame,
        t2: float,
        route_s: list[float],
        update_s: list[float],
    ) -> Self:
        """Sum up a run.

        Parameters
        ----------
        run
            The run.
        requests
            What became of its requests (`requests_of`).
        t2
            Threshold of the time to first token, in periods.
        route_s, update_s
            Seconds of every routing call and price update; empty where they were not taken.
        """
        metrics, periods = run.metrics, run.metrics.periods
        latencies = {
            f"{name}_{what}{unit}": None if group is None else getattr(group, f"{what}{unit}")
            for name in ("ttft", "end_to_end")
            for group, unit in (
                (None if periods is None else getattr(periods, name), ""),
                (getattr(metrics, name), "_s"),
            )
            for what in ("mean", "p95", "p99")
        }
        return cls(
            policy=run.policy,
            reward=math.fsum(requests["reward"]),
            finished=metrics.finished,
            unfinished=metrics.unfinished,
            rejected=metrics.rejected,
            never_admitted=int((requests["released"] & (run.admission_iteration <= 0)).sum()),
            never_released=int((~requests["released"] & ~run.rejected).sum()),
            censored=metrics.censored,
            satisfaction=None if periods is None else run.satisfaction_rate(t2),
            preemptions=0 if metrics.kv is None else metrics.kv.preemptions,
            requests_per_period=None if periods is None else periods.requests_per_period,
            tokens_per_period=None if periods is None else periods.tokens_per_period,
            throughput_tokens_per_s=metrics.throughput_tokens_per_s,
            requests_per_s=metrics.requests_per_s,
            ttft_until_end=_mean(requests["ttft_periods"]),
            end_to_end_until_end=_mean(requests["end_to_end_periods"]),
            route_p50_s=_quantile(route_s, 0.5),
            route_p99_s=_quantile(route_s, 0.99),
            update_p50_s=_quantile(update_s, 0.5),
            update_p99_s=_quantile(update_s, 0.99),
            **latencies,
        )


def requests_of(
    run: SimulationResult, options: PeriodOptions, batching: Batching | str
) -> pd.DataFrame:
    """Return what became of each request of a run, in the order of the trace.

    Returns
    -------
    DataFrame
        ``reward`` (`rewards_of`); ``released``, whether it came before the run ended and was not
        rejected; ``ttft_periods`` and ``end_to_end_periods``, its latencies, of a released request
        that did not get so far the time until the run ended, a lower bound; NaN for others, and
        with the independent clock. ``finished`` tells which latencies are whole.
    """
    import pandas as pd

    released = (run.release_iteration > 0) & ~run.rejected
    frame = pd.DataFrame(
        {
            "reward": rewards_of(run, options, batching),
            "released": released,
            "finished": run.finish_iteration > 0,
        }
    )
    if run.metrics.periods is None:
        return frame.assign(ttft_periods=np.nan, end_to_end_periods=np.nan)
    end = run.metrics.iterations + run.metrics.idle_iterations
    for name, reached in (
        ("ttft_periods", run.first_token_iteration),
        ("end_to_end_periods", np.where(frame["finished"], run.finish_iteration + 1, 0)),
    ):
        until = np.where(reached > 0, reached, end + 1) - run.release_iteration
        frame[name] = np.where(released, until.astype(np.float64), np.nan)
    return frame


def rewards_of(
    run: SimulationResult, options: PeriodOptions, batching: Batching | str
) -> npt.NDArray[np.float64]:
    """Return the reward of each request's start in a run, by true decode lengths, shape (N,).

    Each request counts once, at its first start, as if it then ran to its end (preemption may
    interrupt it). With a last period T, starts after it are worth nothing. With a receding horizon
    each start is worth what it was when it was made. With the independent clock a request counts
    as admitted in the period in which its first token was done.
    """
    delay = first_token_delay(batching)
    if options.period_s is None:
        start = np.where(
            run.first_token_iteration > 0,
            run.first_token_iteration - delay,
            run.admission_iteration,
        )
        arrival = run.release_iteration
    else:
        start = _period_at(run.first_token_s, options.period_s) - delay
        arrival = _period_at(
            run.release_s if run.trace.arrival_s is None else run.trace.arrival_s, options.period_s
        )
    admitted = start > 0
    if not options.receding:
        admitted &= start <= options.periods
    shift = start - 1 if options.receding else np.zeros_like(start)
    rewards = np.zeros(len(start))
    weights = weight_rows(options.reward_weights, run.trace.slo_class, len(start))
    rewards[admitted] = reward(
        PerTerm(*weights[admitted].T),
        run.trace.decode_tokens[admitted],
        (arrival - shift)[admitted],
        start_period=(start - shift)[admitted],
        periods=options.periods,
        t1=options.t1,
        t2=options.t2,
        batching=batching,
        inclusive=options.inclusive,
    )
    return rewards


def collected_reward(
    run: SimulationResult, options: PeriodOptions, batching: Batching | str
) -> float:
    """Return the reward of all starts of a run (`rewards_of`)."""
    return math.fsum(rewards_of(run, options, batching))


def _mean(values: pd.Series) -> float | None:
    return float(values.mean()) if values.notna().any() else None


def _period_at(moment_s: npt.NDArray[np.float64], period_s: float) -> npt.NDArray[np.int64]:
    """Return the period of each moment, 0 where there is none."""
    known = np.where(np.isnan(moment_s), -period_s, moment_s)
    return np.floor(known / period_s).astype(np.int64) + 1


def _quantile(values: list[float], level: float) -> float | None:
    return float(np.quantile(values, level)) if values else None
