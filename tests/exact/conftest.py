"""Every backend with every formulation, and a decision that is hard enough to be stopped."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.instances import Decision

BACKENDS = [
    ("highs", "size-class"),
    ("highs", "assignment"),
    ("cpsat", "size-class"),
    ("cpsat", "assignment"),
    ("appsi_highs", "size-class"),
    ("appsi_highs", "assignment"),
    ("brute-force", "enumeration"),
]


@pytest.fixture(params=BACKENDS, ids="-".join)
def backend(request: pytest.FixtureRequest) -> dict[str, str]:
    """Keyword arguments of `solve`: one backend with one formulation."""
    solver, formulation = request.param
    return {"solver": solver, "formulation": formulation}


def make_hard(seed: int = 5) -> Decision:
    """8 workers with loads that cross over the window, 40 of 120 requests to place."""
    rng = np.random.default_rng(seed)
    start = rng.integers(60_000, 70_000, size=(8, 1))
    slope = rng.integers(200, 900, size=(8, 1))
    loads = np.maximum(0, start - slope * np.arange(41))
    return Decision(loads, np.full(8, 5), rng.integers(500, 6_000, size=120))


@pytest.fixture(scope="session")
def hard() -> Decision:
    """A decision that no solver finishes in seconds."""
    return make_hard()
