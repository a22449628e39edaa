"""Random small decisions, and every way to change one number of a document."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from olprouting.instances import Decision
from olprouting.instances.documents import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[Any, ...]


def random_decision(
    seed: int, *, workers: int, waiting: int, horizon: int, **fields: Any
) -> Decision:
    """A decision whose residents end within the window; full workers and twins included."""
    rng = np.random.default_rng(seed)
    loads = rng.integers(0, 40, (workers, 1)) + np.arange(horizon + 1)
    loads = loads * (np.arange(horizon + 1) < rng.integers(1, horizon + 4, (workers, 1)))
    return Decision(loads, rng.integers(0, 3, workers), rng.integers(1, 30, waiting), **fields)


@st.composite
def decisions(draw: st.DrawFn, most_waiting: int = 5, most_workers: int = 3) -> Decision:
    """Any small decision: every gamma and growth, pools that fill the slots or do not."""
    return random_decision(
        draw(st.integers(0, 2**20)),
        workers=draw(st.integers(1, most_workers)),
        waiting=draw(st.integers(0, most_waiting)),
        horizon=draw(st.sampled_from([0, 0, 1, 4])),
        gamma=draw(st.sampled_from(["1", "0.86", "1/2"])),
        growth=draw(st.sampled_from(["growing", "frozen"])),
    )


def changes(document: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every document that differs from this one in one number, several ways for each number."""
    for path, value in _numbers(document, ()):
        number = Fraction(value)
        for other in {number + 1, -number, 2 * number, Fraction(0)} - {number}:
            changed = copy.deepcopy(document)
            place = changed
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = _like(value, other)
            yield path, changed


def refingerprinted(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the fingerprint of its own problem, as a forger would write it."""
    return document | {"problem_sha256": fingerprint(document["problem"])}


def _numbers(node: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        if isinstance(value, dict | list):
            yield from _numbers(value, (*path, key))
        elif _is_number(value):
            yield (*path, key), value


def _is_number(value: Any) -> bool:
    if not isinstance(value, str):
        return isinstance(value, int | float) and not isinstance(value, bool)
    try:
        Fraction(value)
    except (ValueError, ZeroDivisionError):
        return False
    return True


def _like(value: Any, other: Fraction) -> Any:
    if isinstance(value, str):
        return str(other)
    return int(other) if isinstance(value, int) else float(other)
