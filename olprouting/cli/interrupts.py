"""Ctrl-C in the command line: exit code 130, and no half of what only works whole.

Python raises KeyboardInterrupt wherever it happens to be. Inside an import that leaves a module
which can neither be used nor imported again, just when the finished part is to be written. In the
Python functions that Numba calls while it passes arguments to compiled code, it turns into a
SystemError or a crash; in a ``__del__`` or the callback of a weak reference it is printed and lost.
Here an interrupt waits until such a place is left.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

INTERRUPTED = 130

PATIENCE_S = 5.0
"""How long an interrupt waits at most."""

_RETRY_S = 0.005


@contextmanager
def exit_on_interrupt() -> Iterator[None]:
    """Exit with code 130 on Ctrl-C, whatever the interrupt turns into on its way up.

    Outside the main thread, or where Ctrl-C is handled or ignored already, nothing changes.
    """
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = _Handler()
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("olprouting: interrupted\n")
        sys.exit(INTERRUPTED)
    except SystemExit:
        if handler.waits:
            sys.exit(INTERRUPTED)
        raise
    except Exception as error:
        if not handler.raised:
            raise
        sys.stderr.write(f"olprouting: interrupted ({type(error).__name__}: {error})\n")
        sys.exit(INTERRUPTED)
    finally:
        if signal.getsignal(signal.SIGINT) is handler:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class _Handler:
    """Raise KeyboardInterrupt as soon as the interrupted code may stop where it is."""

    def __init__(self) -> None:
        self.raised = False
        self._waits_since_s: float | None = None

    @property
    def waits(self) -> bool:
        """Whether there was an interrupt that is not raised yet."""
        return self._waits_since_s is not None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now_s = time.monotonic()
        if self._waits_since_s is None:
            self._waits_since_s = now_s
        if now_s - self._waits_since_s < PATIENCE_S and must_finish(frame):
            _thread.start_new_thread(_interrupt_soon, ())  # takes no lock the main thread may hold
            return
        self._waits_since_s = None
        self.raised = True
        raise KeyboardInterrupt


def _interrupt_soon() -> None:
    time.sleep(_RETRY_S)
    _thread.interrupt_main()


def must_finish(frame: FrameType | None) -> bool:
    """Whether code is running, innermost in `frame`, of which half is worse than nothing."""
    # a named tuple that is being made, perhaps by compiled code
    passes_arguments = frame is not None and frame.f_code.co_name == "<lambda>"
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).split(".")[0]
        if package in ("importlib", "llvmlite", "weakref") or frame.f_code.co_name == "__del__":
            return True
        if package in ("numba", "ctypes"):
            passes_arguments = frame.f_code.co_name != "_compile_for_args"  # that may stop
        frame = frame.f_back
    return passes_arguments
