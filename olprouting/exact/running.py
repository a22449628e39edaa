"""Running a solver's native code: Ctrl-C stops it, in silence, with as many threads as asked."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

_POLL_S = 0.05
_STDOUT, _STDERR = 1, 2

_highs_lock = threading.Lock()
_highs_runs = 0


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


@contextmanager
def fresh_thread_pool() -> Iterator[None]:
    """Let the HiGHS run inside have the number of threads that it asks for.

    HiGHS has one thread pool per process, which keeps the size of its first use. Asking for another
    number of threads makes it return an error, which Pyomo reports as an unknown status. So the
    pool is reset before a run, unless another thread of this process is in one.
    """
    import highspy

    global _highs_runs
    with _highs_lock:
        if _highs_runs == 0:
            highspy.Highs.resetGlobalScheduler(True)
        _highs_runs += 1
    try:
        yield
    finally:
        with _highs_lock:
            _highs_runs -= 1


@contextmanager
def silence() -> Iterator[None]:
    """Send file descriptors 1 and 2 nowhere, also what C code has buffered by the end.

    HiGHS writes a banner when its object is built, before any option can stop it.
    """
    _flush()
    saved = [(fd, os.dup(fd)) for fd in (_STDOUT, _STDERR)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for fd, _ in saved:
            os.dup2(nowhere, fd)
        yield
    finally:
        _flush()
        for fd, copy in saved:
            os.dup2(copy, fd)
            os.close(copy)
        os.close(nowhere)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # replaced or closed
            stream.flush()
    ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
