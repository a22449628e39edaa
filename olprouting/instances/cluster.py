"""The serving cluster: workers, slots, and how long a step takes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError, shown, unknown_name
from olprouting.instances._checks import positive, refuse_sum, require_memory, token_vector, whole

_BALANCE_AUTHORS = "balance-authors"

MAX_SLOTS = 2**27
"""Slots of the largest cluster: policies list the free ones."""

_A100_FITS_S: dict[str, tuple[float, float, float]] = {
    # name: (fixed, per active request, per resident token), least squares over Vidur's predictor
    "llama-3-8b-a100-tp1": (10.534e-3, 0.02875e-3, 8.699e-8),
    "llama-2-7b-a100-tp1": (10.531e-3, 0.03064e-3, 2.687e-7),
    "llama-2-70b-a100-tp4": (36.13e-3, 0.0715e-3, 5.42e-8),
}


@dataclass(frozen=True)
class StepTime:
    """Duration of one decode step in seconds.

    A worker with load L (tokens) and n active requests needs
    ``fixed_s + per_token_s * L + per_slot_s * n``; the step lasts as long as its slowest worker
    plus ``shared_per_token_s`` times the mean load, the part balance cannot help (balance paper,
    section 2).

    Parameters
    ----------
    fixed_s
        Time an empty worker takes, seconds, >= 0.
    per_token_s
        Time per resident token, seconds, >= 0.
    per_slot_s
        Time per active request, seconds, >= 0.
    shared_per_token_s
        Shared time per token of mean load, seconds, >= 0.

    Raises
    ------
    InputError
        If a coefficient is negative or not finite, or if all are zero.
    """

    fixed_s: float
    per_token_s: float
    per_slot_s: float = 0.0
    shared_per_token_s: float = 0.0

    def __post_init__(self) -> None:
        for name in ("fixed_s", "per_token_s", "per_slot_s", "shared_per_token_s"):
            positive(name, getattr(self, name), zero_allowed=True)
        if self.fixed_s + self.per_token_s == 0:
            raise InputError("fixed_s and per_token_s must not both be 0: steps would take no time")

    @classmethod
    def preset_names(cls) -> tuple[str, ...]:
        """Return the names that `preset` knows."""
        return (_BALANCE_AUTHORS, *_A100_FITS_S)

    @classmethod
    def preset(cls, name: str, slots: int = 72) -> Self:
        """Return a named step-time model.

        Parameters
        ----------
        name
            ``"balance-authors"`` (the balance paper's public simulator, whose fixed part depends
            on the slots per worker) or an A100 fit such as ``"llama-3-8b-a100-tp1"``.
        slots
            Slots per worker, used by ``"balance-authors"`` only.

        Raises
        ------
        InputError
            If the name is unknown.
        """
        whole("slots", slots, 0, MAX_SLOTS)
        if name == _BALANCE_AUTHORS:
            return cls(
                fixed_s=(slots * 0.6e-3 + 35e-3) / 16,
                per_token_s=1.5 * 2 * 576 * 61e-6 / 2**20,
            )
        if name not in _A100_FITS_S:
            raise unknown_name("step-time preset", name, cls.preset_names())
        fixed_s, per_slot_s, per_token_s = _A100_FITS_S[name]
        return cls(fixed_s=fixed_s, per_token_s=per_token_s, per_slot_s=per_slot_s)


@dataclass(frozen=True)
class PowerModel:
    """Power a worker draws: ``idle_w + (peak_w - idle_w) * u ** exponent``, u its load share.

    The defaults are the balance paper's (100 W, 400 W, 0.7); u is the worker's load over the
    heaviest worker's.
    """

    idle_w: float = 100.0
    peak_w: float = 400.0
    exponent: float = 0.7

    def __post_init__(self) -> None:
        positive("idle_w", self.idle_w, zero_allowed=True)
        positive("peak_w", self.peak_w, zero_allowed=True)
        positive("exponent", self.exponent)
        if not self.peak_w >= self.idle_w:
            raise InputError(f"peak_w = {self.peak_w} must be >= idle_w = {self.idle_w}")


@dataclass(frozen=True, eq=False)
class Cluster:
    """Workers that decode in lockstep.

    Parameters
    ----------
    slots
        Slots per worker, shape (G,), each >= 1. Workers may differ.
    kv_tokens
        KV-cache limit per worker in tokens, shape (G,), each >= 1; None means no limit.
    step_time
        Duration of a step; by default the balance authors' preset for the largest worker.
    power
        Power model for the energy metric.

    Raises
    ------
    InputError
        If there is no worker, or a field is out of range.
    """

    slots: npt.NDArray[np.int64]
    kv_tokens: npt.NDArray[np.int64] | None = None
    step_time: StepTime = None  # type: ignore[assignment]  # filled in below: it needs slots
    power: PowerModel = field(default_factory=PowerModel)

    def __post_init__(self) -> None:
        slots = token_vector("slots", self.slots, at_least=1)
        if not len(slots):
            raise InputError("slots must name at least one worker")
        refuse_sum("slots", slots, MAX_SLOTS)
        object.__setattr__(self, "slots", slots)
        if self.kv_tokens is not None:
            kv_tokens = token_vector("kv_tokens", self.kv_tokens, at_least=1, length=len(slots))
            refuse_sum("kv_tokens", kv_tokens)
            object.__setattr__(self, "kv_tokens", kv_tokens)
        if self.step_time is None:
            preset = StepTime.preset(_BALANCE_AUTHORS, int(slots.max()))
            object.__setattr__(self, "step_time", preset)

    @classmethod
    def homogeneous(
        cls,
        workers: int = 8,
        slots: int = 72,
        *,
        kv_tokens: Any = None,
        **fields: Any,
    ) -> Self:
        """Return a cluster of `workers` equal workers with `slots` slots each.

        One number as `kv_tokens` is the limit of every worker; the other fields are those of the
        class.
        """
        if workers < 1:
            raise InputError(f"workers = {workers} must be >= 1")
        require_memory(f"workers = {shown(workers)}", 32 * workers)
        if kv_tokens is not None and np.ndim(kv_tokens) == 0:
            kv_tokens = np.full(workers, kv_tokens)
        return cls(slots=np.full(workers, slots), kv_tokens=kv_tokens, **fields)

    @property
    def workers(self) -> int:
        """Number of workers G."""
        return len(self.slots)

    @property
    def total_slots(self) -> int:
        """Slots of all workers together."""
        return int(self.slots.sum())

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, checked again."""
        return replace(self, **changes)
