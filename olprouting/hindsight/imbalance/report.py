"""Policies against the least imbalance in hindsight: bound, best run, and runs beside them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from olprouting.hindsight.imbalance.ratio import ImbalanceRatio
from olprouting.hindsight.imbalance.result import SCHEMA, ImbalanceResult
from olprouting.report import Report, Table, frame_of, text_of

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.report.figures import Draw


@dataclass(frozen=True, kw_only=True, eq=False)
class ImbalanceReport(Report):
    """Policies against the least imbalance in hindsight.

    Attributes
    ----------
    found
        Bound and best run.
    runs
        A run per policy.
    settings, interrupted, failures
        See `Report`.
    """

    stem = "hindsight_imbalance"
    schema = SCHEMA
    title = "Least imbalance in hindsight"

    found: ImbalanceResult
    runs: tuple[ImbalanceRatio, ...] = ()

    def heading(self) -> str:
        """Return what was asked."""
        trace, cluster = self.found.trace, self.found.cluster
        return (
            f"{trace.name}: {len(trace)} requests on {cluster.workers} workers x "
            f"{cluster.slots[0]} slots, admitted as soon as a slot is free"
        )

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the admissions of the best run, and a row per policy."""
        return {
            "hindsight_imbalance_admissions": self.found.to_frame(),
            "hindsight_imbalance_policies": frame_of(ImbalanceRatio, self.runs),
        }

    def results(self) -> dict[str, Any]:
        """Return bound, total and policies, without the proof."""
        found = self.found
        return {
            "objective": "imbalance",
            "trace": found.trace.name,
            "requests": len(found.trace),
            "bound_tokens": found.bound_tokens,
            "total_tokens": found.total_tokens,
            "gap": found.gap,
            "proven_by": found.proven_by,
            "stop_reason": str(found.stop_reason),
            "wall_s": found.wall_s,
            "policies": [asdict(run) for run in self.runs],
            "failures": list(self.failures),
        }

    def to_document(self) -> dict[str, Any]:
        """Return the document that `olprouting verify` checks."""
        return self.found.to_document()

    def findings(self) -> tuple[str, ...]:
        """Return what was possible, and how far the policies are from it."""
        found = self.found
        bound, total = found.bound_tokens, found.total_tokens
        if total is None:
            possible = f"No policy that fills free slots has less than {bound:,} tokens."
        elif total == bound:
            possible = f"The least total imbalance is {total:,} tokens, proven."
        else:
            possible = (
                f"The least total imbalance lies between {bound:,} tokens, a proven bound, and "
                f"{total:,}, the best run found."
            )
        ranked = sorted(self.runs, key=lambda run: run.total_tokens)
        return (
            possible,
            *(f"{run.policy} has {self._times(run)} times that." for run in ranked[:1]),
            *(f"{run.policy}, the worst, has {self._times(run)} times." for run in ranked[1:][-1:]),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the policies, then bound and best run."""
        found, best = self.found, self.found.total_tokens
        rows = {
            "bound, tokens": f"{found.bound_tokens:,}",
            "best run, tokens": text_of(best, ","),
            "gap": text_of(found.gap, ".4%"),
            "status": str(found.stop_reason),
            "wall_s": f"{found.wall_s:.2f}",
        }
        sides = Table(
            "Bound and best run",
            {"": list(rows)},
            {"value": list(rows.values())},
            f"bound proven by {found.proven_by}",
            detail=bool(self.runs),
        )
        if not self.runs:
            return (sides,)
        rated = Table(
            "Policies against hindsight",
            {"policy": [run.policy for run in self.runs]},
            {
                "total imbalance": [f"{run.total_tokens:,}" for run in self.runs],
                "of the best run": [
                    f"{run.total_tokens / best:.3f}" if best else "-" for run in self.runs
                ],
                "of the bound": [text_of(run.ratio, ".3f") for run in self.runs],
            },
            "tokens over the run; no policy that always fills free slots has less than the bound",
        )
        return (rated, sides)

    def notes(self) -> tuple[str, ...]:
        """Return what to run next."""
        if not self.runs:
            return ("next: --policies jsq,br0,brh puts policies beside the bound",)
        if self.found.total_tokens != self.found.bound_tokens:
            longer = max(2 * self.found.limit_s, 60)
            return (f"next: --time-limit {longer:g}, for bound and best run differ",)
        return ("next: another --seed, to see whether the order of the policies stays",)

    def figures(self) -> dict[str, Draw]:
        """Return policies as bars from the bound on."""
        from olprouting.plots.hindsight import plot_totals

        runs, found = frame_of(ImbalanceRatio, self.runs), self.found
        if not self.runs:
            return {}
        return {"policies": lambda: plot_totals(runs, found.bound_tokens, found.total_tokens)}

    def captions(self) -> dict[str, str]:
        """Return what the figure shows."""
        return {"policies": "Total imbalance of each policy; the least lies in the grey band."}

    def _times(self, run: ImbalanceRatio) -> str:
        """Return between which limits a run is a multiple of the least total."""
        best = self.found.total_tokens
        if run.ratio is None or not best:
            return "an unknown number of"
        low = max(run.total_tokens / best, 1.0)
        return (
            f"{run.ratio:.3f}"
            if best == self.found.bound_tokens
            else f"{low:.3f} to {run.ratio:.3f}"
        )
