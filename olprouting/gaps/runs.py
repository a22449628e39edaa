"""What each policy's run achieved, and whether policies can be told apart by it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.engine import simulate
from olprouting.intervals import t_interval
from olprouting.traces.resampling import resampled

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy.typing as npt

    from olprouting.engine import DecisionEvent, SimulationResult
    from olprouting.instances import Cluster, Trace
    from olprouting.intervals import Interval
    from olprouting.policies import Policy


@dataclass(frozen=True)
class RunNumbers:
    """What one run achieved.

    Attributes
    ----------
    waiting_imbalance_tokens, waiting_iterations
        Mean imbalance while requests wait (`WaitingWindow`), and how many iterations that is; None
        and 0 where the slots never fill.
    imbalance_tokens, iterations
        Of the whole run.
    wait_mean_s, wait_p99_s, wait_max_s
        Time from release to admission; None where no request was admitted.
    slowest_s
        End-to-end latency of the slowest finished request; None where none finished.
    """

    waiting_imbalance_tokens: float | None
    waiting_iterations: int
    imbalance_tokens: float
    iterations: int
    wait_mean_s: float | None
    wait_p99_s: float | None
    wait_max_s: float | None
    slowest_s: float | None

    @classmethod
    def of(cls, result: SimulationResult) -> RunNumbers:
        """Sum up a run."""
        metrics = result.metrics
        window = metrics.while_waiting
        assert metrics.mean_imbalance_tokens is not None  # the barrier clock always has one
        return cls(
            waiting_imbalance_tokens=None if window is None else window.mean_imbalance_tokens,
            waiting_iterations=0 if window is None else window.iterations,
            imbalance_tokens=metrics.mean_imbalance_tokens,
            iterations=metrics.iterations,
            wait_mean_s=metrics.waiting_time.mean_s,
            wait_p99_s=metrics.waiting_time.p99_s,
            wait_max_s=metrics.waiting_time.max_s,
            slowest_s=metrics.end_to_end.max_s,
        )


@dataclass(frozen=True)
class PolicyRun:
    """One policy's run of the trace, and of workloads like it.

    Attributes
    ----------
    policy
        Who.
    numbers, replicated
        Of the run of the trace, and of its replications on resampled workloads.
    never_admitted
        Requests that the run of the trace ended without, neither admitted nor rejected.
    dispatch_p50_s, dispatch_p99_s
        Time of a routing call, its call from Python included, compilation not; None without a
        decision.
    """

    policy: str
    numbers: RunNumbers
    never_admitted: int
    dispatch_p50_s: float | None
    dispatch_p99_s: float | None
    replicated: tuple[RunNumbers, ...] = ()

    @classmethod
    def of(
        cls, policy: str, result: SimulationResult, dispatch_s: npt.NDArray[np.float64]
    ) -> PolicyRun:
        """Sum up a run, not replicated yet."""
        p50, p99 = np.quantile(dispatch_s, (0.5, 0.99)) if len(dispatch_s) else (None, None)
        return cls(
            policy=policy,
            numbers=RunNumbers.of(result),
            never_admitted=int(((result.admission_iteration < 0) & ~result.rejected).sum()),
            dispatch_p50_s=None if p50 is None else float(p50),
            dispatch_p99_s=None if p99 is None else float(p99),
        )

    @property
    def binds(self) -> bool:
        """Whether the slots fill in the run of the trace."""
        return self.numbers.waiting_imbalance_tokens is not None

    def column(self, name: str) -> npt.NDArray[np.float64]:
        """Return a number of all runs, that of the trace first; NaN where a run has none."""
        runs = (self.numbers, *self.replicated)
        return np.array([getattr(run, name) for run in runs], np.float64)

    def mean(self, name: str = "waiting_imbalance_tokens") -> Interval:
        """Return the mean of a number over all runs that have it, with its interval."""
        values = self.column(name)
        return t_interval(values[~np.isnan(values)])

    def above(self, other: PolicyRun, name: str = "waiting_imbalance_tokens") -> Interval:
        """Return by how much a number is above another policy's, workload by workload."""
        shared = min(len(self.replicated), len(other.replicated)) + 1  # fewer after Ctrl-C
        differences = self.column(name)[:shared] - other.column(name)[:shared]
        return t_interval(differences[~np.isnan(differences)])

    def to_row(self) -> dict[str, Any]:
        """Return what is known of the run of the trace, and the intervals over all, in one row."""
        mean = self.mean()
        row = asdict(self)
        del row["replicated"]
        return {
            "policy": row.pop("policy"),
            **row.pop("numbers"),
            **row,
            "runs": len(self.replicated) + 1,
            "runs_waiting_imbalance_tokens": mean.estimate,
            "runs_waiting_imbalance_low_tokens": mean.low,
            "runs_waiting_imbalance_high_tokens": mean.high,
        }


def replicate(
    trace: Trace,
    cluster: Cluster,
    policy: Policy,
    *,
    replications: int,
    seed: int,
    on_run: Callable[[int], None],
    **options: Any,
) -> tuple[RunNumbers, ...]:
    """Return the numbers of runs on resampled workloads.

    Parameters
    ----------
    trace, cluster, policy
        As for `simulate`.
    replications
        How many runs.
    seed
        Of the resampling, which is therefore the same for all policies, and of the runs.
    on_run
        Called after each run with the number of runs done.
    options
        Further arguments of `simulate`.

    Raises
    ------
    KeyboardInterrupt
        If a run was interrupted.
    """

    def ignore(event: DecisionEvent) -> None:
        """Keep to the plain loop: its kernels are ready, those of the compiled loop may not be."""

    numbers = []
    for number in range(replications):
        workload = resampled(trace, np.random.default_rng([seed, 3, number]))
        result = simulate(
            workload, cluster, policy, seed=seed + 1 + number, on_decision=ignore, **options
        )
        if result.interrupted:
            raise KeyboardInterrupt
        numbers.append(RunNumbers.of(result))
        on_run(number + 1)
    return tuple(numbers)
