"""Cells in processes on one machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from olprouting.studies.measure import run_cell
from olprouting.studies.outcome import CellOutcome

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from olprouting.studies.cell import Cell

AHEAD = 2
"""Cells handed out per process: one that runs, and one so that it need not wait."""


def run_here(cells: Sequence[Cell]) -> Generator[CellOutcome, None, None]:
    """Run cells one after another in this process."""
    yield from map(run_cell, cells)


def run_in_processes(cells: Sequence[Cell], jobs: int) -> Generator[CellOutcome, None, None]:
    """Run cells in `jobs` processes; yield outcomes as they come.

    A process that dies (killed, out of memory) takes the others with it. Then the cells that were
    handed out run again, each alone: one that ends its process alone too is a broken cell.

    Parameters
    ----------
    cells
        What to run.
    jobs
        Number of processes, >= 1.
    """
    left = list(reversed(cells))
    while left:
        with _Pool(jobs, AHEAD * jobs) as pool:
            suspects = yield from pool.run(left)
        while suspects:
            with _Pool(1, 1) as pool:
                lost = yield from pool.run(suspects)
            for cell in lost:
                yield CellOutcome.failure(cell, "the process that ran it died")


class _Pool:
    """A pool whose processes end with the block that uses it, whatever they are at."""

    def __init__(self, jobs: int, ahead: int) -> None:
        self.ahead = ahead
        self.others = set(multiprocessing.active_children())
        spawn = multiprocessing.get_context("spawn")  # threads and forks do not mix
        self.executor = ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_begin_worker)

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None:  # nobody wants what still runs
            for child in set(multiprocessing.active_children()) - self.others:
                child.kill()
        self.executor.shutdown(cancel_futures=True)

    def run(self, left: list[Cell]) -> Generator[CellOutcome, None, list[Cell]]:
        """Take cells from the end of `left` and yield outcomes; return those lost by a death."""
        running: dict[Future[CellOutcome], Cell] = {}
        try:
            while left or running:
                while left and len(running) < self.ahead:
                    running[self.executor.submit(run_cell, left[-1])] = left[-1]
                    left.pop()
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    outcome = future.result()
                    del running[future]
                    yield outcome
        except BrokenProcessPool:
            pass
        return list(running.values())


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
