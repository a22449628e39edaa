"""Progress on stderr, on a terminal only."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from olprouting.progress import OnProgress


@contextmanager
def progress_bar() -> Iterator[OnProgress]:
    """Show a bar with the time left; the caller advances it."""
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
    with Progress(
        *columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("starting", total=None)

        def advance(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield advance


def announce_compilation() -> None:
    """Say on stderr that kernels are compiled, if this machine has none yet, or will not be."""
    from rich.console import Console

    from olprouting.compiling import INTERPRETED, is_warm
    from olprouting.engine.iteration_kernels import advance

    if INTERPRETED:
        Console(stderr=True, soft_wrap=True).print(
            "NUMBA_DISABLE_JIT: kernels are interpreted, some hundred times slower; "
            "time limits may be passed"
        )
    elif not is_warm(advance):
        Console(stderr=True).print("compiling the routing kernels: once, a minute or two")
