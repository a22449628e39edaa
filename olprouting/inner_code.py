"""Compiled code of kernels that only other kernels call, without machine code of its own.

Numba links the code of a kernel into every kernel that calls it and optimises it there again. Made
into machine code it is by default, too, although nobody ever jumps there: a quarter of the time
that a first run takes. Here such a kernel stays what LLVM reads, and so it is kept on disk.
"""

from __future__ import annotations

from typing import Any, ClassVar

import llvmlite.binding as llvm
from numba.core import typed_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.environment import lookup_environment


class InnerLibrary(JITCodeLibrary):
    """Code of a kernel that is linked into others and never run by itself."""

    @classmethod
    def unserialize(cls, codegen: Any, state: tuple[str, str, bytes]) -> InnerLibrary:
        """Return the library that `serialize_using_object_code` wrote."""
        name, _, bitcode = state
        library = cls(codegen, name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalized = True
        return library

    def serialize_using_object_code(self) -> Any:
        """Return what goes to disk: there is no object code."""
        return self.serialize_using_bitcode()

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: nothing here has an address."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> InnerLibrary:
        """Where Numba sets the environment of a function: see `set_env`."""
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: `OuterLibrary` does it where there is machine code."""

    def _optimize_final_module(self) -> None:
        """Do nothing: it is optimised with the kernels that call it."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class OuterLibrary(JITCodeLibrary):
    """Code of a kernel that Python calls, with that of the kernels it calls."""

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                self._codegen.set_env(variable.name, environment)


class _Choice(LoweringPass):
    """Compilation pass that makes the library which the later ones fill."""

    library: ClassVar[type[JITCodeLibrary]]

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _ChooseInner(_Choice):
    _name = "choose_inner_library"
    library = InnerLibrary


@register_pass(mutates_CFG=False, analysis_only=False)
class _ChooseOuter(_Choice):
    _name = "choose_outer_library"
    library = OuterLibrary


class _Compiler(CompilerBase):
    """Numba's compiler, filling a library of ours."""

    choice: ClassVar[type[_Choice]]

    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.add_pass_after(self.choice, typed_passes.AnnotateTypes)
        manager.finalize()
        return [manager]


class InnerCompiler(_Compiler):
    """Compiles kernels that only other kernels call."""

    choice = _ChooseInner


class OuterCompiler(_Compiler):
    """Compiles kernels that Python calls."""

    choice = _ChooseOuter


class _Rebuilding:
    """Numba's target, but libraries that it reads are inner ones."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def codegen(self) -> _Rebuilding:
        return self

    def unserialize_library(self, state: tuple[str, str, bytes]) -> InnerLibrary:
        return InnerLibrary.unserialize(self._target.codegen(), state)


def rebuild_inner(target: Any, payload: tuple[Any, ...]) -> CompileResult:
    """Return the compiled kernel that was kept on disk as `payload`."""
    rebuilt: CompileResult = CompileResult._rebuild(_Rebuilding(target), *payload)
    return rebuilt._replace(target_context=target)
