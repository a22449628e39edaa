"""Structs: one object for Python and for compiled kernels."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from child_processes import python

from olprouting.compiling import compiled
from olprouting.structs import Struct

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Parcel(Struct):
    """A matrix that kernels read and write, and a number."""

    matrix: Any
    factor: float


@compiled
def double_and_add_up(parcel: Parcel) -> float:
    """Double the first row in place; return factor times the sum of all."""
    total = 0.0
    for row in range(parcel.matrix.shape[0]):
        for column in range(parcel.matrix.shape[1]):
            if row == 0:
                parcel.matrix[row, column] *= 2
            total += parcel.matrix[row, column]
    return total * parcel.factor


def test_kernels_and_python_share_the_arrays_of_a_struct() -> None:
    # catches a copy: what a kernel writes would be lost, or what Python writes between two calls
    parcel = Parcel(np.ones((2, 2)), 10.0)
    assert double_and_add_up(parcel) == 60.0
    assert parcel.matrix.tolist() == [[2, 2], [1, 1]]
    parcel.matrix[1] = 0.0
    assert double_and_add_up(parcel) == 80.0


SECOND_PROCESS = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from test_structs import Parcel, double_and_add_up
stats = double_and_add_up.stats
print(double_and_add_up(Parcel(np.ones((1, 3)), 0.5)))
print(sum(stats.cache_misses.values()), sum(stats.cache_hits.values()))
"""


def test_a_second_process_loads_kernels_of_structs(tmp_path: Path) -> None:
    # catches a type that Numba's cache does not know again: every process would compile
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    here = os.path.dirname(__file__)
    runs = [python(SECOND_PROCESS, here, env=environment).stdout.split() for _ in range(2)]
    assert runs == [["3.0", "1", "0"], ["3.0", "0", "1"]]


def test_structs_of_other_arrays_are_of_another_type() -> None:
    # catches types that are remembered by too little: code for other arrays would misread them
    plain, again = Parcel(np.ones((2, 3)), 1.0), Parcel(np.zeros((4, 5)), 2.0)
    transposed = Parcel(np.ones((3, 2)).T, 1.0)
    assert plain._numba_type_ == again._numba_type_ != transposed._numba_type_
    assert double_and_add_up(transposed) == double_and_add_up(plain) == 9.0
