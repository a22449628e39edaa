"""What a request occupies at each age: its slot, and its KV tokens.

A request started at period tau has age theta = k - tau at period k. With prompt s and decode
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


class Kernel(StrEnum):
    """What a worker does with a request that starts on it."""

    DECODE = "decode"
    """It decodes only: prefill happened elsewhere (PD disaggregation)."""
    MIXED = "mixed"
    """It first spends one period on prefill (PD-mixing)."""


def parse_kernel(kernel: Kernel | str) -> Kernel:
    """Return the kernel of this name.

    Raises
    ------
    InputError
        If there is none.
    """
    return member_named(Kernel, "kernel", kernel)


def first_token_delay(kernel: Kernel | str) -> int:
    """Return the periods from the start to the first token: 0 for decode, 1 for mixed."""
    return 1 if parse_kernel(kernel) is Kernel.MIXED else 0


def default_age_offset(kernel: Kernel | str) -> int:
    """Return the kernel's own age offset: 1 for decode, 0 for mixed."""
    return 0 if parse_kernel(kernel) is Kernel.MIXED else 1


def active_periods(decode_tokens: Ints, kernel: Kernel | str) -> npt.NDArray[np.int64]:
    """Return for how many periods requests are active: o for decode, o + 1 for mixed."""
    return np.asarray(decode_tokens, dtype=np.int64) + first_token_delay(kernel)


def last_active_period(
    start_period: Ints, decode_tokens: Ints, kernel: Kernel | str
) -> npt.NDArray[np.int64]:
    """Return the last period in which requests started at `start_period` are active."""
    return np.asarray(start_period, dtype=np.int64) + active_periods(decode_tokens, kernel) - 1


def is_active(age: Ints, decode_tokens: Ints, kernel: Kernel | str) -> npt.NDArray[np.bool_]:
    """Return whether requests are active at `age`, in periods since their start."""
    age = np.asarray(age, dtype=np.int64)
    return (age >= 0) & (age < active_periods(decode_tokens, kernel))


def kv_tokens_at(
    age: Ints,
    prompt_tokens: Ints,
    decode_tokens: Ints,
    kernel: Kernel | str,
    age_offset: int | None = None,
) -> npt.NDArray[np.int64]:
    """Return the KV tokens that requests hold at `age`: 0 where they are not active.

    Parameters
    ----------
    age
        Periods since the start.
    prompt_tokens, decode_tokens
        s >= 0 and o >= 1.
    kernel
        ``"decode"`` or ``"mixed"``.
    age_offset
        Tokens held at age 0 beyond the prompt; None is the kernel's own.
    """
    offset = default_age_offset(kernel) if age_offset is None else age_offset
    held = np.asarray(prompt_tokens, dtype=np.int64) + age + offset
    return np.where(is_active(age, decode_tokens, kernel), held, 0)
