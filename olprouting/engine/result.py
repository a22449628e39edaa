"""What a run leaves behind: metrics, per-request times and the series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from olprouting.engine.metrics import Metrics, Quantiles
from olprouting.engine.state import SERIES_COLUMNS, State
from olprouting.instances.trace import RUN_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

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
        Names of the rule and of what it knew.
    metrics
        Aggregates.
    worker, admission_iteration, release_iteration
        Per request, shape (N,); -1 where it did not come to that.
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
    release_s: npt.NDArray[np.float64]
    first_token_s: npt.NDArray[np.float64]
    finish_s: npt.NDArray[np.float64]
    series: npt.NDArray[np.float64] | None
    series_load_tokens: npt.NDArray[np.int64] | None
    released_by_time: bool
    interrupted: bool
    wall_s: float

    def summary(self) -> str:
        """Return the metrics as aligned lines."""
        return self.metrics.summary()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per request: trace columns, worker, iterations and times.

        Written to CSV or Parquet this is a trace that `replay_policy` can run again.
        """
        frame = self.trace.to_frame()
        for name in RUN_COLUMNS:
            frame[name] = getattr(self, name)
        if not self.released_by_time:  # else arrival_s releases them again
            frame["release_iteration"] = self.release_iteration
        return frame

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
        whole = [c for c in SERIES_COLUMNS if not c.endswith("_s") and c != "mean_load_tokens"]
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
    state: State,
    series: Series | None,
    *,
    released_by_time: bool,
    interrupted: bool,
    wall_s: float,
) -> SimulationResult:
    """Turn the final state of a run into its result."""
    return SimulationResult(
        trace=trace,
        cluster=cluster,
        policy=policy,
        forecast=forecast,
        metrics=_metrics(trace, state),
        worker=state.worker,
        admission_iteration=state.admission,
        release_iteration=state.release,
        release_s=state.release_s,
        first_token_s=state.first_token_s,
        finish_s=state.finish_s,
        series=None if series is None else np.concatenate([rows for rows, _ in series]),
        series_load_tokens=(
            None if series is None else np.concatenate([loads for _, loads in series])
        ),
        released_by_time=released_by_time,
        interrupted=interrupted,
        wall_s=wall_s,
    )


def _metrics(trace: Trace, state: State) -> Metrics:
    now = {name: state.now[name][0] for name in state.now.dtype.names or ()}
    finished = ~np.isnan(state.finish_s)
    tokens = trace.decode_tokens[finished]
    finish_s = state.finish_s[finished]
    first_s = state.first_token_s[finished]
    release_s = state.release_s[finished]
    several = tokens > 1
    busy, idle = int(now["busy_iterations"]), int(now["idle_iterations"])
    began_s = float(np.nanmin(state.release_s, initial=np.inf)) if now["released"] else 0.0
    makespan_s = float(now["clock_s"]) - began_s
    return Metrics(
        arrived=len(trace),
        finished=int(now["finished"]),
        rejected=0,
        unfinished=len(trace) - int(now["finished"]),
        censored=bool(now["finished"] < len(trace)),
        iterations=busy,
        idle_iterations=idle,
        mean_imbalance_tokens=_ratio(now["imbalance_tokens"], busy),
        mean_imbalance_with_idle_tokens=_ratio(now["imbalance_tokens"], busy + idle),
        mean_idle_share=_ratio(now["idle_share"], busy),
        makespan_s=makespan_s,
        decode_tokens=int(now["decode_tokens"]),
        throughput_tokens_per_s=_ratio(now["decode_tokens"], makespan_s),
        requests_per_s=_ratio(now["finished"], makespan_s),
        tpot=Quantiles.of((finish_s - first_s)[several] / (tokens[several] - 1)),
        ttft=Quantiles.of(first_s - release_s),
        end_to_end=Quantiles.of(finish_s - release_s),
        single_token_requests=int((~several).sum()),
        energy_j=float(now["energy_j"]),
    )


def _ratio(total: float, count: float) -> float:
    return float(total / count) if count else 0.0
