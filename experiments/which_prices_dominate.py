"""Measure which resource binds and carries the price: mixes of short and long requests, by load.

python experiments/which_prices_dominate.py --out experiments/results

`--reduced` runs a small form in seconds.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import olprouting as olp
from olprouting.files import write_table
from olprouting.options import WorkloadOptions
from olprouting.traces import load_workload
from olprouting.traces.arrivals import poisson_by_period

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORKERS, SLOTS, KV_TOKENS = 4, 8, 2400
MIXES = ("1:4", "4:1")
TOKENS = (264, 800)
LOADS = (0.5, 1.2)
SEEDS = 3


def held_tokens(prompt: float, decode: float) -> float:
    """Return what an active request holds on average over its life."""
    return prompt + (decode + 1) / 2


def most_per_period(prompt: float, decode: float) -> float:
    """Return how many such requests per period the tighter of the two resources can carry."""
    return min(SLOTS, KV_TOKENS / held_tokens(prompt, decode)) * WORKERS / decode


def cell(mix: str, tokens: int, load: float, seed: int, requests: int) -> dict[str, Any]:
    """Run bid-price on one draw, and return what binds in a sample of its periods."""
    options = WorkloadOptions(source=f"ratio:{mix}:{tokens}", requests=requests)
    trace = load_workload(options, seed).trace
    prompt, decode = trace.prompt_tokens.mean(), trace.decode_tokens.mean()
    rate = load * most_per_period(prompt, decode)
    trace = poisson_by_period(trace, rate, np.random.default_rng([seed, 1]))
    periods = int(requests / rate)
    report = olp.measure_prices(
        trace,
        olp.Cluster.homogeneous(WORKERS, SLOTS, kv_tokens=KV_TOKENS),
        (),
        options=olp.PolicyOptions(
            period=olp.PeriodOptions(
                periods=periods, weights="tail-latency", t1=2 * decode, t2=decode / 4
            )
        ),
        kv=olp.KvOptions(oversize="reject"),
        sample=10,
        seed=seed,
    )
    judged = report.records_frame()
    slots, held = judged.slot_price.mean() * SLOTS, judged.token_price.mean() * KV_TOKENS
    return {
        "mix": mix,
        "tokens": tokens,
        "load": load,
        "seed": seed,
        "held_per_request": held_tokens(prompt, decode),
        "binding_percent": 100 * judged.must_wait.mean(),
        "slots_bind_percent": 100 * judged.slots_bind.mean(),
        "tokens_bind_percent": 100 * judged.tokens_bind.mean(),
        "slot_value": slots,
        "token_value": held,
        "slot_share_percent": 100 * slots / (slots + held) if slots + held > 0 else np.nan,
    }


def rows(seeds: int, requests: int, loads: Sequence[float]) -> Iterator[dict[str, Any]]:
    """Yield a row per mix, length, load and seed."""
    for mix, tokens, load, seed in product(MIXES, TOKENS, loads, range(seeds)):
        yield cell(mix, tokens, load, seed, requests)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all cells and write their table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--reduced", action="store_true")
    options = parser.parse_args(arguments)
    size = (1, 30, (1.2,)) if options.reduced else (SEEDS, 60, LOADS)
    options.out.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(rows(*size)).round(4)
    write_table(table, options.out / "which_prices_dominate.csv")


if __name__ == "__main__":
    main()
