"""HiGHS's thread pool: one per process, and it keeps the size of its first use.

Asking for another number of threads makes HiGHS return an error, which Pyomo reports as an unknown
status. So the pool is reset before a run, unless another thread of this process is in one.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import highspy

if TYPE_CHECKING:
    from collections.abc import Iterator

_lock = threading.Lock()
_runs = 0


@contextmanager
def fresh_thread_pool() -> Iterator[None]:
    """Let the HiGHS run inside have the number of threads that it asks for."""
    global _runs
    with _lock:
        if _runs == 0:
            highspy.Highs.resetGlobalScheduler(True)
        _runs += 1
    try:
        yield
    finally:
        with _lock:
            _runs -= 1
