"""A trained forecaster: two ensembles of trees, and what had completed when training ended."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from olprouting.errors import InputError, shown
from olprouting.files import write_text
from olprouting.forecasts.forecaster import Predictions, Queries
from olprouting.forecasts.learned.ensemble import TreeEnsemble
from olprouting.forecasts.learned.nominal_clock import features_of
from olprouting.forecasts.learned.recent_kernels import AGE, FEATURES, Recent
from olprouting.forecasts.learned.step_kernels import AgeSteps
from olprouting.forecasts.learned.tree_kernels import LearnedTrees, predict_rows
from olprouting.forecasts.live import live_forecast
from olprouting.instances._checks import finite_vector, positive, token_vector
from olprouting.instances.documents import load_document, naming, read_text, refuse_wrong_fields

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.forecasts.live_kernels import LiveForecast
    from olprouting.instances import Trace

SCHEMA = "olprouting/learned/1"
TOO_LARGE_BYTES = 64 * 2**20
"""Files beyond this are refused unread; a model of 2 x 200 trees takes less than 1 MB."""

SPARSEST = 2**32
"""Largest spacing of admissions: iterations of 2^30 requests then fit an int64."""


@dataclass(frozen=True, eq=False)
class RecentState:
    """What had completed at some moment (see `Recent`), as plain values.

    Parameters
    ----------
    prompt_tokens, decode_tokens
        The ring of the last W completions, shape (W,), W >= 1; 0 where there was none yet.
    ewma_decode_tokens
        Moving average of decode lengths, >= 0.
    ewma_weight
        Weight of the newest length, in (0, 1].
    completions
        How many completed, >= 0.
    """

    prompt_tokens: npt.NDArray[np.int64]
    decode_tokens: npt.NDArray[np.int64]
    ewma_decode_tokens: float
    ewma_weight: float
    completions: int

    def __post_init__(self) -> None:
        prompt = token_vector("recent prompt_tokens", self.prompt_tokens, at_least=0)
        decode = token_vector(
            "recent decode_tokens", self.decode_tokens, at_least=0, length=len(prompt)
        )
        if len(prompt) == 0:
            raise InputError("recent prompt_tokens needs at least one place")
        object.__setattr__(self, "prompt_tokens", prompt)
        object.__setattr__(self, "decode_tokens", decode)
        positive("ewma_decode_tokens", self.ewma_decode_tokens, zero_allowed=True)
        if not positive("ewma_weight", self.ewma_weight) <= 1:
            raise InputError(f"ewma_weight = {self.ewma_weight} must lie in (0, 1]")
        _whole("completions", self.completions, at_least=0)

    @classmethod
    def of(cls, recent: Recent) -> Self:
        """Return the values a kernel's state holds now."""
        return cls(
            recent.prompt_tokens.copy(),
            recent.decode_tokens.copy(),
            recent.ewma_decode_tokens[0].item(),
            recent.ewma_weight,
            recent.completions[0].item(),
        )

    def to_kernel(self) -> Recent:
        """Return a state of its own for kernels to go on from."""
        return Recent(
            self.prompt_tokens.copy(),
            self.decode_tokens.copy(),
            np.array([self.ewma_decode_tokens], np.float64),
            np.array([self.completions], np.int64),
            float(self.ewma_weight),
        )

    def to_document(self) -> dict[str, Any]:
        """Return the values as plain JSON types."""
        return asdict(self) | {
            "prompt_tokens": self.prompt_tokens.tolist(),
            "decode_tokens": self.decode_tokens.tolist(),
        }

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Return the state of a JSON object."""
        refuse_wrong_fields("recent", document, set(cls.__dataclass_fields__))
        return cls(**document)


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """Gradient-boosted trees that forecast completions (balance paper, EC.4.2, "learned").

    Parameters
    ----------
    horizon
        The H it was trained for, >= 1; it answers for no other.
    finish_log_odds
        Trees for the log odds of {r <= H}.
    finisher_remaining
        Trees for r where r <= H.
    recent
        What had completed when training ended: where features of further requests start from.
    iterations_per_request
        Spacing of admissions on the nominal clock of offline features, in (0, 2^32].
    longest_decode_tokens
        Longest decode of the training trace, >= 1; older requests are beyond its history.
    provenance
        Where it comes from: trace, requests, rows, options, seed, versions.

    Raises
    ------
    InputError
        If a value is out of range.
    """

    horizon: int
    finish_log_odds: TreeEnsemble
    finisher_remaining: TreeEnsemble
    recent: RecentState
    iterations_per_request: float
    longest_decode_tokens: int
    provenance: dict[str, Any]

    def __post_init__(self) -> None:
        _whole("horizon", self.horizon, at_least=1)
        _whole("longest_decode_tokens", self.longest_decode_tokens, at_least=1)
        spacing = finite_vector("iterations_per_request", [self.iterations_per_request], 1)
        if positive("iterations_per_request", spacing[0].item()) > SPARSEST:
            raise InputError(f"iterations_per_request = {spacing[0]:g} must be <= {SPARSEST}")
        if not isinstance(self.provenance, dict):
            raise InputError("provenance must be an object")

    @property
    def name(self) -> str:
        """``learned``."""
        return "learned"

    @cached_property
    def trees(self) -> LearnedTrees:
        """Both ensembles, ready for kernels."""
        ages = np.union1d(self.finish_log_odds.age_splits(), self.finisher_remaining.age_splits())
        return LearnedTrees(
            log_odds=self.finish_log_odds.to_kernel(ages),
            remaining=self.finisher_remaining.to_kernel(ages),
            bucket_of_age=np.searchsorted(ages, np.arange(ages.max(initial=-1) + 2)),
            buckets=len(ages) + 1,
            horizon=self.horizon,
        )

    def live(self, trace: Trace, horizon: int, slots: int) -> LiveForecast:
        """Return what it knows at the start of a run; see `LiveForecaster`."""
        self.require_horizon(horizon)
        shape = (slots, self.trees.buckets)
        steps = AgeSteps(
            trees=self.trees,
            recent=self.recent.to_kernel(),
            finish_probability=np.empty(shape),
            finisher_remaining=np.empty(shape),
            cutoff=np.empty(shape, np.int64),
            free=np.arange(slots),
            free_count=np.array([slots]),
            features=np.empty(len(FEATURES), np.float32),
        )
        return live_forecast(trace, steps=steps)

    def predict(self, trace: Trace, queries: Queries, horizon: int) -> Predictions:
        """Answer queries about requests of `trace`; see `Forecaster`.

        The requests of `trace` follow those of the training trace; what they say of recent
        completions is known by the nominal clock.

        Raises
        ------
        InputError
            If the horizon is not the model's own, or an age or a row is out of range.
        """
        self.require_horizon(horizon)
        age = token_vector("age", queries.age, at_least=0)
        request = token_vector("request", queries.request, at_least=0, length=len(age))
        if len(request) and request.max() >= len(trace):
            raise InputError(f"request {request.max()}: the trace has {len(trace)} requests")
        answers = Predictions(*np.empty((3, len(age))))
        if len(age):
            features = features_of(trace, self.iterations_per_request, self.recent.to_kernel())
            rows = features[request]
            rows[:, AGE] = age
            predict_rows(self.trees, rows, *answers)
        return answers

    def covered(self, trace: Trace, queries: Queries) -> npt.NDArray[np.bool_]:
        """Tell which queries are of ages that some training request outlived."""
        return np.asarray(queries.age) < self.longest_decode_tokens

    def require_horizon(self, horizon: int) -> None:
        """Refuse every horizon but the model's own.

        Raises
        ------
        InputError
            If it differs; train a model for that horizon instead.
        """
        if horizon != self.horizon:
            raise InputError(
                f"the learned forecast was trained for horizon {self.horizon}, not {horizon}; "
                f"train one with --horizon {horizon}"
            )

    def to_json(self) -> str:
        """Return the model in the versioned JSON format ``olprouting/learned/1``."""
        document = {
            "schema": SCHEMA,
            "features": list(FEATURES),
            "horizon": self.horizon,
            "iterations_per_request": self.iterations_per_request,
            "longest_decode_tokens": self.longest_decode_tokens,
            "recent": self.recent.to_document(),
            "provenance": self.provenance,
            "finish_log_odds": self.finish_log_odds.to_document(),
            "finisher_remaining": self.finisher_remaining.to_document(),
        }
        return json.dumps(document)

    @classmethod
    def from_json(cls, text: str, source: str = "model") -> Self:
        """Return the model that `text` holds; nothing in it is ever executed.

        Parameters
        ----------
        text
            A document of schema ``olprouting/learned/1``.
        source
            Where the text came from, for messages.

        Raises
        ------
        InputError
            If it is not such a document, or describes no valid trees.
        """
        document = load_document(text, source, SCHEMA)
        del document["schema"]
        with naming(source, SCHEMA):
            refuse_wrong_fields("model", document, {"features", *cls.__dataclass_fields__})
            if document.pop("features") != list(FEATURES):
                raise InputError(f"features must be {', '.join(FEATURES)}")
            for field in ("finish_log_odds", "finisher_remaining"):
                document[field] = TreeEnsemble.from_document(field, document[field])
            document["recent"] = RecentState.from_document(document["recent"])
            return cls(**document)

    def save(self, path: str | Path) -> Path:
        """Write the model to a JSON file and return its path."""
        return write_text(Path(path), self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model from a JSON file, from anybody: it is data only, and checked.

        Raises
        ------
        InputError
            If the file cannot be read or is not a model.
        """
        try:
            size = Path(path).stat().st_size
            if size > TOO_LARGE_BYTES:
                raise InputError(f"{path}: {size} bytes are more than any model has")
        except OSError as error:
            raise InputError(f"{path}: cannot read the model: {error.strerror}") from None
        return cls.from_json(read_text(path), str(path))


def _whole(name: str, value: Any, *, at_least: int) -> None:
    if type(value) is not int or not at_least <= value <= 2**53:
        raise InputError(f"{name} = {shown(value)} must be a whole number >= {at_least}")
