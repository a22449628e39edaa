"""What one run gave: findings, tables, pictures, and every number for machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from olprouting.report import Report, Table
from olprouting.run_report import tables
from olprouting.run_report.residents import slots_of

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.engine import SimulationResult
    from olprouting.report.charts import Chart
    from olprouting.report.figures import Draw


@dataclass(frozen=True, kw_only=True, eq=False)
class RunReport(Report):
    """What one run gave.

    Attributes
    ----------
    result
        The run. It is drawn if it kept a series.
    exact
        Decisions that were solved exactly, and how many of them to a proof; None if none were.
    settings, interrupted, failures
        See `Report`.
    """

    stem = "run"
    schema = "olprouting/run/1"
    title = "One run, replayed"

    result: SimulationResult
    exact: tuple[int, int] | None = None

    def heading(self) -> str:
        """Return who ran on what."""
        run, cluster = self.result, self.result.cluster
        slots = "/".join(str(count) for count in dict.fromkeys(cluster.slots.tolist()))
        return (
            f"{run.policy} on {run.trace.name}: {cluster.workers} workers x {slots} slots, "
            f"forecast {run.forecast}"
        )

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the metrics as one row, a row per request, and one per iteration if kept."""
        import pandas as pd

        frames = {"run": pd.DataFrame([self.results()]), "requests": self.result.to_frame()}
        if self.result.series is not None:
            frames["series"] = self.result.series_frame()
        if self.result.trace.slo_class is not None:
            frames["classes"] = self._classes
        return frames

    @property
    def _classes(self) -> pd.DataFrame:
        return tables.classes_frame(self.result)

    def results(self) -> dict[str, Any]:
        """Return every metric, flat."""
        run = self.result
        row: dict[str, Any] = {"policy": run.policy, "forecast": run.forecast}
        row |= run.metrics.to_row() | {"run_s": run.wall_s}
        if self.exact is not None:
            row["decisions"], row["decisions_proven"] = self.exact
        return row

    def tables(self) -> tuple[Table, ...]:
        """Return imbalance, waiting, throughput and completion; details after them."""
        metrics = self.result.metrics
        found = [tables.balance(metrics), tables.latencies(metrics), tables.throughput(metrics)]
        found += [
            tables.completion(metrics),
            tables.by_class(self._classes),
            *tables.details(metrics),
        ]
        return tuple(table for table in found if table is not None)

    def findings(self) -> tuple[str, ...]:
        """Return what the run did, in up to three sentences."""
        run, metrics = self.result, self.result.metrics
        done = f"{run.policy} finished {metrics.finished:,} of {metrics.arrived:,} requests"
        speed = f"{metrics.throughput_tokens_per_s:,.0f} tokens per second"
        found = [f"{done} in {metrics.makespan_s:,.1f} s and generated {speed}."]
        if metrics.mean_idle_share is not None and metrics.iterations:
            whole, window = metrics.mean_imbalance_tokens, metrics.while_waiting
            waiting = (
                ""
                if window is None
                else f"{window.mean_imbalance_tokens:,.0f} tokens while requests wait, "
            )
            found.append(
                f"Its workers spent {metrics.mean_idle_share:.1%} of their time waiting for the "
                f"fullest of them (mean imbalance {waiting}{whole:,.0f} tokens in the whole run)."
            )
        if metrics.ttft.p50_s is not None:
            found.append(
                f"Half of the finished requests had their first token within "
                f"{metrics.ttft.p50_s:,.2f} s, 99% within {metrics.ttft.p99_s:,.2f} s."
            )
        if self.exact is not None:
            found.append(f"{self.exact[1]:,} of its {self.exact[0]:,} decisions are proven optima.")
        return tuple(found)

    def notes(self) -> tuple[str, ...]:
        """Return what was changed in the trace."""
        return tuple(self.result.trace.notices)

    def warnings(self) -> tuple[str, ...]:
        """Return that slots never fill, and that latencies leave out the slowest requests."""
        run, metrics, found = self.result, self.result.metrics, []
        if metrics.mean_imbalance_tokens is not None and metrics.while_waiting is None:
            found.append(
                "the slots never fill, so that no request waits for one; take fewer slots, more "
                "requests or a higher rate"
            )
        never = int(((run.admission_iteration < 0) & ~run.rejected).sum())
        if never:
            found.append(f"{never:,} of {metrics.arrived:,} requests were never admitted")
        if metrics.censored:
            found.append(
                f"{metrics.unfinished:,} of {metrics.arrived:,} requests are unfinished and "
                "missing from the latencies, which are too small by that"
            )
        return tuple(found)

    def figures(self) -> dict[str, Draw]:
        """Return loads with the queue, and one worker's slots, if the run kept a series."""
        if not self._is_drawn:
            return {}
        from olprouting.plots.run import plot_run
        from olprouting.plots.slots import plot_slots

        series, policy = self.result.series_frame(), self.result.policy
        figures: dict[str, Draw] = {"loads": lambda: plot_run(series, policy)}
        if self.result.metrics.periods is not None:
            worker = self._fullest()
            stays = slots_of(self.result, worker)
            figures["slots"] = lambda: plot_slots(stays, series, worker)
        return figures

    def charts(self) -> dict[str, Chart]:
        """Return the run with a slider, if it kept a series."""
        if not self._is_drawn:
            return {}
        from olprouting.plots.replayed import replayed

        series = self.result.series_frame()
        return {"replay": lambda: replayed(series)}

    def captions(self) -> dict[str, str]:
        """Return what the pictures show."""
        return {
            "replay": "The run replayed: load of every worker, the barrier (the fullest worker, "
            "for which all others wait) and the requests that wait for a slot.",
            "loads": "Load of every worker, the barrier that the fullest one sets, and the "
            "requests that wait for a slot.",
            "slots": f"The first stays in the slots of worker {self._fullest()}, and the KV tokens "
            "that it holds: prompts and what was generated. A preempted request is shown where it "
            "was admitted last.",
        }

    @property
    def _is_drawn(self) -> bool:
        return self.result.series is not None and len(self.result.series) > 0

    def _fullest(self) -> int:
        """Return the worker that had the largest load."""
        loads = self.result.series_load_tokens
        return 0 if loads is None or not len(loads) else int(loads.max(axis=0).argmax())
