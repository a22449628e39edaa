"""When does pricing pay? Classes of requests whose values differ, over share, ratio and load.

Requests are cheap (1 for each start, whenever) or urgent (the ratio of values, if the first token
comes in time). On the same requests run prices 0, learned prices on absolute positions (as
published) and on relative ones, and the clairvoyant prices of the hindsight bound; beside them
stand the best schedule found and the proven bound. Intervals are Student's t over seeds, paired.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
import typer
from joblib import Parallel, delayed

import olprouting as olp
from olprouting.files import write_text
from olprouting.hindsight import hindsight, hindsight_price
from olprouting.instances import SloClasses, SloWeights
from olprouting.intervals import t_interval
from olprouting.price_report.run_outcome import collected_reward
from olprouting.traces import poisson_by_period, resolve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from olprouting.policies import Policy

LEVEL = 0.95
CONTROL = "prices-0"
DENSITY = "reward-density"
LEARNED = {
    "learned, absolute": {"positions": "absolute"},
    "learned, relative": {"positions": "relative", "record": "request"},
}
"""Learned prices: as published, and those of so many periods ahead, from every request."""


@dataclass(frozen=True)
class Setting:
    """What all cells have in common.

    Parameters
    ----------
    workers, slots, kv_tokens
        The workers, all alike unless `uneven`: then the first has half of the slots and KV tokens
        of one, and the last what it lacks.
    periods, t2
        T, and within how many periods an urgent request wants its first token.
    per_period
        Requests per period at load 1: about what the KV tokens can serve.
    bound_s
        Seconds for the hindsight bound of a cell.
    """

    workers: int = 2
    slots: int = 12
    kv_tokens: int = 12_000
    periods: int = 600
    t2: int = 10
    per_period: float = 0.1
    bound_s: float = 3.0

    def cluster(self, *, uneven: bool) -> olp.Cluster:
        """Return the workers."""
        slots = np.full(self.workers, self.slots)
        kv_tokens = np.full(self.workers, self.kv_tokens)
        if uneven:
            for limits in (slots, kv_tokens):
                half = limits[0] // 2
                limits[0] -= half
                limits[-1] += half
        return olp.Cluster(slots, kv_tokens=kv_tokens)


@dataclass(frozen=True)
class Cell:
    """One point of the grid: share of urgent requests, value of one, load, kinds of workers."""

    share: float
    ratio: float
    load: float
    uneven: bool = False


SHARES, RATIOS, LOADS = (0.1, 0.3, 0.6), (1.0, 3.0, 10.0), (0.7, 1.0, 1.5)


def grid() -> list[Cell]:
    """Return all cells; two kinds of workers in the middle of the others."""
    even = [Cell(*point) for point in product(SHARES, RATIOS, LOADS)]
    return [*even, *(Cell(0.3, 10.0, load, uneven=True) for load in LOADS)]


def run_cell(setting: Setting, cell: Cell, seed: int) -> list[dict[str, Any]]:
    """Run every policy on the requests of one seed; return a row for each, bound and schedule."""
    rate = setting.per_period * cell.load
    requests = round(rate * setting.periods)
    trace = resolve("azure-2023-conv-like", requests=requests, seed=seed)
    trace = poisson_by_period(trace, rate, np.random.default_rng([seed, 2]))
    classes = SloClasses(
        ("urgent", "cheap"),
        (SloWeights(0, 0, 0, 0, 0, cell.ratio), SloWeights(0, 0, 0, 1, 0, 0)),
        (cell.share, 1 - cell.share),
    )
    trace = classes.assigned(trace, seed)
    cluster = setting.cluster(uneven=cell.uneven)
    period = olp.PeriodOptions(classes=classes, periods=setting.periods, t2=setting.t2)
    found = hindsight(
        trace,
        cluster,
        classes,
        periods=setting.periods,
        t2=setting.t2,
        time_limit_s=setting.bound_s,
        seed=seed,
    )
    policies: dict[str, Policy] = {
        name: _policy("bid-price", cluster, period, **changes) for name, changes in LEARNED.items()
    }
    for name in (CONTROL, DENSITY):
        policies[name] = _policy(name, cluster, period)
    for timed in (False, True):
        known = hindsight_price(found, olp.PolicyOptions(period=period), timed=timed)
        policies[known.name] = known
    rewards = {
        name: collected_reward(
            olp.simulate(trace, cluster, policy, periods=setting.periods, seed=seed),
            period,
            "decode",
        )
        for name, policy in policies.items()
    }
    rewards |= {"schedule": found.value, "bound": found.bound}
    point = {"share": cell.share, "ratio": cell.ratio, "load": cell.load, "uneven": cell.uneven}
    return [point | {"seed": seed, "policy": n, "reward": r} for n, r in rewards.items()]


def _policy(name: str, cluster: olp.Cluster, period: olp.PeriodOptions, **changes: Any) -> Policy:
    options = olp.PolicyOptions(period=period, bid_price=olp.BidPriceOptions(**changes))
    return olp.make_policy(name, cluster.workers, options)


POINT = ["share", "ratio", "load", "uneven"]


def summarise(runs: pd.DataFrame) -> pd.DataFrame:
    """Return, for each cell and policy, how much it collects beside prices 0.

    Returns
    -------
    DataFrame
        A row per cell and policy: ``seeds``, ``of_bound``, the mean reward over the mean bound;
        ``more``, ``low``, ``high``, the paired difference to prices 0 in % of the mean bound with
        its t interval; ``closed``, that difference over the distance of prices 0 to the bound.
    """
    rows = []
    for point, cell in runs.groupby(POINT):
        table = cell.pivot(index="seed", columns="policy", values="reward")
        bound = table["bound"].mean()
        distance = bound - table[CONTROL].mean()
        for policy in table.columns.drop("bound"):
            difference = (table[policy] - table[CONTROL]).to_numpy() / bound * 100
            more, low, high = t_interval(difference, LEVEL)
            closed = (table[policy].mean() - table[CONTROL].mean()) / distance
            rows.append(
                dict(zip(POINT, point, strict=True))
                | {"policy": policy, "seeds": len(table), "of_bound": table[policy].mean() / bound}
                | {"more": more, "low": low, "high": high}
                | {"closed": closed if distance > 0 else np.nan}
            )
    return pd.DataFrame(rows)


def draw(summary: pd.DataFrame, policy: str = "learned, relative") -> Figure:
    """Draw the region: a panel per load, share across, ratio upwards, what prices add in each."""
    from matplotlib.figure import Figure

    cells = summary[(summary.policy == policy) & ~summary.uneven]
    loads = sorted(cells.load.unique())
    figure = Figure(figsize=(3.2 * len(loads) + 1, 3.4), layout="constrained")
    axes = figure.subplots(1, len(loads), sharey=True, squeeze=False)[0]
    most = max(1.0, cells.more.abs().max())
    for ax, load in zip(axes, loads, strict=True):
        table = cells[cells.load == load]
        grid_of = table.pivot(index="ratio", columns="share", values="more")
        image = ax.imshow(grid_of, origin="lower", cmap="PuOr", vmin=-most, vmax=most)
        for row in table.itertuples():
            place = grid_of.columns.get_loc(row.share), grid_of.index.get_loc(row.ratio)
            sure = row.low > 0 or row.high < 0
            text = f"{row.more:+.1f}\n({row.low:+.1f} to {row.high:+.1f})"
            ax.text(*place, text, ha="center", va="center", size=7, weight="bold" if sure else None)
        ax.set_xticks(range(len(grid_of.columns)), [f"{share:.0%}" for share in grid_of.columns])
        ax.set_yticks(range(len(grid_of)), [f"{ratio:g}" for ratio in grid_of.index])
        ax.set_title(f"load {load:g}")
        ax.set_xlabel("share of urgent requests")
    axes[0].set_ylabel("value of an urgent request,\nin cheap ones")
    figure.colorbar(image, ax=axes, label="more than prices 0,\n% of the hindsight bound")
    figure.suptitle("Where learned prices (positions relative) pay; bold: beyond chance")
    return figure


def write(runs: pd.DataFrame, out: Path) -> None:
    """Write runs, summary and figure to a folder."""
    out.mkdir(parents=True, exist_ok=True)
    summary = summarise(runs)
    write_text(out / "when_pricing_pays_runs.csv", runs.to_csv(index=False, float_format="%.6g"))
    write_text(out / "when_pricing_pays.csv", summary.to_csv(index=False, float_format="%.6g"))
    draw(summary).savefig(out / "when_pricing_pays.png", dpi=90)


def main(
    seeds: Annotated[int, typer.Option(min=2, help="How many seeds.")] = 6,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for tables and figure.")] = Path("results"),
) -> None:
    """Run every cell over seeds; files are renewed after each seed from the second on."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rows: list[dict[str, Any]] = []
    for seed in range(seeds):
        found = Parallel(n_jobs=jobs)(delayed(run_cell)(Setting(), one, seed) for one in grid())
        rows += [row for cell in found for row in cell]
        typer.echo(f"seed {seed} done", err=True)
        if seed:
            write(pd.DataFrame(rows), out)


if __name__ == "__main__":
    typer.run(main)
