"""Run a study: all cells that are not finished yet."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from olprouting.errors import Failures, InputError, NotWrittenError
from olprouting.locks import only_writer
from olprouting.studies.dask_cluster import SchedulerLostError, run_on_dask
from olprouting.studies.manifest import FILE, Manifest
from olprouting.studies.outcome import CELLS, FAILURES
from olprouting.studies.processes import run_here, run_in_processes
from olprouting.studies.results import Results
from olprouting.studies.store import Store
from olprouting.studies.summary import refuse_unknown_metrics

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from olprouting.progress import OnProgress
    from olprouting.studies.cell import Cell
    from olprouting.studies.definition import Study
    from olprouting.studies.outcome import CellOutcome


@dataclass(frozen=True)
class StudyStatus:
    """How far a study is.

    Attributes
    ----------
    name
        The study.
    folder
        Where its results are.
    cells, finished
        Cells, and how many of them are finished.
    failures
        Cells that ended in an error: policy, seed, parameters and error. They run again with the
        next command.
    interrupted
        Whether Ctrl-C ended the command.
    problems
        What ended the command early, or could not be written, a line each. All finished cells are
        in the folder, save one that the journal had no room for.
    """

    name: str
    folder: Path
    cells: int
    finished: int
    failures: tuple[dict[str, Any], ...]
    interrupted: bool = False
    problems: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether all cells are finished."""
        return self.finished == self.cells

    def summary(self) -> str:
        """Return a line on the study, and one per failure."""
        left = self.cells - self.finished - len(self.failures)
        line = (
            f"{self.name}: {self.finished} of {self.cells} cells finished, "
            f"{len(self.failures)} failed, {left} to do"
        )
        failed = [
            f"failed: {row['policy']}, seed {row['seed']}, {row['parameters']}: {row['error']}"
            for row in self.failures
        ]
        return "\n".join([line, *failed])


def run_study(
    study: Study,
    folder: str | Path,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    force: bool = False,
    study_file: str | Path | None = None,
    command: str = "run_study",
    on_progress: OnProgress | None = None,
) -> StudyStatus:
    """Run all cells of a study that are not finished yet, and write its tables.

    Parameters
    ----------
    study
        What to run (`read_study`).
    folder
        Where results go. A folder that holds a part of this study is continued.
    jobs
        Processes, >= 1; 1 runs in this process; None takes one per core.
    dask
        Address of a Dask scheduler, or ``"local"``: cells run there instead.
    force
        Continue although a trace or a policy's file has changed: the cells that depend on it are
        computed again.
    study_file, command
        For the manifest.
    on_progress
        Called with (what, finished cells, all cells) after every cell.

    Returns
    -------
    StudyStatus
        A cell that ended in an error is among its failures, and all others ran. After Ctrl-C: what
        was finished until then.

    Raises
    ------
    InputError
        If the folder holds another study, or a file changed; if another command is writing there,
        or Dask does not answer; after the first cell, if it lacks a metric that is asked for.
    """
    folder = Path(folder)
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs = {jobs} must be >= 1")
    jobs = jobs or _cores()
    _make(folder)
    with only_writer(folder):
        manifest = _manifest(study, folder, study_file, force=force)
        manifest.with_run(command, f"dask {dask}" if dask else f"{jobs} processes").write(folder)
        interrupted = False
        stops = Failures()
        try:
            with stops.kept((NotWrittenError, SchedulerLostError)):
                _run_what_is_left(study, Store(folder), jobs, dask, on_progress)
        except KeyboardInterrupt:
            interrupted = True
        results = Results.read(folder)
        with stops.kept(NotWrittenError):
            results.write_tables()
        status = _status(results)
    return replace(status, interrupted=interrupted, problems=stops.messages)


def _run_what_is_left(
    study: Study, store: Store, jobs: int, dask: str | None, on_progress: OnProgress | None
) -> None:
    store.recover()
    finished = store.finished()
    left = [cell for cell in study.cells if cell.id not in finished]
    done = len(study.cells) - len(left)
    try:
        with closing(_outcomes(left, jobs, dask)) as outcomes:
            for outcome in outcomes:
                store.add(outcome)
                if not outcome.failed:  # a long run must not end in a report that cannot be made
                    refuse_unknown_metrics(study.outputs, outcome.tables[CELLS][0])
                done += 1
                if on_progress is not None:
                    on_progress(study.name, done, len(study.cells))
    finally:
        store.gather()


def study_status(folder: str | Path) -> StudyStatus:
    """Return how far the study in a folder is.

    Raises
    ------
    InputError
        If the folder holds no study, or what it holds is damaged.
    """
    Store(Path(folder)).check()
    return _status(Results.read(Path(folder)))


def _status(results: Results) -> StudyStatus:
    failures = results.rows(FAILURES)
    return StudyStatus(
        name=results.study.name,
        folder=results.folder,
        cells=len(results.study.cells),
        finished=results.finished,
        failures=tuple(failures),
    )


def _make(folder: Path) -> None:
    """Create a folder, unless it holds a study."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise InputError(f"{folder}: cannot write there: {error.strerror}") from None
    if names and FILE not in names:
        raise InputError(f"{folder} holds other files and no study; choose another --out")


def _manifest(
    study: Study, folder: Path, study_file: str | Path | None, *, force: bool
) -> Manifest:
    """Return the manifest for a folder that may hold this study, and no other one."""
    now = Manifest.of(study, None if study_file is None else Path(study_file).absolute())
    if not (folder / FILE).exists():
        return now
    before = Manifest.read(folder)
    before.refuse_another(folder, now, force=force)
    return now.with_runs(before.runs)


def _outcomes(
    cells: Sequence[Cell], jobs: int, dask: str | None
) -> Generator[CellOutcome, None, None]:
    if dask is not None:
        return run_on_dask(cells, dask, jobs)
    if jobs == 1:
        return run_here(cells)
    return run_in_processes(cells, jobs)


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
