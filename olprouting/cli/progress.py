"""Progress on stderr, on a terminal only; and a word on the compilation of kernels."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from olprouting.progress import ON_COMPILATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

    from olprouting.progress import OnProgress


@contextmanager
def progress_bar() -> Iterator[OnProgress]:
    """Show a bar with the time left; the caller advances it."""
    with _new_bar() as bar:
        task = bar.add_task("starting", total=None)

        def advance(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        _shown.append(bar)
        try:
            yield advance
        finally:
            _shown.remove(bar)


_shown: list[Progress] = []
"""The bar on the terminal: Rich allows one at a time."""


def _new_bar() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    return Progress(
        *columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal
    )


@contextmanager
def compilation_shown() -> Iterator[None]:
    """Say so while kernels are compiled."""
    notice = _CompilationNotice()
    ON_COMPILATION.append(notice)
    try:
        yield
    finally:
        ON_COMPILATION.remove(notice)


class _CompilationNotice:
    """Says once that kernels are compiled; on a terminal also which, and how many of them all."""

    def __init__(self) -> None:
        self._said = False
        self._own: Progress | None = None
        self._task: tuple[Progress, TaskID] | None = None

    def __call__(self, kernel: str, done: int, total: int) -> None:
        """Show a kernel that begins to be compiled; without a name: that all are ready."""
        from rich.console import Console

        if not self._said:
            self._said = True
            Console(stderr=True).print("compiling kernels for this machine, once: up to a minute")
        if not kernel:
            self._close()
            return
        if self._task is None:
            self._task = self._open()
        bar, task = self._task
        bar.update(task, description=f"compiling {kernel}", completed=done, total=total)

    def _open(self) -> tuple[Progress, TaskID]:
        if not _shown:
            self._own = _new_bar()
            self._own.start()
        bar = _shown[-1] if _shown else self._own
        assert bar is not None
        return bar, bar.add_task("compiling", total=None)

    def _close(self) -> None:
        if self._task is not None:
            bar, task = self._task
            bar.remove_task(task)
        if self._own is not None:
            self._own.stop()
        self._task = self._own = None


def warn_if_interpreted() -> None:
    """Say on stderr that kernels will not be compiled, where Numba's own switch says so."""
    from rich.console import Console

    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        Console(stderr=True, soft_wrap=True).print(
            "NUMBA_DISABLE_JIT: kernels are interpreted, some hundred times slower; "
            "time limits may be passed"
        )
