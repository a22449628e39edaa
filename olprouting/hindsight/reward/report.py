"""Policies against what any router could have collected: bound, schedule, and runs beside them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from olprouting.hindsight.reward.ratio import CertifiedRatio
from olprouting.hindsight.reward.result import SCHEMA, HindsightResult
from olprouting.instances import StopReason
from olprouting.report import Report, Table, frame_of, text_of

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.files import Draw

RANKS = ("the best policy here", "the worst")
"""What the first and the last in a ranking are."""


@dataclass(frozen=True)
class RatedRun(CertifiedRatio):
    """A policy's run beside the bound, and the reward of all its starts.

    Attributes
    ----------
    policy, reward, admitted, preempted, ratio
        See `CertifiedRatio`.
    reward_of_all_starts
        With the requests that were preempted, whose starts the bound does not cover.
    """

    reward_of_all_starts: float


@dataclass(frozen=True, kw_only=True, eq=False)
class HindsightReport(Report):
    """Policies against hindsight.

    Attributes
    ----------
    found
        Bound and schedule.
    runs
        A run per policy.
    settings, interrupted, failures
        See `Report`.
    """

    stem = "hindsight"
    schema = SCHEMA
    title = "Reward in hindsight"

    found: HindsightResult
    runs: tuple[RatedRun, ...] = ()

    def heading(self) -> str:
        """Return what was asked."""
        problem = self.found.problem
        return (
            f"{self.found.name}: {len(problem)} requests on {len(problem.slots)} workers x "
            f"{problem.slots[0]} slots x {problem.kv_tokens[0]:,} KV tokens, T={problem.periods}"
        )

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return a row per policy, the starts of the schedule, and how both sides closed in."""
        return {
            "hindsight_policies": frame_of(RatedRun, self.runs),
            "hindsight_starts": self.found.to_frame(),
            "hindsight_history": self.found.history_frame(),
        }

    def results(self) -> dict[str, Any]:
        """Return bound, value and policies, without the proof."""
        found = self.found
        return {
            "objective": "reward",
            "trace": found.name,
            "requests": len(found.problem),
            "admitted": found.schedule.admitted,
            "bound": found.bound,
            "value": found.value,
            "gap": found.gap,
            "proven_by": found.proven_by,
            "stop_reason": str(found.stop_reason),
            "evaluations": found.evaluations,
            "wall_s": found.wall_s,
            "proof_s": found.proof_s,
            "policies": [asdict(run) for run in self.runs],
            "failures": list(self.failures),
        }

    def to_document(self) -> dict[str, Any]:
        """Return the document that `olprouting verify` checks."""
        return self.found.to_document()

    def findings(self) -> tuple[str, ...]:
        """Return what was possible, who came closest, and which side is the weak one."""
        found = self.found
        possible = (
            f"The best that any router could have collected lies between {found.value:,.1f}, a "
            f"schedule that was found, and {found.bound:,.1f}, a proven bound ({found.gap:.2%} "
            "apart)."
        )
        ranked = sorted(self.runs, key=lambda run: run.reward, reverse=True)
        policies = [
            f"{run.policy}, {word}, collected {self._share(run)} of that."
            for run, word in zip(ranked[:1] + ranked[1:][-1:], RANKS, strict=False)
        ]
        return (possible, *policies, self._weak_side())

    def tables(self) -> tuple[Table, ...]:
        """Return the policies, then bound and schedule."""
        found = self.found
        proof = {
            "requests admitted by the schedule": f"{found.schedule.admitted:,}",
            "bound": f"{found.bound:,.6f}",
            "schedule": f"{found.value:,.6f}",
            "gap": f"{found.gap:.4%}",
            "status": str(found.stop_reason),
            "wall_s": f"{found.wall_s:.2f} (proof {found.proof_s:.2f})",
            "evaluations of the dual": f"{found.evaluations:,}",
        }
        sides = Table(
            "Bound and schedule",
            {"": list(proof)},
            {"value": list(proof.values())},
            "every worker and period of the schedule was added up again; the bound: weak duality",
            detail=bool(self.runs),
        )
        if not self.runs:
            return (sides,)
        rated = Table(
            "Policies against hindsight",
            {"policy": [run.policy for run in self.runs]},
            {
                "reward": [f"{run.reward_of_all_starts:,.1f}" for run in self.runs],
                "counted": [f"{run.reward:,.1f}" for run in self.runs],
                "admitted": [str(run.admitted) for run in self.runs],
                "preempted": [str(run.preempted) for run in self.runs],
                "of the bound": [text_of(run.ratio, ".2%") for run in self.runs],
                "of the best": [self._share(run) for run in self.runs],
            },
            "counted, and compared: starts never preempted; of the best: between these limits",
        )
        return (rated, sides)

    def notes(self) -> tuple[str, ...]:
        """Return what preempted requests count, how the bound is proven, and what to run next."""
        found, notes = self.found, []
        preempted = [run for run in self.runs if run.preempted]
        if preempted:
            most = max(preempted, key=lambda run: run.preempted)
            lost = most.reward_of_all_starts - most.reward
            notes.append(
                f"preempted requests count nothing: {most.policy} has {most.preempted}, worth "
                f"{lost:,.1f} more if each counted its last start, which the bound does not cover"
            )
        notes.append(f"the bound is proven by {found.proven_by}")
        return (*notes, f"next: {self._next()}")

    def figures(self) -> dict[str, Draw]:
        """Return policies as bars up to the bound, and how bound and schedule closed in."""
        from olprouting.plots.hindsight import plot_closing, plot_shares

        figures: dict[str, Draw] = {}
        if self.runs:
            runs = frame_of(RatedRun, self.runs)
            figures["policies"] = lambda: plot_shares(runs, self.found.value, self.found.bound)
        figures["closing"] = lambda: plot_closing(self.found.history_frame())
        return figures

    def captions(self) -> dict[str, str]:
        """Return what the figures show."""
        return {
            "policies": "Reward of each policy between 0 and the hindsight bound; the optimum lies "
            "in the grey band. Hatched: starts that were preempted later and do not count.",
            "closing": "The proven bound from above and the schedule from below.",
        }

    def _share(self, run: RatedRun) -> str:
        """Return between which limits a run's share of the optimum lies."""
        found = self.found
        if run.ratio is None or not found.value:
            return "-"
        high = min(run.reward / found.value, 1.0)
        return f"{run.ratio:.1%} to {high:.1%}"

    def _weak_side(self) -> str:
        """Return which side still moved in the second half of the search."""
        found = self.found
        if found.stop_reason is StopReason.OPTIMAL:
            return "Bound and schedule are equal: the schedule is optimal."
        history = found.history
        if len(history) < 2:
            return "The search was too short to tell whether bound or schedule is the weak side."
        middle = next(row for row in history if row.wall_s >= history[-1].wall_s / 2)
        fell = (middle.bound - history[-1].bound) / max(middle.bound, 1e-9)
        rose = (history[-1].value - middle.value) / max(middle.value, 1e-9)
        moved = (
            f"in the second half of the search it rose by {rose:.2%}, the bound fell by {fell:.2%}"
        )
        if rose > fell:
            return f"The schedule is the weak side: {moved}."
        if fell > rose:
            return f"The bound is the weak side: {moved.replace('it rose', 'the schedule rose')}."
        return "Neither bound nor schedule moved in the second half of the search."

    def _next(self) -> str:
        found = self.found
        if not self.runs:
            return "--policies jsq,bid-price,round-robin puts policies beside the bound"
        if found.stop_reason in (StopReason.TIME_LIMIT, StopReason.INTERRUPTED):
            return f"--time-limit {max(2 * found.limit_s, 60):g}, for the gap asked for is not met"
        if found.stop_reason is StopReason.OPTIMAL_WITHIN_GAP:
            return f"--gap {found.gap_option / 10:g} narrows the limits"
        return "another --seed or trace, to see whether the order of the policies stays"
