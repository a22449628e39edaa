"""Division of a decision by its largest requests, against enumeration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from native_cases import decisions, least

from olprouting.exact import SolveOptions, recheck
from olprouting.exact.native.largest import Division
from olprouting.exact.native.prepare import prepare, with_totals
from olprouting.exact.native.search import Search

if TYPE_CHECKING:
    from olprouting.instances import Decision


def divided(decision: Decision) -> tuple[Search, Division]:
    """Return a search whose root bound is known, and a division that has not begun."""
    search = Search(prepare(decision), SolveOptions(), None)
    search.greedy()
    search.root()
    return search, Division(search, with_totals(search.prepared))


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(decision=decisions(), steps=st.sampled_from([1, 20, 10**6]))
def test_the_parts_cover_the_decision(decision: Decision, steps: int) -> None:
    # catches a part left out or cut off wrongly, loads or slots that a placed request leaves
    # unchanged, and values of a part that miss its tokens
    assume(0 < decision.free_slots.sum() <= decision.waiting)
    best = least(decision)
    search, division = divided(decision)
    done = False
    for _ in range(3000):
        done = division.run(steps)
        assert done or search.prepared.objective(division.bound) <= best + 1e-6
        if done:
            break
    assert done
    assert search.assignment is not None
    assert recheck(decision, search.assignment) == search.value == best
