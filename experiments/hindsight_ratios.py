"""Certified ratios: how far from hindsight routing policies are, and how soon the bound is known.

For each reward the bound of any router on a trace and a schedule close to it are found, and every
policy runs on the same requests and workers. A policy's certified ratio is the reward of its starts
over the bound. Starts of requests that were preempted do not count: they used more than a start
of the bound's program does. Policies with ``reserve`` set aside the KV tokens of prompt and whole
output on admission, so that nothing is preempted and all counts.

BR-0 and BR-H are not here: they weigh loads, and know no KV limits.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path  # noqa: TC003  (typer reads it)
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
import typer

import olprouting as olp
from olprouting.cli.progress import progress_bar
from olprouting.errors import InputError
from olprouting.hindsight import certified_ratio, hindsight
from olprouting.instances import WEIGHT_SETS
from olprouting.plots.axes import axes_or_new, colour
from olprouting.policies.period_policy import PastLastPeriodWarning
from olprouting.price_report import collected_reward
from olprouting.traces import poisson_by_period, profile_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

    from olprouting.hindsight import HindsightResult
    from olprouting.progress import OnProgress

GAPS = (0.1, 0.05, 0.02, 0.01, 0.005)
"""Gaps of which the moment is told."""


@dataclass(frozen=True)
class Setting:
    """Workers, arrivals and the reward's thresholds; T is when arrivals end, on average.

    ``throughput-only`` pays for tokens and starts whenever they come, ``tail-only`` for deadlines
    met and nothing else: no two published sets have less in common. ``tail-latency`` pays a little
    for everything.
    """

    weights: tuple[str, ...] = ("throughput-only", "tail-only", "tail-latency")
    workers: int = 4
    slots: int = 16
    kv_tokens: int = 20_000
    rate: float = 0.4
    t1: float = 400
    t2: float = 49
    time_limit_s: float = 600.0
    gap: float = 0.01

    def periods(self, requests: int) -> int:
        """Return T."""
        return round(requests / self.rate)

    @property
    def cluster(self) -> olp.Cluster:
        """The workers."""
        return olp.Cluster.homogeneous(self.workers, self.slots, kv_tokens=self.kv_tokens)


REDUCED = Setting(
    weights=("throughput-only", "tail-only"),
    workers=2,
    slots=4,
    kv_tokens=9_000,
    rate=0.2,
    t1=100,
    t2=20,
    time_limit_s=2.0,
    gap=0.05,
)


@dataclass(frozen=True)
class Case:
    """A policy, and how KV tokens are set aside for those it starts."""

    name: str
    policy: str
    kv: str = "tokens"
    learning: dict[str, Any] = field(default_factory=dict)


CASES = (
    Case("round-robin", "round-robin"),
    Case("jsq", "jsq"),
    Case("power-of-two", "power-of-two"),
    Case("bid-price", "bid-price"),
    Case("bid-price, p=0", "bid-price", learning={"steps": 0}),
    Case("jsq, reserve", "jsq", "reserve"),
    Case("bid-price, reserve", "bid-price", "reserve"),
)


def workload(name: str, requests: int, rate: float, seed: int) -> olp.Trace:
    """Return the first requests of a trace, the seed drawing arrivals (and a profile's lengths)."""
    if name in profile_names():
        trace = olp.resolve(name, requests=requests, seed=seed)
    else:
        trace = olp.resolve(name, requests=requests)
    return poisson_by_period(trace, rate, np.random.default_rng([seed, 2]))


def hindsight_of(
    trace: olp.Trace, weights: str, setting: Setting, seed: int, advance: OnProgress
) -> HindsightResult:
    """Return bound and schedule of a trace under one set of weights."""
    return hindsight(
        trace,
        setting.cluster,
        WEIGHT_SETS[weights],
        periods=setting.periods(len(trace)),
        t1=setting.t1,
        t2=setting.t2,
        time_limit_s=setting.time_limit_s,
        gap=setting.gap,
        seed=seed,
        on_progress=advance,
    )


def run_case(
    trace: olp.Trace, case: Case, found: HindsightResult, setting: Setting, seed: int
) -> dict[str, object]:
    """Run one policy; return what it collected, and its certified ratio.

    Raises
    ------
    KeyboardInterrupt
        If the run was interrupted, for half a run has collected less.
    """
    problem = found.problem
    period = olp.PeriodOptions(
        weights=problem.weights, t1=problem.t1, t2=problem.t2, periods=problem.periods
    )
    learning = olp.BidPriceOptions(**case.learning)
    options = olp.PolicyOptions(period=period, bid_price=learning)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PastLastPeriodWarning)  # nothing past T is what is asked
        run = olp.simulate(
            trace,
            setting.cluster,
            olp.make_policy(case.policy, setting.workers, options),
            seed=seed,
            periods=problem.periods,
            kv=olp.KvOptions(mode=case.kv, oversize="reject"),
        )
    if run.interrupted:
        raise KeyboardInterrupt
    ratio = certified_ratio(run, found)
    return {
        "case": case.name,
        "ratio": ratio.ratio,
        "reward_counted": ratio.reward,
        "reward_of_all_starts": collected_reward(run, period, problem.batching),
        "admitted_counted": ratio.admitted,
        "preempted": ratio.preempted,
        "run_s": time.perf_counter() - began,
    }


def described(found: HindsightResult, weights: str, seed: int) -> dict[str, object]:
    """Return the columns that all policies of one bound share."""
    return {
        "weights": weights,
        "seed": seed,
        "requests": len(found.problem),
        "periods": found.problem.periods,
        "bound": found.bound,
        "schedule": found.value,
        "gap": found.gap,
        "schedule_admitted": found.schedule.admitted,
        "search_s": found.wall_s,
        "proof_s": found.proof_s,
    }


def runs(
    traces: list[olp.Trace], setting: Setting, advance: OnProgress
) -> Iterator[tuple[HindsightResult, list[dict[str, object]]]]:
    """Yield every bound with the rows of its policies; the trace's place in the list is its seed.

    Raises
    ------
    KeyboardInterrupt
        After the bound that Ctrl-C ended, which is yielded without rows.
    """
    for seed, trace in enumerate(traces):
        for weights in setting.weights:
            found = hindsight_of(trace, weights, setting, seed, advance)
            shared = described(found, weights, seed)
            if str(found.stop_reason) == "interrupted":
                yield found, [shared]
                raise KeyboardInterrupt
            rows = []
            for place, case in enumerate(CASES):
                advance(f"{case.name}, {weights}", place, len(CASES))
                rows.append(shared | run_case(trace, case, found, setting, seed))
            yield found, rows


def warm_up(setting: Setting) -> None:
    """Compile everything, so that no time limit pays for it."""
    trace = workload("azure-2023-conv-like", 2 * setting.workers, setting.rate, 0)
    hasty = replace(setting, time_limit_s=1.0, gap=0.0)
    found = hindsight_of(trace, setting.weights[0], hasty, 0, lambda *_: None)
    for case in CASES:
        run_case(trace, case, found, hasty, 0)


def history(found: HindsightResult, weights: str, seed: int) -> pd.DataFrame:
    """Return time, bound, value and gap, one row for each time that the gap fell."""
    frame = found.history_frame()
    frame = frame[frame["gap"].cummin().diff().fillna(-1.0) < 0]
    return frame.assign(weights=weights, seed=seed)


def passed(closing: pd.DataFrame) -> pd.DataFrame:
    """Return after how many seconds each gap of `GAPS` was passed; NaN where it never was."""
    rows = []
    for (weights, seed), group in closing.groupby(["weights", "seed"], sort=False):
        below = {gap: group.loc[group["gap"] <= gap, "wall_s"].min() for gap in GAPS}
        seconds = {f"below {gap:.2g}": moment for gap, moment in below.items()}
        last = {"last_gap": group["gap"].iloc[-1], "last_gain_s": group["wall_s"].iloc[-1]}
        rows.append({"weights": weights, "seed": seed} | seconds | last)
    return pd.DataFrame(rows)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return mean shares of the bound, a row per policy and a column per weights.

    The schedule's share comes first: what is between it and 100% is not known to be possible.
    """
    schedule = table.assign(case="schedule", ratio=table["schedule"] / table["bound"])
    rows = pd.concat([schedule, table]).dropna(subset="ratio")
    return rows.groupby(["case", "weights"], sort=False)["ratio"].mean().unstack(sort=False)


def plot_ratios(table: pd.DataFrame) -> Figure:
    """Draw bound, schedule and policies as bars, in percent of the bound; one panel per weights."""
    from matplotlib.figure import Figure

    sets = list(dict.fromkeys(table["weights"]))
    figure = Figure(figsize=(3.6 * len(sets) + 1.2, 3.6), layout="constrained")
    axes = figure.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    for ax, weights in zip(axes, sets, strict=True):
        rows = table[table["weights"] == weights]
        rows = rows.assign(
            closeness=rows["schedule"] / rows["bound"],
            everything=rows["reward_of_all_starts"] / rows["bound"],
        )
        mean = rows.groupby("case", sort=False)[["ratio", "everything", "closeness"]].mean()
        names = ["bound", "schedule", *mean.index]
        places = np.arange(len(names))
        counted = 100 * np.array([1.0, mean["closeness"].iloc[0], *mean["ratio"]])
        ax.barh(places[2:], 100 * mean["everything"], color=colour(5))
        ax.barh(places, counted, color=[colour(6), colour(2), *[colour(0)] * len(mean)])
        for place, share in zip(places, counted, strict=True):
            at, shade = (2.0, "white") if share > 15 else (share + 2, "black")
            ax.text(at, place, f"{share:.1f}", va="center", color=shade, fontsize="small")
        ax.set_yticks(places, names)
        ax.set(title=weights, xlabel="reward (% of the bound)", xlim=(0, 105))
    axes[0].invert_yaxis()  # the panels share it
    preempted = "pale: starts that were preempted, which the bound says nothing about"
    figure.suptitle(f"{int(table['requests'].iloc[0]):,} requests; {preempted}", fontsize="medium")
    return figure


def plot_gaps(closing: pd.DataFrame) -> Figure:
    """Draw how the gap between bound and schedule shrinks with time, per weights."""
    ax = axes_or_new(None)
    sets = list(dict.fromkeys(closing["weights"]))
    for (weights, _), group in closing.groupby(["weights", "seed"], sort=False):
        place = sets.index(str(weights))
        ax.plot(
            group["wall_s"],
            100 * group["gap"],
            drawstyle="steps-post",
            color=colour(place),
            label=weights if group["seed"].iloc[0] == 0 else None,
        )
    ax.set(xscale="log", yscale="log", xlabel="time (s)", ylabel="gap (% of the schedule)")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
    ax.set_title("Bound and schedule close in")
    ax.axhline(1, color="0.6", linewidth=1)
    ax.legend(fontsize="small")
    figure: Figure = ax.figure
    figure.set_size_inches(6.4, 3.6)
    return figure


def write(table: pd.DataFrame, closing: pd.DataFrame, out: Path) -> None:
    """Write what is there so far."""
    out.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {"index": False, "float_format": "%.8g", "lineterminator": "\n"}
    stem = f"hindsight_ratios_{table['requests'].iloc[0]}"
    table.to_csv(out / f"{stem}.csv", **options)
    passed(closing).to_csv(out / f"{stem}_gaps.csv", **options)
    plot_gaps(closing).savefig(out / f"{stem}_gaps.png", dpi=90)
    if "ratio" in table:
        plot_ratios(table.dropna(subset="ratio")).savefig(out / f"{stem}.png", dpi=90)


def main(
    trace: Annotated[str, typer.Option(help="A file or a name.")] = "azure-2023-conv-like",
    requests: Annotated[int, typer.Option(min=1, help="First requests of the trace.")] = 1000,
    seeds: Annotated[int, typer.Option(min=1, help="How many draws of arrivals.")] = 1,
    time_limit: Annotated[float, typer.Option(min=0.0, help="Seconds per bound.")] = 600.0,
    gap: Annotated[float, typer.Option(min=0.0, help="Stop at this gap.")] = Setting.gap,
    out: Annotated[Path | None, typer.Option(help="Folder for tables and figures.")] = None,
    reduced: Annotated[bool, typer.Option("--reduced", help="Tiny, in seconds.")] = False,
) -> None:
    """Bound the reward and run the policies; what is done is kept, after Ctrl-C too."""
    setting = REDUCED if reduced else replace(Setting(), time_limit_s=time_limit, gap=gap)
    requests = 40 if reduced else requests
    rows: list[dict[str, object]] = []
    closing: list[pd.DataFrame] = []
    try:
        traces = [workload(trace, requests, setting.rate, seed) for seed in range(seeds)]
        warm_up(setting)
        with progress_bar() as advance:
            for found, of_policies in runs(traces, setting, advance):
                weights, seed = str(of_policies[0]["weights"]), int(str(of_policies[0]["seed"]))
                rows += of_policies
                closing.append(history(found, weights, seed))
                typer.echo(f"{weights}, seed {seed}: {found.wall_s:.1f} s", err=True)
                if out is not None:
                    write(pd.DataFrame(rows), pd.concat(closing), out)
    except InputError as error:
        typer.echo(error, err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finally:
        if rows:
            typer.echo(summary(pd.DataFrame(rows)).to_string(float_format="{:.2%}".format))
            typer.echo(passed(pd.concat(closing)).to_string(index=False, float_format="%.3g"))


if __name__ == "__main__":
    typer.run(main)
