"""Training of the learned forecaster with scikit-learn (balance paper, EC.4.2 and EC.4.3)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from olprouting.errors import InputError
from olprouting.forecasts.learned.ensemble import OLDEST_SPLIT, TreeEnsemble
from olprouting.forecasts.learned.model import LearnedModel, RecentState
from olprouting.forecasts.learned.nominal_clock import features_of, nothing_completed
from olprouting.forecasts.learned.recent_kernels import AGE
from olprouting.forecasts.sampled_ages import sample_ages
from olprouting.instances._checks import positive
from olprouting.versions import versions

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from olprouting.instances import Trace
    from olprouting.progress import OnProgress

    Ints = npt.NDArray[np.int64]

CERTAIN_LOG_ODDS = 800.0
"""Log odds of what always happened in training: the probability is exactly 1 (-800: 0)."""


@dataclass(frozen=True)
class TrainingOptions:
    """How the trees are trained.

    Parameters
    ----------
    trees, depth
        Number and depth of the trees of each ensemble, >= 1; 200 and 3 in the paper.
    learning_rate
        Shrinkage of every tree, in (0, 1].
    subsample
        Share of the rows each tree sees, in (0, 1].
    min_leaf_share
        Least share of the rows in a leaf, in (0, 0.5]. All rows of a request share the features
        frozen at its admission; without such a limit trees learn single requests by heart.
    max_rows
        Rows used; where there are more, so many are drawn without replacement, >= 1.
    age_step_tokens
        Delta T: a past request of length o gives rows at ages 0, Delta T, 2 Delta T, ... < o.
    concurrency
        Requests active at a time on the nominal clock that says what had completed when.
    window
        Completions in rolling statistics, >= 1.
    ewma_weight
        Weight of the newest length in the moving average, in (0, 1].

    Raises
    ------
    InputError
        If a value is out of range.
    """

    trees: int = 200
    depth: int = 3
    learning_rate: float = 0.05
    subsample: float = 0.5
    min_leaf_share: float = 0.005
    max_rows: int = 30_000
    age_step_tokens: int = 20
    concurrency: int = 256
    window: int = 128
    ewma_weight: float = 0.05

    def __post_init__(self) -> None:
        for name in ("trees", "depth", "max_rows", "age_step_tokens", "concurrency", "window"):
            if type(getattr(self, name)) is not int or getattr(self, name) < 1:
                raise InputError(f"{name} = {getattr(self, name)!r} must be a whole number >= 1")
        for name in ("learning_rate", "subsample", "ewma_weight"):
            if not positive(name, getattr(self, name)) <= 1:
                raise InputError(f"{name} = {getattr(self, name)} must lie in (0, 1]")
        if not positive("min_leaf_share", self.min_leaf_share) <= 0.5:
            raise InputError(f"min_leaf_share = {self.min_leaf_share} must lie in (0, 0.5]")


class Rows(NamedTuple):
    """Training rows.

    Attributes
    ----------
    features
        Shape (n, 7).
    remaining
        r = o - a of each row, in tokens, shape (n,).
    """

    features: npt.NDArray[np.float32]
    remaining: Ints


def train_learned(
    trace: Trace,
    horizon: int = 80,
    *,
    seed: int = 0,
    options: TrainingOptions | None = None,
    on_progress: OnProgress | None = None,
) -> LearnedModel:
    """Train a classifier of {r <= H} and a regressor of r on the rows where it holds.

    Parameters
    ----------
    trace
        Completed requests in the order of their admission, at least one.
    horizon
        H, >= 1.
    seed
        Seed of the draws of rows.
    options
        How; the paper's trees by default.
    on_progress
        Called with (what is being fitted, trees done, trees in all) after every tree.

    Returns
    -------
    LearnedModel
        Where {r <= H} held for all rows or none, its probability is that constant.

    Raises
    ------
    InputError
        If the trace is empty or the horizon is out of range.

    References
    ----------
    arXiv 2601.17855, EC.4.2: 200 trees of depth 3, causal features; EC.4.3: rows at ages 0,
    Delta T, 2 Delta T, ...
    """
    options = options or TrainingOptions()
    if len(trace) == 0:
        raise InputError(f"{trace.name} is empty: a learned forecast needs at least one request")
    if horizon < 1:
        raise InputError(f"horizon = {horizon} must be >= 1 iteration")
    rng = np.random.default_rng(seed)
    spacing = trace.decode_tokens.mean().item() / options.concurrency
    recent = nothing_completed(options.window, options.ewma_weight)
    rows = training_rows(trace, features_of(trace, spacing, recent), options, rng)
    seeds = rng.integers(2**31, size=2).tolist()
    return LearnedModel(
        horizon=horizon,
        finish_log_odds=_fit_classifier(rows, horizon, options, seeds[0], on_progress),
        finisher_remaining=_fit_regressor(rows, horizon, options, seeds[1], on_progress),
        recent=RecentState.of(recent),
        iterations_per_request=spacing,
        longest_decode_tokens=trace.decode_tokens.max().item(),
        provenance={
            "trace": trace.name,
            "requests": len(trace),
            "rows": len(rows.remaining),
            "options": asdict(options),
            "seed": seed,
            "versions": versions(),
        },
    )


def training_rows(
    trace: Trace,
    features: npt.NDArray[np.float32],
    options: TrainingOptions,
    rng: np.random.Generator,
) -> Rows:
    """Return a uniform sample of the rows of all requests, in the order of the trace.

    Parameters
    ----------
    trace
        The requests.
    features
        Of every request at age 0, shape (N, 7).
    options
        Delta T and how many rows.
    rng
        Source of the draws; none where all rows are taken.
    """
    counted = np.minimum(trace.decode_tokens, OLDEST_SPLIT)
    drawn = sample_ages(counted, options.age_step_tokens, options.max_rows, rng)
    rows = features[drawn.request]
    rows[:, AGE] = drawn.age
    return Rows(rows, trace.decode_tokens[drawn.request] - drawn.age)


def _fit_classifier(
    rows: Rows, horizon: int, options: TrainingOptions, seed: int, on_progress: OnProgress | None
) -> TreeEnsemble:
    from sklearn.ensemble import GradientBoostingClassifier

    finishes = rows.remaining <= horizon
    if finishes.all() or not finishes.any():  # nothing to tell apart
        return TreeEnsemble.constant(CERTAIN_LOG_ODDS if finishes.all() else -CERTAIN_LOG_ODDS)
    model = GradientBoostingClassifier(**_arguments(options, seed))
    model.fit(rows.features, finishes, monitor=_monitor("finish", options, on_progress))
    share = finishes.mean()
    return TreeEnsemble.from_trees(
        float(np.log(share / (1 - share))), options.learning_rate, model.estimators_[:, 0]
    )


def _fit_regressor(
    rows: Rows, horizon: int, options: TrainingOptions, seed: int, on_progress: OnProgress | None
) -> TreeEnsemble:
    from sklearn.ensemble import GradientBoostingRegressor

    finishes = rows.remaining <= horizon
    if not finishes.any():
        return TreeEnsemble.constant(float(horizon))  # never used: the probability is 0
    remaining = rows.remaining[finishes].astype(np.float64)
    model = GradientBoostingRegressor(**_arguments(options, seed))
    monitor = _monitor("remaining", options, on_progress)
    model.fit(rows.features[finishes], remaining, monitor=monitor)
    return TreeEnsemble.from_trees(
        float(remaining.mean()), options.learning_rate, model.estimators_[:, 0]
    )


def _arguments(options: TrainingOptions, seed: int) -> dict[str, Any]:
    return {
        "n_estimators": options.trees,
        "max_depth": options.depth,
        "learning_rate": options.learning_rate,
        "subsample": options.subsample,
        "min_samples_leaf": options.min_leaf_share,
        "random_state": seed,
    }


def _monitor(
    what: str, options: TrainingOptions, on_progress: OnProgress | None
) -> Callable[[int, Any, Any], bool] | None:
    if on_progress is None:
        return None

    def after_tree(tree: int, model: Any, variables: Any) -> bool:
        on_progress(f"trees: {what}", tree + 1, options.trees)
        return False

    return after_tree
