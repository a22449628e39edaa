"""Traces in several files: folders, patterns, lists, zip archives."""

from __future__ import annotations

import hashlib
import zipfile

import numpy as np
import pytest
from trace_files import AZURE_ROWS, azure, refusal, write, zipped

from olprouting.errors import InputError
from olprouting.traces import read_trace, resolve

LENGTHS = "prompt_tokens,decode_tokens"


@pytest.fixture
def folder(tmp_path):
    """Two parts, one packed, and files of other tools that are no parts."""
    folder = tmp_path / "parts"
    folder.mkdir()
    azure(folder / "2.csv", *AZURE_ROWS[3:])
    first = azure(folder / "1.csv", *AZURE_ROWS[:3])
    zipped(first)
    first.unlink()
    (folder / "_SUCCESS").touch()
    (folder / ".hidden.csv").write_text("x")
    return folder


def test_a_folder_is_one_trace(folder) -> None:
    """Catches parts in the order of the disk, files of other tools, and a hash of one part."""
    trace = read_trace(folder)
    assert trace.prompt_tokens.tolist() == [374, 396, 879, 91, 91]
    assert trace.arrival_s[-1] == 10
    assert trace.name == "parts"
    data = b"".join((folder / name).read_bytes() for name in ("1.csv.gz", "2.csv"))
    sha256 = hashlib.sha256(data).hexdigest()
    assert trace.notices[0] == f"read from parts (2 files) as azure, sha256 {sha256}"


def test_patterns_and_lists_are_read_like_folders(folder) -> None:
    whole = read_trace(folder)
    for given in (folder / "*.csv*", sorted(folder.glob("[12]*"))):
        np.testing.assert_array_equal(read_trace(given).arrival_s, whole.arrival_s)
    assert len(resolve(f"{folder}/*.csv*")) == 5
    assert "there are no files to read" in refusal(folder / "*.parquet")
    assert "there are no files to read" in refusal([])


def test_a_folder_within_the_folder_is_not_left_out_silently(folder) -> None:
    (folder / "more").mkdir()
    azure(folder / "more" / "3.csv")
    assert "holds a folder, more; say which files are meant" in refusal(folder)
    assert len(read_trace(folder / "*" / "*.csv")) == 5


def test_zip_archives_are_read_in_name_order(tmp_path) -> None:
    """Catches the order of the archive, and what macOS leaves in it."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d/2.csv", f"{LENGTHS}\n3,1\n")
        archive.writestr("d/1.csv", f"{LENGTHS}\n1,1\n2,1\n")
        archive.writestr("__MACOSX/d/1.csv", "x")
    trace = read_trace(path)
    assert trace.prompt_tokens.tolist() == [1, 2, 3]
    assert hashlib.sha256(path.read_bytes()).hexdigest() in trace.notices[0]
    data = path.read_bytes()
    damaged = data.find(b"PK", 4) - 2  # within the first member
    path.write_bytes(data[:damaged] + b"??" + data[damaged + 2 :])
    assert "cannot read" in refusal(path)
    path.write_bytes(data[:-30])
    assert "cannot read" in refusal(path)


def test_a_bad_value_is_named_by_the_part_it_stands_in(folder) -> None:
    azure(folder / "3.csv", "2023-11-16 18:18:00,x,1")
    assert "3.csv, data row 1, column 'ContextTokens'" in refusal(folder)
    azure(folder / "3.csv", "2023-11-16 18:18:00,1,0")
    assert "3.csv, data row 1: 0 generated tokens" in refusal(folder, zero_output="error")


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("arrived_at,num_prefill_tokens,num_decode_tokens", "1,1,1", "as azure, .* as vidur"),
        (
            "TIMESTAMP,ContextTokens,GeneratedTokens",
            "2023-11-16 18:18:00Z,1,1",
            "no zone; taken as UTC, but times state their zone",
        ),
        ("a,b", "1,2", "is read as azure, .* as generic"),
    ],
)
def test_parts_that_differ_are_refused(folder, header, row, message) -> None:
    """Catches clocks of two kinds that are merged into one trace."""
    write(folder / "3.csv", header, row)
    with pytest.raises(InputError, match=f"{message}.*; parts of one trace must be alike"):
        read_trace(folder)


def test_one_part_with_arrivals_and_one_without_are_refused(tmp_path) -> None:
    parts = [
        write(tmp_path / "a.csv", "arrived_at,num_prefill_tokens,num_decode_tokens", "1,1,1"),
        write(tmp_path / "b.csv", "num_prefill_tokens,num_decode_tokens", "1,1"),
    ]
    assert "only one of them has arrival; parts of one trace must be alike" in refusal(parts)


def test_what_was_found_odd_in_the_parts_is_counted_together(tmp_path) -> None:
    """Catches a notice per part, which nobody adds up."""
    write(tmp_path / "a.csv", LENGTHS, "1,0", "1,1", "0,5")
    write(tmp_path / "b.csv", LENGTHS, "1,0")
    notices = read_trace(tmp_path).notices
    assert "1 of 4 rows dropped: 0 prompt tokens" in notices
    assert "2 of 3 rows dropped: 0 generated tokens" in notices


def test_ids_of_parts_are_one_set(tmp_path) -> None:
    """Catches 7 and '7' told apart because one part holds no other text."""
    write(tmp_path / "a.csv", f"{LENGTHS},key", "1,1,7", "1,1,8")
    write(tmp_path / "b.csv", f"{LENGTHS},key", "1,1,x", "1,1,7")
    assert read_trace(tmp_path).key.tolist() == [0, 1, 2, 0]
