"""The combination of the native search and HiGHS."""

from __future__ import annotations

from olprouting.exact import SolveOptions, solve
from olprouting.instances import Decision, StopReason


def test_what_the_native_search_proves_costs_no_highs(e2: Decision) -> None:
    result = solve(e2, solver="auto")
    assert (result.status, result.value, result.bound) == ("optimal", 1, 1)
    assert "highs" not in result.message


def test_the_combination_is_not_worse_than_either_part(hard: Decision) -> None:
    # a combination that dropped a bound or an incumbent would be; HiGHS's bound is far better
    # here, the native incumbent is. Each part gets less time than the whole, hence the margins.
    both = solve(hard, solver="auto", options=SolveOptions(time_limit_s=4))
    native = solve(hard, solver="native", options=SolveOptions(time_limit_s=0.5))
    highs = solve(hard, solver="highs", options=SolveOptions(time_limit_s=1))
    assert both.stop_reason is StopReason.TIME_LIMIT
    assert both.value is not None
    assert native.value is not None
    assert highs.bound is not None
    assert both.bound is not None
    assert both.value <= native.value * 1.01
    assert highs.bound * 0.99 <= both.bound <= both.value
