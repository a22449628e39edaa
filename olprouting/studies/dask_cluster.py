"""Cells on a Dask cluster."""

from __future__ import annotations

import logging
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from olprouting.errors import InputError
from olprouting.studies.measure import run_cell
from olprouting.studies.outcome import CellOutcome

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from olprouting.studies.cell import Cell

LOCAL: Final = "local"
ANSWER_WITHIN_S: Final = 4
AHEAD_PER_THREAD: Final = 3


class SchedulerLostError(InputError):
    """The scheduler went away in the middle of a study."""


def run_on_dask(
    cells: Sequence[Cell], address: str, jobs: int
) -> Generator[CellOutcome, None, None]:
    """Run cells on a Dask cluster; yield outcomes as they come.

    Dask runs the cells of a worker that dies again elsewhere. A cell during which several workers
    died (Dask's ``allowed-failures``) is a broken cell. Workers need olprouting, and the trace at
    the same path.

    Parameters
    ----------
    cells
        What to run.
    address
        Address of a scheduler, or ``"local"`` for a cluster of `jobs` processes on this machine.
    jobs
        Processes of a local cluster.

    Raises
    ------
    InputError
        If Dask is not installed, or no scheduler answers.
    SchedulerLostError
        If the scheduler that answered is gone.
    """
    with _client(address, jobs) as client:
        from distributed import as_completed

        left = list(reversed(cells))
        cell_of: dict[str, Cell] = {}
        finished = as_completed([], with_results=False, raise_errors=False)

        def hand_out() -> None:
            threads = sum(client.nthreads().values()) or 1
            while left and len(cell_of) < AHEAD_PER_THREAD * threads:
                cell = left.pop()
                future = client.submit(run_cell, cell, key=f"cell-{cell.id}", pure=False)
                cell_of[future.key] = cell
                finished.add(future)

        with _connected(address):
            hand_out()
            while cell_of:
                future = next(finished)
                if future.status in ("cancelled", "lost"):
                    raise ConnectionError
                cell = cell_of.pop(future.key)
                error = future.exception()
                yield (
                    future.result()
                    if error is None
                    else CellOutcome.failure(cell, f"{type(error).__name__}: {error}")
                )
                future.release()
                hand_out()


@contextmanager
def _connected(address: str) -> Iterator[None]:
    try:
        yield
    except OSError:
        raise SchedulerLostError(
            f"--dask {address}: the scheduler is gone; what was finished is kept, and the same "
            "command goes on once there is one"
        ) from None


@contextmanager
def _client(address: str, jobs: int) -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise InputError("--dask needs Dask: python -m pip install 'olprouting[dask]'") from None
    if address == LOCAL:
        with _deaf_to_ctrl_c():
            cluster = LocalCluster(
                n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None
            )
        with cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(address, timeout=ANSWER_WITHIN_S)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(
            f"--dask {address}: no scheduler answers within {ANSWER_WITHIN_S} s ({error}); start "
            "one with 'dask scheduler', or take --dask local"
        ) from None
    with _quiet(), client:
        yield client


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from logging tracebacks of attempts to reconnect: what is lost is an error here."""
    from distributed.utils import silence_logging_cmgr

    with silence_logging_cmgr(logging.CRITICAL):
        yield


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Start processes that leave Ctrl-C to this one: they inherit that it is ignored."""
    if threading.current_thread() is not threading.main_thread():  # which alone may set handlers
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
