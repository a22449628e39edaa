"""The benchmark of first runs runs."""

from __future__ import annotations

import sys

import pytest

if sys.platform == "win32":
    pytest.skip("Windows does not tell the processor time of children", allow_module_level=True)

import first_run


def test_it_measures_a_command() -> None:
    """Catches commands that are renamed, and a child that fails unseen."""
    table = first_run.measure([first_run.ROOT], only="--help")
    (cold, warm) = (next(iter(column.cells)) for column in table.columns[1:])
    assert float(cold) > 0
    assert float(warm) > 0


def test_a_command_that_fails_is_not_measured(tmp_path) -> None:
    """Catches the time of a traceback reported as that of a run."""
    with pytest.raises(first_run.subprocess.CalledProcessError):
        first_run.seconds(first_run.ROOT, ["-m", "olprouting", "no-such"], str(tmp_path))
