"""Decisions whose optimum can be argued by hand, through every backend and formulation."""

from __future__ import annotations

import pytest

from olprouting.exact import recheck, solve
from olprouting.instances import Decision, StopReason

Backend = dict[str, str]


def test_e1_balances_perfectly(e1: Decision, backend: Backend) -> None:
    # 10 + 2 and 4 + 4 + 4: both workers at 12, so no imbalance is left
    result = solve(e1, **backend)
    assert result.stop_reason is StopReason.OPTIMAL
    assert (result.value, result.bound) == (0, 0)
    assert result.assignment == ((0, 0), (1, 1), (2, 1))
    assert result.relative_gap == 0


def test_e2_leaves_one_token(e2: Decision, backend: Backend) -> None:
    # the total 29 is no multiple of 3: loads 9, 10, 10 are the best there is
    result = solve(e2, **backend)
    assert result.stop_reason is StopReason.OPTIMAL
    assert (result.value, result.bound) == (1, 1)
    assert isinstance(result.value, int)
    assert result.assignment is not None
    assert recheck(e2, result.assignment) == 1


@pytest.mark.parametrize(
    ("change", "objective"),
    [
        ({"waiting_prompt_tokens": []}, 2 * 10 - 14),
        ({"free_slots": [0, 0]}, 2 * 10 - 14),
        # one worker is always balanced with itself
        ({"projected_load_tokens": [[7]], "free_slots": [2]}, 0),
        # whatever goes to the lower worker: 2 * 10 - (10 + 6), the largest that fits under 10 is 4
        ({"free_slots": [0, 1]}, 2 * 10 - 18),
    ],
    ids=["no requests", "no slots", "one worker", "one slot"],
)
def test_degenerate_decisions_have_answers(
    e1: Decision, backend: Backend, change: dict[str, object], objective: int
) -> None:
    # a sum over no requests once raised "trivial Boolean" in Pyomo
    result = solve(e1.replace(**change), **backend)
    assert result.stop_reason is StopReason.OPTIMAL
    assert (result.value, result.bound) == (objective, objective)


def test_a_thousandfold_unit_gives_the_same_assignment(e1: Decision, backend: Backend) -> None:
    # tokens instead of blocks: a scale-dependent tolerance would show
    scaled = e1.replace(
        projected_load_tokens=e1.projected_load_tokens * 1000,
        waiting_prompt_tokens=e1.waiting_prompt_tokens * 1000,
    )
    result = solve(scaled, **backend)
    assert (result.value, result.assignment) == (0, solve(e1, **backend).assignment)


def test_objective_scales_with_the_unit(e2: Decision, backend: Backend) -> None:
    scaled = e2.replace(
        projected_load_tokens=e2.projected_load_tokens * 1000,
        waiting_prompt_tokens=e2.waiting_prompt_tokens * 1000,
    )
    assert solve(scaled, **backend).value == 1000


def test_decimal_sizes_are_not_rounded(backend: Backend) -> None:
    # 0.6 against 0.3 + 0.3; rounding the sizes to integers reports 0.6
    decision = Decision([[0.0], [0.0]], [1, 2], [0.6, 0.3, 0.3])
    result = solve(decision, **backend)
    assert result.value == 0
    assert result.assignment == ((0, 0), (1, 1), (2, 1))


def test_the_window_can_overrule_the_present(backend: Backend) -> None:
    # now worker 0 is the lower (0 < 4); from the next iteration on worker 1 is empty
    decision = Decision([[0, 5, 5], [4, 0, 0]], [1, 1], [6])
    # to worker 0: |6-4| + |12-0| + |13-0| = 27; to worker 1: |0-10| + |5-7| + |5-8| = 15
    result = solve(decision, **backend)
    assert (result.value, result.assignment) == (15, ((0, 1),))
    # the myopic program does the opposite: |6-4| = 2 against |0-10| = 10
    assert solve(decision.myopic(), **backend).assignment == ((0, 0),)


def test_interchangeable_workers_do_not_lose_the_optimum(backend: Backend) -> None:
    # three equal workers: the order that breaks their symmetry must keep an optimum
    decision = Decision([[5], [5], [5], [9]], [1, 1, 1, 0], [1, 2, 4, 4])
    # 5 + {2, 4, 4}: peak 9, total 15 + 10 + 9 = 34, imbalance 4 * 9 - 34 = 2
    assert solve(decision, **backend).value == 2
