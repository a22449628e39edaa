"""How the KV tokens of requests are counted, and what becomes of those that fit nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from olprouting.errors import InputError, unknown_name


class KvMode(StrEnum):
    """What a request is charged on its worker."""

    TOKENS = "tokens"
    """The tokens it holds."""
    BLOCKS = "blocks"
    """The same, rounded up to whole blocks."""
    RESERVE = "reserve"
    """Prompt and longest output from admission on; more only if it grows beyond that."""


class Oversize(StrEnum):
    """What becomes of a request that no worker could hold to its end."""

    ERROR = "error"
    """The run is refused."""
    REJECT = "reject"
    """The request is turned away on release, and counted."""


@dataclass(frozen=True)
class KvOptions:
    """Options of KV accounting; they matter only to a cluster with ``kv_tokens``.

    Parameters
    ----------
    mode
        ``"tokens"``, ``"blocks"`` or ``"reserve"``.
    block_tokens
        Block size of ``"blocks"``, >= 1: with 16, a request of 17 tokens is charged 32.
    max_output_tokens
        Output tokens that ``"reserve"`` sets aside per request, >= 1; None takes the request's
        forecast decode length.
    age_offset
        Tokens that a request holds at age 0 beyond its prompt, >= 0; None is the kernel's own: 1
        for decode (the token being generated), 0 for mixed.
    oversize
        ``"error"`` or ``"reject"``.

    Raises
    ------
    InputError
        If an option is unknown or out of range.
    """

    mode: KvMode | str = KvMode.TOKENS
    block_tokens: int = 16
    max_output_tokens: int | None = None
    age_offset: int | None = None
    oversize: Oversize | str = Oversize.ERROR

    def __post_init__(self) -> None:
        for name, kind in (("mode", KvMode), ("oversize", Oversize)):
            value = str(getattr(self, name))
            if value not in list(kind):
                raise unknown_name(f"KV {name}", value, list(kind))
            object.__setattr__(self, name, kind(value))
        for name, least in (("block_tokens", 1), ("max_output_tokens", 1), ("age_offset", 0)):
            value = getattr(self, name)
            if value is None and name != "block_tokens":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InputError(f"{name} = {value!r} must be an integer >= {least}")
        if self.max_output_tokens is not None and self.mode is not KvMode.RESERVE:
            raise InputError(f"max_output_tokens belongs to mode 'reserve', not {self.mode!s}")
