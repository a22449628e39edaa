"""Runs of several rules under the same conditions."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from olprouting.engine import Clock, DecisionEvent, KvOptions, SimulationResult, simulate
from olprouting.errors import InputError
from olprouting.exact.period.check_period import fits_whole
from olprouting.policies.bid_price import BidPriceRule
from olprouting.policies.period_rule import PeriodRule
from olprouting.policies.period_situation import period_of
from olprouting.price_report.run_outcome import RunOutcome
from olprouting.price_report.sampled_period import SampledPeriod, sampled_period
from olprouting.prices import compile_run

if TYPE_CHECKING:
    from olprouting.engine.reservoir import Reservoir
    from olprouting.forecasts import LengthForecast
    from olprouting.instances import Cluster, Trace
    from olprouting.instances.request_curves import Kernel
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


@dataclass
class Runner:
    """Runs rules under the same conditions."""

    trace: Trace
    cluster: Cluster
    options: PolicyOptions
    forecast: LengthForecast | None
    clock: Clock | str
    kernel: Kernel | str
    kv: KvOptions | None
    seed: int
    on_progress: OnProgress | None
    notices: list[str] = field(default_factory=list)
    route_s: list[float] = field(default_factory=list)
    update_s: list[float] = field(default_factory=list)

    def run(self, rule: Policy, periods: Reservoir[SampledPeriod] | None) -> SimulationResult:
        """Run a rule; its warnings become notices."""
        self.route_s, self.update_s = [], []
        if isinstance(rule, PeriodRule):
            compile_run()

        def on_decision(event: DecisionEvent) -> None:
            self.route_s.append(event.dispatch_s)
            if periods is not None and isinstance(rule, BidPriceRule) and _startable(event, rule):
                periods.offer(lambda: sampled_period(event, rule))

        def progress(done: int, total: int) -> None:
            if self.on_progress is not None:
                self.on_progress(f"run {rule.name}", done, total)

        period = self.options.period
        stop = period.receding or str(self.clock) == Clock.INDEPENDENT
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = simulate(
                self.trace,
                self.cluster,
                rule,
                forecast=self.forecast,
                seed=self.seed,
                clock=self.clock,
                kernel=self.kernel,
                kv=self.kv,
                periods=None if stop else period.periods,
                on_decision=on_decision if rule.needs_residents else None,
                on_progress=progress,
            )
        self.notices += dict.fromkeys(str(warning.message) for warning in caught)
        if result.interrupted:
            raise KeyboardInterrupt
        if isinstance(rule, BidPriceRule):
            self.update_s = rule.update_s
        return result

    def outcome(self, run: SimulationResult) -> RunOutcome:
        """Sum up the last run."""
        return RunOutcome.of(run, self.options.period, self.kernel, self.route_s, self.update_s)


def _startable(event: DecisionEvent, rule: BidPriceRule) -> bool:
    """Whether there was something to decide: a request that fits, and not past the last period."""
    period = period_of(event.view, rule.options.period_s)
    past = period > rule.options.periods and not rule.options.receding
    return not past and rule.last is not None and bool(fits_whole(rule.last.problem).any())
