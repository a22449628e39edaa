"""A policy that fails in mid-run: one line that says which, when, where and why."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from olprouting.engine import simulate
from olprouting.errors import InputError, PolicyError
from olprouting.instances import Cluster
from olprouting.policies import FunctionPolicy
from olprouting.traces import from_profile


def fill(view):
    free = np.repeat(np.arange(len(view.free_slots)), view.free_slots)
    return list(enumerate(free[: view.admissions].tolist()))


def boom():
    raise RuntimeError("boom\nand more")


def leave():
    sys.exit("no more")


class MuteError(Exception):
    """An error whose text cannot be read."""

    def __str__(self) -> str:
        raise GeneratorExit


def be_mute():
    raise MuteError


def leave_the_generator():
    raise GeneratorExit("no more")


def refuse():
    raise InputError("the model file is gone")


@pytest.mark.parametrize(
    ("fail", "message"),
    [
        (boom, "raised at {when}: RuntimeError: boom and more ({file}, line {line})"),
        (leave, "raised at {when}: SystemExit: no more ({file}, line {line})"),
        (
            be_mute,
            "raised at {when}: MuteError: (no text: GeneratorExit) ({file}, line {line})",
        ),
        (leave_the_generator, "raised at {when}: GeneratorExit: no more ({file}, line {line})"),
        (refuse, "failed at {when}: the model file is gone"),
    ],
)
def test_what_a_policy_raises_is_one_line_with_the_decision_and_the_place(fail, message) -> None:
    """Catches tracebacks of the engine, and an exit of the whole program."""
    met = []

    def route(view, rng):
        met.append(view.iteration)
        return fill(view) if len(met) < 3 else fail()

    trace = from_profile("azure-2023-conv-like", 30, np.random.default_rng(0))
    with pytest.raises(PolicyError) as caught:
        simulate(trace, Cluster.homogeneous(2, 4), FunctionPolicy("late", route), backlog=6)
    assert str(caught.value) == "policy 'late' " + message.format(
        when=f"decision 3 (iteration {met[2]})",
        file=Path(__file__).name,
        line=fail.__code__.co_firstlineno + 1,
    )
