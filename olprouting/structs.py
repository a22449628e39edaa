"""Named tuples as structs: kernels are handed one pointer, not every array of a tuple.

Compiled code passes a tuple by copying all its fields, and counts references to each of its arrays
at every call. A struct made of it once, where Python calls the kernel, costs one pointer. Its
fields have the same names, so that kernels run on the tuple itself where nothing is compiled.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

from numba import types
from numba.core import cgutils
from numba.core.extending import intrinsic, overload
from numba.experimental import structref
from numba.experimental.jitclass.base import imp_dtor

Record = TypeVar("Record", bound=tuple[Any, ...])


@structref.register
class Struct(types.StructRef):
    """The type of a struct; all named tuples of one type become structs of one type."""

    def __init__(self, fields: list[tuple[str, types.Type]]) -> None:
        super().__init__(fields)  # type: ignore[no-untyped-call]
        # Numba would spell out all fields in the name of every compiled function
        self.name = f"Struct#{hashlib.sha256(self.name.encode()).hexdigest()[:16]}"


class Handle(structref.StructRefProxy):
    """A struct as Python holds it: to be given back to kernels, which alone can look inside."""

    __slots__ = ()


structref.define_boxing(Struct, Handle)


def as_struct(record: Record) -> Record:
    """Return a struct with the fields of a named tuple, those that are named tuples too.

    Arrays are shared, numbers copied. Interpreted, it is the tuple itself.
    """
    return record


@overload(as_struct)
def _compile_as_struct(record: Any) -> Any:
    if isinstance(record, types.NamedTuple):

        def convert(record: Any) -> Any:
            return _filled(record)  # type: ignore[call-arg]  # Numba passes the context

    else:

        def convert(record: Any) -> Any:
            return record

    return convert


def _struct_of(record: types.NamedTuple) -> Struct:
    return Struct(
        [
            (name, _struct_of(field) if isinstance(field, types.NamedTuple) else field)
            for name, field in zip(record.fields, record.types, strict=True)
        ]
    )


@intrinsic
def _filled(typing_context: Any, record: Any) -> Any:
    struct = _struct_of(record)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _fill(context, builder, struct, values[0])

    return struct(record), generate


def _fill(context: Any, builder: Any, struct: Struct, record: Any) -> Any:
    """Generate code that allocates a struct and sets its fields."""
    payload_type = struct.get_data_type()  # type: ignore[no-untyped-call]
    size = context.get_abi_sizeof(context.data_model_manager[payload_type].get_value_type())
    meminfo = context.nrt.meminfo_alloc_dtor(
        builder, context.get_constant(types.uintp, size), imp_dtor(context, builder.module, struct)
    )
    filled = cgutils.create_struct_proxy(struct)(context, builder)
    filled.meminfo = meminfo
    payload = cgutils.create_struct_proxy(payload_type)(
        context,
        builder,
        ref=builder.bitcast(
            context.nrt.meminfo_data(builder, meminfo),
            context.data_model_manager[payload_type].get_value_type().as_pointer(),
        ),
    )
    for index, (name, field) in enumerate(struct.field_dict.items()):
        value = builder.extract_value(record, index)
        if isinstance(field, Struct):
            value = _fill(context, builder, field, value)
        else:
            context.nrt.incref(builder, field, value)
        setattr(payload, name, value)
    return filled._getvalue()
