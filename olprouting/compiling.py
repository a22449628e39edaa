"""Compilation of hot loops with Numba, behind one typed decorator."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint64]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

CACHE_SWITCH = "OLPROUTING_COMPILE_CACHE"
"""Environment variable: set it to 0 to compile in memory only."""


def compiled(function: Kernel) -> Kernel:
    """Compile `function` at its first call and keep the machine code for later processes.

    Numba invalidates cached code by the one file a function stands in, although kernels call
    kernels of other files and freeze constants of others still. Here every kernel carries the
    stamp of all files in folders that hold kernels, so that editing or upgrading any of them can
    never leave stale code in use.
    """
    return _cached(function, set())


def summing(function: Kernel) -> Kernel:
    """Compile a kernel that adds up finite numbers in whatever order is fastest.

    Only then can a sum of floats be vectorised. Loop over slices: an index that might be negative
    prevents it too.
    """
    return _cached(function, {"reassoc", "nnan", "nsz"})


def _cached(function: Kernel, liberties: set[str]) -> Kernel:
    cache = os.environ.get(CACHE_SWITCH, "1") != "0"
    dispatcher = njit(function, cache=cache, error_model="numpy", fastmath=liberties)
    if cache:
        dispatcher._cache._cache_file._source_stamp = _stamp()
    return dispatcher  # type: ignore[no-any-return]


def is_warm(kernel: Callable[..., Any]) -> bool:
    """Whether machine code for `kernel` lies in the cache of this machine."""
    cache = getattr(kernel, "_cache")  # noqa: B009  (untyped attribute)
    return hasattr(cache, "_cache_file") and bool(cache._cache_file._load_index())


def inlined(function: Kernel) -> Kernel:
    """Inline `function` into the kernels that call it, which spares compiling it by itself."""
    return njit(function, inline="always", error_model="numpy")  # type: ignore[no-any-return]


@functools.cache
def _stamp() -> str:
    digest = hashlib.sha256()
    folders = {path.parent for path in Path(__file__).parent.rglob("*_kernels.py")}
    for path in sorted(path for folder in folders for path in folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
