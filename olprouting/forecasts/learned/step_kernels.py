"""Compiled forecasts of active requests from boosted trees: computed at admission, looked up after.

Every active request has a row: what the trees say of it in every bucket of ages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from olprouting.compiling import Floats, Ints, kernel
from olprouting.forecasts.learned.recent_kernels import Recent, features_into
from olprouting.forecasts.learned.tree_kernels import LearnedTrees, cutoff_steps

if TYPE_CHECKING:
    from olprouting.forecasts.learned.recent_kernels import Singles


class AgeSteps(NamedTuple):
    """The rows of active requests.

    Attributes
    ----------
    trees, recent
        The ensembles, and what completed lately.
    finish_probability, finisher_remaining, cutoff
        P(r <= H), mu and ceil(c) of every row and bucket, shape (rows, K).
    free, free_count
        Rows that nobody has, shape (rows,), and how many, shape (1,).
    features
        Room for the features of a request, shape (7,).
    """

    trees: LearnedTrees
    recent: Recent
    finish_probability: Floats
    finisher_remaining: Floats
    cutoff: Ints
    free: Ints
    free_count: Ints
    features: Singles


@kernel
def take_row(steps: AgeSteps, prompt: int) -> int:
    """Forecast a request that is admitted now for all its ages; return its row."""
    steps.free_count[0] -= 1
    row = steps.free[steps.free_count[0]]
    features_into(steps.recent, prompt, steps.features)
    cutoff_steps(
        steps.trees,
        steps.features,
        steps.finish_probability[row],
        steps.finisher_remaining[row],
        steps.cutoff[row],
    )
    return int(row)


@kernel
def give_row_back(steps: AgeSteps, row: int) -> None:
    """Free the row of a request that completed."""
    steps.free[steps.free_count[0]] = row
    steps.free_count[0] += 1
