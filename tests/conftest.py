"""Shared fixtures: the tiny instances whose answers are known, and where real traces may lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from olprouting.instances import Decision

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("OLPROUTING_SHARED", REPOSITORY.parent / "shared"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `tests/fuzz` try more cases than there is time for in CI."""
    parser.addoption("--fuzz-cases", type=int, default=300, help="spoilt inputs to try")
    parser.addoption("--fuzz-seed", type=int, default=0, help="seed of the spoilt inputs")


@pytest.fixture(scope="session")
def e1() -> Decision:
    """G=2, optimum 0 with loads [12, 12]: 4 + 4 to worker 1, 2 to worker 0."""
    return Decision(
        projected_load_tokens=[[10], [4]], free_slots=[1, 2], waiting_prompt_tokens=[2, 4, 4]
    )


@pytest.fixture(scope="session")
def e2() -> Decision:
    """G=3, optimum 1 with loads {9, 10, 10}."""
    return Decision(
        projected_load_tokens=[[9], [7], [2]],
        free_slots=[1, 1, 2],
        waiting_prompt_tokens=[5, 3, 3],
    )


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real traces, which are not part of the repository."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip(f"real traces are not part of the repository and {folder} is absent")
    return folder
