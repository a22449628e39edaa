"""Running a solver so that Ctrl-C stops it and keeps what it has."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_POLL_S = 0.05


class Interruptible(Generic[T]):
    """A solver run in a thread of its own, while the calling thread waits for it or for Ctrl-C.

    A solver's C++ code does not see Python signals; the main thread does, as long as it is not
    the one in the solver.

    Parameters
    ----------
    run
        The blocking call.
    cancel
        Asks the solver to stop soon; safe to call from another thread.
    """

    def __init__(self, run: Callable[[], T], cancel: Callable[[], None]) -> None:
        self._run = run
        self._cancel = cancel
        self._error: BaseException | None = None
        self._returned: list[T] = []
        self._done = threading.Event()
        self.interrupted = False

    def result(self) -> T:
        """Run to the end, or to the first Ctrl-C, and return what `run` returned.

        A second Ctrl-C is raised. An exception of `run` is raised here.
        """
        threading.Thread(target=self._in_thread, daemon=True).start()
        try:
            self._wait()
        except KeyboardInterrupt:
            self.interrupted = True
            self._cancel()
            self._wait()
        if self._error is not None:
            raise self._error
        return self._returned[0]

    def _in_thread(self) -> None:
        try:
            self._returned.append(self._run())
        except BaseException as error:  # handed to the caller's thread
            self._error = error
        finally:
            self._done.set()

    def _wait(self) -> None:
        # not Thread.join: interrupted, it takes a running thread for ended (CPython 3.11); in
        # short waits, because a wait without end cannot be interrupted on Windows
        while not self._done.wait(_POLL_S):
            pass
