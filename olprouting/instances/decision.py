"""One routing decision: the data of the imbalance program IO_H."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError, member_named, shown
from olprouting.instances._checks import number_array, refuse_sum, token_vector, whole
from olprouting.instances.documents import load_json, naming, of_schema, refuse_wrong_fields
from olprouting.parameters import MAX_WHOLE

SCHEMA = "olprouting/decision/1"

MAX_IMBALANCE = 2**63 - 1
"""What the imbalance of a decision may come to, whatever is chosen: solvers count in int64."""

_GAMMA = re.compile(r"\d{1,40}(\.\d{1,40})?(/\d{1,40})?")
"""Gamma as text: a decimal or a fraction. Exponents could stand for billions of digits."""


class Growth(StrEnum):
    """How an admitted request's contribution w[i,h] develops over the window."""

    GROWING = "growing"
    """w[i,h] = s_i + h: one token per iteration (the model)."""
    FROZEN = "frozen"
    """w[i,h] = s_i: the simplification of the balance paper's BR-H."""


@dataclass(frozen=True, eq=False)
class Decision:
    """Which waiting requests to admit, and to which workers (balance paper, section 3).

    Parameters
    ----------
    projected_load_tokens
        A[g,h], load of worker g's current requests h iterations ahead, shape (G, H+1), >= 0;
        column 0 is the observed load. int64 where whole, else float64.
    free_slots
        c_g, shape (G,), >= 0.
    waiting_prompt_tokens
        s_i of the waiting requests in queue order, shape (N,), > 0.
    gamma
        Discount in (0, 1], kept as the fraction it was given (``0.86`` is 43/50).
    growth
        How admitted requests grow over the window.

    Raises
    ------
    InputError
        If a field is out of range (its index is named) or the shapes do not fit.
    """

    projected_load_tokens: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    free_slots: npt.NDArray[np.int64]
    waiting_prompt_tokens: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    gamma: Fraction = Fraction(1)
    growth: Growth = Growth.GROWING

    def __post_init__(self) -> None:
        loads = number_array(
            "projected_load_tokens",
            self.projected_load_tokens,
            at_least=0,
            ndim=2,
            at_most=MAX_WHOLE,
        )
        if loads.shape[0] == 0 or loads.shape[1] == 0:
            raise InputError("projected_load_tokens needs at least one worker and offset 0")
        slots = token_vector("free_slots", self.free_slots, at_least=0, length=loads.shape[0])
        refuse_sum("free_slots", slots)
        sizes = number_array(
            "waiting_prompt_tokens",
            self.waiting_prompt_tokens,
            at_least=0,
            ndim=1,
            at_most=MAX_WHOLE,
        )
        if (sizes <= 0).any():
            row = int(np.argmax(sizes <= 0))
            raise InputError(f"waiting_prompt_tokens[{row}] = {sizes[row]} must be > 0")
        object.__setattr__(self, "projected_load_tokens", loads)
        object.__setattr__(self, "free_slots", slots)
        object.__setattr__(self, "waiting_prompt_tokens", sizes)
        object.__setattr__(self, "gamma", parse_gamma(self.gamma))
        object.__setattr__(self, "growth", member_named(Growth, "growth", str(self.growth)))
        self._refuse_overflow()

    def _refuse_overflow(self) -> None:
        """Raise unless every imbalance, and every sum on the way to it, is an int64."""
        cells = self.projected_load_tokens.size
        grown = self.waiting * self.horizon
        largest = self.projected_load_tokens.max()
        rough = float(largest) + self.waiting_prompt_tokens.sum(dtype=np.float64) + grown
        if cells * rough < MAX_IMBALANCE / 2:
            return
        admitted = np.sort(self.waiting_prompt_tokens)[self.waiting - self.admissions :]
        total = cells * (int(largest) + sum(map(int, admitted.tolist())) + grown)
        if total > MAX_IMBALANCE:
            raise InputError(
                f"projected_load_tokens and waiting_prompt_tokens can come to an imbalance of "
                f"{total} tokens; the largest allowed is {MAX_IMBALANCE}: give larger units"
            )

    @property
    def workers(self) -> int:
        """Number of workers G."""
        return int(self.projected_load_tokens.shape[0])

    @property
    def horizon(self) -> int:
        """Lookahead H: the window is the offsets 0..H."""
        return int(self.projected_load_tokens.shape[1]) - 1

    @property
    def waiting(self) -> int:
        """Number of waiting requests N."""
        return len(self.waiting_prompt_tokens)

    @property
    def admissions(self) -> int:
        """U = min(waiting, free slots): how many requests every maximal policy admits."""
        return min(self.waiting, int(self.free_slots.sum()))

    @property
    def integral(self) -> bool:
        """Whether every objective coefficient is an integer (whole tokens, and H=0 or gamma=1)."""
        whole = (
            self.projected_load_tokens.dtype.kind == "i"
            and self.waiting_prompt_tokens.dtype.kind == "i"
        )
        return whole and (self.horizon == 0 or self.gamma == 1)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, checked again."""
        return replace(self, **changes)

    def myopic(self) -> Self:
        """Return the H=0 decision on the same state."""
        return replace(
            self, projected_load_tokens=self.projected_load_tokens[:, :1], gamma=Fraction(1)
        )

    def to_document(self) -> dict[str, Any]:
        """Return the decision as plain JSON types."""
        as_float = float(self.gamma)
        gamma = as_float if Fraction(repr(as_float)) == self.gamma else str(self.gamma)
        workers = [
            {"projected_load_tokens": loads.tolist(), "free_slots": int(free)}
            for loads, free in zip(self.projected_load_tokens, self.free_slots, strict=True)
        ]
        return {
            "schema": SCHEMA,
            "horizon": self.horizon,
            "gamma": gamma,
            "growth": str(self.growth),
            "workers": workers,
            "waiting_prompt_tokens": self.waiting_prompt_tokens.tolist(),
        }

    def to_json(self) -> str:
        """Return the decision in the versioned JSON format ``olprouting/decision/1``."""
        return json.dumps(self.to_document())

    @classmethod
    def from_json(cls, text: str, source: str = "decision") -> Self:
        """Return the decision that `text` holds.

        Parameters
        ----------
        text
            A document of schema ``olprouting/decision/1``.
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
    def from_document(cls, document: Any, source: str = "decision") -> Self:
        """Return the decision of a document that has been read; see `from_json`."""
        document = of_schema(document, source, SCHEMA)
        with naming(source, SCHEMA):
            return cls._from_fields(document)

    @classmethod
    def _from_fields(cls, document: dict[str, Any]) -> Self:
        fields = {"schema", "horizon", "gamma", "growth", "workers", "waiting_prompt_tokens"}
        refuse_wrong_fields("decision", document, fields)
        horizon, workers = document["horizon"], document["workers"]
        horizon = whole("horizon", horizon, 0)
        if not isinstance(workers, list) or not workers:
            raise InputError("workers must be a list of at least one worker")
        for g, worker in enumerate(workers):
            refuse_wrong_fields(f"workers[{g}]", worker, {"projected_load_tokens", "free_slots"})
            loads = worker["projected_load_tokens"]
            if not isinstance(loads, list) or len(loads) != horizon + 1:
                raise InputError(
                    f"workers[{g}].projected_load_tokens must hold {horizon + 1} numbers "
                    f"(horizon + 1), got {len(loads) if isinstance(loads, list) else shown(loads)}"
                )
        return cls(
            projected_load_tokens=[w["projected_load_tokens"] for w in workers],  # type: ignore[arg-type]
            free_slots=[w["free_slots"] for w in workers],  # type: ignore[arg-type]
            waiting_prompt_tokens=document["waiting_prompt_tokens"],
            gamma=document["gamma"],
            growth=document["growth"],
        )


def parse_gamma(gamma: Fraction | float | str) -> Fraction:
    """Return gamma as the exact fraction it was written as; it must lie in (0, 1]."""
    try:
        if isinstance(gamma, bool) or (isinstance(gamma, str) and not _GAMMA.fullmatch(gamma)):
            raise TypeError
        # repr: 0.86 means 43/50, not the nearest double
        exact = Fraction(gamma if isinstance(gamma, str | Fraction) else repr(float(gamma)))
    except (TypeError, ValueError, ArithmeticError):
        raise InputError(f"gamma = {shown(gamma)} must be a number in (0, 1]") from None
    if not 0 < exact <= 1:
        raise InputError(f"gamma = {gamma} must lie in (0, 1]")
    return exact
