"""Compiled evaluation of boosted trees: rows of features, or one request at every age.

Trees compare features in single precision, as scikit-learn does. All features of a request but
its age are frozen at its admission, so that each tree, and thus the forecast, is a step function
of the age: `age_steps` finds its values between the ages at which any tree of the model splits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from olprouting.compiling import Floats, Ints, compiled, kernel
from olprouting.forecasts.curve_kernels import cutoff_of
from olprouting.forecasts.learned.recent_kernels import AGE

if TYPE_CHECKING:
    from olprouting.forecasts.learned.recent_kernels import Singles

LEAF: Final = -1
DEEPEST: Final = 32
"""Largest depth of a tree; it bounds the stack of `add_age_steps`."""


class Trees(NamedTuple):
    """A sum of regression trees; the nodes of tree t stand at ``first[t]:first[t + 1]``.

    Attributes
    ----------
    initial
        What the trees are added to.
    first
        Shape (T + 1,).
    feature
        Feature a node splits by, `LEAF` for none, shape (n,).
    threshold
        A row goes left where its feature is at most this, shape (n,).
    left, right
        Child nodes, shape (n,).
    value
        What a leaf adds, shape (n,).
    step
        Of nodes that split by age: the place of the split among the ages of all splits.
    """

    initial: float
    first: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    step: Ints


class LearnedTrees(NamedTuple):
    """Both ensembles of a learned forecaster, ready for kernels.

    Attributes
    ----------
    log_odds
        Log odds of {r <= H}.
    remaining
        Mean of r given r <= H, before it is clipped to [1, H].
    bucket_of_age
        Bucket of every age up to the last split, shape (L,); all later ages share the last
        bucket. Between two splits the forecast does not change.
    buckets
        Number of buckets K.
    horizon
        H.
    """

    log_odds: Trees
    remaining: Trees
    bucket_of_age: Ints
    buckets: int
    horizon: int


@kernel
def probability_of(log_odds: float) -> float:
    """Return 1 / (1 + exp(-x)), exactly 0 or 1 far out."""
    return float(1 / (1 + np.exp(-log_odds)))


@kernel
def clip_remaining(remaining: float, horizon: int) -> float:
    """Return `remaining` moved into [1, H]."""
    return min(max(remaining, 1.0), float(horizon))


@kernel
def expectation(probability: float, remaining: float, horizon: int) -> float:
    """Return c = (1 - p) (H + 1) + p mu."""
    return (1 - probability) * (horizon + 1) + probability * remaining


@kernel
def add_leaves(trees: Trees, rows: Singles, total: Floats) -> None:
    """Write the value of an ensemble for every row, shape (n, 7), to `total`, shape (n,)."""
    total[:] = trees.initial
    for tree in range(len(trees.first) - 1):  # outside: one tree stays in the cache
        for j in range(len(rows)):
            node = trees.first[tree]
            while trees.feature[node] != LEAF:
                if rows[j, trees.feature[node]] <= trees.threshold[node]:
                    node = trees.left[node]
                else:
                    node = trees.right[node]
            total[j] += trees.value[node]


@compiled
def predict_rows(
    trees: LearnedTrees,
    rows: Singles,
    finish_probability: Floats,
    finisher_remaining: Floats,
    expected: Floats,
) -> None:
    """Fill the last three, shape (n,), for rows of features, shape (n, 7)."""
    add_leaves(trees.log_odds, rows, finish_probability)
    add_leaves(trees.remaining, rows, finisher_remaining)
    for j in range(len(rows)):
        finish_probability[j] = probability_of(finish_probability[j])
        finisher_remaining[j] = clip_remaining(finisher_remaining[j], trees.horizon)
        expected[j] = expectation(finish_probability[j], finisher_remaining[j], trees.horizon)


@kernel
def add_age_steps(trees: Trees, row: Singles, total: Floats) -> None:
    """Write the value of an ensemble in every bucket of ages to `total`, shape (K,)."""
    last = len(total) - 1
    for bucket in range(1, last + 1):
        total[bucket] = 0
    total[0] = trees.initial
    later_node = np.empty(DEEPEST, np.int64)
    later_high = np.empty(DEEPEST, np.int64)
    for tree in range(len(trees.first) - 1):
        node = trees.first[tree]
        low, high = 0, last  # the buckets that reach the node
        stacked = 0
        while True:
            feature = trees.feature[node]
            if feature == LEAF:
                total[low] += trees.value[node]
                if high < last:
                    total[high + 1] -= trees.value[node]
                if stacked == 0:
                    break
                stacked -= 1
                node, low, high = later_node[stacked], high + 1, later_high[stacked]
            elif feature == AGE:
                step = trees.step[node]
                if high <= step:
                    node = trees.left[node]
                elif low > step:
                    node = trees.right[node]
                else:
                    later_node[stacked], later_high[stacked] = trees.right[node], high
                    stacked += 1
                    node, high = trees.left[node], step
            elif row[feature] <= trees.threshold[node]:
                node = trees.left[node]
            else:
                node = trees.right[node]
    for bucket in range(1, last + 1):
        total[bucket] += total[bucket - 1]


@compiled
def age_steps(
    trees: LearnedTrees, row: Singles, finish_probability: Floats, finisher_remaining: Floats
) -> None:
    """Fill the last two, shape (K,), with the forecast of one request in every bucket of ages."""
    add_age_steps(trees.log_odds, row, finish_probability)
    add_age_steps(trees.remaining, row, finisher_remaining)
    for bucket in range(trees.buckets):
        finish_probability[bucket] = probability_of(finish_probability[bucket])
        finisher_remaining[bucket] = clip_remaining(finisher_remaining[bucket], trees.horizon)


@compiled
def cutoff_steps(
    trees: LearnedTrees,
    row: Singles,
    finish_probability: Floats,
    finisher_remaining: Floats,
    cutoff: Ints,
) -> None:
    """Fill the last three, shape (K,), of one request; the last with ceil(c) in [1, H + 1].

    Called at an admission, it leaves nothing but ``cutoff[bucket_of(trees, age)]`` to look up.
    """
    age_steps(trees, row, finish_probability, finisher_remaining)
    for bucket in range(trees.buckets):
        c = expectation(finish_probability[bucket], finisher_remaining[bucket], trees.horizon)
        cutoff[bucket] = cutoff_of(c, trees.horizon)


@compiled
def bucket_of(trees: LearnedTrees, age: int) -> int:
    """Return the bucket of an age."""
    return int(trees.bucket_of_age[min(age, len(trees.bucket_of_age) - 1)])
