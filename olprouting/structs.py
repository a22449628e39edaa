"""Dataclasses that compiled kernels take by reference, whatever number of arrays they hold."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
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
        values = self._values()
        kinds = type(self), *map(_kind, values)
        if kinds not in _TYPES:  # Numba takes long to tell the type of an array
            names = (field.name for field in fields(self))  # type: ignore[arg-type]
            _TYPES[kinds] = self.numba_class(list(zip(names, map(typeof, values), strict=True)))
        return _TYPES[kinds]

    @functools.cached_property
    def _meminfo(self) -> Any:
        """The compiled counterpart, made when a kernel first gets this instance."""
        return _constructor(type(self), self._numba_type_)(self._values())  # type: ignore[arg-type]

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]


_TYPES: dict[tuple[Any, ...], types.StructRef] = {}


def _kind(value: Any) -> Any:
    """Return what the Numba type of a field's value depends on."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num
    if isinstance(value, Struct):
        return value._numba_type_
    return type(value) if isinstance(value, (int, float, np.generic)) else value


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
def _constructor(
    struct: type[Struct], numba_type: types.StructRef
) -> Callable[[tuple[Any, ...]], Any]:
    """Return compiled code that makes the counterpart of such a struct from its values."""
    kernel = _construct(struct)  # type: ignore[arg-type]
    signature = (types.BaseTuple.from_types(tuple(numba_type.field_dict.values())),)
    kernel.compile(signature)
    make: Callable[[tuple[Any, ...]], Any] = kernel.overloads[signature].entry_point
    return make


@functools.cache
def _construct(struct: type[Struct]) -> Any:
    """Return the kernel that makes the counterpart of any such struct."""
    names = [field.name for field in fields(struct)]  # type: ignore[arg-type]
    structref.define_constructor(struct, struct.numba_class, names)

    def construct(values: tuple[Any, ...]) -> Struct:
        return struct(*values)

    construct.__module__, construct.__qualname__ = struct.__module__, struct.__qualname__
    return compiled(construct)
