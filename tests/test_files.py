"""Parts of results on disk: each in its format, floats to the last digit."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from olprouting.errors import NotWrittenError
from olprouting.exact import export
from olprouting.files import write_parts, write_table, write_text
from olprouting.instances import Decision
from olprouting.plots.axes import axes_or_new


def test_each_part_is_written_in_its_format_into_a_new_folder(tmp_path) -> None:
    folder = tmp_path / "new" / "folder"
    frame = pd.DataFrame({"share": [1 / 3, 0.1], "tokens": [2**53, 1]}, index=[5, 6])
    figure = axes_or_new(None).figure
    parts = {
        "a.csv": frame,
        "a.parquet": frame,
        "b.json": "{}",
        "c.png": figure.savefig,
    }
    assert write_parts(folder, parts) == tuple(folder / name for name in parts)
    assert {path.name for path in folder.iterdir()} == set(parts)
    digits = "share,tokens\n0.3333333333333333,9007199254740992\n0.1,1\n"
    assert (folder / "a.csv").read_text() == digits
    read = pd.read_parquet(folder / "a.parquet")
    pd.testing.assert_frame_equal(read, frame.reset_index(drop=True), check_exact=True)
    assert (folder / "b.json").read_text() == "{}"
    assert (folder / "c.png").read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def little_room():
    """Return a context in which no file may grow beyond 4,096 bytes, as on a full disk."""
    resource = pytest.importorskip("resource", reason="limits of POSIX")

    @contextmanager
    def limited():
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_a_table_that_finds_no_room_leaves_what_was_there(tmp_path, little_room, suffix) -> None:
    """Catches half a table under the final name, over the whole one of an earlier run."""
    rng = np.random.default_rng(0)
    path = tmp_path / f"a.{suffix}"
    write_table(pd.DataFrame({"x": [1.5]}), path)
    before = path.read_bytes()
    with little_room(), pytest.raises(NotWrittenError, match=r"a\.\w+.*: cannot be written: "):
        write_table(pd.DataFrame({"x": rng.random(5000)}), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", ["lp", "mps"])
def test_a_model_that_finds_no_room_is_an_error(tmp_path, little_room, suffix) -> None:
    """Catches trust in HiGHS, which writes as much as it can and reports success."""
    decision = Decision(np.arange(600).reshape(6, 100), [2] * 6, range(1, 40))
    with little_room(), pytest.raises(NotWrittenError, match="is the disk full"):
        export(decision, tmp_path / f"model.{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full of Linux")
def test_a_part_that_cannot_be_written_costs_that_part_only(tmp_path) -> None:
    """Catches a folder without the parts that come after the one that failed."""
    for name in ("b.csv", "c.png"):
        (tmp_path / name).symlink_to("/dev/full")
    frame = pd.DataFrame({"x": [1.5] * 1000})
    parts = {
        "a.json": "{}",
        "b.csv": frame,
        "c.png": axes_or_new(None).figure.savefig,
        "d.csv": frame,
    }
    with pytest.raises(NotWrittenError, match=r"cannot write b\.csv, c\.png \(No space") as caught:
        write_parts(tmp_path, parts)
    assert caught.value.written == (tmp_path / "a.json", tmp_path / "d.csv")
    assert all(path.is_file() for path in caught.value.written)
    assert "\n" not in str(caught.value)


def test_a_link_goes_on_to_point_to_the_file_that_is_written(tmp_path) -> None:
    """Catches a rename over the link: what it pointed to would keep the old text."""
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    write_text(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


@pytest.mark.skipif(sys.platform != "linux", reason="names that are not UTF-8 are Linux's")
def test_a_name_that_is_not_utf_8_is_a_name_like_any_other(tmp_path) -> None:
    """Catches a UnicodeEncodeError of Arrow's in place of the table."""
    frame = pd.DataFrame({"x": [1.5]}, index=[7])
    folder = tmp_path / "bad\udcffd"
    (path,) = write_parts(folder, {"a.parquet": frame})
    assert write_table(frame, folder / "b\udcff.parquet").read_bytes() == path.read_bytes()
    with path.open("rb") as file:
        assert pd.read_parquet(file).to_dict("list") == {"x": [1.5]}


def test_an_error_of_a_library_that_writes_costs_that_part_only(tmp_path) -> None:
    """Catches a traceback, and the parts after it."""

    def fail(path: Path) -> None:
        raise ValueError("cannot\nencode it")

    with pytest.raises(NotWrittenError, match=r"b \(ValueError: cannot encode it\)$") as caught:
        write_parts(tmp_path, {"b": fail, "c.json": "{}"})
    assert caught.value.written == (tmp_path / "c.json",)
