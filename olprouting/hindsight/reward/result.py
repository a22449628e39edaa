"""What hindsight found, with everything needed to check it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from olprouting.errors import InputError
from olprouting.hindsight.reward.certificate import PriceCertificate, exact_bound, rounded_prices
from olprouting.hindsight.reward.check import exact_value, require_feasible
from olprouting.hindsight.reward.problem import HindsightProblem
from olprouting.hindsight.schedule import Schedule
from olprouting.instances import StopReason
from olprouting.instances.documents import (
    aligned,
    fingerprint,
    load_document,
    naming,
    require_equal,
)
from olprouting.instances.result import relative_gap

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy.typing as npt
    import pandas as pd
    from matplotlib.axes import Axes

SCHEMA = "olprouting/hindsight/1"

PROVEN_BY = (
    "weak duality at the stored prices: weights rounded up to multiples of 2^{unit}, everything "
    "else summed in exact integers"
)


class Progress(NamedTuple):
    """How far both sides were, in floating point, after `wall_s` seconds."""

    wall_s: float
    bound: float
    value: float
    evaluations: int


@dataclass(frozen=True, eq=False)
class HindsightResult:
    """Bound and schedule of a trace in hindsight.

    Attributes
    ----------
    problem
        What was given.
    prices
        The prices that prove the bound.
    schedule
        The best schedule found, rechecked in every worker and period.
    bound
        No router can collect more: the exact bound, rounded up to a double.
    value
        Reward of the schedule: the exact one, rounded down.
    stop_reason
        ``optimal_within_gap`` (the gap asked for is reached), ``optimal`` (the gap is 0),
        ``time_limit``, ``interrupted``, or ``other_limit`` (neither side gained for long).
    name
        Of the trace.
    gap_option, limit_s, seed
        As given.
    evaluations
        How often the dual or a smoothing of it was evaluated.
    wall_s, proof_s
        Seconds in all, and of these to round the prices, prove the bound and recheck the schedule.
    history
        Bound and value over time, in floating point.
    """

    problem: HindsightProblem
    prices: PriceCertificate
    schedule: Schedule
    bound: float
    value: float
    stop_reason: StopReason
    name: str
    gap_option: float
    limit_s: float
    seed: int
    evaluations: int
    wall_s: float
    proof_s: float
    history: tuple[Progress, ...]

    @classmethod
    def certified(
        cls,
        problem: HindsightProblem,
        prices: npt.NDArray[np.float64],
        schedule: Schedule,
        *,
        stop_reason: StopReason,
        began: float,
        **fields: Any,
    ) -> Self:
        """Return the result of a search that began at `began`, after proving both sides."""
        proof = time.perf_counter()
        certificate = rounded_prices(problem, prices)
        bound = exact_bound(problem, certificate)
        require_feasible(problem, schedule)
        value = exact_value(problem, schedule)
        if value > bound:
            raise AssertionError(f"schedule {value} above bound {bound}")
        now = time.perf_counter()
        return cls(
            problem=problem,
            prices=certificate,
            schedule=schedule,
            bound=_up(bound),
            value=_down(value),
            stop_reason=StopReason.OPTIMAL if value == bound else stop_reason,
            wall_s=now - began,
            proof_s=now - proof,
            **fields,
        )

    @property
    def gap(self) -> float:
        """Return (bound - value) / value: by how much the schedule could be improved at most."""
        gap = relative_gap(self.value, self.bound, maximise=True)
        assert gap is not None
        return gap

    @property
    def proven_by(self) -> str:
        """How the bound was proven."""
        return PROVEN_BY.format(unit=self.prices.unit_log2)

    def summary(self) -> str:
        """Return the result as aligned lines."""
        return aligned(
            {
                "requests": f"{len(self.problem):,}, {self.schedule.admitted:,} admitted",
                "bound": f"{self.bound:,.6f}",
                "schedule": f"{self.value:,.6f}, every worker and period added up again",
                "gap": f"{self.gap:.4%}",
                "status": self.stop_reason,
                "wall_s": f"{self.wall_s:.2f} (proof {self.proof_s:.2f})",
                "evaluations": self.evaluations,
                "bound proven by": self.proven_by,
            }
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per request: sizes, arrival, worker and start period (-1: none)."""
        import pandas as pd

        problem = self.problem
        return pd.DataFrame(
            {
                "prompt_tokens": problem.prompt_tokens,
                "decode_tokens": problem.decode_tokens,
                "arrival_period": problem.arrival_period,
                "worker": self.schedule.worker,
                "start_period": self.schedule.start_period,
            }
        )

    def history_frame(self) -> pd.DataFrame:
        """Return bound, value and gap over time."""
        import pandas as pd

        frame = pd.DataFrame(self.history, columns=Progress._fields)
        frame["gap"] = (frame["bound"] - frame["value"]) / np.maximum(frame["value"], 1e-9)
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw bound and value over time."""
        from olprouting.plots.hindsight import plot_closing

        return plot_closing(self.history_frame(), ax=ax)

    def to_document(self) -> dict[str, Any]:
        """Return the result as plain JSON types; `from_text` checks it again."""
        from olprouting.versions import versions

        problem = self.problem.to_document()
        return {
            "schema": SCHEMA,
            "name": self.name,
            "problem_sha256": fingerprint(problem),
            "problem": problem,
            "prices": self.prices.to_document(),
            "worker": self.schedule.worker.tolist(),
            "start_period": self.schedule.start_period.tolist(),
            "bound": self.bound,
            "value": self.value,
            "gap": self.gap,
            "proven_by": self.proven_by,
            "stop_reason": str(self.stop_reason),
            "gap_option": self.gap_option,
            "limit_s": self.limit_s,
            "seed": self.seed,
            "evaluations": self.evaluations,
            "wall_s": self.wall_s,
            "proof_s": self.proof_s,
            "history": [list(row) for row in self.history],
            "versions": versions(),
        }

    @classmethod
    def from_text(cls, text: str, source: str = "document") -> Self:
        """Return the result in a JSON text, after proving its bound and schedule again.

        Raises
        ------
        InputError
            If the document is malformed, the problem is not the one whose SHA-256 it states, the
            schedule is not feasible, or bound or value are not what prices and schedule prove.
        """
        document = load_document(text, source, SCHEMA)
        with naming(source, SCHEMA):
            problem = HindsightProblem.from_document(document["problem"])
            require_equal(
                "problem_sha256", document["problem_sha256"], fingerprint(document["problem"])
            )
            prices = PriceCertificate(
                int(document["prices"]["unit_log2"]),
                _whole(document["prices"]["batch"]),
                _whole(document["prices"]["memory"]),
            )
            schedule = Schedule(_whole(document["worker"]), _whole(document["start_period"]))
            bound = exact_bound(problem, prices)
            require_feasible(problem, schedule)
            value = exact_value(problem, schedule)
            require_equal("bound", document["bound"], _up(bound))
            require_equal("value", document["value"], _down(value))
            return cls(
                problem=problem,
                prices=prices,
                schedule=schedule,
                bound=_up(bound),
                value=_down(value),
                stop_reason=StopReason(document["stop_reason"]),
                name=str(document["name"]),
                history=tuple(Progress(*row) for row in document["history"]),
                **{
                    field: document[field]
                    for field in (
                        "gap_option",
                        "limit_s",
                        "seed",
                        "evaluations",
                        "wall_s",
                        "proof_s",
                    )
                },
            )


def _up(exact: Fraction) -> float:
    """Return the smallest double >= `exact`."""
    near = float(exact)
    return near if near >= exact else math.nextafter(near, math.inf)


def _down(exact: Fraction) -> float:
    near = float(exact)
    return near if near <= exact else math.nextafter(near, -math.inf)


def _whole(values: Any) -> npt.NDArray[np.int64]:
    array = np.asarray(values)
    if array.size and array.dtype.kind != "i":
        raise InputError("prices and starts must be whole numbers below 2^63")
    return array.astype(np.int64)
