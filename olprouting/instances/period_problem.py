"""One period of the batch/KV model: which waiting requests start, and on which worker."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError, shown
from olprouting.instances import reward as _reward
from olprouting.instances._checks import (
    MAX_EXACT_TOKENS,
    frozen,
    latency_threshold,
    number_array,
    refuse_sum,
    token_vector,
    whole,
)
from olprouting.instances.documents import load_json, naming, of_schema, refuse_wrong_fields
from olprouting.instances.request_curves import (
    Batching,
    default_age_offset,
    kv_tokens_at,
    last_active_period,
    parse_batching,
)
from olprouting.instances.slo_classes import (
    Weights,
    check_weights,
    weight_rows,
    weights_from_document,
)
from olprouting.instances.slo_weights import SloWeights

SCHEMA = "olprouting/period/1"

_REQUIRED = {
    "schema", "period", "periods", "batching", "weights", "t1", "t2", "workers", "requests"
}  # fmt: skip
_OPTIONAL = {"inclusive", "age_offset", "clipped"}
_REQUEST = ("prompt_tokens", "decode_tokens", "arrival_period")
_ANY = -MAX_EXACT_TOKENS


@dataclass(frozen=True, eq=False)
class PeriodProblem:
    """The per-period program's data at period k (bid-price paper, section 3.1).

    Parameters
    ----------
    period, periods
        k and T, with 1 <= k <= T. There are T-k+1 remaining periods k..T.
    weights
        Weights of the reward, or of each class of requests.
    t1, t2
        Thresholds of end-to-end latency and of time to first token in periods, >= 1.
    slots
        Residual slots of each worker in each remaining period, shape (G, T-k+1), whole.
        Negative numbers (a worker fuller than was predicted) become 0 and are counted.
    kv_tokens
        Residual KV tokens, likewise.
    prompt_tokens
        s_j of the waiting requests, shape (J,), >= 0.
    decode_tokens
        Predicted o_j, shape (J,), >= 1.
    arrival_period
        t_j, shape (J,), <= k; may be <= 0 where periods are counted from now.
    batching
        ``"decode"`` or ``"mixed"``.
    inclusive
        Whether a latency equal to its threshold counts; in the paper it does not.
    age_offset
        KV tokens that a request holds at age 0 beyond its prompt, >= 0; None: that of its batching,
        1 for decode, 0 for mixed.
    clipped
        How many residuals were negative before.
    slo_class
        Class of each waiting request, shape (J,), where weights are those of classes; else None.

    Raises
    ------
    InputError
        If a field is out of range (its index is named) or the shapes do not fit.
    """

    period: int
    periods: int
    weights: Weights
    t1: float
    t2: float
    slots: npt.NDArray[np.int64]
    kv_tokens: npt.NDArray[np.int64]
    prompt_tokens: npt.NDArray[np.int64]
    decode_tokens: npt.NDArray[np.int64]
    arrival_period: npt.NDArray[np.int64]
    batching: Batching = Batching.DECODE
    inclusive: bool = False
    age_offset: int | None = None
    clipped: int = 0
    slo_class: npt.NDArray[Any] | None = None

    def __post_init__(self) -> None:
        self._check_numbers()
        self._check_workers()
        self._check_requests()
        for name in ("slots", "kv_tokens"):
            refuse_sum(name, getattr(self, name))
        self._refuse_overflow()

    @classmethod
    def of_residuals(
        cls, slots: npt.NDArray[np.int64], kv_tokens: npt.NDArray[np.int64], **others: Any
    ) -> Self:
        """Return a problem whose residuals are known to be whole and >= 0, as an engine's are.

        They are taken as they are, without a copy, and become read-only: to look at them again, on
        hundreds of workers and thousands of periods, takes longer than to learn prices.

        Parameters
        ----------
        slots, kv_tokens
            Shape (G, T-k+1), int64, >= 0.
        others
            The other fields, which are checked.
        """
        problem = object.__new__(cls)
        for one in fields(cls):
            object.__setattr__(problem, one.name, others.get(one.name, one.default))
        for name, array in (("slots", slots), ("kv_tokens", kv_tokens)):
            array.flags.writeable = False
            object.__setattr__(problem, name, array)
        problem._check_numbers()
        problem._check_requests()
        problem._refuse_overflow()
        return problem

    def _check_numbers(self) -> None:
        for name, least in (("periods", 1), ("period", 1), ("clipped", 0)):
            number = whole(name, getattr(self, name), least, MAX_EXACT_TOKENS)
            object.__setattr__(self, name, number)
        if self.period > self.periods:
            raise InputError(f"period = {self.period} must be at most periods = {self.periods}")
        if not isinstance(self.inclusive, bool):
            raise InputError(f"inclusive = {shown(self.inclusive)} must be true or false")
        if self.age_offset is not None:
            object.__setattr__(
                self, "age_offset", whole("age_offset", self.age_offset, 0, MAX_EXACT_TOKENS)
            )
        object.__setattr__(self, "batching", parse_batching(str(self.batching)))
        for name in ("t1", "t2"):
            object.__setattr__(self, name, latency_threshold(name, getattr(self, name)))

    def _check_workers(self) -> None:
        clipped = self.clipped
        for name in ("slots", "kv_tokens"):
            array = number_array(name, getattr(self, name), at_least=_ANY, ndim=2)
            if array.shape[0] == 0:
                raise InputError(f"{name} needs at least one worker")
            if array.shape[1] != self.remaining:
                raise InputError(
                    f"{name} must have {self.remaining} entries per worker, one for each of the "
                    f"periods {self.period}..{self.periods}; got {array.shape[1]}"
                )
            if array.dtype.kind != "i":
                g, k = (int(axis[0]) for axis in np.nonzero(array != np.floor(array)))
                raise InputError(f"{name}[{g}, {k}] = {array[g, k]} must be a whole number")
            clipped += int((array < 0).sum())
            object.__setattr__(self, name, frozen(np.maximum(array, 0)))
        if self.slots.shape != self.kv_tokens.shape:
            raise InputError(
                f"slots has {len(self.slots)} workers and kv_tokens {len(self.kv_tokens)}"
            )
        object.__setattr__(self, "clipped", clipped)

    def _check_requests(self) -> None:
        prompt = token_vector("prompt_tokens", self.prompt_tokens, at_least=0)
        count = len(prompt)
        decode = token_vector("decode_tokens", self.decode_tokens, at_least=1, length=count)
        arrival = token_vector("arrival_period", self.arrival_period, at_least=_ANY, length=count)
        if (arrival > self.period).any():
            row = int(np.argmax(arrival > self.period))
            raise InputError(
                f"arrival_period[{row}] = {arrival[row]} must be at most the period {self.period}: "
                "a waiting request has arrived"
            )
        object.__setattr__(self, "prompt_tokens", prompt)
        object.__setattr__(self, "decode_tokens", decode)
        object.__setattr__(self, "arrival_period", arrival)
        slo_class = check_weights(self.weights, self.slo_class, count)
        object.__setattr__(self, "slo_class", slo_class)

    def _refuse_overflow(self) -> None:
        """Raise where a sum that solvers form is no int64, or no double with all its units."""
        for name in ("prompt_tokens", "decode_tokens"):
            refuse_sum(name, getattr(self, name))
        with np.errstate(over="ignore"):
            total = float(self.rewards.sum())
        if not total < MAX_EXACT_TOKENS:
            raise InputError(
                f"weights: the rewards of all requests add up to {total:g}, they must stay below "
                "2^53: divide the weights by one number, only their ratios matter"
            )

    @property
    def workers(self) -> int:
        """Number of workers G."""
        return len(self.slots)

    @property
    def remaining(self) -> int:
        """Number of remaining periods T-k+1."""
        return self.periods - self.period + 1

    @property
    def waiting(self) -> int:
        """Number of waiting requests J."""
        return len(self.prompt_tokens)

    @property
    def rewards(self) -> npt.NDArray[np.float64]:
        """r_j of starting each request now, on any worker, shape (J,)."""
        weights = weight_rows(self.weights, self.slo_class, self.waiting)
        return _reward.reward(
            _reward.PerTerm(*weights.T),
            self.decode_tokens,
            self.arrival_period,
            start_period=self.period,
            periods=self.periods,
            t1=self.t1,
            t2=self.t2,
            batching=self.batching,
            inclusive=self.inclusive,
        )

    @property
    def active_remaining(self) -> npt.NDArray[np.int64]:
        """In how many of the remaining periods each request is active if admitted now, (J,)."""
        last = last_active_period(self.period, self.decode_tokens, self.batching)
        return np.minimum(last, self.periods) - self.period + 1

    @property
    def tokens_at_start(self) -> npt.NDArray[np.int64]:
        """KV tokens at age 0, shape (J,); a request grows by one token per period."""
        return kv_tokens_at(
            0, self.prompt_tokens, self.decode_tokens, self.batching, self.effective_age_offset
        )

    @property
    def effective_age_offset(self) -> int:
        """The age offset in force."""
        return default_age_offset(self.batching) if self.age_offset is None else self.age_offset

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, checked again."""
        return replace(self, **changes)

    def to_document(self) -> dict[str, Any]:
        """Return the problem as plain JSON types; options stand there where not the default."""
        columns = _REQUEST if self.slo_class is None else (*_REQUEST, "slo_class")
        lists = [getattr(self, name).tolist() for name in columns]
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "period": self.period,
            "periods": self.periods,
            "batching": str(self.batching),
            "weights": self.weights.to_document(),
            "t1": self.t1,
            "t2": self.t2,
            "workers": [
                {"slots": slots.tolist(), "kv_tokens": tokens.tolist()}
                for slots, tokens in zip(self.slots, self.kv_tokens, strict=True)
            ],
            "requests": [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)],
        }
        options = {
            "inclusive": self.inclusive or None,
            "age_offset": self.age_offset,
            "clipped": self.clipped or None,
        }
        return document | {name: value for name, value in options.items() if value is not None}

    def to_json(self) -> str:
        """Return the problem in the versioned JSON format ``olprouting/period/1``."""
        return json.dumps(self.to_document())

    @classmethod
    def from_json(cls, text: str, source: str = "period problem") -> Self:
        """Return the problem that `text` holds.

        Parameters
        ----------
        text
            A document of schema ``olprouting/period/1``.
        source
            Where the text came from, for messages.

        Raises
        ------
        InputError
            If the text is not JSON, has another schema, lacks a field, has one too many, or a
            value is out of range.
        """
        return cls.from_document(load_json(text, source), source)

    @classmethod
    def from_document(cls, document: Any, source: str = "period problem") -> Self:
        """Return the problem of a document that has been read; see `from_json`."""
        document = of_schema(document, source, SCHEMA)
        with naming(source, SCHEMA):
            return cls._from_fields(document)

    @classmethod
    def _from_fields(cls, document: dict[str, Any]) -> Self:
        refuse_wrong_fields("period problem", document, _REQUIRED, _OPTIONAL)
        weights = weights_from_document(document["weights"])
        classes = () if isinstance(weights, SloWeights) else ("slo_class",)
        workers = _columns("workers", document["workers"], ("slots", "kv_tokens"))
        requests = _columns("requests", document["requests"], (*_REQUEST, *classes))
        for name, rows in workers.items():
            _refuse_ragged(name, rows, document)
        options = {name: document[name] for name in _OPTIONAL if name in document}
        return cls(
            period=document["period"],
            periods=document["periods"],
            weights=weights,
            t1=document["t1"],
            t2=document["t2"],
            batching=document["batching"],
            **workers,
            **requests,
            **options,
        )


def _columns(where: str, rows: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Turn a list of objects into one list per field."""
    if not isinstance(rows, list):
        raise InputError(f"{where} must be a list of objects")
    for index, row in enumerate(rows):
        refuse_wrong_fields(f"{where}[{index}]", row, set(names))
    return {name: [row[name] for row in rows] for name in names}


def _refuse_ragged(name: str, rows: list[Any], document: dict[str, Any]) -> None:
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(rows[0]):
            found = len(row) if isinstance(row, list) else shown(row)
            raise InputError(
                f"workers[{index}].{name} must hold one number for each of the periods "
                f"{shown(document['period'])}..{shown(document['periods'])}, got {found}"
            )
