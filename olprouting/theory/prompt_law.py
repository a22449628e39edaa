"""The law F of prompt sizes, and the checks of the model's numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError
from olprouting.instances._checks import MAX_EXACT_TOKENS, whole

SUM_TOLERANCE = 1e-9
"""How far probabilities may be from summing to 1; they are then scaled to do so."""

MOST_SIZES = 2**25
"""Sizes of the widest uniform law, so that a slip of the keyboard does not fill the memory."""


@dataclass(frozen=True, eq=False)
class PromptLaw:
    """A law of prompt sizes on finitely many sizes.

    Parameters
    ----------
    size_tokens
        Sizes, whole numbers >= 1, each once.
    probability
        Their probabilities, >= 0; they sum to 1 within 1e-9. Sizes of probability 0 are left out.
    name
        What the law is called in reports.

    Raises
    ------
    InputError
        If a value is out of range (its index is named) or the probabilities do not sum to 1.
    """

    size_tokens: npt.NDArray[np.int64]
    probability: npt.NDArray[np.float64]
    name: str = "law"

    def __post_init__(self) -> None:
        sizes = _column("size_tokens", self.size_tokens)
        weights = _column("probability", self.probability)
        if len(sizes) != len(weights):
            raise InputError(f"{len(sizes)} sizes but {len(weights)} probabilities")
        _refuse(
            "size_tokens", sizes, (sizes < 1) | (sizes != np.floor(sizes)), "a whole number >= 1"
        )
        _refuse("size_tokens", sizes, sizes > 2**40, "at most 2^40")
        _refuse("probability", weights, weights < 0, ">= 0")
        total = math.fsum(weights)
        if abs(total - 1) > SUM_TOLERANCE:
            raise InputError(f"the probabilities sum to {total:.12g}; they must sum to 1")
        order = np.argsort(sizes, kind="stable")
        order = order[weights[order] > 0]
        sizes = sizes[order].astype(np.int64)
        twice = np.flatnonzero(np.diff(sizes) == 0)
        if len(twice):
            raise InputError(f"size {sizes[twice[0]]} stands twice; give each size once")
        for name, column in (("size_tokens", sizes), ("probability", weights[order] / total)):
            column.flags.writeable = False
            object.__setattr__(self, name, column)

    @classmethod
    def uniform(cls, smallest: int, largest: int) -> Self:
        """Return the uniform law on {smallest..largest}."""
        if not 1 <= smallest <= largest:
            raise InputError(
                f"uniform:{smallest}:{largest}: expected 1 <= smallest <= largest size"
            )
        if largest - smallest >= MOST_SIZES:
            raise InputError(f"uniform:{smallest}:{largest}: expected at most 2^25 sizes")
        sizes = np.arange(smallest, largest + 1)
        return cls(sizes, np.full(len(sizes), 1 / len(sizes)), f"uniform:{smallest}:{largest}")

    @classmethod
    def empirical(cls, prompt_tokens: npt.ArrayLike, name: str = "empirical") -> Self:
        """Return the law of a prompt drawn from a sample."""
        sample = _column("prompt_tokens", prompt_tokens)
        sizes, count = np.unique(sample, return_counts=True)
        return cls(sizes, count / len(sample), name)  # type: ignore[arg-type]  # checked, then cast

    @property
    def smallest_tokens(self) -> int:
        """Smallest size."""
        return int(self.size_tokens[0])

    @property
    def largest_tokens(self) -> int:
        """Largest size, the paper's s."""
        return int(self.size_tokens[-1])

    @cached_property
    def mean_tokens(self) -> float:
        """E[S]."""
        return math.fsum(self.size_tokens * self.probability)

    @cached_property
    def variance_tokens2(self) -> float:
        """Var(S)."""
        return math.fsum((self.size_tokens - self.mean_tokens) ** 2 * self.probability)

    @property
    def diversity(self) -> float:
        """Return rho = 1 - max_t P(S = t); 0 where every prompt has the same size."""
        if len(self.size_tokens) == 1:
            return 0.0
        return 1 - float(self.probability.max())


def as_law(prompt_law: PromptLaw | int | npt.ArrayLike) -> PromptLaw:
    """Return a law; a whole number s means uniform on {1..s}, an array P(S = 1), P(S = 2), ...

    The short forms are those of `olprouting.traces.geometric`.
    """
    if isinstance(prompt_law, PromptLaw):
        return prompt_law
    if isinstance(prompt_law, int | np.integer):
        return PromptLaw.uniform(1, int(prompt_law))
    probability = _column("probability", prompt_law)
    return PromptLaw(np.arange(1, len(probability) + 1), probability)


def check_model(p: float, workers: int, slots: int) -> None:
    """Refuse a p outside (0, 1) and numbers of workers or slots outside 1..2^53.

    Raises
    ------
    InputError
        With the parameter and its range.
    """
    if not 0 < p < 1:
        raise InputError(f"p = {p:g} must lie strictly between 0 and 1")
    for name, value in (("workers", workers), ("slots", slots)):
        whole(name, value, 1, MAX_EXACT_TOKENS)


def _column(name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    try:
        column = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers") from None
    if column.ndim != 1 or not len(column):
        raise InputError(f"{name} must be a vector of at least one number")
    _refuse(name, column, ~np.isfinite(column), "finite")
    return column


def _refuse(
    name: str, column: npt.NDArray[np.float64], bad: npt.NDArray[np.bool_], expected: str
) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"{name}[{row}] = {column[row]:g} must be {expected}")
