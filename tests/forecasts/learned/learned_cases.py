"""Random trees, and what trees and features are by plain Python."""

from __future__ import annotations

import numpy as np

from olprouting.forecasts.learned.ensemble import TreeEnsemble
from olprouting.forecasts.learned.model import LearnedModel, RecentState
from olprouting.forecasts.learned.nominal_clock import nothing_completed
from olprouting.instances import Trace

SCALE = (3000, 400, 300, 2000, 800, 300, 200)
"""Rough sizes of the features, for thresholds that matter."""


def random_trace(requests: int, seed: int, *, mean: int = 120) -> Trace:
    rng = np.random.default_rng(seed)
    prompt = rng.integers(1, 3000, requests)
    return Trace(prompt, rng.geometric(1 / mean, requests), name="random")


def random_ensemble(rng: np.random.Generator, trees: int, depth: int) -> TreeEnsemble:
    feature, threshold, left, right, value = [], [], [], [], []
    first = [0]

    def grow(levels: int) -> int:
        node = len(feature)
        leaf = levels == 0 or rng.random() < 0.2
        split = -1 if leaf else int(rng.choice(7, p=[0.1, 0.6, *[0.06] * 5]))
        feature.append(split)
        # halves and whole numbers: an age on the threshold itself must go left
        threshold.append(0.0 if leaf else rng.integers(0, 2 * SCALE[split]) / 2)
        value.append(rng.normal())
        left.append(-1)
        right.append(-1)
        if not leaf:
            left[node] = grow(levels - 1)
            right[node] = grow(levels - 1)
        return node

    for _ in range(trees):
        grow(depth)
        first.append(len(feature))
    return TreeEnsemble(
        rng.normal(), *map(np.array, (first, feature, threshold, left, right, value))
    )


def random_model(seed: int, *, trees: int = 6, depth: int = 4, horizon: int = 9) -> LearnedModel:
    rng = np.random.default_rng(seed)
    return LearnedModel(
        horizon=horizon,
        finish_log_odds=random_ensemble(rng, trees, depth),
        finisher_remaining=random_ensemble(rng, trees, depth),
        recent=RecentState.of(nothing_completed(5, 0.25)),
        iterations_per_request=1.5,
        longest_decode_tokens=400,
        provenance={"trace": "random", "seed": seed},
    )


def plain_sum(ensemble: TreeEnsemble, row: np.ndarray) -> float:
    """Walk every tree from its root."""
    total = ensemble.initial
    for root in ensemble.first[:-1]:
        node = int(root)
        while ensemble.feature[node] >= 0:
            goes_left = row[ensemble.feature[node]] <= ensemble.threshold[node]
            node = int(ensemble.left[node] if goes_left else ensemble.right[node])
        total += float(ensemble.value[node])
    return total


def plain_features(
    trace: Trace, spacing: float, window: int, weight: float
) -> list[tuple[float, ...]]:
    """Features by their definition: look up everything anew for every request."""
    admission = [int(np.floor(i * spacing)) for i in range(len(trace))]
    finish = [x + int(o) for x, o in zip(admission, trace.decode_tokens, strict=True)]
    rows = []
    for i in range(len(trace)):
        past = sorted((finish[j], j) for j in range(len(trace)) if finish[j] <= admission[i])
        done = [j for _, j in past]
        ewma = 0.0
        for place, j in enumerate(done):
            length = float(trace.decode_tokens[j])
            ewma = length if place == 0 else (1 - weight) * ewma + weight * length
        last = done[-window:]
        statistics = (0.0,) * 4
        if last:
            prompt, decode = trace.prompt_tokens[last], trace.decode_tokens[last]
            statistics = (prompt.mean(), prompt.std(), decode.mean(), decode.std())
        rows.append((float(trace.prompt_tokens[i]), 0.0, ewma, *statistics))
    return rows
