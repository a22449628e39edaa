"""Compilation of hot loops with Numba, behind one typed decorator."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from numba import config, njit, typeof, types
from numba.core import event
from numba.core.caching import FunctionCache

from olprouting.inner_code import InnerCompiler, OuterCompiler, rebuild_inner
from olprouting.progress import ON_COMPILATION

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint64]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

PACKAGE = Path(__file__).parent

CACHE_SWITCH = "OLPROUTING_COMPILE_CACHE"
"""Environment variable: set it to 0 to compile in memory only."""

REORDERED: Final = {"reassoc", "nnan", "nsz"}
"""What makes a sum of floats vectorisable."""

INTERPRETED: Final = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]
"""Whether Numba's own switch NUMBA_DISABLE_JIT leaves kernels the Python functions they are."""


def compiled(function: Kernel) -> Kernel:
    """Compile `function` at its first call and keep the machine code for later processes.

    Numba invalidates cached code by the one file a function stands in, although kernels call
    kernels of other files and freeze constants of others still. Here every kernel carries the
    stamp of all files of this package that its own file imports, directly or not, so that editing
    or upgrading any of them can never leave stale code in use.
    """
    return _cached(function, set(), pipeline_class=OuterCompiler)


def kernel(function: Kernel) -> Kernel:
    """Compile a function that only other kernels call: like `compiled`, without a door to Python.

    Packing and unpacking of arguments takes as long to compile as a short loop, and machine code
    is made of it where it is called.
    """
    return _inner(function, set())


def summing_kernel(function: Kernel) -> Kernel:
    """Compile a function for other kernels that adds finite numbers in whatever order is fastest.

    Only then can a sum of floats be vectorised. Loop over slices: an index that might be negative
    prevents it too.
    """
    return _inner(function, REORDERED)


def _inner(function: Kernel, liberties: set[str]) -> Kernel:
    doors = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    dispatcher = _cached(function, liberties, pipeline_class=InnerCompiler, **doors)
    if isinstance(cache := getattr(dispatcher, "_cache", None), FunctionCache):
        cache._impl.rebuild = rebuild_inner
    return dispatcher


def _cached(function: Kernel, liberties: set[str], **options: Any) -> Kernel:
    if INTERPRETED:  # compiled code divides by zero and wraps integers around in silence
        return np.errstate(all="ignore")(function)
    dispatcher = njit(function, error_model="numpy", fastmath=liberties, **options)
    _compilations.known += 1
    dispatcher.get_call_template = _without_literals(dispatcher.get_call_template)
    if os.environ.get(CACHE_SWITCH, "1") != "0":
        with suppress(RuntimeError):  # there is no folder that may be written to
            dispatcher.enable_caching()
            cache = dispatcher._cache
            stamp = source_stamp(function)
            cache._cache_file._source_stamp = stamp
            # compared before the rest of an index is read, which may name what is no more
            cache._cache_file._version = f"{numba.__version__} {stamp}"
            cache.save_overload = _without_disk_errors(cache.save_overload)
    return dispatcher  # type: ignore[no-any-return]


def _without_literals(template: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `template` that compiles a kernel once for all whole numbers, not again for a 0."""

    @functools.wraps(template)
    def template_for(arguments: tuple[types.Type, ...], keywords: dict[str, types.Type]) -> Any:
        return template(tuple(map(types.unliteral, arguments)), keywords)

    return template_for


def _without_disk_errors(save: Callable[..., None]) -> Callable[..., None]:
    """Return a `save` to which a full disk is no error: the next process compiles again."""

    @functools.wraps(save)
    def try_to_save(*arguments: Any) -> None:
        with suppress(OSError):
            save(*arguments)

    return try_to_save


def prepare(kernel: Callable[..., Any], *arguments: Any) -> None:
    """Compile `kernel` for such arguments, or load its code, before a clock is started."""
    if not INTERPRETED:
        kernel.compile(tuple(map(typeof, arguments)))  # type: ignore[attr-defined]


class _Compilations(event.Listener):
    """Tells `ON_COMPILATION` which kernel is compiled; kernels that it calls come within."""

    known = 0
    done = 0
    depth = 0

    def on_start(self, event: event.Event) -> None:
        """Tell which kernel begins."""
        self.depth += 1
        self._tell(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: event.Event) -> None:
        """Count it, and tell when all are done."""
        self.depth -= 1
        self.done += 1
        if self.depth == 0:
            self._tell("")

    def _tell(self, name: str) -> None:
        for tell in ON_COMPILATION:
            tell(name, self.done, max(self.known, self.done))


_compilations = _Compilations()
event.register("numba:compile", _compilations)


def read_only(values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return whole numbers as an array that kernels may not write to, without a copy if they are.

    Read-only arrays are a type of their own to compiled code: with this there is only that one.
    """
    array = np.ascontiguousarray(values, np.int64).view()
    array.flags.writeable = False
    return array


def as_records(array: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Let interpreted kernels, too, read the fields of structured elements as attributes."""
    return array.view(np.recarray) if INTERPRETED else array


def source_stamp(function: Callable[..., Any]) -> str:
    """Return a digest of all source files that machine code of `function` depends on."""
    return _stamp(Path(inspect.getfile(sys.modules[function.__module__])))


def sources(path: Path) -> list[Path]:
    """Return the files of this package that the file at `path` is made of, itself included."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imported(file)
    return sorted(found)


@functools.cache
def _stamp(path: Path) -> str:
    digest = hashlib.sha256()
    for file in sources(path):
        digest.update(file.read_bytes())
    return digest.hexdigest()


@functools.cache
def _imported(path: Path) -> tuple[Path, ...]:
    """Return the files of this package that `path` imports when it is itself imported.

    In kernel files, imports for annotations count: fields of a tuple are part of the code.
    """
    indent = r"\s*" if path.name.endswith("_kernels.py") else ""
    statement = re.compile(rf"^{indent}from {PACKAGE.name}((?:\.\w+)*) import", re.MULTILINE)
    modules = [
        PACKAGE.joinpath(*name.split(".")[1:])
        for name in statement.findall(path.read_text(encoding="utf-8"))
    ]
    files = (module.with_suffix(".py") for module in modules)
    return tuple(file if file.exists() else file.with_suffix("") / "__init__.py" for file in files)
