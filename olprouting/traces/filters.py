"""Parts of a trace: filters by length, always counted in the notices, and a cut in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from olprouting.errors import InputError, unknown_name

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances.trace import Trace

Action = Literal["error", "drop", "clip"]


def limit_tokens(
    trace: Trace,
    *,
    max_prompt_tokens: int | None = None,
    max_decode_tokens: int | None = None,
    max_total_tokens: int | None = None,
    action: Action = "error",
) -> Trace:
    """Treat requests that are longer than a limit.

    Parameters
    ----------
    trace
        The requests.
    max_prompt_tokens, max_decode_tokens
        Largest allowed sizes, >= 1; no limit if None.
    max_total_tokens
        Largest allowed prompt + decode, >= 2; no limit if None.
    action
        ``"error"`` refuses the trace; ``"drop"`` leaves such requests out; ``"clip"`` shortens
        them (for the total: the decode first, down to 1 token, then the prompt).

    Returns
    -------
    Trace
        The trace with one notice per limit that was met, such as
        ``"3 of 10 dropped: prompt_tokens > 1024"``.

    Raises
    ------
    InputError
        If a limit is too small, or a request is over one and `action` is ``"error"``.
    """
    if action not in ("error", "drop", "clip"):
        raise unknown_name("action", action, ("error", "drop", "clip"))
    for limit, smallest, column in (
        (max_prompt_tokens, 1, "prompt_tokens"),
        (max_decode_tokens, 1, "decode_tokens"),
        (max_total_tokens, 2, "total_tokens"),
    ):
        if limit is None:
            continue
        if limit < smallest:
            raise InputError(f"max_{column} = {limit} must be >= {smallest}")
        trace = _limit(trace, column, limit, action)
    return trace


def min_decode_tokens(trace: Trace, minimum: int) -> Trace:
    """Drop requests with fewer than `minimum` decode tokens, counted in a notice."""
    return _drop(trace, trace.decode_tokens < minimum, f"decode_tokens < {minimum}")


def split_history(trace: Trace, requests: int) -> tuple[Trace, Trace]:
    """Return the first `requests` requests, and the others with their clock started anew.

    Raises
    ------
    InputError
        If either part would hold no request.
    """
    if not 0 < requests < len(trace):
        raise InputError(
            f"{trace.name}: {len(trace)} request(s) cannot be split after {requests}; "
            "both parts need at least one"
        )
    later = trace.take(slice(requests, None))
    restarted: dict[str, Any] = {}
    if later.arrival_s is not None:
        restarted["arrival_s"] = later.arrival_s - later.arrival_s[0]
    if later.release_iteration is not None:
        restarted["release_iteration"] = later.release_iteration - later.release_iteration[0] + 1
    return trace.head(requests), later.replace(**restarted)


def _limit(trace: Trace, column: str, limit: int, action: Action) -> Trace:
    sizes = _sizes(trace, column)
    over = sizes > limit
    if not over.any():
        return trace
    policy = f"{column} > {limit}"
    if action == "error":
        index = int(np.argmax(over))
        raise InputError(
            f"{trace.name}: request {index} has {column} = {sizes[index]}, over the limit {limit} "
            f"({int(over.sum())} of {len(trace)} are); choose 'drop' or 'clip'"
        )
    if action == "drop":
        return _drop(trace, over, policy)
    return trace.with_notice(
        f"{int(over.sum())} of {len(trace)} clipped: {policy}", **_clipped(trace, column, limit)
    )


def _sizes(trace: Trace, column: str) -> npt.NDArray[np.int64]:
    if column == "total_tokens":
        return trace.prompt_tokens + trace.decode_tokens
    sizes: npt.NDArray[np.int64] = getattr(trace, column)
    return sizes


def _clipped(trace: Trace, column: str, limit: int) -> dict[str, Any]:
    if column != "total_tokens":
        return {column: np.minimum(_sizes(trace, column), limit)}
    prompt = np.minimum(trace.prompt_tokens, limit - 1)
    return {
        "prompt_tokens": prompt,
        "decode_tokens": np.minimum(trace.decode_tokens, limit - prompt),
    }


def _drop(trace: Trace, out: npt.NDArray[np.bool_], policy: str) -> Trace:
    if not out.any():
        return trace
    return trace.take(~out).with_notice(f"{int(out.sum())} of {len(trace)} dropped: {policy}")
