"""Results of a study that rotted on disk, or found no room there."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from study_files import SMALL, tables, write

from olprouting.errors import InputError
from olprouting.studies import Results, read_study, run_study, study_report, study_status
from olprouting.studies.outcome import CELLS, TABLES, CellOutcome
from olprouting.studies.store import Store


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study that is finished, and the folder of its results."""
    folder = tmp_path_factory.mktemp("finished")
    study = read_study(write(folder / "small.toml", SMALL))
    run_study(study, folder / "out", jobs=1)
    return study, folder / "out"


def flipped(whole: bytes, place: int) -> bytes:
    rotten = bytearray(whole)
    rotten[place // 8] ^= 1 << place % 8
    return bytes(rotten)


def everything(folder):
    results = Results.read(folder)
    return {table: results.rows(table) for table in TABLES}


def test_a_flipped_bit_in_a_part_never_changes_a_value(finished, tmp_path):
    """Catches bit rot: without sums, 89 of 400 flipped bits changed values silently."""
    _, out = finished
    shutil.copytree(out, tmp_path / "out")
    before = everything(out)
    (part,) = (tmp_path / "out" / "parts").iterdir()
    rng = np.random.default_rng(0)
    for file in sorted(part.iterdir()):
        whole = file.read_bytes()
        for place in rng.integers(8 * len(whole), size=40).tolist():
            file.write_bytes(flipped(whole, place))
            if file.suffix == ".parquet":
                with pytest.raises(
                    InputError, match=f"{file}: damaged .* delete the folder {part}"
                ):
                    everything(tmp_path / "out")
            else:
                with suppress(InputError):
                    assert everything(tmp_path / "out") == before
        file.write_bytes(whole)
    assert everything(tmp_path / "out") == before


def test_a_flipped_bit_in_the_journal_never_changes_a_value(finished, tmp_path):
    """Catches bit rot between a crash and the next command."""
    _, out = finished
    before = Results.read(out).rows(CELLS)
    store = Store(tmp_path)
    for row in before:
        store.add(CellOutcome(row["cell"], {CELLS: [row]}))
    assert store.rows(CELLS) == before
    whole = store.journal.read_bytes()
    for place in np.random.default_rng(0).integers(8 * len(whole), size=150).tolist():
        store.journal.write_bytes(flipped(whole, place))
        with pytest.raises(InputError, match=r"journal\.jsonl, line \d+: damaged .* delete"):
            store.rows(CELLS)


def test_a_damaged_part_is_named_and_is_all_that_is_computed_again(finished, tmp_path):
    """Catches a report or a resumed run on what has rotted, and a remedy that does not work."""
    study, out = finished
    mended = tmp_path / "out"
    shutil.copytree(out, mended)
    first = mended / "parts" / "000001"
    store = Store(mended)
    rows = Results.read(mended).rows(CELLS)
    shutil.rmtree(first)
    for half in (rows[:6], rows[6:]):
        for row in half:
            store.add(CellOutcome(row["cell"], {CELLS: [row], "timing": [{"cell": row["cell"]}]}))
        store.gather()
    cells = first / "cells.parquet"
    cells.write_bytes(cells.read_bytes()[:-1])
    for command in (study_status, study_report, lambda folder: run_study(study, folder, jobs=1)):
        with pytest.raises(InputError, match=f"{cells}: damaged .* delete the folder {first} and"):
            command(mended)
    shutil.rmtree(first)
    assert study_status(mended).finished == 6
    assert run_study(study, mended, jobs=1).complete
    assert tables(mended) == tables(out)
    assert len(list((mended / "parts").iterdir())) == 2


def test_a_study_that_finds_no_room_keeps_what_is_finished_and_goes_on_later(finished, tmp_path):
    """Catches a traceback, and cells that are lost though the journal has them."""
    resource = pytest.importorskip("resource", reason="limits of POSIX")

    @contextmanager
    def little_room():
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (7_000, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    study, out = finished
    with little_room():
        status = run_study(study, tmp_path / "out", jobs=1)
    assert 0 < status.finished < status.cells
    assert not status.interrupted
    assert any("the cells are in" in problem for problem in status.problems)
    assert all("\n" not in problem for problem in status.problems)
    assert run_study(study, tmp_path / "out", jobs=1).complete
    assert tables(tmp_path / "out") == tables(out)


def test_sums_and_lines_of_a_journal_that_are_no_such_thing_are_damage(finished, tmp_path):
    """Catches a RecursionError at JSON that is nested too deeply, and other tracebacks."""
    study, out = finished
    shutil.copytree(out, tmp_path / "out")
    mended = tmp_path / "out"
    (part,) = (mended / "parts").iterdir()
    whole = (part / "sha256.json").read_text()
    commands = (study_status, study_report, lambda folder: run_study(study, folder, jobs=1))
    for text in ("[" * 100_000, "[]", "\udcff"):
        (part / "sha256.json").write_text(text, errors="surrogateescape")
        for command in commands:
            with pytest.raises(InputError, match="damaged"):
                command(mended)
    (part / "sha256.json").write_text(whole)
    for line in (b"[" * 100_000, b"[]", b'{"cell": "a", "tables": []}'):
        sha256 = hashlib.sha256(line).hexdigest().encode()
        (mended / "journal.jsonl").write_bytes(b"%s %s\n" % (sha256, line))
        for command in commands:
            with pytest.raises(InputError, match="line 1: not a finished cell"):
                command(mended)


def test_a_status_is_of_what_can_be_reported(finished, tmp_path):
    """Catches "finished" of a study whose wall-clock times have rotted."""
    shutil.copytree(finished[1], tmp_path / "out")
    (file,) = (tmp_path / "out" / "parts").glob("*/timing.parquet")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(InputError, match=f"{file}: damaged"):
        study_status(tmp_path / "out")
