"""Stopping a running solver: the incumbent callback, and Ctrl-C."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest
from child_processes import finish, needs_sigint, start

from olprouting.errors import InputError
from olprouting.exact import SolveOptions, recheck, solve
from olprouting.instances import Decision, StopReason


@pytest.mark.parametrize("solver", ["native", "highs", "cpsat"])
def test_the_callback_sees_improving_values_and_stops(hard: Decision, solver: str) -> None:
    seen: list[tuple[float, float | None, float]] = []

    def stop_at_second(objective: float, bound: float | None, seconds: float) -> bool:
        seen.append((objective, bound, seconds))
        return len(seen) == 2

    options = SolveOptions(on_incumbent=stop_at_second, time_limit_s=30)
    result = solve(hard, solver=solver, options=options)
    assert result.stop_reason is StopReason.INTERRUPTED
    assert seen[1][0] < seen[0][0]
    assert all(bound is None or bound <= objective for objective, bound, _ in seen)
    assert result.value is not None
    assert result.value <= seen[-1][0]
    assert result.assignment is not None
    assert recheck(hard, result.assignment) == result.value


@pytest.mark.parametrize("solver", ["highs", "cpsat", "brute-force"])
def test_a_callback_that_returns_nothing_lets_it_finish(e2: Decision, solver: str) -> None:
    seen: list[float] = []
    options = SolveOptions(on_incumbent=lambda objective, bound, seconds: seen.append(objective))
    assert solve(e2, solver=solver, options=options).status == "optimal"
    assert seen[-1] == 1


@pytest.mark.parametrize("solver", ["native", "highs", "cpsat"])
def test_an_error_in_the_callback_is_raised(hard: Decision, solver: str) -> None:
    # an exception inside the solver's own thread is easily lost
    def fail(objective: float, bound: float | None, seconds: float) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        solve(hard, solver=solver, options=SolveOptions(on_incumbent=fail, time_limit_s=30))


def test_a_solver_without_callbacks_says_so(e2: Decision) -> None:
    options = SolveOptions(on_incumbent=lambda *_: None)
    with pytest.raises(InputError, match="'appsi_highs' has no on_incumbent; highs has"):
        solve(e2, solver="appsi_highs", options=options)


INTERRUPTED = """
import json, sys
sys.path.insert(0, {folder!r})
from conftest import make_hard
from olprouting.exact import SolveOptions, solve
solve(make_hard().myopic(), solver={solver!r}, options=SolveOptions(time_limit_s=0))
print("ready", flush=True)
result = solve(make_hard(), solver={solver!r}, options=SolveOptions(time_limit_s=1000))
print(json.dumps([result.status, result.value]), flush=True)
"""


@needs_sigint
@pytest.mark.parametrize("solver", ["auto", "native", "highs", "cpsat"])
def test_ctrl_c_returns_the_incumbent(solver: str) -> None:
    # a solver's C++ code does not see Python's signal; without care the process hangs for its
    # whole time limit, which is far beyond the child's
    run = start(INTERRUPTED.format(folder=str(Path(__file__).parent), solver=solver))
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    time.sleep(2)
    run.send_signal(signal.SIGINT)
    shown, errors = finish(run)
    assert run.returncode == 0, errors
    status, objective = json.loads(shown)
    assert status == "interrupted"
    assert objective > 0
