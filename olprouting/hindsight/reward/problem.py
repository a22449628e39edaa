"""What is given in hindsight: every request of a run, the workers, and what a start is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from olprouting.errors import InputError
from olprouting.instances._checks import latency_threshold, token_vector, whole
from olprouting.instances.documents import refuse_wrong_fields
from olprouting.instances.request_curves import (
    active_periods,
    default_age_offset,
    first_token_delay,
    parse_batching,
)
from olprouting.instances.reward import latency_limit
from olprouting.instances.slo_classes import Weights, check_weights, weights_from_document
from olprouting.instances.slo_weights import SloWeights

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances import Cluster, Trace
    from olprouting.instances.request_curves import Batching

    Ints = npt.NDArray[np.int64]

MAX_TOKENS = 2**40
"""Token counts and periods beyond this are refused: products of two stay exact below 2^63."""


@dataclass(frozen=True, eq=False)
class HindsightProblem:
    """Which requests to start when and where, all arrivals and lengths known.

    A request admitted at period k on a worker is active, and holds KV tokens, as
    `olprouting.instances.request_curves` says, up to period T; what it does later binds nobody.

    Parameters
    ----------
    prompt_tokens, decode_tokens
        s_j and o_j, each >= 1, shape (J,).
    arrival_period
        t_j in 1.., nondecreasing, shape (J,). Requests that arrive after T never start.
    slots, kv_tokens
        B_g and M_g, shape (G,). No KV limit is written as a limit that cannot bind.
    weights
        Of the reward, or of each class of requests.
    periods
        T >= 1.
    t1, t2
        Thresholds of end-to-end latency and of time to first token, in periods, >= 1.
    batching
        ``"decode"`` or ``"mixed"``.
    age_offset
        KV tokens at age 0 beyond the prompt, >= 0.
    inclusive
        Whether a latency equal to its threshold counts.
    slo_class
        Class of each request, shape (J,), where weights are those of classes; else None.

    Raises
    ------
    InputError
        If a field is out of range.
    """

    prompt_tokens: Ints
    decode_tokens: Ints
    arrival_period: Ints
    slots: Ints
    kv_tokens: Ints
    weights: Weights
    periods: int
    t1: float
    t2: float
    batching: str
    age_offset: int
    inclusive: bool = False
    slo_class: npt.NDArray[Any] | None = None

    def __post_init__(self) -> None:
        for name, fields in (
            ("prompt_tokens", ("decode_tokens", "arrival_period")),
            ("slots", ("kv_tokens",)),
        ):
            column = token_vector(name, getattr(self, name), at_least=1)
            object.__setattr__(self, name, column)
            for other in fields:
                given = getattr(self, other)
                checked = token_vector(other, given, at_least=1, length=len(column))
                object.__setattr__(self, other, checked)
                _refuse_huge(other, checked)
            _refuse_huge(name, column)
        if not len(self.slots):
            raise InputError("slots must name at least one worker")
        for name, least in (("periods", 1), ("age_offset", 0)):
            if whole(name, getattr(self, name), least) > MAX_TOKENS:
                raise InputError(f"{name} = {getattr(self, name)} is beyond 2^40")
        latency_threshold("t1", self.t1)
        latency_threshold("t2", self.t2)
        slo_class = check_weights(self.weights, self.slo_class, len(self))
        object.__setattr__(self, "slo_class", slo_class)
        object.__setattr__(self, "batching", str(parse_batching(self.batching)))

    @classmethod
    def of(
        cls,
        trace: Trace,
        cluster: Cluster,
        weights: Weights,
        *,
        periods: int,
        t1: float,
        t2: float,
        batching: Batching | str,
        age_offset: int | None,
        inclusive: bool,
    ) -> Self:
        """Return the problem of a trace with releases by period, on the workers of a cluster.

        Raises
        ------
        InputError
            If the trace has no releases by period, or a field is out of range.
        """
        if trace.release_iteration is None:
            raise InputError(
                f"{trace.name}: hindsight needs releases by period (release_iteration); "
                "poisson_by_period gives a trace some"
            )
        kv_tokens = cluster.kv_tokens
        offset = default_age_offset(batching) if age_offset is None else age_offset
        if kv_tokens is None:
            grown = trace.prompt_tokens + trace.decode_tokens + offset
            kv_tokens = np.full(cluster.workers, max(1, int(grown.sum())))
        return cls(
            prompt_tokens=trace.prompt_tokens,
            decode_tokens=trace.decode_tokens,
            arrival_period=trace.release_iteration,
            slots=cluster.slots,
            kv_tokens=kv_tokens,
            weights=weights,
            periods=periods,
            t1=t1,
            t2=t2,
            batching=str(batching),
            age_offset=offset,
            inclusive=inclusive,
            slo_class=None if isinstance(weights, SloWeights) else trace.slo_class,
        )

    def __len__(self) -> int:
        return len(self.prompt_tokens)

    @property
    def active(self) -> Ints:
        """For how many periods each request is active, shape (J,)."""
        return active_periods(self.decode_tokens, self.batching)

    @property
    def first_tokens(self) -> Ints:
        """KV tokens of each request at age 0, shape (J,); one more at every later age."""
        return self.prompt_tokens + self.age_offset

    @property
    def delay(self) -> int:
        """Periods from a start to the first token."""
        return first_token_delay(self.batching)

    @property
    def latency_limits(self) -> tuple[int, int]:
        """Return the largest whole latencies that meet t1 and t2."""
        return latency_limit(self.t1, self.inclusive), latency_limit(self.t2, self.inclusive)

    def classes(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Return classes of identical workers: class of each worker, count, slots, KV tokens."""
        limits = np.stack([self.slots, self.kv_tokens], axis=1)
        kinds, index, counts = np.unique(limits, axis=0, return_inverse=True, return_counts=True)
        slots, kv_tokens = np.ascontiguousarray(kinds.T)  # else kernels are compiled once more
        return index.reshape(-1), counts, slots, kv_tokens

    def to_document(self) -> dict[str, Any]:
        """Return the problem as plain JSON types."""
        classes = {} if self.slo_class is None else {"slo_class": self.slo_class.tolist()}
        return {
            "prompt_tokens": self.prompt_tokens.tolist(),
            "decode_tokens": self.decode_tokens.tolist(),
            "arrival_period": self.arrival_period.tolist(),
            "slots": self.slots.tolist(),
            "kv_tokens": self.kv_tokens.tolist(),
            "weights": self.weights.to_document(),
            "periods": self.periods,
            "t1": self.t1,
            "t2": self.t2,
            "batching": self.batching,
            "age_offset": self.age_offset,
            "inclusive": self.inclusive,
            **classes,
        }

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Return the problem that `to_document` described.

        Raises
        ------
        InputError
            If a field is missing, unknown or out of range.
        """
        if not isinstance(document, Mapping):
            raise InputError(f"problem must be an object, found {document!r}")
        required = set(cls.__dataclass_fields__) - {"slo_class"}
        refuse_wrong_fields("problem", document, required, ("slo_class",))
        weights = weights_from_document(document["weights"])
        return cls(**{**document, "weights": weights})


def _refuse_huge(name: str, column: Ints) -> None:
    if len(column) and column.max() > MAX_TOKENS:
        row = int(column.argmax())
        raise InputError(f"{name}[{row}] = {column[row]} is beyond 2^40; give smaller units")
