"""Progress on stderr: one passing bar on a terminal; on a pipe a line whenever it was silent."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from olprouting.progress import ON_COMPILATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

    from olprouting.progress import OnProgress

SILENCE_S: Final = 5.0
"""After so long without a word, one is said."""

_BEGAN_S: Final = time.monotonic()
"""When the command began, or nearly so: this module is among the first."""


@dataclass
class _Stage:
    """What the command is doing, and when that was last said."""

    what: str = "importing"
    done: int = 0
    total: int = 0
    said_s: float = field(default_factory=time.monotonic)

    def go_on(self, what: str, done: int, total: int) -> None:
        """Note where the command is, without a word."""
        self.what, self.done, self.total = what, done, total

    def say_if_silent(self) -> None:
        """Say how far it is, if nothing else has been said for long."""
        if not _shown and time.monotonic() - self.said_s >= SILENCE_S:
            far = f" {self.done:,} of {self.total:,}," if self.total > 1 else ""
            self.said_s = time.monotonic()
            said = f"still at {self.what}:{far} {self.said_s - _BEGAN_S:.0f} s"
            print(said, file=sys.stderr, flush=True)  # noqa: T201 (from a thread, too)


_stage = _Stage()
_shown: list[Progress] = []
"""The bar on the terminal: Rich allows one at a time."""


@contextmanager
def never_silent() -> Iterator[None]:
    """Say what is being done whenever nothing has been said for `SILENCE_S`."""
    ended = threading.Event()
    _stage.said_s = time.monotonic()

    def watch() -> None:
        while not ended.wait(0.5):
            _stage.say_if_silent()

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


@contextmanager
def progress_bar() -> Iterator[OnProgress]:
    """Show how far the job is; the caller says so by the function that is yielded.

    What it is called with begins with the stage: ``run``, ``solve``, ``prove``, ``write``. After a
    colon may stand what changes while the stage lasts. A terminal gets a bar that vanishes, with
    the time since the command began; anything else a line after every `SILENCE_S` of silence, so
    that quick commands, and those that end with an error, add nothing to what they say.
    """
    if not sys.stderr.isatty():
        yield _stage.go_on
        return
    with _new_bar() as bar:
        task = bar.add_task("starting", total=None)

        def advance(what: str, done: int, total: int) -> None:
            _stage.go_on(what, done, total)
            bar.update(task, description=what, completed=done, total=total)

        _shown.append(bar)
        try:
            yield advance
        finally:
            _shown.remove(bar)


def _new_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn
    from rich.text import Text

    class Elapsed(ProgressColumn):
        """Time since the command began."""

        def render(self, task: object) -> Text:
            """Return it in seconds."""
            return Text(f"{time.monotonic() - _BEGAN_S:.0f} s")

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    return Progress(
        *columns, Elapsed(), console=console, transient=True, disable=not console.is_terminal
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
        _stage.go_on(f"compiling: {kernel}", done, total)
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
