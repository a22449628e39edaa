"""Small decisions for the tests of the native search."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from olprouting.exact import assignments, recheck
from olprouting.instances import Decision

GAMMAS = [Fraction(1), Fraction(1, 2), Fraction("0.86")]


@st.composite
def decisions(draw: st.DrawFn, most_slots: int = 3) -> Decision:
    """Up to 4 workers, 6 requests and H = 3; small numbers, so that ties and twins come."""
    workers = draw(st.integers(1, 4))
    horizon = draw(st.integers(0, 3))
    load = st.integers(0, draw(st.sampled_from([3, 12, 40])))
    row = st.lists(load, min_size=horizon + 1, max_size=horizon + 1)
    loads = draw(st.lists(row, min_size=workers, max_size=workers))
    if draw(st.booleans()):
        loads[-1] = loads[0]
    return Decision(
        loads,
        draw(st.lists(st.integers(0, most_slots), min_size=workers, max_size=workers)),
        draw(st.lists(st.integers(1, draw(st.sampled_from([3, 9, 30]))), max_size=6)),
        gamma=draw(st.sampled_from(GAMMAS)),
        growth=draw(st.sampled_from(["growing", "frozen"])),
    )


def least(decision: Decision) -> int | Fraction:
    """Return the optimum by enumeration."""
    return min(recheck(decision, candidate) for candidate in assignments(decision))
