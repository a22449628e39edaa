"""Runs and gaps of several policies, in one report."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from olprouting.gaps.findings import GapFindings
from olprouting.gaps.measure import GapRecord
from olprouting.gaps.policy_gaps import PolicyGaps
from olprouting.gaps.tables import gap_tables
from olprouting.options import Dispatch
from olprouting.report import Report, frame_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from olprouting.gaps.measure import JudgedDecision
    from olprouting.gaps.runs import PolicyRun
    from olprouting.instances import Decision, DecisionResult
    from olprouting.report import Table
    from olprouting.report.charts import Chart
    from olprouting.report.figures import Draw


@dataclass(frozen=True, kw_only=True, eq=False)
class GapReport(Report):
    """How several policies do on one trace, and how far their decisions are from the optimum.

    Attributes
    ----------
    runs
        One entry per policy that finished its run.
    choices
        Per run (name of its policy): decisions at which there was a choice.
    policies
        One entry per window and policy, window by window.
    judged
        One entry per window, decision and policy, in this order.
    series
        Per policy (name): start_s and imbalance_tokens of every iteration.
    settings, interrupted, failures
        See `Report`; a policy that failed in the middle of its run is a failure.
    """

    stem = "gaps"
    schema = "olprouting/gaps/2"
    title = "Gaps to the optimum"

    runs: tuple[PolicyRun, ...]
    choices: dict[str, int]
    policies: tuple[PolicyGaps, ...]
    judged: tuple[JudgedDecision, ...]
    series: dict[str, pd.DataFrame]

    @property
    def records(self) -> tuple[GapRecord, ...]:
        """Value, optimum and gap of each judged decision."""
        return tuple(one.record for one in self.judged)

    @property
    def windows(self) -> tuple[int, ...]:
        """The windows H of the programs that judged, in this order."""
        return tuple(dict.fromkeys(entry.horizon for entry in self.policies))

    def records_of(self, policy: str, window: int) -> list[GapRecord]:
        """Return those of one policy by one window."""
        return [one for one in self.records if (one.policy, one.horizon) == (policy, window)]

    def solved(self) -> list[tuple[Decision, DecisionResult, list[dict[str, Any]]]]:
        """Return each solved decision with its result, and what policies chose there."""
        groups = groupby(self.judged, lambda one: id(one.result))  # one solve judges all policies
        found = [list(group) for _, group in groups]
        return [
            (group[0].decision, group[0].result, [one.choice() for one in group]) for group in found
        ]

    def heading(self) -> str:
        """Return in a line what was asked."""
        asked = self.settings
        slots = sorted(set(asked["slots"]))
        each = f"{slots[0]}" if len(slots) == 1 else f"{slots[0]} to {slots[-1]}"
        released = "" if asked["backlog"] is None else f", {asked['backlog']} in sight"
        if asked["in_flight"] is not None:
            released = f", {asked['in_flight']} in flight"
        if asked["dispatch"] == Dispatch.ARRIVAL:
            released += ", dispatched on arrival"
        return (
            f"{asked['trace']}: {asked['requests']} requests{released}, "
            f"{len(asked['slots'])} workers x {each} slots"
        )

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return rows per policy and window, policy, replication, and solved decision."""
        import pandas as pd

        return {
            "gaps": frame_of(PolicyGaps, self.policies),
            "runs": pd.DataFrame([run.to_row() for run in self.runs]),
            "replications": self.replications_frame(),
            "decisions": self.records_frame(),
        }

    def records_frame(self) -> pd.DataFrame:
        """Return one row per solved decision and policy."""
        return frame_of(GapRecord, self.records)

    def replications_frame(self) -> pd.DataFrame:
        """Return one row per policy and run: replication 0 is the trace itself."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"policy": run.policy, "replication": number, **asdict(numbers)}
                for run in self.runs
                for number, numbers in enumerate((run.numbers, *run.replicated))
            ]
        )

    def results(self) -> dict[str, Any]:
        """Return runs and gaps as plain JSON types."""
        return {
            "findings": list(self.findings()),
            "runs": [asdict(run) for run in self.runs],
            "policies": [asdict(entry) for entry in self.policies],
        }

    def summary(self) -> str:
        """Return one aligned line per policy and window."""
        columns = ("policy", "horizon", "waiting_imbalance_tokens", "mean_imbalance_tokens")
        gaps = ("found_mean_tokens", "unproven_mean_tokens", "share_captured", "share_proven")
        return str(self.to_frame()[[*columns, *gaps]].to_string(index=False))

    def findings(self) -> tuple[str, ...]:
        """Return who balances best, how far from optimal that is, and what lookahead brings."""
        return GapFindings(self).sentences()

    def warnings(self) -> tuple[str, ...]:
        """Return why the numbers may say nothing: nothing binds, no choice, not admitted."""
        return GapFindings(self).warnings()

    def tables(self) -> tuple[Table, ...]:
        """Return the runs, and as details gaps by program, parts of the error, and times."""
        return gap_tables(self)

    def notes(self) -> tuple[str, ...]:
        """Return what became of the trace, and what to run next."""
        return (*self.settings["notices"], *GapFindings(self).advice())

    def figures(self) -> dict[str, Draw]:
        """Return the functions that draw policies side by side, and their runs over time."""
        from olprouting.plots.gaps import plot_imbalance

        return {"gaps": self.plot, "imbalance": lambda: plot_imbalance(self.series)}

    def charts(self) -> dict[str, Chart]:
        """Return the function that makes the chart of runs over time."""
        from olprouting.plots.gaps import imbalance_chart

        return {"imbalance over time": lambda: imbalance_chart(self.series)}

    def captions(self) -> dict[str, str]:
        """Return what figures and chart show."""
        from olprouting.plots.gaps import SMOOTHING_POINTS

        smooth = f"means over {SMOOTHING_POINTS} stretches of time"
        return {
            "gaps": "Left: mean imbalance while requests wait, of all runs. Right: what a policy "
            "avoids of JSQ's excess over the optimum of single decisions, by each program.",
            "imbalance": f"Imbalance of the run of the trace over time, {smooth}; faint after the "
            "last admission, when no policy can do anything about it.",
            "imbalance over time": f"Imbalance of the run of the trace, {smooth}; a click on a "
            "policy in the legend hides or shows it.",
        }

    def plot(self) -> Figure:
        """Draw the imbalance of runs, and the shares that decisions avoid; return the figure."""
        from olprouting.plots.gaps import plot_gaps

        return plot_gaps(self.frames()["runs"], frame_of(PolicyGaps, self.policies))
