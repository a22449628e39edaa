"""Kernels without machine code of their own: what they give and raise, here and from disk."""

from __future__ import annotations

import os

import pytest
from child_processes import python

from olprouting.compiling import INTERPRETED, compiled, kernel
from olprouting.inner_code import InnerLibrary, OuterLibrary

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


@kernel
def root(number: float) -> float:
    """Return the square root of what has one."""
    if number < 0:
        raise ValueError("no root of a negative number")
    return float(number**0.5)


@kernel
def depth(number: int) -> int:
    """Return the number, counted down by calls of itself."""
    if number == 0:
        return 0
    below: int = depth(number - 1)
    return below + 1


@compiled
def twice_the_root(number: float) -> float:
    """Call what has no machine code."""
    return 2 * root(number) + depth(int(number))


@compiled
def thrice_the_root(number: float) -> float:
    """Call the same from elsewhere."""
    return 3 * root(number)


CALLS = """
import sys
sys.path.insert(0, sys.argv[1])
from test_inner_code import depth, root, twice_the_root
print(twice_the_root(9.0))
try:
    twice_the_root(-1.0)
except ValueError as error:
    print(error)
print(*(sum(kernel.stats.cache_misses.values()) for kernel in (twice_the_root, root, depth)))
"""


def test_what_kernels_call_gives_and_raises_the_same_when_loaded(tmp_path) -> None:
    """Catches an address that nobody set: a crash in the first process, or only in the second."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    here = os.path.dirname(__file__)
    first, second = (python(CALLS, here, env=environment).stdout.splitlines() for _ in range(2))
    assert first == ["15.0", "no root of a negative number", "1 1 1"]
    assert second == ["15.0", "no root of a negative number", "0 0 0"]


CALLS_FROM_ANOTHER = """
import sys
sys.path.insert(0, sys.argv[1])
from test_inner_code import root, thrice_the_root
print(thrice_the_root(4.0), sum(root.stats.cache_hits.values()))
"""


def test_a_kernel_read_from_disk_is_linked_into_new_ones(tmp_path) -> None:
    """Catches code on disk that only the kernels of its first process can use."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    here = os.path.dirname(__file__)
    python(CALLS, here, env=environment)
    assert python(CALLS_FROM_ANOTHER, here, env=environment).stdout.split() == ["6.0", "1"]


def test_only_what_python_calls_has_machine_code() -> None:
    """Catches a Numba that builds its own libraries after all: first runs would be slow again."""
    assert twice_the_root(9.0) == 15.0
    for dispatcher, library in ((root, InnerLibrary), (twice_the_root, OuterLibrary)):
        (compiled_once,) = dispatcher.overloads.values()
        assert isinstance(compiled_once.library, library)
