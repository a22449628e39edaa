"""The least total imbalance in hindsight, with everything needed to check it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from olprouting.errors import InputError
from olprouting.hindsight.imbalance.run import (
    FORCED,
    imbalance_bound,
    longest_run,
    run_fault,
    total_imbalance,
)
from olprouting.hindsight.schedule import Schedule
from olprouting.instances import Cluster, StopReason, Trace
from olprouting.instances.documents import (
    aligned,
    fingerprint,
    load_document,
    naming,
    refuse_wrong_fields,
    require_equal,
)
from olprouting.instances.result import relative_gap

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "olprouting/hindsight-imbalance/1"

_PROBLEM = ("prompt_tokens", "decode_tokens", "release_iteration")


@dataclass(frozen=True, eq=False)
class ImbalanceResult:
    """Least total imbalance in hindsight.

    Attributes
    ----------
    trace, cluster
        What was given.
    bound_tokens
        No maximal policy has a smaller total over the run.
    proven_by
        How that was proven.
    total_tokens
        Total of the best run found, recomputed in integers; None if none was found.
    schedule
        That run: worker and iteration of each admission; None likewise.
    stop_reason
        Why the search stopped.
    limit_s
        Its time limit, seconds.
    wall_s
        Seconds in all.
    """

    trace: Trace
    cluster: Cluster
    bound_tokens: int
    proven_by: str
    total_tokens: int | None
    schedule: Schedule | None
    stop_reason: StopReason
    limit_s: float
    wall_s: float

    @property
    def gap(self) -> float | None:
        """Return (total - bound) / total."""
        return relative_gap(self.total_tokens, self.bound_tokens)

    def summary(self) -> str:
        """Return the result as aligned lines."""
        return aligned(
            {
                "bound_tokens": self.bound_tokens,
                "total_tokens": self.total_tokens,
                "gap": self.gap,
                "status": self.stop_reason,
                "wall_s": f"{self.wall_s:.2f}",
                "bound proven by": self.proven_by,
            }
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per request: sizes, release, worker and admission (-1: no run found)."""
        import pandas as pd

        none = np.full(len(self.trace), -1)
        run = self.schedule or Schedule(none, none)
        return pd.DataFrame(
            {
                **{name: getattr(self.trace, name) for name in _PROBLEM},
                "worker": run.worker,
                "admission_iteration": run.start_period,
            }
        )

    def to_document(self) -> dict[str, Any]:
        """Return the result as plain JSON types; `from_text` checks it again."""
        from olprouting.versions import versions

        problem = {name: getattr(self.trace, name).tolist() for name in _PROBLEM}
        problem["slots"] = self.cluster.slots.tolist()
        run = self.schedule
        return {
            "schema": SCHEMA,
            "name": self.trace.name,
            "problem_sha256": fingerprint(problem),
            "problem": problem,
            "worker": None if run is None else run.worker.tolist(),
            "admission_iteration": None if run is None else run.start_period.tolist(),
            "total_tokens": self.total_tokens,
            "bound_tokens": self.bound_tokens,
            "gap": self.gap,
            "proven_by": self.proven_by,
            "stop_reason": str(self.stop_reason),
            "limit_s": self.limit_s,
            "wall_s": self.wall_s,
            "versions": versions(),
        }

    @classmethod
    def from_text(cls, text: str, source: str = "document") -> Self:
        """Return the result in a JSON text, after checking run and total again.

        A bound of the search is taken as stated; `olprouting.certificates.verify` proves it where
        that is possible without the solver.

        Raises
        ------
        InputError
            If the document is malformed, the problem is not the one whose SHA-256 it states, no
            maximal policy makes the run, or a total or bound is not what run and problem prove.
        """
        document = load_document(text, source, SCHEMA)
        with naming(source, SCHEMA):
            problem = document["problem"]
            refuse_wrong_fields("problem", problem, {*_PROBLEM, "slots"})
            columns = {name: problem[name] for name in _PROBLEM}
            trace = Trace(**columns, name=str(document["name"]))
            cluster = Cluster(problem["slots"])
            require_equal("problem_sha256", document["problem_sha256"], fingerprint(problem))
            longest_run(trace, cluster)  # what is too large was never solved
            schedule = _schedule(document)
            total = None
            if schedule is not None:
                fault = run_fault(trace, cluster, schedule)
                if fault is not None:
                    raise InputError(f"schedule: {fault}")
                total = total_imbalance(trace, cluster, schedule)
            require_equal("total_tokens", document["total_tokens"], total)
            result = cls(
                trace=trace,
                cluster=cluster,
                total_tokens=total,
                schedule=schedule,
                stop_reason=StopReason(document["stop_reason"]),
                **{n: document[n] for n in ("bound_tokens", "proven_by", "limit_s", "wall_s")},
            )
            result._check_bound()
            return result

    def _check_bound(self) -> None:
        if self.proven_by == FORCED:
            proven = imbalance_bound(self.trace, self.cluster)
            require_equal("bound_tokens", self.bound_tokens, proven)
        if self.stop_reason is StopReason.OPTIMAL:
            require_equal("bound_tokens", self.bound_tokens, self.total_tokens)
        if self.total_tokens is not None and self.bound_tokens > self.total_tokens:
            raise InputError(
                f"bound_tokens = {self.bound_tokens} is above total_tokens = {self.total_tokens}"
            )


def _schedule(document: dict[str, Any]) -> Schedule | None:
    columns = document["worker"], document["admission_iteration"]
    if columns == (None, None):
        return None
    worker, start = (np.asarray(column) for column in columns)
    if any(column.dtype.kind != "i" for column in (worker, start) if column.size):
        raise InputError("worker and admission_iteration must be whole numbers, or both null")
    return Schedule(worker.astype(np.int64), start.astype(np.int64))
