"""Dataclasses that compiled kernels take by reference, whatever number of arrays they hold."""

from __future__ import annotations

import functools
import hashlib
import operator
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
    def _counterpart(self) -> tuple[types.StructRef, Any]:
        """The type by which Numba chooses compiled code, and what it is handed."""
        values = _getter(type(self))(self)  # type: ignore[arg-type]
        key = type(self), *map(_kind, values)
        found = _CONSTRUCTORS.get(key)
        if found is None:  # Numba takes long to tell the type of an array
            found = _CONSTRUCTORS[key] = _constructor(type(self), tuple(map(typeof, values)))
        numba_type, make = found
        return numba_type, make(values)

    @functools.cached_property
    def _numba_type_(self) -> types.StructRef:
        return self._counterpart[0]

    @functools.cached_property
    def _meminfo(self) -> Any:
        return self._counterpart[1]


Constructor = tuple[types.StructRef, "Callable[[tuple[Any, ...]], Any]"]

_CONSTRUCTORS: dict[tuple[Any, ...], Constructor] = {}


@functools.cache
def _getter(struct: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return what takes the values of all fields."""
    names = _names(struct)
    return operator.attrgetter(*names) if len(names) > 1 else lambda one: (getattr(one, names[0]),)


@functools.cache
def _names(struct: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(struct))


def _kind(value: Any) -> Any:
    """Return what the Numba type of a field's value depends on."""
    kind = type(value)
    if kind is np.ndarray or kind is np.recarray:
        return value.dtype, value.ndim, value.flags.num
    if isinstance(value, Struct):
        return value._numba_type_
    return kind if isinstance(value, (int, float, np.generic)) else value


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


def _constructor(struct: Any, field_types: tuple[types.Type, ...]) -> Constructor:
    """Return the type of structs with such fields, and compiled code that makes one of values."""
    kernel = _construct(struct)
    signature = (types.BaseTuple.from_types(field_types),)
    kernel.compile(signature)
    numba_type = struct.numba_class(list(zip(_names(struct), field_types, strict=True)))
    return numba_type, kernel.overloads[signature].entry_point


@functools.cache
def _construct(struct: Any) -> Any:
    """Return the kernel that makes the counterpart of any such struct."""
    structref.define_constructor(struct, struct.numba_class, _names(struct))

    def construct(values: tuple[Any, ...]) -> Any:
        return struct(*values)

    construct.__module__, construct.__qualname__ = struct.__module__, struct.__qualname__
    return compiled(construct)
