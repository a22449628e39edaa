"""Dataclasses that compiled kernels take by reference, whatever number of arrays they hold."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

from numba import typeof
from numba.core import types
from numba.experimental import structref

from olprouting.compiling import INTERPRETED, Kernel, compiled

if TYPE_CHECKING:
    from collections.abc import Callable


class Struct:
    """Base of dataclasses whose instances are arguments of kernels, and fields of one another.

    Python and kernels read the same fields, ``state.left[c]``. A kernel gets one pointer, where a
    tuple of arrays is handed over as seven numbers per array: calls are faster, and their
    compilation much more so.

    Arrays are shared with Python. Numbers are not: kernels see those that the fields held when the
    instance was first passed. Make the dataclass frozen, and keep what changes in arrays.
    """

    numba_class: ClassVar[type[types.StructRef]]

    def __init_subclass__(cls) -> None:
        """Give the subclass a type for Numba, which Numba's cache finds again by its name."""
        names = {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.numba_class"}
        cls.numba_class = structref.register(type(cls.__name__, (_StructType,), names))
        structref.define_boxing(cls.numba_class, _Pointer)

    @functools.cached_property
    def _numba_type_(self) -> types.StructRef:
        """The type by which Numba chooses compiled code."""
        return self.numba_class([(name, typeof(value)) for name, value in self._items()])

    @functools.cached_property
    def _meminfo(self) -> Any:
        """The compiled counterpart, made when a kernel first gets this instance."""
        make = _constructor(type(self))  # type: ignore[arg-type]  # a class is hashable
        return make(tuple(value for _, value in self._items()))

    def _items(self) -> list[tuple[str, Any]]:
        return [(field.name, getattr(self, field.name)) for field in fields(self)]  # type: ignore[arg-type]


def by_pointer(kernel: Kernel, *arguments: Any) -> Kernel:
    """Return a compiled kernel for such arguments as a value that a field of a struct can hold.

    Kernels that call it there only know its address. Called by its name, it would be optimised
    again as a part of each kernel that calls it, and of each that calls those.
    """
    if INTERPRETED:
        return kernel
    pointer: Kernel = _pointer(kernel, tuple(typeof(argument) for argument in arguments))
    return pointer


@functools.cache
def _pointer(kernel: Any, signature: tuple[types.Type, ...]) -> Any:
    kernel.compile(signature)
    return types.CompileResultWAP(kernel.overloads[signature])


class _StructType(types.StructRef):
    """Numba's type of a struct, with a short name in symbols of machine code."""

    @property
    def mangling_args(self) -> tuple[str, tuple[()]]:
        """The name of the struct and a digest of its fields."""
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:16]
        return f"{type(self).__name__}_{digest}", ()


class _Pointer:
    """What Python gets of a compiled struct: only the pointer, which `Struct` keeps."""

    @staticmethod
    def _numba_box_(_: types.StructRef, meminfo: Any) -> Any:
        return meminfo


@functools.cache
def _constructor(struct: type[Struct]) -> Callable[[tuple[Any, ...]], Any]:
    """Return a kernel that makes the compiled counterpart from the values of the fields."""
    names = [field.name for field in fields(struct)]  # type: ignore[arg-type]
    structref.define_constructor(struct, struct.numba_class, names)

    def construct(values: tuple[Any, ...]) -> Struct:
        return struct(*values)

    construct.__module__, construct.__qualname__ = struct.__module__, struct.__qualname__
    return compiled(construct)
