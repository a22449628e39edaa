"""What a run leaves behind: metrics, per-request times and the series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from olprouting.engine.measure import measure
from olprouting.engine.state import SERIES_COLUMNS, Settings, State
from olprouting.instances.trace import RUN_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.engine.metrics import Metrics
    from olprouting.instances import Cluster, Trace

Series = list[tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]]


@dataclass(frozen=True, eq=False)
class SimulationResult:
    """Outcome of a run.

    Parameters
    ----------
    trace, cluster
        What was run.
    policy, forecast
        Names of the policy and of what it knew.
    metrics
        Aggregates.
    worker, admission_iteration, release_iteration
        Per request, shape (N,); -1 where it did not come to that. After preemption those of the
        last admission.
    rejection_iteration
        When each request was turned away, by the policy or on arrival because no worker can ever
        hold it, shape (N,); -1 if it was not.
    first_token_iteration, finish_iteration
        Iterations of the first and the last token, likewise.
    preemptions
        How often each request was preempted, shape (N,).
    release_s, first_token_s, finish_s
        Per request in seconds, shape (N,); NaN where it did not come to that.
    series, series_load_tokens
        Per kept iteration: SERIES_COLUMNS, and the load of every worker; None without a series.
    released_by_time
        Whether arrival times released the requests, rather than iterations or a backlog.
    interrupted
        Whether Ctrl-C ended the run.
    wall_s
        Seconds the run took, compilation included.
    """

    trace: Trace
    cluster: Cluster
    policy: str
    forecast: str
    metrics: Metrics
    worker: npt.NDArray[np.int64]
    admission_iteration: npt.NDArray[np.int64]
    release_iteration: npt.NDArray[np.int64]
    rejection_iteration: npt.NDArray[np.int64]
    first_token_iteration: npt.NDArray[np.int64]
    finish_iteration: npt.NDArray[np.int64]
    preemptions: npt.NDArray[np.int64]
    release_s: npt.NDArray[np.float64]
    first_token_s: npt.NDArray[np.float64]
    finish_s: npt.NDArray[np.float64]
    series: npt.NDArray[np.float64] | None
    series_load_tokens: npt.NDArray[np.int64] | None
    released_by_time: bool
    interrupted: bool
    wall_s: float

    @property
    def rejected(self) -> npt.NDArray[np.bool_]:
        """Which requests were turned away, shape (N,)."""
        return self.rejection_iteration > 0

    def summary(self) -> str:
        """Return the metrics as aligned lines."""
        return self.metrics.summary()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per request: trace columns, worker, iterations and times.

        Written to CSV or Parquet this is a trace that `replay_policy` can run again, unless
        requests were preempted. Where there were any, it has columns ``preemptions``,
        ``rejected`` and ``rejection_iteration``.
        """
        frame = self.trace.to_frame()
        for name in RUN_COLUMNS:
            frame[name] = getattr(self, name)
        if not self.released_by_time:  # else arrival_s releases them again
            frame["release_iteration"] = self.release_iteration
        if self.preemptions.any() or self.rejected.any():
            frame["preemptions"] = self.preemptions
            frame["rejected"] = self.rejected
            frame["rejection_iteration"] = self.rejection_iteration
        return frame

    def satisfaction_rate(self, t2: float, *, inclusive: bool = True) -> float | None:
        """Return the share of arrived requests whose first token came within `t2` periods.

        Requests without one, waiting or rejected, count as unsatisfied. None if none arrived.

        Parameters
        ----------
        t2
            Threshold of the time to first token, in periods (iterations of the barrier clock).
        inclusive
            Whether a latency equal to the threshold counts; in the reward of the bid-price paper
            it does not.

        Raises
        ------
        ValueError
            If the run had no periods: the independent clock.
        """
        if self.metrics.periods is None:
            raise ValueError("the independent clock has no periods; use the barrier clock")
        arrived = self.release_iteration > 0
        if not arrived.any():
            return None
        ttft = (self.first_token_iteration - self.release_iteration)[arrived]
        admitted = self.first_token_iteration[arrived] > 0
        within = ttft <= t2 if inclusive else ttft < t2
        return float((admitted & within).mean())

    def series_frame(self) -> pd.DataFrame:
        """Return one row per kept iteration, with a column ``load_tokens_G`` per worker.

        Raises
        ------
        ValueError
            If the run kept no series.
        """
        import pandas as pd

        if self.series is None or self.series_load_tokens is None:
            raise ValueError("the run kept no series; pass series_every=1")
        frame = pd.DataFrame(self.series, columns=list(SERIES_COLUMNS))
        if self.metrics.periods is None:  # imbalance is a matter of the barrier
            frame = frame.drop(columns="imbalance_tokens")
        whole = [c for c in frame.columns if not c.endswith("_s") and c != "mean_load_tokens"]
        frame = frame.astype(dict.fromkeys(whole, "int64"))
        for g in range(self.cluster.workers):
            frame[f"load_tokens_{g}"] = self.series_load_tokens[:, g]
        return frame

    def plot(self, ax: Any = None) -> Any:
        """Draw worker loads over time; needs a series."""
        from olprouting.plots.loads import plot_loads

        return plot_loads(self.series_frame(), ax=ax, title=self.policy)


def collect(
    trace: Trace,
    cluster: Cluster,
    policy: str,
    forecast: str,
    settings: Settings,
    state: State,
    series: Series | None,
    *,
    released_by_time: bool,
    interrupted: bool,
    wall_s: float,
) -> SimulationResult:
    """Turn the final state of a run into its result."""

    def column(name: str) -> npt.NDArray[Any]:
        return state.requests[name].copy()

    return SimulationResult(
        trace=trace,
        cluster=cluster,
        policy=policy,
        forecast=forecast,
        metrics=measure(trace, settings, state),
        worker=column("worker"),
        admission_iteration=column("admission"),
        release_iteration=column("release"),
        rejection_iteration=column("rejection"),
        first_token_iteration=column("first_token"),
        finish_iteration=column("finish"),
        preemptions=column("preempted"),
        release_s=column("release_s"),
        first_token_s=column("first_token_s"),
        finish_s=column("finish_s"),
        series=None if series is None else np.concatenate([rows for rows, _ in series]),
        series_load_tokens=(
            None if series is None else np.concatenate([loads for _, loads in series])
        ),
        released_by_time=released_by_time,
        interrupted=interrupted,
        wall_s=wall_s,
    )
