"""Structs: one object for Python and for compiled kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np

from olprouting.exact.native.relaxation import new_relaxation
from olprouting.exact.native.relaxation_kernels import relaxed

if TYPE_CHECKING:
    from pathlib import Path

SECOND_PROCESS = """
import numpy as np
from olprouting.exact.native.relaxation import new_relaxation
from olprouting.exact.native.relaxation_kernels import relaxed
print(relaxed(new_relaxation(np.zeros((2, 3)), np.ones(3), np.ones(3)), 0))
print(sum(relaxed.stats.cache_misses.values()), sum(relaxed.stats.cache_hits.values()))
"""


def test_kernels_and_python_share_the_arrays_of_a_struct() -> None:
    # catches a copy: what a kernel writes would be lost, or what Python writes between two calls
    relaxation = new_relaxation(np.zeros((2, 1)), np.zeros(1), np.full(1, 2.0))
    relaxation.high[:] = relaxation.prices[:] = 3.0
    assert relaxed(relaxation, 0) == 2.0 * 3 - 3.0 * 6
    assert relaxation.point.tolist() == [3.0, 3.0]
    relaxation.high[1] = 1.0
    assert relaxed(relaxation, 0) == 2.0 * 3 - 3.0 * 4


def test_a_second_process_loads_kernels_of_structs(tmp_path: Path) -> None:
    # catches a type that Numba's cache does not know again: every process would compile
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run(
            [sys.executable, "-c", SECOND_PROCESS],
            capture_output=True,
            check=True,
            text=True,
            env=environment,
        ).stdout.split()
        for _ in range(2)
    ]
    assert runs == [["3.0", "1", "0"], ["3.0", "0", "1"]]


def test_structs_of_other_arrays_are_of_another_type() -> None:
    # catches types that are remembered by too little: code for other arrays would misread them
    plain = new_relaxation(np.zeros((2, 3)), np.zeros(3), np.ones(3))
    transposed = new_relaxation(np.zeros((3, 2)).T, np.zeros(3), np.ones(3))
    again = new_relaxation(np.ones((4, 5)), np.ones(5), np.ones(5))
    assert plain._numba_type_ == again._numba_type_ != transposed._numba_type_
    assert relaxed(transposed, 0) == relaxed(plain, 0)
