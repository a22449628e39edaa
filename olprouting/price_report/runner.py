"""Runs of several policies under the same conditions."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from olprouting.engine import Clock, DecisionEvent, KvOptions, SimulationResult, simulate
from olprouting.errors import InputError
from olprouting.exact.period.check_period import fits_whole
from olprouting.policies.bid_price import BidPricePolicy
from olprouting.policies.period_policy import PeriodPolicy
from olprouting.policies.period_situation import period_of
from olprouting.price_report.run_outcome import RunOutcome, requests_of
from olprouting.price_report.sampled_period import SampledPeriod, sampled_period
from olprouting.prices import ClippedRewardsWarning, compile_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from olprouting.engine.reservoir import Reservoir
    from olprouting.forecasts import LengthForecast
    from olprouting.instances import Cluster, Trace
    from olprouting.instances.request_curves import Batching
    from olprouting.policies import Policy, PolicyOptions
    from olprouting.progress import OnProgress


def check_conditions(
    cluster: Cluster, options: PolicyOptions, clock: Clock | str, sample: int | None
) -> None:
    """Raise an InputError where sample, cluster, clock and options do not fit together."""
    if sample is not None and sample < 1:
        raise InputError(f"sample = {sample} must be >= 1, or None for all")
    if cluster.kv_tokens is None:
        raise InputError("kv_tokens: prices of KV tokens need workers with KV limits")
    independent = str(clock) == Clock.INDEPENDENT
    if independent and options.period.period_s is None:
        raise InputError("clock 'independent' has no common iterations: period_s must be given")
    if not independent and options.period.period_s is not None:
        raise InputError(
            "period_s is for clock 'independent'; the barrier's iterations are periods"
        )


@contextmanager
def noted(notices: list[str]) -> Iterator[None]:
    """Add what a block warns of to the notices, each sentence once.

    That rewards are clipped is said once too, though counts differ from run to run.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in caught:
        said = str(one.message)
        kind = "are clipped" if one.category is ClippedRewardsWarning else said
        if not any(kind in notice for notice in notices):
            notices.append(said)


@dataclass
class Runner:
    """Runs policies under the same conditions."""

    trace: Trace
    cluster: Cluster
    options: PolicyOptions
    forecast: LengthForecast | None
    clock: Clock | str
    batching: Batching | str
    kv: KvOptions | None
    seed: int
    on_progress: OnProgress | None
    notices: list[str] = field(default_factory=list)
    route_s: list[float] = field(default_factory=list)
    update_s: list[float] = field(default_factory=list)

    def run(self, policy: Policy, periods: Reservoir[SampledPeriod] | None) -> SimulationResult:
        """Run a policy; its warnings become notices."""
        self.route_s, self.update_s = [], []
        if isinstance(policy, PeriodPolicy):
            compile_run()

        def on_decision(event: DecisionEvent) -> None:
            self.route_s.append(event.dispatch_s)
            if (
                periods is not None
                and isinstance(policy, BidPricePolicy)
                and _startable(event, policy)
            ):
                periods.offer(lambda: sampled_period(event, policy))

        def progress(done: int, total: int) -> None:
            if self.on_progress is not None:
                self.on_progress(f"run {policy.name}", done, total)

        period = self.options.period
        stop = period.receding or str(self.clock) == Clock.INDEPENDENT
        with noted(self.notices):
            result = simulate(
                self.trace,
                self.cluster,
                policy,
                forecast=self.forecast,
                seed=self.seed,
                clock=self.clock,
                batching=self.batching,
                kv=self.kv,
                periods=None if stop else period.periods,
                on_decision=on_decision if policy.needs_residents else None,
                on_progress=progress,
            )
        if result.interrupted:
            raise KeyboardInterrupt
        if isinstance(policy, BidPricePolicy):
            self.update_s = policy.update_s
        return result

    def outcome(self, run: SimulationResult) -> tuple[RunOutcome, pd.DataFrame]:
        """Sum up the last run; return also what became of its requests, with policy and sizes."""
        period = self.options.period
        requests = requests_of(run, period, self.batching)
        outcome = RunOutcome.of(run, requests, period.t2, self.route_s, self.update_s)
        requests.insert(0, "policy", run.policy)
        requests.insert(1, "request", range(len(requests)))
        requests.insert(2, "prompt_tokens", self.trace.prompt_tokens)
        requests.insert(3, "decode_tokens", self.trace.decode_tokens)
        if self.trace.slo_class is not None:
            requests.insert(4, "slo_class", self.trace.slo_class)
        return outcome, requests


def _startable(event: DecisionEvent, policy: BidPricePolicy) -> bool:
    """Whether there was something to decide: a request that fits, and not past the last period."""
    period = period_of(event.view, policy.options.period_s)
    past = period > policy.options.periods and not policy.options.receding
    return not past and policy.last is not None and bool(fits_whole(policy.last.problem).any())
