"""Does pricing pay? Bid prices against plain policies at equal limits, and one cause at a time.

Every case is compared with round robin on the same requests, by the same reward and up to the same
period T. Intervals are Student's t over seeds, paired where differences are shown.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
import typer
from priced_workers import PricedWorkers

import olprouting as olp
from olprouting.intervals import t_interval
from olprouting.price_report import RunOutcome, requests_of, require_equal_limits
from olprouting.prices import ClippedRewardsWarning
from olprouting.traces import poisson_by_period

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METRICS = (
    "reward",
    "ttft_mean",
    "ttft_p99",
    "end_to_end_mean",
    "end_to_end_p99",
    "satisfaction",
    "unfinished",
    "never_admitted",
    "preemptions",
)
DRAWN = ("reward", "ttft_mean", "ttft_p99", "end_to_end_mean", "end_to_end_p99", "satisfaction")
BASELINE = "round-robin"
UNPRICED = "bid-price, p=0"
LEVEL = 0.95


@dataclass(frozen=True)
class Setting(PricedWorkers):
    """What all cases have in common.

    Parameters
    ----------
    requests, periods
        Requests per seed, and T.
    rate
        Poisson arrivals per period.
    exact_every
        Exact prices are renewed every so many periods.
    """

    kv_tokens: int = 20_000
    requests: int = 120
    periods: int = 600
    rate: float = 0.4
    exact_every: int = 20


@dataclass(frozen=True)
class Case:
    """One row: a policy, and what is changed against the common setting.

    Parameters
    ----------
    name, policy
        What the row is called, and its policy.
    period, learning
        Changes of `PeriodOptions` and `BidPriceOptions`.
    noise
        None keeps the setting's.
    load
        Factor of the setting's rate, and of its requests, so that arrivals take as long.
    """

    name: str
    policy: str
    period: dict[str, Any] = field(default_factory=dict)
    learning: dict[str, Any] = field(default_factory=dict)
    noise: float | None = None
    load: float = 1.0

    @property
    def condition(self) -> tuple[Any, ...]:
        """What the baseline must share: the arrivals, and how starts are rewarded."""
        return self.load, self.period.get("last_period", "fixed")


CASES = (
    Case(BASELINE, BASELINE),
    *(Case(name, name) for name in ("jsq", "random", "power-of-two")),
    Case(UNPRICED, "bid-price", learning={"steps": 0}),
    Case("bid-price, K=5", "bid-price"),
    Case("bid-price-exact", "bid-price-exact"),
    Case("lp-rounding", "lp-rounding"),
    Case("period-integer", "period-integer"),
    Case("K=5, perfect lengths", "bid-price", noise=0.0),
    Case("K=5, receding T", "bid-price", period={"last_period": "receding"}),
    Case("K=5, clipped at 1", "bid-price", learning={"reward_normalizer": 1.0, "clip": True}),
    Case("K=5, open-loop", "bid-price", period={"residuals": "open-loop"}),
    Case("p=0, load x 0.4", "bid-price", learning={"steps": 0}, load=0.4),
    Case("K=5, load x 0.4", "bid-price", load=0.4),
    Case("p=0, load x 0.7", "bid-price", learning={"steps": 0}, load=0.7),
    Case("K=5, load x 0.7", "bid-price", load=0.7),
)


def run_case(case: Case, setting: Setting, seed: int) -> tuple[olp.SimulationResult, RunOutcome]:
    """Run one case on the requests of one seed.

    Parameters
    ----------
    case
        The case.
    setting
        What all cases share.
    seed
        Draws requests, arrivals, forecasts and ties.

    Returns
    -------
    tuple
        The run and its summary.
    """
    options = olp.PolicyOptions(
        solver="highs",
        period=replace(olp.PeriodOptions(periods=setting.periods), **case.period),
        bid_price=replace(olp.BidPriceOptions(exact_every=setting.exact_every), **case.learning),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClippedRewardsWarning)  # clipping is one of the cases
        run = olp.simulate(
            workload(setting, case.load, seed),
            setting.cluster,
            olp.make_policy(case.policy, setting.workers, options),
            forecast=olp.NoisyOracle(setting.noise if case.noise is None else case.noise),
            seed=seed,
            periods=setting.periods,
        )
    requests = requests_of(run, options.period, "decode")
    return run, RunOutcome.of(run, requests, options.period.t2, [], [])


def workload(setting: Setting, load: float, seed: int) -> olp.Trace:
    """Return the requests of one seed: drawn from a profile, or at random rows of a trace."""
    rng = np.random.default_rng([seed, 1])
    trace = setting.requests_of(
        seed, setting.requests, lambda most: np.sort(rng.permutation(most)[: setting.requests])
    )
    trace = trace.head(round(len(trace) * load))
    return poisson_by_period(trace, setting.rate * load, np.random.default_rng([seed, 2]))


def run_seed(setting: Setting, seed: int, cases: tuple[Case, ...] = CASES) -> pd.DataFrame:
    """Run all cases on the requests of one seed.

    Returns
    -------
    DataFrame
        A row per case: ``case``, ``seed``, the metrics, and ``difference_*`` to round robin.
    """
    baselines: dict[tuple[Any, ...], RunOutcome] = {}
    runs, rows = [], []
    for case in cases:
        run, outcome = run_case(case, setting, seed)
        runs.append(run)
        require_equal_limits(runs)
        if case.condition not in baselines:
            same = replace(case, policy=BASELINE, period={"last_period": case.condition[1]})
            baselines[case.condition] = run_case(same, setting, seed)[1]
        row: dict[str, Any] = {"case": case.name, "seed": seed, "policy": run.policy}
        row |= {"slots": int(run.cluster.slots.sum()), "kv_tokens": _total(run.cluster.kv_tokens)}
        for metric in METRICS:
            row[metric] = _value(outcome, metric)
            base = _value(baselines[case.condition], metric)
            row[f"difference_{metric}"] = row[metric] - base
        rows.append(row)
    return pd.DataFrame(rows)


def _total(limits: np.ndarray | None) -> int:
    return 0 if limits is None else int(limits.sum())


def _value(outcome: RunOutcome, metric: str) -> float:
    value = getattr(outcome, metric)
    return float("nan") if value is None else float(value)


def summarise(runs: pd.DataFrame) -> pd.DataFrame:
    """Return means and t intervals over seeds.

    Returns
    -------
    DataFrame
        A row per case and metric: ``seeds``, ``mean``, ``low``, ``high``, and the same of the
        paired difference to round robin.
    """
    rows = []
    for case, group in runs.groupby("case", sort=False):
        for metric in METRICS:
            mean, low, high = t_interval(group[metric].to_numpy(), LEVEL)
            shift, least, most = t_interval(group[f"difference_{metric}"].to_numpy(), LEVEL)
            rows.append(
                {
                    "case": case,
                    "metric": metric,
                    "seeds": len(group),
                    "mean": mean,
                    "low": low,
                    "high": high,
                    "difference": shift,
                    "difference_low": least,
                    "difference_high": most,
                }
            )
    return pd.DataFrame(rows)


def compare(runs: pd.DataFrame, case: str) -> pd.DataFrame:
    """Return paired differences to a given case, of the cases at the same load and reward.

    Returns
    -------
    DataFrame
        As `summarise`, with the difference to `case` in place of that to round robin.
    """
    alike = [c.name for c in CASES if c.condition == Case("", "").condition]
    rows = runs[runs.case.isin(alike)].copy()
    base = runs[runs.case == case].set_index("seed")
    for metric in METRICS:
        rows[f"difference_{metric}"] = rows[metric] - rows.seed.map(base[metric])
    return summarise(rows)


def to_markdown(runs: pd.DataFrame) -> str:
    """Return tables of means and of differences, with half widths of the intervals."""
    parts = []
    plain, differ = ("mean", "low"), ("difference", "difference_low")
    for title, summary, (mean, low) in (
        ("Means", summarise(runs), plain),
        ("Paired differences to round robin", summarise(runs), differ),
        (f"Paired differences to {UNPRICED}", compare(runs, UNPRICED), differ),
    ):
        head = ["case", *METRICS]
        lines = [f"{title} over {int(summary.seeds.min())} seeds, ± half of the 95% t interval", ""]
        lines += [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
        for case, group in summary.groupby("case", sort=False):
            cells = [_cell(row[mean], row[mean] - row[low]) for _, row in group.iterrows()]
            lines.append(f"| {case} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _cell(mean: float, half: float) -> str:
    digits = 3 if abs(mean) < 1 and half < 1 else 1
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


def draw(summary: pd.DataFrame) -> Figure:
    """Draw the differences to round robin with their intervals, one panel per metric."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 9), layout="constrained")
    axes = figure.subplots(2, 3, sharey=True)
    for ax, metric in zip(axes.flat, DRAWN, strict=True):
        rows = summary[(summary.metric == metric) & (summary.case != BASELINE)]
        half = rows.difference_high - rows.difference
        ax.errorbar(rows.difference, rows.case, xerr=half, fmt="o", markersize=4, capsize=3)
        ax.axvline(0, color="0.6", linewidth=1)
        ax.set_title(metric.replace("_", " "))
    axes[0, 0].invert_yaxis()  # the panels share it
    figure.suptitle("Difference to round robin, 95% t intervals over seeds (latencies in periods)")
    return figure


def write(runs: pd.DataFrame, out: Path) -> None:
    """Write runs, summary, tables and figure to a folder."""
    out.mkdir(parents=True, exist_ok=True)
    summary = summarise(runs)
    runs.to_csv(out / "does_pricing_pay_runs.csv", index=False, float_format="%.6g")
    summary.to_csv(out / "does_pricing_pay.csv", index=False, float_format="%.6g")
    (out / "does_pricing_pay.md").write_text(to_markdown(runs), encoding="utf-8")
    draw(summary).savefig(out / "does_pricing_pay.png", dpi=80)


def main(
    trace: Annotated[str, typer.Option(help="A profile, a public trace, or a file.")] = (
        Setting.trace
    ),
    full: Annotated[bool, typer.Option(help="10 seeds of 250 requests, T=1200.")] = False,
    seeds: Annotated[int | None, typer.Option(min=2, help="How many seeds.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for tables and figure.")] = Path("results"),
) -> None:
    """Run every case over seeds; files are renewed after each seed from the second on."""
    setting = Setting(trace=trace)
    if full:
        setting = replace(setting, requests=250, periods=1200)
    frames: list[pd.DataFrame] = []
    for seed in range(seeds or (10 if full else 3)):
        frames.append(run_seed(setting, seed))
        typer.echo(f"seed {seed} done", err=True)
        if len(frames) > 1:
            write(pd.concat(frames, ignore_index=True), out)
    typer.echo((out / "does_pricing_pay.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    typer.run(main)
