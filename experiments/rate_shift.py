"""Bid-price paper, Table 2: the arrival rate rises at half time and no policy is told.

Poisson arrivals switch from one rate per period to a higher one in the middle of the run. The
bid-price policy runs with and without its rate guard, which drops history from before a significant
increase. All else, and what is not published, is as in slo_weights.toml.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pandas as pd
import typer
from priced_workers import PricedWorkers
from relative_improvement import improvements, write

import olprouting as olp
from olprouting.price_report import RunOutcome, requests_of

if TYPE_CHECKING:
    from numpy.random import Generator

BASELINE = "round-robin"
METRICS = (
    "satisfaction",
    "ttft_mean",
    "ttft_p99",
    "end_to_end_mean",
    "end_to_end_p99",
    "throughput_tokens_per_s",
)


@dataclass(frozen=True)
class Setting(PricedWorkers):
    """What all policies have in common.

    Parameters
    ----------
    arrival_periods, periods
        Periods with arrivals, and T >= that.
    rate, rate_after
        Requests per period in the first and in the second half of the arrivals, > 0.
    guard_window
        Window of the rate guard in periods.
    """

    arrival_periods: int = 2000
    periods: int = 3000
    rate: float = 0.4
    rate_after: float = 0.6
    guard_window: int = 100


def policies(setting: Setting) -> dict[str, tuple[str, olp.BidPriceOptions]]:
    """Return name, policy and options of price learning of every row."""
    plain = olp.BidPriceOptions()
    learned = {
        "bid-price": plain,
        "bid-price, guard": replace(plain, guard_window=setting.guard_window),
        "prices 0": replace(plain, steps=0),
    }
    fixed = (BASELINE, "jsq", "random", "power-of-two")
    return {name: (name, plain) for name in fixed} | {
        name: ("bid-price", options) for name, options in learned.items()
    }


def shifting_releases(setting: Setting, rng: Generator) -> np.ndarray:
    """Return the release period of every request, sorted, shape (J,)."""
    half = setting.arrival_periods // 2
    counts = np.concatenate(
        [
            rng.poisson(setting.rate, half),
            rng.poisson(setting.rate_after, setting.arrival_periods - half),
        ]
    )
    return np.repeat(np.arange(1, setting.arrival_periods + 1), counts)


def workload(setting: Setting, seed: int) -> olp.Trace:
    """Return the requests of one seed: drawn from a profile, or at random rows of a trace."""
    release = shifting_releases(setting, np.random.default_rng([seed, 2]))
    rng = np.random.default_rng([seed, 1])
    trace = setting.requests_of(
        seed, len(release), lambda most: rng.integers(most, size=len(release))
    )
    notice = f"rate {setting.rate:g} per period, then {setting.rate_after:g}"
    return trace.with_notice(notice, arrival_s=None, release_iteration=release)


def run_seed(setting: Setting, seed: int) -> pd.DataFrame:
    """Run all policies on the requests of one seed.

    Returns
    -------
    DataFrame
        A row per policy: ``policy``, ``seed``, ``requests``, ``unfinished``, ``alarms`` of the rate
        guard (periods since which it kept history), and the metrics.
    """
    trace = workload(setting, seed)
    period = olp.PeriodOptions(periods=setting.periods)
    rows = []
    for name, (policy_name, learning) in policies(setting).items():
        policy = olp.make_policy(
            policy_name, setting.workers, olp.PolicyOptions(period=period, bid_price=learning)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # unfinished requests have a column
            run = olp.simulate(
                trace,
                setting.cluster,
                policy,
                forecast=olp.NoisyOracle(setting.noise),
                seed=seed,
                periods=setting.periods,
            )
        outcome = RunOutcome.of(run, requests_of(run, period, "decode"), period.t2, [], [])
        alarms = [shift.since for shift in getattr(policy, "shifts", ())]
        row = {"policy": name, "seed": seed, "requests": len(trace)}
        row |= {"unfinished": outcome.unfinished, "alarms": " ".join(map(str, alarms))}
        rows.append(row | {metric: getattr(outcome, metric) for metric in METRICS})
    return pd.DataFrame(rows)


def main(
    trace: Annotated[str, typer.Option(help="A profile, a public trace, or a file.")] = (
        Setting.trace
    ),
    reduced: Annotated[bool, typer.Option("--reduced", help="Small, in seconds.")] = False,
    seeds: Annotated[int, typer.Option(min=2, help="How many seeds.")] = 10,
    out: Annotated[Path, typer.Option(help="Folder for tables.")] = Path("results"),
) -> None:
    """Run all policies over seeds; tables are renewed after each seed from the second on."""
    setting = Setting(trace=trace)
    if reduced:
        setting, seeds = replace(setting, arrival_periods=80, periods=400, workers=1), 2
    frames: list[pd.DataFrame] = []
    try:
        for seed in range(seeds):
            frames.append(run_seed(setting, seed))
            typer.echo(f"seed {seed + 1}/{seeds}", err=True)
            if len(frames) > 1:
                runs = pd.concat(frames, ignore_index=True)
                table = improvements(runs, METRICS, [], BASELINE)
                text = write(
                    table, [], f"Rate shift, improvement over {BASELINE}", out / "rate_shift"
                )
                path = out / "rate_shift_runs.csv"
                runs.to_csv(path, index=False, float_format="%.5g", lineterminator="\n")
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    typer.echo(text)


if __name__ == "__main__":
    typer.run(main)
