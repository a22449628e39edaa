"""A trace split by time: requests to learn from, and those that come after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError

if TYPE_CHECKING:
    from olprouting.instances.trace import Trace


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
