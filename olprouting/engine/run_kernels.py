"""The compiled loop: iterations under a built-in rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.compiling import Ints, compiled
from olprouting.engine.iteration_kernels import advance, commit, observe
from olprouting.policies.route_kernels import route_compiled

if TYPE_CHECKING:
    from olprouting.engine.state import Rules, State
    from olprouting.policies.rules import RuleParameters


@compiled
def run_iterations(
    rules: Rules,
    state: State,
    parameters: RuleParameters,
    pointer: Ints,
    rng: np.random.Generator,
    iterations: int,
) -> bool:
    """Run up to `iterations` iterations; return False when nothing more will happen."""
    slots = 0
    for g in range(len(state.workers)):
        slots += state.workers[g].slots
    position = np.empty(slots, np.int64)
    worker = np.empty(slots, np.int64)
    for _ in range(iterations):
        if not advance(rules, state):
            return False
        view = observe(rules, state)
        admitted = 0
        if view.admissions > 0:
            admitted = route_compiled(parameters, view, pointer, rng, position, worker)
        commit(rules, state, position[:admitted], worker[:admitted])
    return True
