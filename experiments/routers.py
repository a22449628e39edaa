"""Measure routers that people run, on arrival: their weights, the best weights, the best form.

python experiments/routers.py --out experiments/results

`--trace FILE` adds a trace of conversations, such as Azure 2023's; `--reduced` runs a small form in
seconds. Weights are chosen on half of the draws and measured on the other half.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from dispatch_on_arrival import PER_WORKER, Setting, draw_30002, measured, policy_of, trace_of

from olprouting.files import write_table
from olprouting.policies import CompiledPolicy, LoadWeights, weighted_load_policy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import olprouting as olp

ROUTERS = ("vllm", "sglang", "llm-d", "dynamo")
BESIDE = ("random", "jsq", "least-load", "least-imbalance")
SCALES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
TOKENS_PER_REQUEST = 4000.0
"""About what a request holds: a scale on which weights of requests and of tokens compare."""

FORMS = {
    "waiting and running requests": [LoadWeights(w, 1, 0, 0) for w in SCALES],
    "queued and running tokens": [LoadWeights(0, 0, w, 1) for w in SCALES],
    "queue and KV use, relative": [LoadWeights(w, 0, 0, 1, relative=True) for w in SCALES],
    "requests and tokens": [
        LoadWeights(q * TOKENS_PER_REQUEST, r * TOKENS_PER_REQUEST, t, 1)
        for q, r, t in product((0.0, 0.25, 1.0, 4.0), (0.0, 0.25, 1.0), (0.0, 0.5, 1.0, 2.0))
    ],
}
"""Forms of a score with weights to choose from; first those of vllm, dynamo and llm-d."""


def settings(name: str) -> Iterator[Setting]:
    """Yield the three situations; the KV limits are for policies that weigh their use."""
    for situation, slots, in_flight in (
        ("slots never fill", 8 * PER_WORKER, 8 * PER_WORKER),
        ("as many slots as requests", PER_WORKER, 8 * PER_WORKER),
        ("a quarter more requests than slots", PER_WORKER, 10 * PER_WORKER),
    ):
        setting = Setting(name, situation, 8, slots, in_flight, kv_tokens=400_000)
        if name != "30002 means":  # a third of its tokens, and done sooner
            setting = replace(setting, kv_tokens=130_000, warm_up=1000, iterations=5000)
        yield setting


def best_weights(setting: Setting, traces: Sequence[olp.Trace]) -> dict[str, LoadWeights]:
    """Return the weights of each form with the least imbalance over these draws."""
    chosen = {}
    for form, grid in FORMS.items():

        def imbalance(weights: LoadWeights) -> float:
            policy = weighted_load_policy("tried", weights)
            return sum(
                run_on_arrival(setting, trace, policy, seed)["imbalance_tokens"]
                for seed, trace in enumerate(traces)
            )

        chosen[form] = min(grid, key=imbalance)
    return chosen


def run_on_arrival(
    setting: Setting, trace: olp.Trace, policy: olp.Policy, seed: int
) -> dict[str, float]:
    """Run a policy on a closed loop with dispatch on arrival; KV limits where it looks at them."""
    if not (isinstance(policy, CompiledPolicy) and policy.needs_kv_limits):
        setting = replace(setting, kv_tokens=None)
    return measured(setting, trace, policy, seed, dispatch="arrival", in_flight=setting.in_flight)


def rows(setting: Setting, draw: Any, seeds: int) -> Iterator[dict[str, Any]]:
    """Yield a row per policy and draw of the second half."""
    traces = [draw(setting.requests, seed) for seed in range(2 * seeds)]
    for seed, trace in enumerate(traces[seeds:], seeds):
        for name in (*BESIDE, *ROUTERS):
            found = run_on_arrival(setting, trace, policy_of(name, setting), seed)
            yield _row(setting, name, "", seed, found)
    for form, weights in best_weights(setting, traces[:seeds]).items():
        policy = weighted_load_policy(form, weights)
        terms = ", ".join(f"{weight:g}" for weight in weights[:4])
        for seed, trace in enumerate(traces[seeds:], seeds):
            yield _row(
                setting, f"best: {form}", terms, seed, run_on_arrival(setting, trace, policy, seed)
            )


def _row(
    setting: Setting, policy: str, weights: str, seed: int, found: dict[str, float]
) -> dict[str, Any]:
    return {
        "workload": setting.workload,
        "situation": setting.situation,
        "policy": policy,
        "weights": weights,
        "seed": seed,
    } | found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all settings and write their table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--trace", type=Path, help="a trace file of short outputs")
    parser.add_argument("--reduced", action="store_true")
    options = parser.parse_args(arguments)
    draws: dict[str, Any] = {"30002 means": draw_30002}
    if options.trace is not None:
        draws[options.trace.stem] = trace_of(options.trace)
    table: list[dict[str, Any]] = []
    for name, draw in draws.items():
        for setting in settings(name):
            one = setting.reduced() if options.reduced else setting
            table += rows(one, draw, 1 if options.reduced else 15)
    options.out.mkdir(parents=True, exist_ok=True)
    write_table(pd.DataFrame(table).round(2), options.out / "routers.csv")


if __name__ == "__main__":
    main()
