"""`--strict`: a run with a warning ends with exit code 3, and without one with 0."""

from __future__ import annotations

import pytest
from command_line import olprouting

SIMULATED = ("simulate", "--requests", "40", "--workers", "2", "--policy", "jsq")
GAPS = (
    *("gaps", "--requests", "40", "--workers", "2", "--policies", "jsq,br0", "--decisions", "2"),
    *("--judged-by", "myopic", "--replications", "0"),
)
HINDSIGHT = (
    *("hindsight", "--requests", "4", "--workers", "2", "--time-limit", "0.2", "--policies", ""),
)


@pytest.mark.parametrize(
    ("command", "warning"),
    [
        ((*SIMULATED, "--slots", "40"), "the slots never fill"),
        ((*GAPS, "--slots", "40"), "left a choice: too few"),
        ((*HINDSIGHT, "--slots", "4"), "nothing binds"),
        ((*HINDSIGHT, "--slots", "4", "--json"), "nothing binds"),
    ],
)
def test_a_warning_is_exit_code_3_if_asked_for(command, warning):
    """Catches a command that takes --strict and does not heed it."""
    usual, strict = olprouting(*command), olprouting(*command, "--strict")
    assert (usual.returncode, strict.returncode) == (0, 3), strict.stderr
    assert warning in usual.stderr
    assert warning in strict.stderr
    assert strict.stdout.split("search")[0][:200] == usual.stdout.split("search")[0][:200]


def test_without_a_warning_strict_changes_nothing():
    done = olprouting(*SIMULATED, "--slots", "4", "--strict")
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
