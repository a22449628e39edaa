"""Policies against what any router could have collected: bound, schedule, and runs beside them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from olprouting.hindsight.reward.ratio import CertifiedRatio
from olprouting.hindsight.reward.result import SCHEMA, HindsightResult
from olprouting.instances import WEIGHT_SETS, SloClasses, StopReason
from olprouting.instances.period_result import PROOF_RELATIVE
from olprouting.intervals import total_interval
from olprouting.report import Report, Table, frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from olprouting.intervals import Interval
    from olprouting.report.figures import Draw

BLOCKS = 10
"""Blocks of consecutive requests, which hardly depend on each other."""


@dataclass(frozen=True)
class RatedRun(CertifiedRatio):
    """A policy's run beside the bound, and the reward of all its starts.

    Attributes
    ----------
    policy, reward, admitted, preempted, ratio
        See `CertifiedRatio`.
    reward_of_all_starts
        With the requests that were preempted, whose starts the bound does not cover.
    never_admitted
        Requests that the run ended without, neither admitted nor rejected.
    """

    reward_of_all_starts: float
    never_admitted: int


@dataclass(frozen=True, kw_only=True, eq=False)
class HindsightReport(Report):
    """Policies against hindsight.

    Attributes
    ----------
    found
        Bound and schedule.
    runs
        A run per policy.
    rewards
        Per policy (name): what the start of each request counts, in the order of the trace,
        shape (requests,).
    settings, interrupted, failures
        See `Report`.
    """

    stem = "hindsight"
    schema = SCHEMA
    title = "Reward in hindsight"

    found: HindsightResult
    runs: tuple[RatedRun, ...] = ()
    rewards: Mapping[str, npt.NDArray[np.float64]] = field(default_factory=dict)

    def heading(self) -> str:
        """Return what was asked."""
        problem = self.found.problem
        named = [name for name, weights in WEIGHT_SETS.items() if weights == problem.weights]
        weights = f"weights {named[0]}" if named else "weights of one's own"
        if isinstance(problem.weights, SloClasses):
            weights = f"weights by class: {', '.join(problem.weights.names)}"
        return (
            f"{self.found.name}: {len(problem)} requests on {len(problem.slots)} workers x "
            f"{problem.slots[0]} slots x {problem.kv_tokens[0]:,} KV tokens, T={problem.periods}, "
            f"{weights}"
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
        return (possible, *self._policies(), self._weak_side())

    def _policies(self) -> Iterator[str]:
        """Say who came closest, and whether that is more than chance, and who is the last."""
        ranked = sorted(self.runs, key=lambda run: run.reward, reverse=True)
        if not ranked:
            return
        best, others = ranked[0], ranked[1:]
        said = f"{best.policy}, the best policy here, collected {self._share(best)} of that"
        if not others:
            yield f"{said}."
            return
        more = self.more_than(best.policy, others[0].policy)
        which = ", is more than chance" if more.excludes_zero else ": the two cannot be told apart"
        yield f"{said}; its lead over {others[0].policy}, {more.text(',.1f')}{which}."
        yield f"{others[-1].policy}, the worst, collected {self._share(others[-1])}."

    def more_than(self, policy: str, other: str) -> Interval:
        """Return how much more reward one policy collects than another, in all.

        The interval is Student's over `BLOCKS` blocks of consecutive requests.
        """
        return total_interval(self.rewards[policy] - self.rewards[other], BLOCKS)

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
        rows = {
            run.policy: (
                f"{run.reward_of_all_starts:,.1f}",
                f"{run.reward:,.1f}",
                f"{run.admitted:,}",
                f"{run.preempted:,}",
                self._share(run),
            )
            for run in self.runs
        }
        value, admitted = f"{found.value:,.1f}", f"{found.schedule.admitted:,}"
        share = f"{found.value / found.bound:.1%} to 100.0%" if found.bound else "-"
        rows["schedule"] = (value, value, admitted, "0", share)
        names = ("reward", "counted", "admitted", "preempted", "of the optimum")
        rated = Table(
            "Policies against hindsight",
            {"policy": list(rows)},
            dict(zip(names, zip(*rows.values(), strict=True), strict=True)),
            "counted, and compared: starts never preempted. of the optimum: between these limits, "
            "from the bound to the schedule, which is the best found. "
            f"Leads: 95% over {BLOCKS} blocks of consecutive requests. Bound and schedule took "
            f"{found.wall_s:.1f} s, the proof {found.proof_s:.2f} s of it",
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

    def warnings(self) -> tuple[str, ...]:
        """Return that nothing binds, and which requests count nowhere or were never admitted."""
        problem, found = self.found.problem, []
        if len(problem) and (self.found.schedule.start_period == problem.arrival_period).all():
            found.append(
                "nothing binds: the schedule admits every request when it arrives; take a higher "
                "rate, fewer slots or fewer KV tokens"
            )
        late = int((problem.arrival_period > problem.periods).sum())
        if late:
            found.append(
                f"{late} of {len(problem)} requests come after the last period and count nowhere; "
                f"give more than --periods {problem.periods}, or fewer --requests"
            )
        never = [f"{run.policy} {run.never_admitted}" for run in self.runs if run.never_admitted]
        if never:
            found.append(
                f"never admitted, of {len(problem)} requests: {', '.join(never)}; nobody is "
                f"admitted past T={problem.periods}"
            )
        return tuple(found)

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
        if found.gap <= PROOF_RELATIVE:
            return "Bound and schedule agree: the schedule is optimal."
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
