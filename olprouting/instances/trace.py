"""A trace: the requests of a run, one column per property."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError
from olprouting.instances._checks import finite_vector, refuse_sum, token_vector
from olprouting.parameters import MAX_WHOLE

if TYPE_CHECKING:
    import pandas as pd

RUN_COLUMNS = ("worker", "admission_iteration", "release_s", "first_token_s", "finish_s")
"""Columns that a run adds to the table of its trace."""


@dataclass(frozen=True, eq=False)
class Trace:
    """Requests in release order.

    Parameters
    ----------
    prompt_tokens
        Prompt sizes s_i, shape (N,), each >= 1.
    decode_tokens
        Decode lengths o_i, shape (N,), each >= 1.
    arrival_s
        Arrival times in seconds since the start of the trace, nondecreasing, >= 0; None where the
        source has none.
    release_iteration
        Iteration in which each request joins the queue, nondecreasing, >= 1; None unless releases
        are given in iterations.
    key
        Class of each request (prompt hash, conversation, ...), any int64; None where unknown.
    slo_class
        Name of the SLO class of each request (`olprouting.instances.SloClasses`); None where there
        are no classes.
    name
        What the trace is called in reports.
    notices
        What reading or changing the trace did to it, one sentence each (rows dropped, sorted, ...).

    Raises
    ------
    InputError
        If a value is out of range (its index is named), columns differ in length, or arrivals
        decrease.
    """

    prompt_tokens: npt.NDArray[np.int64]
    decode_tokens: npt.NDArray[np.int64]
    arrival_s: npt.NDArray[np.float64] | None = None
    release_iteration: npt.NDArray[np.int64] | None = None
    key: npt.NDArray[np.int64] | None = None
    slo_class: npt.NDArray[Any] | None = None
    name: str = "trace"
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        prompt = token_vector("prompt_tokens", self.prompt_tokens, at_least=1)
        count = len(prompt)
        columns: dict[str, Any] = {
            "prompt_tokens": prompt,
            "decode_tokens": token_vector(
                "decode_tokens", self.decode_tokens, at_least=1, length=count
            ),
        }
        if self.arrival_s is not None:
            columns["arrival_s"] = finite_vector("arrival_s", self.arrival_s, count)
        if self.release_iteration is not None:
            columns["release_iteration"] = token_vector(
                "release_iteration", self.release_iteration, at_least=1, length=count
            )
        if self.key is not None:
            columns["key"] = token_vector(
                "key", self.key, at_least=-(2**63), length=count, at_most=2**63 - 1
            )
        if self.slo_class is not None:
            columns["slo_class"] = _names("slo_class", self.slo_class, count)
        for name in ("prompt_tokens", "decode_tokens"):
            refuse_sum(name, columns[name], MAX_WHOLE // 2)
        for name, column in columns.items():
            object.__setattr__(self, name, column)
        for name in ("arrival_s", "release_iteration"):
            _refuse_decrease(name, columns.get(name))
        if self.arrival_s is not None and count and self.arrival_s[0] < 0:
            raise InputError(f"arrival_s[0] = {self.arrival_s[0]} must be >= 0; rebase the times")

    def __len__(self) -> int:
        return len(self.prompt_tokens)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, checked again."""
        return replace(self, **changes)

    def with_notice(self, notice: str, **changes: Any) -> Self:
        """Return a copy with some fields changed and the reason recorded."""
        return replace(self, notices=(*self.notices, notice), **changes)

    def take(self, rows: slice | npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Self:
        """Return the trace of the chosen rows, in the order given (a slice, mask or indices)."""

        def pick(column: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
            return None if column is None else column[rows]

        return replace(
            self,
            prompt_tokens=self.prompt_tokens[rows],
            decode_tokens=self.decode_tokens[rows],
            arrival_s=pick(self.arrival_s),
            release_iteration=pick(self.release_iteration),
            key=pick(self.key),
            slo_class=pick(self.slo_class),
        )

    def head(self, requests: int) -> Self:
        """Return the first `requests` requests (all, if there are fewer)."""
        return self.take(slice(0, requests))

    def to_frame(self) -> pd.DataFrame:
        """Return the columns that are present as a DataFrame, one row per request."""
        import pandas as pd

        times = ("arrival_s", "release_iteration")
        columns = (*times, "prompt_tokens", "decode_tokens", "key", "slo_class")
        present = {c: getattr(self, c) for c in columns if getattr(self, c) is not None}
        return pd.DataFrame(present)


def _names(name: str, column: Any, count: int) -> npt.NDArray[np.str_]:
    names = np.array(column, dtype=np.str_)
    if names.shape != (count,):
        raise InputError(f"{name} must have {count} entries, got shape {names.shape}")
    if (names == "").any():
        raise InputError(f"{name}[{int(np.argmax(names == ''))}] is empty")
    names.flags.writeable = False
    return names


def _refuse_decrease(name: str, column: npt.NDArray[Any] | None) -> None:
    if column is None or len(column) < 2:
        return
    falls = np.diff(column) < 0
    if falls.any():
        row = int(np.argmax(falls)) + 1
        raise InputError(
            f"{name}[{row}] = {column[row]} is before {name}[{row - 1}] = {column[row - 1]}; "
            "sort the requests by release"
        )
