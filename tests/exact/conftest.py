"""Every backend with every formulation, and a decision that is hard enough to be stopped."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.exact.solvers import PYOMO_MIP_SOLVERS, why_unavailable
from olprouting.instances import Decision

BACKENDS = [
    ("highs", "size-class"),
    ("highs", "assignment"),
    ("cpsat", "size-class"),
    ("cpsat", "assignment"),
    ("appsi_highs", "size-class"),
    ("appsi_highs", "assignment"),
    ("brute-force", "enumeration"),
    ("native", "workers"),
    ("auto", "combined"),
    *(
        (name, "size-class")
        for name in PYOMO_MIP_SOLVERS
        if name != "appsi_highs" and why_unavailable(name) is None
    ),
]


@pytest.fixture(params=BACKENDS, ids="-".join)
def backend(request: pytest.FixtureRequest) -> dict[str, str]:
    """Keyword arguments of `solve`: one backend that is installed, with one formulation."""
    solver, formulation = request.param
    return {"solver": solver, "formulation": formulation}


def make_hard(seed: int = 2) -> Decision:
    """Divide 40 requests among 8 workers with room for all and loads that cross over the window."""
    rng = np.random.default_rng(seed)
    start = rng.integers(20_000, 30_000, size=(8, 1))
    slope = rng.integers(50, 400, size=(8, 1))
    loads = np.maximum(0, start - slope * np.arange(41))
    return Decision(loads, np.full(8, 30), rng.lognormal(6.8, 0.9, 40).astype(int) + 1)


@pytest.fixture(scope="session")
def hard() -> Decision:
    """A decision that no solver finishes in seconds."""
    return make_hard()
