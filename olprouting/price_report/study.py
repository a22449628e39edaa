"""The question: what do bid prices achieve, and how far are they from the exact ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from olprouting.engine import Clock, DecisionEvent, KvOptions, SimulationResult, simulate
from olprouting.engine.reservoir import Reservoir
from olprouting.errors import InputError
from olprouting.exact import SolveOptions
from olprouting.exact.period.check_period import fits_whole
from olprouting.forecasts import Oracle
from olprouting.instances.request_curves import Kernel
from olprouting.policies import PolicyOptions, make_policy
from olprouting.policies.bid_price import BidPriceRule
from olprouting.policies.period_situation import period_of
from olprouting.price_report.convergence import convergence_frame
from olprouting.price_report.judge import PeriodRecord, capacity_cost, judge_period
from olprouting.price_report.limits import require_equal_limits
from olprouting.price_report.report import PriceReport
from olprouting.price_report.run_outcome import RunOutcome
from olprouting.price_report.sampled_period import SampledPeriod, sampled_period
from olprouting.prices import DescentOptions
from olprouting.versions import versions

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.forecasts import LengthForecast
    from olprouting.instances import Cluster, Trace
    from olprouting.policies import Policy
    from olprouting.prices import PriceResult

JUDGED = "bid-price"
"""The rule whose periods are judged; it always runs, and first."""

DEFAULT_POLICIES = (JUDGED, "round-robin", "jsq", "random", "power-of-two")

OnProgress = Callable[[str, int, int], None]
"""Called with (what is being done, units done, units in all)."""


def measure_prices(
    trace: Trace,
    cluster: Cluster,
    policies: Sequence[str] = DEFAULT_POLICIES,
    *,
    options: PolicyOptions | None = None,
    sample: int | None = 30,
    forecast: LengthForecast | None = None,
    clock: Clock | str = Clock.BARRIER,
    kernel: Kernel | str = Kernel.DECODE,
    kv: KvOptions | None = None,
    time_limit_s: float | None = 5.0,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> PriceReport:
    """Run the bid-price rule and others at equal limits; solve a sample of its periods exactly.

    Parameters
    ----------
    trace
        The requests, with releases: by iteration (barrier clock), or by arrival times.
    cluster
        The devices, with their slots and KV limits: the same for every rule.
    policies
        Names of rules (`make_policy`); ``"bid-price"`` is added where it is missing.
    options
        Options of the rules. ``options.period`` is what rewards are counted by; with its fixed
        last period, runs by the barrier clock stop there.
    sample
        How many periods of the bid-price run to judge, >= 1; None judges all in which a waiting
        request fitted somewhere.
    forecast
        What the rules know of decode lengths; the oracle by default. Rewards of whole runs are by
        true lengths, those of judged periods by forecast ones, as the rules see them.
    clock, kernel, kv
        As for `simulate`. The independent clock needs ``options.period.period_s``.
    time_limit_s
        Per exact solve.
    seed
        Seed of runs, of the sample, and of the mini-batches of the convergence table.
    on_progress
        Called now and then.

    Returns
    -------
    PriceReport
        After Ctrl-C: all runs and periods finished until then.

    Raises
    ------
    InputError
        If an argument is out of range or a name is unknown.
    """
    options = options or PolicyOptions()
    _check(cluster, options, clock, sample)
    names = list(dict.fromkeys((JUDGED, *policies)))
    runner = _Runner(trace, cluster, options, forecast, clock, kernel, kv, seed, on_progress)
    rules = [make_policy(name, cluster.workers, options) for name in names]
    periods: Reservoir[SampledPeriod] = Reservoir(sample, np.random.default_rng([seed, 1]))
    found = _Findings()
    try:
        for rule in rules:
            found.add(runner.run(rule, periods if rule.name == JUDGED else None), runner.outcome)
        found.judge(periods.items, SolveOptions(time_limit_s=time_limit_s), on_progress)
        found.look_closer(options, seed)
    except KeyboardInterrupt:
        found.interrupted = True
    return PriceReport(
        settings={
            "trace": trace.name,
            "notices": list(trace.notices),
            "requests": len(trace),
            "slots": cluster.slots.tolist(),
            "kv_tokens": None if cluster.kv_tokens is None else cluster.kv_tokens.tolist(),
            "forecast": (forecast or Oracle()).name,
            "clock": str(clock),
            "kernel": str(kernel),
            "sample": sample,
            "periods_with_a_choice": periods.offered,
            "time_limit_s": time_limit_s,
            "seed": seed,
            "ties": options.ties,
            "solver": options.solver,
            "period": asdict(options.period),
            "bid_price": asdict(options.bid_price),
            "versions": versions(),
        },
        runs=tuple(found.outcomes),
        records=tuple(found.records),
        prices=found.prices(),
        convergence=found.convergence(),
        notices=tuple(runner.notices),
        interrupted=found.interrupted,
    )


def _check(
    cluster: Cluster, options: PolicyOptions, clock: Clock | str, sample: int | None
) -> None:
    if sample is not None and sample < 1:
        raise InputError(f"sample = {sample} must be >= 1, or None for all")
    if cluster.kv_tokens is None:
        raise InputError("kv_tokens: prices of KV tokens need devices with KV limits")
    independent = str(clock) == Clock.INDEPENDENT
    if independent and options.period.period_s is None:
        raise InputError("clock 'independent' has no common iterations: period_s must be given")
    if not independent and options.period.period_s is not None:
        raise InputError(
            "period_s is for clock 'independent'; the barrier's iterations are periods"
        )


@dataclass
class _Runner:
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


@dataclass
class _Findings:
    """What a study has so far; it survives Ctrl-C."""

    runs: list[SimulationResult] = field(default_factory=list)
    outcomes: list[RunOutcome] = field(default_factory=list)
    records: list[PeriodRecord] = field(default_factory=list)
    shown: tuple[SampledPeriod, PriceResult] | None = None
    steps: pd.DataFrame | None = None
    interrupted: bool = False

    def add(self, run: SimulationResult, sum_up: Callable[[SimulationResult], RunOutcome]) -> None:
        """Take a run, if it is comparable with those before."""
        require_equal_limits([*self.runs, run])
        self.runs.append(run)
        self.outcomes.append(sum_up(run))

    def judge(
        self,
        periods: Sequence[SampledPeriod],
        options: SolveOptions,
        on_progress: OnProgress | None,
    ) -> None:
        """Judge the periods; the one with the highest prices is the one to show."""
        highest = -1.0
        for number, sampled in enumerate(periods, start=1):
            record, exact = judge_period(sampled, options)
            self.records.append(record)
            cost = capacity_cost(sampled, sampled.batch, sampled.memory)
            if cost > highest:
                highest, self.shown = cost, (sampled, exact)
            if on_progress is not None:
                on_progress("judge periods", number, len(periods))

    def look_closer(self, options: PolicyOptions, seed: int) -> None:
        """Follow Algorithm 2 on the dual of the period that is shown."""
        if self.shown is None:
            return
        learning = options.bid_price
        descent = DescentOptions(learning.steps, learning.batch, learning.step_size)
        self.steps = convergence_frame(*self.shown, descent, seed)

    def prices(self) -> pd.DataFrame:
        """Return the prices of the period that is shown, the run's and the exact ones."""
        import pandas as pd

        if self.shown is None:
            return pd.DataFrame(columns=["kind", "device", "period", "batch", "memory"])
        sampled, exact = self.shown
        frames = []
        for kind, batch, memory in (
            ("subgradient", sampled.batch, sampled.memory),
            ("exact", exact.batch, exact.memory),
        ):
            batch, memory = sampled.of_remaining(batch), sampled.of_remaining(memory)
            device, offset = np.indices(batch.shape)
            frames.append(
                pd.DataFrame(
                    {
                        "kind": kind,
                        "device": device.ravel(),
                        "period": offset.ravel() + sampled.period,
                        "batch": batch.ravel(),
                        "memory": memory.ravel(),
                    }
                )
            )
        return pd.concat(frames, ignore_index=True)

    def convergence(self) -> pd.DataFrame:
        """Return the convergence table, empty if there is none."""
        import pandas as pd

        return pd.DataFrame(columns=["step", "f", "f_exact"]) if self.steps is None else self.steps
