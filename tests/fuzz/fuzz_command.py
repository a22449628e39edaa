"""Runs commands in this process, as a shell would, and says what came of it."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest.mock import patch

from olprouting.cli.app import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LIMIT_S = 20.0
"""Seconds that a case may take before it counts as hanging."""

NOTES = ("compiling kernels ", "still at ", "note: ", "WARNING: ", "wrote ")
"""Lines on stderr that are no error."""


@dataclass(frozen=True)
class Outcome:
    """What a command did: exit code, what it printed, and the traceback it ended in, if any."""

    code: int
    out: str
    err: str
    trace: str

    def fault(self) -> str | None:
        """Return what no command may do, or None."""
        if self.trace:
            return self.trace
        if self.code not in (0, 1, 2, 3):
            return f"exit code {self.code}"
        lines = [line for line in self.err.splitlines() if not line.startswith(NOTES)]
        if self.code == 2 and "Usage: " not in self.err:
            if len(lines) != 1 or not lines[0].startswith("olprouting: "):
                return f"not one line: {self.err!r}"
            if len(lines[0]) > 3000:
                return f"a line of {len(lines[0])} characters: {lines[0][:300]}"
        if self.code == 0 and lines:
            return f"done, but stderr says {self.err!r}"
        return None


def command(*words: str, limit_s: float = LIMIT_S) -> Outcome:
    """Run ``olprouting`` with these words."""
    return outcome_of(main, words, limit_s)


def outcome_of(
    run: Callable[[], object], words: Sequence[str] = (), limit_s: float = LIMIT_S
) -> Outcome:
    """Run something that ends as commands do."""
    out, err = io.StringIO(), io.StringIO()
    code, trace = 0, ""
    with (
        patch.object(sys, "argv", ["olprouting", *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        _limited(limit_s),
    ):
        try:
            run()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except BaseException:
            trace = traceback.format_exc(limit=-6)
    return Outcome(code, out.getvalue(), err.getvalue(), trace)


@contextlib.contextmanager
def _limited(limit_s: float) -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"still running after {limit_s:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
