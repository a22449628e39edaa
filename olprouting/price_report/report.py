"""What bid prices achieve on a trace, and how good they are: summed up and written down."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.instances import relative_gap
from olprouting.instances.period_result import PROOF_RELATIVE
from olprouting.price_report.bounds import BoundProof, bound_proofs
from olprouting.price_report.findings import advice, price_findings, price_warnings
from olprouting.price_report.judge import WAYS, PeriodRecord
from olprouting.price_report.pairs import CONTROL, reward_difference
from olprouting.price_report.run_outcome import RunOutcome
from olprouting.price_report.tables import price_tables
from olprouting.report import Report, Table, frame_of
from olprouting.report.figures import figure_of

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from olprouting.intervals import Interval
    from olprouting.report.charts import Chart
    from olprouting.report.figures import Draw

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class StartsQuality:
    """How much of a period's possible reward one way of choosing starts collects.

    Attributes
    ----------
    way
        ``"subgradient"`` or ``"exact"`` prices, ``"rounding"`` the LP, the ``"integer"`` optimum.
    periods
        How many periods were judged.
    reward_mean
        Mean reward of a period's starts.
    gap
        (sum of LP bounds - sum of rewards) / sum of rewards (maximisation); None without reward.
        Single periods may have no reward, so that their relative gaps have no useful mean.
    gap_max_reward
        Largest gap of a period to its LP bound, in reward.
    loss, loss_max_reward
        The same to the integer optimum (its bound where not proven); for that itself to its bound.
    share_optimal
        Share of periods whose starts are worth the proven integer optimum.
    """

    way: str
    periods: int
    reward_mean: float
    gap: float | None
    gap_max_reward: float
    loss: float | None
    loss_max_reward: float
    share_optimal: float

    @property
    def of_bound(self) -> float | None:
        """Sum of rewards over sum of LP bounds; None without reward."""
        return None if self.gap is None else 1 / (1 + self.gap)

    @property
    def of_integer(self) -> float | None:
        """Sum of rewards over sum of integer optima; None without reward."""
        return None if self.loss is None else 1 / (1 + self.loss)

    @classmethod
    def of(cls, way: str, records: tuple[PeriodRecord, ...]) -> StartsQuality:
        """Sum up the records (at least one) of one way."""
        rows = [(getattr(r, f"reward_{way}"), r.lp_bound, _best(r)) for r in records]
        known = np.array([row for row in rows if None not in row], np.float64).reshape(-1, 3)
        collected, bound, best = known.T
        return cls(
            way=way,
            periods=len(records),
            reward_mean=float(collected.mean()) if len(collected) else 0.0,
            gap=_relative(collected, bound),
            gap_max_reward=float((bound - collected).max(initial=0.0)),
            loss=_relative(collected, best),
            loss_max_reward=float((best - collected).max(initial=0.0)),
            share_optimal=float(np.mean([_is_best(record, way) for record in records])),
        )


def _best(record: PeriodRecord) -> float | None:
    """Return the integer optimum, or its bound where it is not proven."""
    return record.reward_integer if record.integer_proven else record.integer_bound


def _is_best(record: PeriodRecord, way: str) -> bool:
    reward: float | None = getattr(record, f"reward_{way}")
    best = record.reward_integer
    if reward is None or best is None or not record.integer_proven:
        return False
    return reward >= best - PROOF_RELATIVE * max(1.0, abs(best))


def _relative(collected: Floats, bound: Floats) -> float | None:
    total = float(collected.sum())
    limit = max(total, float(bound.sum()))
    return relative_gap(total, limit, maximise=True) if total > 0 else None


@dataclass(frozen=True)
class PriceQuality:
    """How far the run's prices are from the exact minimiser of the same dual, where that is proven.

    Attributes
    ----------
    share_proven
        Share of periods in which the exact prices are proven; the others are left out below.
    f_gap_mean, f_gap_max
        f(run's prices) - f(exact prices) over the whole history.
    f_relative_gap_mean, f_relative_gap_max
        The same over f(exact prices).
    distance_ratio
        How far the run's prices are from the nearest optimal ones, as a multiple of how far prices
        0 are, summed over the proven periods; None where prices 0 are optimal.
    slot_price, slot_price_low, slot_price_high, token_price, token_price_low, token_price_high
        What a slot, and a KV token, cost for a period, in reward: means over the proven periods
        (all where none is) of the fields of `PeriodRecord`. None where nothing is proven.
    share_tied
        Share of periods in which exact prices leave a tie (`PeriodRecord.tied`).
    share_contested
        Share of periods in which not all requests that fit can start: there one is chosen before
        another.
    share_same_requests, share_same_pairs
        Share of the periods without a tie in which both admit the same requests, and on the same
        workers.
    exact_p50_s, exact_p99_s
        Seconds of an exact solve.
    """

    share_proven: float
    f_gap_mean: float | None
    f_gap_max: float | None
    f_relative_gap_mean: float | None
    f_relative_gap_max: float | None
    distance_ratio: float | None
    slot_price: float
    slot_price_low: float | None
    slot_price_high: float | None
    token_price: float
    token_price_low: float | None
    token_price_high: float | None
    share_tied: float | None
    share_contested: float | None
    share_same_requests: float | None
    share_same_pairs: float | None
    exact_p50_s: float
    exact_p99_s: float

    @classmethod
    def of(cls, records: tuple[PeriodRecord, ...]) -> PriceQuality:
        """Sum up records (at least one)."""
        exact_s = _numbers(records, "exact_s")
        untied = tuple(record for record in records if record.tied is False)
        proven = tuple(record for record in records if record.exact_converged) or records
        prices = {
            f"{resource}_price{end}": _mean(proven, f"{resource}_price{end}")
            for resource in ("slot", "token")
            for end in ("", "_low", "_high")
        }
        return cls(
            share_proven=float(np.mean([record.exact_converged for record in records])),
            f_gap_mean=_mean(records, "f_gap"),
            f_gap_max=_largest(records, "f_gap"),
            f_relative_gap_mean=_mean(records, "f_relative_gap"),
            f_relative_gap_max=_largest(records, "f_relative_gap"),
            distance_ratio=_distance_ratio(records),
            share_tied=_mean(records, "tied"),
            share_contested=_mean(records, "contested"),
            share_same_requests=_mean(untied, "same_requests"),
            share_same_pairs=_mean(untied, "same_pairs"),
            exact_p50_s=float(np.quantile(exact_s, 0.5)),
            exact_p99_s=float(np.quantile(exact_s, 0.99)),
            **prices,  # type: ignore[arg-type]  # the run's are always known
        )


def _distance_ratio(records: tuple[PeriodRecord, ...]) -> float | None:
    pairs = [(record.distance, record.distance_of_0) for record in records]
    known = [(run, nothing) for run, nothing in pairs if run is not None and nothing is not None]
    total = sum(nothing for _, nothing in known)
    return sum(run for run, _ in known) / total if total > 0 else None


def _numbers(records: tuple[PeriodRecord, ...], name: str) -> Floats:
    values = [getattr(record, name) for record in records]
    return np.array([value for value in values if value is not None], dtype=np.float64)


def _mean(records: tuple[PeriodRecord, ...], name: str) -> float | None:
    values = _numbers(records, name)
    return float(values.mean()) if len(values) else None


def _largest(records: tuple[PeriodRecord, ...], name: str) -> float | None:
    values = _numbers(records, name)
    return float(values.max()) if len(values) else None


@dataclass(frozen=True, kw_only=True, eq=False)
class PriceReport(Report):
    """Bid prices on one trace: against other policies, and against exact answers.

    Attributes
    ----------
    runs
        One outcome per policy, all at equal limits.
    requests
        What became of each request of each run: ``policy``, ``request``, its sizes, and the columns
        of `requests_of`.
    records
        One entry per judged period of the bid-price run.
    prices
        Prices of the judged period in which the run's were highest: kind (``"learned"``, and the
        ``"nearest optimal"`` ones), worker, period, batch, memory.
    strip
        Free capacity of that period, and its prices (`price_strip`).
    convergence
        f after so many steps on that period's dual: step, f, f_exact.
    notices
        What runs warned of, one sentence each.
    settings, interrupted, failures
        See `Report`; a policy that failed in the middle of its run is a failure.
    """

    stem = "prices"
    schema = "olprouting/prices/1"
    title = "Bid prices"

    runs: tuple[RunOutcome, ...]
    requests: pd.DataFrame
    records: tuple[PeriodRecord, ...]
    prices: pd.DataFrame
    strip: pd.DataFrame
    convergence: pd.DataFrame
    notices: tuple[str, ...]

    @property
    def quality(self) -> PriceQuality | None:
        """Quality of the prices; None if no period was judged."""
        return PriceQuality.of(self.records) if self.records else None

    @property
    def starts(self) -> tuple[StartsQuality, ...]:
        """Quality of the starts per way of choosing them; empty if no period was judged."""
        if not self.records:
            return ()
        return tuple(StartsQuality.of(way, self.records) for way in WAYS)

    @property
    def bounds(self) -> tuple[BoundProof, ...]:
        """How the bounds were proven; empty if no period was judged."""
        return bound_proofs(self.records) if self.records else ()

    def heading(self) -> str:
        """Return in a line what was asked."""
        asked = self.settings
        return (
            f"{asked['trace']}: {asked['requests']} requests on {len(asked['slots'])} workers "
            f"x {max(asked['slots'])} slots x {max(asked['kv_tokens']):,} KV tokens, "
            f"{asked['forecast']}, T={asked['period']['periods']} "
            f"({asked['period']['last_period']}), every policy at these limits"
        )

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return one row per policy, request, judged period, price, stretch of a strip and step."""
        return {
            "runs": frame_of(RunOutcome, self.runs),
            "requests": self.requests,
            "periods": self.records_frame(),
            "prices": self.prices,
            "price_strip": self.strip,
            "convergence": self.convergence,
        }

    def records_frame(self) -> pd.DataFrame:
        """Return one row per judged period."""
        return frame_of(PeriodRecord, self.records)

    def results(self) -> dict[str, Any]:
        """Return runs, and the quality of prices and starts, as plain JSON types."""
        quality = self.quality
        return {
            "notices": list(self.notices),
            "runs": [asdict(run) for run in self.runs],
            "prices": None if quality is None else asdict(quality),
            "starts": [asdict(entry) for entry in self.starts],
            "bounds": [asdict(entry) for entry in self.bounds],
        }

    def more_than_control(self, policy: str) -> Interval:
        """Return how much more reward a policy collects than with prices 0 (`CONTROL`)."""
        return reward_difference(self.requests, policy, CONTROL)

    def summary(self) -> str:
        """Return one aligned line per policy, and what was found."""
        columns = ["policy", "reward", "finished", "unfinished", "satisfaction"]
        lines = str(self.to_frame()[columns].to_string(index=False))
        return "\n".join([lines, *self.findings()])

    def tables(self) -> tuple[Table, ...]:
        """Return what policies achieve, and as details rates, latencies, waits, starts, prices."""
        return price_tables(self)

    def findings(self) -> tuple[str, ...]:
        """Return whether prices help, whether reordering does, and how good periods are."""
        return price_findings(self)

    def notes(self) -> tuple[str, ...]:
        """Return what became of the trace, and what to run next."""
        return (*self.settings["notices"], *advice(self))

    def warnings(self) -> tuple[str, ...]:
        """Return what runs warned of, who was never admitted or came late, what says nothing."""
        return (*self.notices, *price_warnings(self))

    def charts(self) -> dict[str, Chart]:
        """Return the function that makes the chart of who waits, where times are in periods."""
        from olprouting.plots.waits import waits_chart

        if not len(self.requests) or self.requests["ttft_periods"].isna().all():
            return {}
        return {"waits": lambda: waits_chart(self.requests)}

    def captions(self) -> dict[str, str]:
        """Return what figures and chart show."""
        rewards = {
            "waits": "Each point is a request: its size, and how long it waited for its first "
            "token (until the run ended, if it got none); a click on a policy hides or shows it.",
            "rewards": "What each policy collects beside bid-price with prices 0: where a bar "
            "crosses 0, the two cannot be told apart.",
        }
        if self.strip.empty:
            return rewards
        period = int(self.strip["first_period"].min())
        return rewards | {
            "price_strip": f"Period {period}, in which the learned prices were highest: capacity "
            "that is free on all workers, and below what a unit of it costs for a period. Band: "
            "from the least to the most at any optimal prices.",
            "prices": f"The same prices by worker, beside the optimal ones nearest to them; of "
            f"period {period}.",
            "convergence": "How f falls with the steps of Algorithm 2 from prices 0, on that "
            "period's history.",
        }

    def _differences(self) -> pd.DataFrame:
        """Return how each run differs from that with prices 0, in reward."""
        import pandas as pd

        names = [run.policy for run in self.runs if run.policy != CONTROL]
        rows = [self.more_than_control(name)._asdict() for name in names]
        return pd.DataFrame(rows).assign(policy=names)

    def plot(self) -> dict[str, Any]:
        """Draw the heat map of prices and the convergence plot; return figures by name."""
        return {name: draw() for name, draw in self.figures().items()}

    def figures(self) -> dict[str, Draw]:
        """Return the functions that draw rewards, prices and convergence."""
        from olprouting.plots.prices import (
            plot_convergence,
            plot_price_map,
            plot_price_strip,
            plot_reward_differences,
        )

        drawn: dict[str, Draw] = {}
        if len(self.runs) > 1:
            drawn["rewards"] = lambda: plot_reward_differences(self._differences(), CONTROL)
        if self.prices.empty:
            return drawn
        return drawn | {
            "price_strip": lambda: plot_price_strip(self.strip),
            "prices": lambda: plot_price_map(self.prices),
            "convergence": lambda: figure_of(lambda: plot_convergence(self.convergence)),
        }
