"""What a request occupies at each age: its slot, and its KV tokens.

A request admitted at period tau has age theta = k - tau at period k. With prompt s and decode
length o it is active and holds

    decode  at ages 0..o-1  m(theta) = s + theta + age_offset, by default age_offset = 1
    mixed   at ages 0..o    m(theta) = s + theta + age_offset, by default age_offset = 0

The offset 1 counts the token that is being generated. With PD-mixing (``mixed``) age 0 is the
prefill step, which generates none.

These functions are the only place where the curves are written down. They broadcast, so that
columns of requests and rows of ages give a table.

Source: bid-price paper, equation (1) and appendix A.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import member_named

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = int | npt.NDArray[np.int64]


class Batching(StrEnum):
    """What a worker does with a request that starts on it."""

    DECODE = "decode"
    """It decodes only: prefill happened elsewhere (PD disaggregation)."""
    MIXED = "mixed"
    """It first spends one period on prefill (PD-mixing)."""


def parse_batching(batching: Batching | str) -> Batching:
    """Return the batching mode of this name.

    Raises
    ------
    InputError
        If there is none.
    """
    return member_named(Batching, "batching", batching)


def first_token_delay(batching: Batching | str) -> int:
    """Return the periods from the start to the first token: 0 for decode, 1 for mixed."""
    return 1 if parse_batching(batching) is Batching.MIXED else 0


def default_age_offset(batching: Batching | str) -> int:
    """Return that of the batching mode age offset: 1 for decode, 0 for mixed."""
    return 0 if parse_batching(batching) is Batching.MIXED else 1


def active_periods(decode_tokens: Ints, batching: Batching | str) -> npt.NDArray[np.int64]:
    """Return for how many periods requests are active: o for decode, o + 1 for mixed."""
    return np.asarray(decode_tokens, dtype=np.int64) + first_token_delay(batching)


def last_active_period(
    start_period: Ints, decode_tokens: Ints, batching: Batching | str
) -> npt.NDArray[np.int64]:
    """Return the last period in which requests admitted at `start_period` are active."""
    return np.asarray(start_period, dtype=np.int64) + active_periods(decode_tokens, batching) - 1


def is_active(age: Ints, decode_tokens: Ints, batching: Batching | str) -> npt.NDArray[np.bool_]:
    """Return whether requests are active at `age`, in periods since their start."""
    age = np.asarray(age, dtype=np.int64)
    return (age >= 0) & (age < active_periods(decode_tokens, batching))


def kv_tokens_at(
    age: Ints,
    prompt_tokens: Ints,
    decode_tokens: Ints,
    batching: Batching | str,
    age_offset: int | None = None,
) -> npt.NDArray[np.int64]:
    """Return the KV tokens that requests hold at `age`: 0 where they are not active.

    Parameters
    ----------
    age
        Periods since the start.
    prompt_tokens, decode_tokens
        s >= 0 and o >= 1.
    batching
        ``"decode"`` or ``"mixed"``.
    age_offset
        Tokens held at age 0 beyond the prompt; None is that of the batching mode.
    """
    offset = default_age_offset(batching) if age_offset is None else age_offset
    held = np.asarray(prompt_tokens, dtype=np.int64) + age + offset
    return np.where(is_active(age, decode_tokens, batching), held, 0)
