"""Asking a policy about a decision that no run met."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.errors import InputError
from olprouting.exact import recheck
from olprouting.instances import Decision
from olprouting.policies import PolicyOptions, decision_of, make_policy, view_of

E1 = Decision([[10], [4]], [1, 2], [2, 4, 4])


def test_a_decision_survives_as_a_view() -> None:
    """Catches a field left out or mixed up on the way."""
    back = decision_of(view_of(E1))
    assert back.to_json() == E1.to_json()


@pytest.mark.parametrize(("name", "imbalance"), [("br0", 4), ("exact", 0)])
def test_policies_answer_with_an_admissible_assignment(name, imbalance) -> None:
    """Catches arrays of a type that compiled policies do not take.

    By hand: BR-0 fills the margin 6 of worker 1 with {2, 4} and leaves [14, 10], an imbalance of 4.
    """
    policy = make_policy(name, E1.workers, PolicyOptions(horizon=0, solver="highs"))
    pairs = tuple(policy.route(view_of(E1), np.random.default_rng(0)))
    assert recheck(E1, pairs) == imbalance


def test_counts_are_what_policies_that_count_look_at() -> None:
    """By hand: two lighter workers with a free slot, the first with more requests in service."""
    decision = Decision([[1], [9]], [1, 1], [5])
    jsq = make_policy("jsq", 2, PolicyOptions(ties="index"))
    rng = np.random.default_rng(0)
    assert jsq.route(view_of(decision, [3, 1]), rng) == [(0, 1)]
    assert jsq.route(view_of(decision), rng) == [(0, 0)]


def test_fractional_sizes_are_refused() -> None:
    """Catches sizes cut down to whole tokens in silence."""
    with pytest.raises(InputError, match="must be whole"):
        view_of(Decision([[0], [0]], [1, 2], [0.6, 0.3, 0.3]))
