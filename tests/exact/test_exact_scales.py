"""Numbers of any size: no false optimum, no bound above the optimum, nothing infeasible.

Solvers that work in doubles let a count miss a whole number by 1e-6 or more; times a request of 1e9
tokens (KV sizes counted in bytes) that is a thousand tokens, taken for a proof.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from native_cases import decisions as small_decisions

from olprouting.errors import InputError
from olprouting.exact import SolveOptions, assignments, available_solvers, objective, recheck, solve
from olprouting.exact.backend import BeyondRangeError
from olprouting.exact.reduction import reduced
from olprouting.exact.trust import EXACT
from olprouting.instances import Decision

SCALES = (0, 2, 5, 6, 8, 9, 10, 12, 14, 15)


def of_scale(seed: int, scale: int) -> Decision:
    """A tiny decision with numbers about `scale`: even, or a few tokens off common ones."""
    rng = np.random.default_rng([seed, scale])
    workers, waiting = int(rng.integers(2, 4)), int(rng.integers(3, 6))
    slots = rng.integers(1, 3, workers)
    if seed % 2:
        loads = rng.integers(0, 4, (workers, 1)) * (scale // 3) + rng.integers(0, 6, (workers, 1))
        sizes = rng.integers(1, 4, waiting) * (scale // 3) + rng.integers(1, 6, waiting)
        return Decision(loads, slots, sizes)
    loads = rng.integers(0, scale, (workers, 1)) - np.arange(3) * (scale // 9)
    gamma = ("1", "0.86")[seed // 2 % 2]
    return Decision(np.maximum(0, loads), slots, rng.integers(1, scale + 2, waiting), gamma=gamma)


def least(decision: Decision) -> int | Fraction:
    return min(objective(decision, candidate) for candidate in assignments(decision))


@pytest.mark.parametrize("exponent", SCALES)
@pytest.mark.parametrize("solver", available_solvers())
def test_no_solver_is_wrong_at_any_scale(solver: str, exponent: int) -> None:
    """HiGHS called 3% of such decisions optimal with a wrong value at 1e10, and some infeasible."""
    for seed in range(4):
        decision = of_scale(seed, 10**exponent)
        best = least(decision)
        try:
            result = solve(decision, solver=solver)
        except BeyondRangeError:
            assert solver in EXACT  # they say so; the others have them to fall back on
            continue
        assert result.status in ("optimal", "optimal_within_gap")
        assert result.assignment is not None
        assert float(recheck(decision, result.assignment) - best) <= 1e-4
        assert result.bound is not None
        assert Fraction(result.bound) <= best
        assert result.absolute_gap is not None
        assert 0 <= result.absolute_gap <= 1e-3


@pytest.mark.parametrize("solver", ["highs", "appsi_highs", "auto"])
def test_beyond_its_range_a_solver_is_replaced_and_named(solver: str) -> None:
    """Catches a study that believes that HiGHS proved what it cannot."""
    decision = Decision([[3 * 10**9], [10**9 + 1]], [1, 2], [10**9, 2 * 10**9 + 1, 7])
    result = solve(decision, solver=solver)
    assert result.status == "optimal"
    if solver != "auto":
        assert result.solver == "native"
        assert f"{solver} proves nothing with numbers of up to 2e+09, native solved it" in (
            result.message
        )
    beyond = decision.replace(waiting_prompt_tokens=[2**53, 2**52, 7])
    assert solve(beyond, solver=solver).solver == "cpsat"
    with pytest.raises(BeyondRangeError, match="native: loads and sizes of up to"):
        solve(beyond, solver="native")
    if solver == "highs":  # a limit that the exact solver has not must not be dropped
        with pytest.raises(BeyondRangeError, match="has no node_limit"):
            solve(
                beyond.replace(free_slots=[9, 9]), solver=solver, options=SolveOptions(node_limit=5)
            )


def test_numbers_that_nobody_can_compute_with_are_refused_in_one_line() -> None:
    """Catches a traceback, or an answer without proof, where every exact solver has refused."""
    rng = np.random.default_rng(0)
    decision = Decision(
        rng.integers(0, 2**45, (8, 81)), [3] * 8, rng.integers(1, 2**45, 40), gamma="0.86"
    )
    with pytest.raises(InputError, match=r"highs proves nothing .* nor can an exact") as refusal:
        solve(decision, solver="highs")
    assert "\n" not in str(refusal.value)


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    """Decisions with common loads, common divisors and decimals, of every size."""
    workers, horizon = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    unit = draw(st.sampled_from([1, 1024, 0.1, 3 * 10**9]))
    common = draw(st.sampled_from([0, 2**21]))
    numbers = st.integers(0, 9).map(lambda number: (common + number) * unit)
    return Decision(
        [[draw(numbers) for _ in range(horizon + 1)] for _ in range(workers)],
        draw(st.lists(st.integers(1, 2), min_size=workers, max_size=workers)),
        [draw(st.integers(1, 9)) * unit for _ in range(draw(st.integers(1, 4)))],
        gamma=draw(st.sampled_from(["1", "0.5"])),
        growth=draw(st.sampled_from(["growing", "frozen"])),
    )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(decision=decisions())
def test_reducing_changes_values_by_the_unit_alone(decision: Decision) -> None:
    """Catches a subtracted load that some worker has not, or growth divided by a divisor."""
    small = reduced(decision)
    assert small.decision.admissions == decision.admissions
    for assignment in list(assignments(decision))[:20]:
        assert objective(decision, assignment) == small.unit * objective(small.decision, assignment)


def test_common_loads_and_divisors_go() -> None:
    """KV sizes in bytes, far above their differences: what is left is small and whole."""
    small = reduced(Decision([[2**50 + 4096], [2**50]], [1, 1], [8192, 4096]))
    assert small.decision.projected_load_tokens.tolist() == [[1], [0]]
    assert small.decision.waiting_prompt_tokens.tolist() == [2, 1]
    assert small.unit == 4096
    tenths = reduced(Decision([[0.0], [0.0]], [1, 2], [0.6, 0.3, 0.3]))
    assert (tenths.decision.waiting_prompt_tokens.tolist(), tenths.unit) == (
        [2, 1, 1],
        Fraction(3, 10),
    )


def test_the_callback_of_a_reduced_decision_speaks_of_tokens() -> None:
    """Catches units in place of tokens: 4096 times too small."""
    decision = Decision([[9 * 2**30], [7 * 2**30], [2**31]], [1, 1, 2], [5 * 2**30, 2**30, 3])
    seen: list[tuple[float, float | None]] = []
    options = SolveOptions(on_incumbent=lambda value, bound, _: seen.append((value, bound)))
    result = solve(decision, solver="highs", options=options)
    assert seen[-1][0] == result.value
    assert all(bound is None or bound <= value for value, bound in seen)


@pytest.mark.parametrize("gamma", ["0.86", "0.7"])
def test_a_bound_is_rounded_down(gamma: str) -> None:
    """A lower bound to the nearest double lies above the optimum in half of all cases."""
    rounded = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        decision = Decision(
            rng.integers(0, 50, (3, 5)), [1, 2, 1], rng.integers(1, 30, 4), gamma=gamma
        )
        result = solve(decision, solver="native")
        best = least(decision)
        assert result.status == "optimal"
        assert Fraction(result.bound) <= best
        assert result.absolute_gap == 0  # the same number, rounded up or to the nearest
        rounded += Fraction(result.value) > best
    assert rounded > 0


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(decision=small_decisions(), unit=st.sampled_from([1, 2**24]))
def test_weights_rounded_down_leave_a_bound(decision: Decision, unit: int) -> None:
    # 0.86^20 has a denominator of 34 digits. Catches weights rounded up, whose bound may lie above
    # the optimum; tokens in a large unit leave few places, so that rounding shows
    longer = np.repeat(decision.projected_load_tokens[:, :1], 21, axis=1) * unit
    sizes = decision.waiting_prompt_tokens * unit
    lookahead = Decision(longer, decision.free_slots, sizes, gamma="0.86", growth=decision.growth)
    exact, rounded = (solve(lookahead, solver=name) for name in ("native", "cpsat"))
    assert rounded.solver == "cpsat"
    assert exact.value is not None
    assert rounded.value is not None
    assert rounded.bound is not None
    assert rounded.bound <= exact.value <= rounded.value
    assert rounded.value - rounded.bound <= 1e-3 * unit
