"""Studies as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from study_files import POLICIES, POLICY_STUDY, SMALL, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A study of 12 cells."""
    return write(tmp_path / "small.toml", SMALL)


@pytest.fixture
def policy_study(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a study of a policy in POLICIES."""

    def make(policy: str, seeds: int = 2, workers: str = "[1, 2]") -> Path:
        write(tmp_path / "policies.py", POLICIES)
        return write(
            tmp_path / "study.toml",
            POLICY_STUDY.format(policy=policy, seeds=seeds, workers=workers),
        )

    return make
