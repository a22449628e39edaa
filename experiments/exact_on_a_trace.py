"""What proven optima teach about a trace: routing policies beside the exact policy, in the loop.

Each policy replays the same requests (all known in order, a backlog kept visible, all lengths
known). The exact policy solves every decision; those it cannot prove within the limit are counted.
Then all policies answer the same states, those of BR-0's run, and each answer is valued by the
myopic program and by the one with lookahead: what a policy is worth by either objective, without
runs that drift apart.

A run of N requests ends with iterations in which nothing is left to admit and loads drain as they
may. They are up to half of a short run, so means are told for them and for the others apart.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path  # noqa: TC003  (typer reads it)
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd
import typer

import olprouting as olp
from olprouting.cli.progress import progress_bar
from olprouting.errors import InputError
from olprouting.exact import objective
from olprouting.gaps import sample_run
from olprouting.plots.axes import axes_or_new, labelled
from olprouting.policies import ExactPolicy, decision_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.figure import Figure

    from olprouting.engine import DecisionEvent
    from olprouting.policies import Policy
    from olprouting.progress import OnProgress

JSQ, MYOPIC = "JSQ", "exact IO_0"
DISCOUNT = 0.86


@dataclass(frozen=True)
class Setting:
    """Sizes of the experiment; `time_limit_s` is per decision, `sample` counts shared states."""

    workers: tuple[int, ...] = (4, 8, 16)
    slots: int = 72
    backlog: int = 32
    horizon: int = 80
    time_limit_s: float = 1.0
    seeds: int = 8
    sample: int = 50


REDUCED = Setting(workers=(2, 3), slots=6, backlog=6, horizon=6, seeds=2, sample=10)


@dataclass(frozen=True)
class Case:
    """A policy and what it looks at; beta is None where the policy has none, or the paper's."""

    name: str
    policy_name: str
    gamma: float | None = None
    beta_is_workers: bool = False

    def policy(self, workers: int, setting: Setting) -> Policy:
        """Return the policy for a number of workers."""
        options = olp.PolicyOptions(
            horizon=0 if self.gamma is None else setting.horizon,
            gamma=self.gamma or 1.0,
            time_limit_s=setting.time_limit_s,
        )
        if self.beta_is_workers:
            options = replace(options, beta=float(workers))
        return olp.make_policy(self.policy_name, workers, options)


CASES = (
    Case(JSQ, "jsq"),
    Case("LeastLoad", "least-load"),
    Case("BR-0", "br0"),
    Case("BR-H", "brh", DISCOUNT),
    Case("BR-H, beta=G", "brh", DISCOUNT, beta_is_workers=True),
    Case(MYOPIC, "exact"),
    Case("exact IO_H, gamma=0.5", "exact", 0.5),
    Case("exact IO_H, gamma=0.86", "exact", DISCOUNT),
    Case("exact IO_H, gamma=1", "exact", 1.0),
)


def run_case(trace: olp.Trace, workers: int, case: Case, setting: Setting) -> dict[str, object]:
    """Run one policy; return mean imbalance, mean visible prompt, proofs and seconds.

    Policies without solver are run with several seeds of their ties, the exact policy with one.

    Raises
    ------
    KeyboardInterrupt
        If a run was interrupted, for half a run has another mean.
    """
    cluster = olp.Cluster.homogeneous(workers, setting.slots)
    exact = case.policy_name == "exact"
    seeds = 1 if exact else setting.seeds
    means, started_s = [], time.perf_counter()
    waiting: list[float] = []

    def watch(event: DecisionEvent) -> None:
        waiting.append(float(event.view.waiting_prompt_tokens.mean()))

    def run(
        seed: int, on_decision: Callable[[DecisionEvent], None] | None
    ) -> tuple[Policy, tuple[float, float, float]]:
        policy = case.policy(workers, setting)
        result = olp.simulate(
            trace,
            cluster,
            policy,
            backlog=setting.backlog,
            seed=seed,
            series_every=1,
            on_decision=on_decision,
        )
        if result.interrupted:
            raise KeyboardInterrupt
        return policy, mean_imbalance(result)

    for seed in range(seeds):
        policy, mean = run(seed, watch if exact else None)
        means.append(mean)
    wall_s = (time.perf_counter() - started_s) / seeds
    if not exact:  # who watches a compiled policy slows it down
        run(0, watch)
    average, deviation = np.mean(means, axis=0), np.std(means, axis=0, ddof=min(1, seeds - 1))
    row: dict[str, object] = {
        "workers": workers,
        "case": case.name,
        "requests": len(trace),
        "seeds": seeds,
        "imbalance_tokens": average[0],
        "imbalance_sd_tokens": deviation[0] if seeds > 1 else np.nan,
        "admitting_tokens": average[1],
        "admitting_sd_tokens": deviation[1] if seeds > 1 else np.nan,
        "draining_tokens": average[2],
        "waiting_mean_tokens": np.mean(waiting),
        "wall_s": wall_s,
        "time_limit_s": setting.time_limit_s if exact else np.nan,
    }
    return row | (_proofs(policy) if isinstance(policy, ExactPolicy) else {})


def mean_imbalance(result: olp.SimulationResult) -> tuple[float, float, float]:
    """Return mean imbalance in tokens: whole run, up to the last admission, and after it."""
    series = result.series_frame()
    last = int(np.flatnonzero(series.admitted_requests)[-1])
    tokens = series.imbalance_tokens
    return (
        result.metrics.mean_imbalance_tokens,
        tokens[: last + 1].mean(),
        tokens[last + 1 :].mean(),
    )


def _proofs(policy: ExactPolicy) -> dict[str, object]:
    results = policy.results
    unproven = [number for number, result in enumerate(results, 1) if not result.proven]
    gaps = [results[number - 1].relative_gap or 0.0 for number in unproven]
    return {
        "decisions": len(results),
        "proven": len(results) - len(unproven),
        "unproven_gap_max": max(gaps, default=0.0),
        "last_unproven_decision": max(unproven, default=0),
    }


def runs(
    trace: olp.Trace, cases: tuple[Case, ...], setting: Setting, advance: OnProgress
) -> Iterator[dict[str, object]]:
    """Yield a row per policy and number of workers; compilation is not timed."""
    total = len(setting.workers) * len(cases)
    for number, workers in enumerate(setting.workers):
        for place, case in enumerate(cases):
            advance(f"{case.name}, G={workers}", number * len(cases) + place, total)
            if number == 0:
                run_case(trace.take(slice(0, 2 * workers)), workers, case, setting)
            yield run_case(trace, workers, case, setting)


def captured(table: pd.DataFrame, column: str) -> pd.Series:
    """Return the part of JSQ's excess over exact IO_0 that each run avoids, per worker count."""

    def of(group: pd.DataFrame) -> pd.Series:
        mean = group.set_index("case")[column]
        if JSQ not in mean or MYOPIC not in mean:
            return pd.Series(np.nan, group.index)
        return (mean[JSQ] - group[column]) / (mean[JSQ] - mean[MYOPIC])

    return pd.concat([of(group) for _, group in table.groupby("workers")])


def same_states(trace: olp.Trace, workers: int, setting: Setting) -> pd.DataFrame:
    """Return the value of every policy's answer to the same states, drawn from a run of BR-0.

    ``myopic_tokens`` is the imbalance of the present iteration; ``window_tokens`` the value by the
    program with lookahead (gamma = 0.86), over the sum of its weights: a mean imbalance as well.
    """
    run = sample_run(
        trace,
        olp.Cluster.homogeneous(workers, setting.slots),
        Case("BR-0", "br0").policy(workers, setting),
        sample_size=setting.sample,
        backlog=setting.backlog,
        view_horizon=setting.horizon,
    )
    if run.result.interrupted:
        raise KeyboardInterrupt
    weight = sum(DISCOUNT**h for h in range(setting.horizon + 1))
    rows = []
    for case in CASES:
        policy, rng = case.policy(workers, setting), np.random.default_rng(0)
        for number, sampled in enumerate(run.sample):
            loads = sampled.view.projected_load_tokens
            seen, now = (
                sampled.view._replace(projected_load_tokens=loads[:, : h + 1].copy())
                for h in (policy.horizon, 0)
            )
            answer = tuple(policy.route(seen, rng))
            rows.append(
                {
                    "workers": workers,
                    "case": case.name,
                    "state": number,
                    "myopic_tokens": float(objective(decision_of(now), answer)),
                    "window_tokens": float(objective(decision_of(sampled.view, DISCOUNT), answer))
                    / weight,
                    "proven": policy.results[-1].proven
                    if isinstance(policy, ExactPolicy)
                    else None,
                }
            )
    return pd.DataFrame(rows)


def plot(table: pd.DataFrame) -> Figure:
    """Draw mean imbalance until the last admission and over the whole run, per policy and G."""
    ax = axes_or_new(None)
    names = list(dict.fromkeys(table.case))
    for workers, group in table.groupby("workers"):
        places = [names.index(name) for name in group.case]
        (line,) = ax.plot(group.admitting_tokens, places, "o", label=f"G = {workers}, admitting")
        ax.plot(
            group.imbalance_tokens,
            places,
            "x",
            color=line.get_color(),
            label=f"G = {workers}, whole run",
        )
    ax.set_xscale("log")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel(f"mean {labelled('imbalance_tokens')}")
    ax.set_title("Policies and exact policies on the same requests")
    ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure: Figure = ax.figure
    figure.set_size_inches(9, 3.8)
    return figure


def main(
    trace: Annotated[str, typer.Option(help="A file or a name.")] = "azure-2023-conv-like",
    requests: Annotated[int, typer.Option(min=1, help="First requests of the trace.")] = 2000,
    workers: Annotated[list[int] | None, typer.Option(min=2, help="G, repeatable.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Policies by name, repeatable.")] = None,
    time_limit: Annotated[float, typer.Option(min=0.0, help="Seconds per decision.")] = 1.0,
    out: Annotated[Path | None, typer.Option(help="Folder for tables and figure.")] = None,
    reduced: Annotated[bool, typer.Option("--reduced", help="Tiny, in seconds.")] = False,
) -> None:
    """Run every policy on a trace; after Ctrl-C, or at any moment, finished rows are kept."""
    setting = REDUCED if reduced else Setting()
    setting = replace(setting, workers=tuple(workers or setting.workers), time_limit_s=time_limit)
    cases = tuple(case for case in CASES if only is None or case.name in only)
    if not cases:
        raise typer.BadParameter(f"--only must name one of: {'; '.join(c.name for c in CASES)}")
    try:
        source = olp.resolve(trace, requests=80 if reduced else requests)
    except InputError as error:
        typer.echo(error, err=True)
        raise typer.Exit(2) from None
    rows: list[dict[str, object]] = []
    states: list[pd.DataFrame] = []
    try:
        with progress_bar() as advance:
            for row in runs(source, cases, setting, advance):
                rows.append(row)
                typer.echo(f"{row['case']}, G={row['workers']}: {row['wall_s']:.1f} s", err=True)
                write(rows, states, out)
            for count in setting.workers if only is None else ():
                states.append(same_states(source, count, setting))
                write(rows, states, out)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finally:
        if rows:
            typer.echo(_table(rows).to_string(index=False, float_format="{:,.4g}".format))
        if states:
            typer.echo(_mean(states).to_string(index=False, float_format="{:,.0f}".format))


def _table(rows: list[dict[str, object]]) -> pd.DataFrame:
    table = pd.DataFrame(rows)
    return table.assign(
        captured=captured(table, "imbalance_tokens"),
        captured_admitting=captured(table, "admitting_tokens"),
    )


def _mean(states: list[pd.DataFrame]) -> pd.DataFrame:
    columns = ["myopic_tokens", "window_tokens"]
    every = pd.concat(states, ignore_index=True)
    groups = every.groupby(["workers", "case"], sort=False)
    table = groups[columns].mean()
    return table.assign(
        states=groups.size(), proven=groups.proven.apply(lambda found: found.dropna().sum())
    ).reset_index()


def write(rows: list[dict[str, object]], states: list[pd.DataFrame], out: Path | None) -> None:
    """Write what is there so far."""
    if out is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    options = {"index": False, "float_format": "%.6g", "lineterminator": "\n"}
    stem = f"exact_on_a_trace_{rows[0]['requests']}"
    _table(rows).to_csv(out / f"{stem}.csv", **options)
    plot(_table(rows)).savefig(out / f"{stem}.png", dpi=90)
    if states:
        _mean(states).to_csv(out / f"{stem}_same_states.csv", **options)


if __name__ == "__main__":
    typer.run(main)
