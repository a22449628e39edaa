"""The question: what do bid prices achieve, and how far are they from the exact ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from olprouting.engine.reservoir import Reservoir
from olprouting.errors import Failures, PolicyError
from olprouting.exact import SolveOptions
from olprouting.forecasts import Oracle
from olprouting.options import Clock, ClockOptions, KvOptions, PolicyOptions, PriceReportOptions
from olprouting.policies import make_policy
from olprouting.price_report.judge import (
    PeriodRecord,
    capacity_costs,
    capacity_weights,
    judge_period,
)
from olprouting.price_report.limits import oversize_notices, require_equal_limits
from olprouting.price_report.pairs import CONTROL
from olprouting.price_report.report import PriceReport
from olprouting.price_report.runner import Runner, check_conditions, noted
from olprouting.price_report.sampled_period import convergence_frame
from olprouting.price_report.strip import no_strip, price_strip
from olprouting.prices import DescentOptions
from olprouting.prices.optimal_set import nearest_optimal
from olprouting.versions import versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from olprouting.engine import SimulationResult
    from olprouting.forecasts import LengthForecast
    from olprouting.instances import Cluster, Trace
    from olprouting.instances.request_curves import Batching
    from olprouting.price_report.run_outcome import RunOutcome
    from olprouting.price_report.sampled_period import SampledPeriod
    from olprouting.prices import PriceResult
    from olprouting.progress import OnProgress

JUDGED = "bid-price"
"""The policy whose periods are judged; it always runs, and first."""

DEFAULT_POLICIES = (JUDGED, CONTROL, "round-robin", "jsq", "random", "power-of-two")

DISTANCES = 5
"""In how many of the judged periods the distance to the optimal prices is measured, at least."""

STRETCHES = 40
"""The remaining periods are drawn in so many equal stretches, if there are more of them."""


def measure_prices(
    trace: Trace,
    cluster: Cluster,
    policies: Sequence[str] = DEFAULT_POLICIES,
    *,
    options: PolicyOptions | None = None,
    sample: int | None = PriceReportOptions.sample,
    forecast: LengthForecast | None = None,
    clock: Clock | str = ClockOptions.clock,
    batching: Batching | str = ClockOptions.batching,
    kv: KvOptions | None = None,
    time_limit_s: float | None = PriceReportOptions.time_limit_s,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> PriceReport:
    """Run the bid-price policy and others at equal limits; solve a sample of its periods exactly.

    Parameters
    ----------
    trace
        The requests, with releases: by iteration (barrier clock), or by arrival times.
    cluster
        The workers, with their slots and KV limits: the same for every policy.
    policies
        Names of policies (`make_policy`); ``"bid-price"`` and ``"prices-0"`` are added where they
        are missing.
    options
        Options of the policies. ``options.period`` is what rewards are counted by; with its fixed
        last period, runs by the barrier clock stop there.
    sample
        How many periods of the bid-price run to judge, >= 1; None judges all in which a waiting
        request fitted somewhere.
    forecast
        What the policies know of decode lengths; the oracle by default. Rewards of whole runs are
        by true lengths, those of judged periods by forecast ones, as the policies see them.
    clock, batching, kv
        As for `simulate`. The independent clock needs ``options.period.period_s``. Requests that
        no worker could ever hold are refused, or with ``KvOptions(oversize="reject")`` named in a
        notice and counted as rejected.
    time_limit_s
        Per exact solve.
    seed
        Seed of runs, of the sample, and of the mini-batches of the convergence table.
    on_progress
        Called now and then.

    Returns
    -------
    PriceReport
        After Ctrl-C: all runs and periods finished until then. A policy that fails in the middle of
        its run is among its failures, and the others are there; if none is, its error is raised.

    Raises
    ------
    InputError
        If an argument is out of range, a name is unknown, or no request fits on any worker.
    """
    options = options or PolicyOptions()
    check_conditions(cluster, options, clock, sample)
    names = list(dict.fromkeys((JUDGED, CONTROL, *policies)))
    runner = Runner(trace, cluster, options, forecast, clock, batching, kv, seed, on_progress)
    made = [make_policy(name, cluster.workers, options) for name in names]
    periods: Reservoir[SampledPeriod] = Reservoir(sample, np.random.default_rng([seed, 1]))
    found, failures = _Findings(), Failures()
    try:
        for policy in made:
            with failures.kept(PolicyError):
                run = runner.run(policy, periods if policy.name == JUDGED else None)
                if policy.name == JUDGED:
                    runner.notices += oversize_notices(run)
                found.add(run, runner)
        with noted(runner.notices):
            found.judge(periods.items, SolveOptions(time_limit_s=time_limit_s), on_progress)
            if on_progress is not None and found.shown is not None:
                on_progress("solve: prices of one period", 0, 1)
            found.look_closer(options, seed)
    except KeyboardInterrupt:
        found.interrupted = True
    if not found.outcomes:
        failures.raise_first()
    return PriceReport(
        settings={
            "trace": trace.name,
            "notices": list(trace.notices),
            "requests": len(trace),
            "slots": cluster.slots.tolist(),
            "kv_tokens": None if cluster.kv_tokens is None else cluster.kv_tokens.tolist(),
            "forecast": (forecast or Oracle()).name,
            "clock": str(clock),
            "batching": str(batching),
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
        requests=found.all_requests(),
        records=tuple(found.records),
        prices=found.prices,
        strip=found.strip,
        convergence=found.convergence(),
        notices=tuple(runner.notices),
        interrupted=found.interrupted,
        failures=failures.messages,
    )


def no_prices() -> pd.DataFrame:
    """Return a table of prices without rows."""
    import pandas as pd

    return pd.DataFrame(columns=["kind", "worker", "period", "batch", "memory"])


@dataclass
class _Findings:
    """What a study has so far; it survives Ctrl-C."""

    runs: list[SimulationResult] = field(default_factory=list)
    outcomes: list[RunOutcome] = field(default_factory=list)
    requests: list[pd.DataFrame] = field(default_factory=list)
    records: list[PeriodRecord] = field(default_factory=list)
    shown: tuple[SampledPeriod, PriceResult] | None = None
    steps: pd.DataFrame | None = None
    prices: pd.DataFrame = field(default_factory=no_prices)
    strip: pd.DataFrame = field(default_factory=no_strip)
    interrupted: bool = False

    def add(self, run: SimulationResult, runner: Runner) -> None:
        """Take a run, if it is comparable with those before."""
        require_equal_limits([*self.runs, run])
        self.runs.append(run)
        outcome, requests = runner.outcome(run)
        self.outcomes.append(outcome)
        self.requests.append(requests)

    def all_requests(self) -> pd.DataFrame:
        """Return what became of each request, run after run."""
        import pandas as pd

        return pd.concat(self.requests, ignore_index=True) if self.requests else pd.DataFrame()

    def judge(
        self,
        periods: Sequence[SampledPeriod],
        options: SolveOptions,
        on_progress: OnProgress | None,
    ) -> None:
        """Judge the periods; the one with the highest prices is the one to show."""
        highest = -1.0
        every = max(1, len(periods) // DISTANCES)
        for number, sampled in enumerate(periods, start=1):
            record, exact = judge_period(sampled, options, with_distance=number % every == 0)
            self.records.append(record)
            cost = sum(capacity_costs(sampled, sampled.batch, sampled.memory))
            if cost > highest:
                highest, self.shown = cost, (sampled, exact)
            if on_progress is not None:
                on_progress("solve: sampled periods", number, len(periods))

    def look_closer(self, options: PolicyOptions, seed: int) -> None:
        """Follow Algorithm 2 on the dual of the period that is shown, and find its prices' ends."""
        if self.shown is None:
            return
        learning = options.bid_price
        descent = DescentOptions(learning.steps, learning.batch, learning.step_size)
        self.steps = convergence_frame(*self.shown, descent, seed)
        self.prices = self._prices(*self.shown)
        self.strip = price_strip(*self.shown, STRETCHES)

    def _prices(self, sampled: SampledPeriod, exact: PriceResult) -> pd.DataFrame:
        """Return the prices of the period that is shown, the run's and the nearest optimal ones."""
        import pandas as pd

        kinds = [("learned", sampled.batch, sampled.memory)]
        nearest = nearest_optimal(
            sampled.sample, sampled.batch, sampled.memory, capacity_weights(sampled), exact.value
        )
        if exact.converged and nearest is not None:
            kinds.append(("nearest optimal", nearest.batch, nearest.memory))
        frames = []
        for kind, batch, memory in kinds:
            batch, memory = sampled.of_remaining(batch), sampled.of_remaining(memory)
            worker, offset = np.indices(batch.shape)
            frames.append(
                pd.DataFrame(
                    {
                        "kind": kind,
                        "worker": worker.ravel(),
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
