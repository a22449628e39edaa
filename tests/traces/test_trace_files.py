"""Files that hold no trace, each refused with a message that says why."""

from __future__ import annotations

import os
import zipfile

import pytest
from trace_files import AZURE_HEADER, azure, refusal, write

from olprouting.errors import InputError
from olprouting.traces import read_trace


def test_a_git_lfs_pointer_is_called_by_its_name(tmp_path) -> None:
    path = write(
        tmp_path / "BurstGPT_1.csv",
        "version https://git-lfs.github.com/spec/v1",
        "oid sha256:4bb3783693d0a435686fbfc885615d2349bd067239079fa4b749f2e679e12122",
        "size 52283111",
    )
    assert "is a Git-LFS pointer" in refusal(path)


def test_empty_and_header_only_files_are_refused(tmp_path) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_bytes(b"\n")
    assert "empty.csv is empty" in refusal(empty)
    header = write(tmp_path / "header.csv", AZURE_HEADER)
    assert "header.csv holds no requests" in refusal(header)


def test_only_failed_requests_leave_no_trace_and_the_reason_is_told(tmp_path) -> None:
    path = azure(tmp_path / "a.csv", "2023-11-16 18:17:03,5,0")
    assert "holds no requests (times state no zone" in refusal(path)
    assert "1 of 1 rows dropped" in refusal(path)


def test_a_missing_file_and_an_empty_folder_are_refused(tmp_path) -> None:
    assert "No such file" in refusal(tmp_path / "none.csv")
    assert "there are no files to read" in refusal(tmp_path)
    assert "File name too long" in refusal(tmp_path / ("x" * 300))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path) -> None:
    path = azure(tmp_path / "a.csv")
    path.chmod(0)
    assert "Permission denied" in refusal(path)


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n,\x00,",
        "é,è".encode("latin-1"),
        b"one word\n",
        b"a," * 99_999,
        b"{}\n",
        b"[1, 2]",
    ],
)
def test_content_of_no_known_format_lists_the_formats(tmp_path, content) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(content)
    assert "format not recognised; give one of: olprouting, azure, burstgpt" in refusal(path)


def test_text_that_is_not_utf8_is_refused(tmp_path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(AZURE_HEADER.encode() + b"\n\xff\xfe,1,2\n")
    assert "UTF8" in refusal(path)


def test_a_short_row_that_is_not_utf8_is_named(tmp_path, capfd) -> None:
    """Catches a handler of such rows that fails, prints a traceback and lets them pass."""
    path = tmp_path / "a.csv"
    path.write_bytes(AZURE_HEADER.encode() + b"\n2023-11-16 18:17:04,1,2\n\xff\xfe,1\n")
    assert "data row 2: 2 values where the header has 3" in refusal(path)
    assert capfd.readouterr() == ("", "")


def test_gzip_with_nothing_readable_is_refused(tmp_path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00")
    assert "damaged gzip" in refusal(path)


def test_an_unknown_format_lists_the_known_ones(tmp_path) -> None:
    with pytest.raises(InputError, match=r"unknown trace format 'azur'.*Did you mean 'azure'"):
        read_trace(azure(tmp_path / "a.csv"), "azur")


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("prompt_tokens,decode_tokens\r1,2\r", "its lines end in CR alone: save it with"),
        ('{"input_length": 1}\r{"input_length": 2}\r', "; its lines end in CR alone"),
        ('{"requests": [{"prompt_tokens": 5}]}', "; it is an object with a list, 'requests': save"),
        (
            '{\n "requests": [\n  {"prompt_tokens": 5}]}',
            "; it is an object with a list, 'requests'",
        ),
        ("[]", "; the list is empty"),
        ("\n[\n]\n", "; the list is empty"),
        (f'{{"timestamp": {"9" * 5000}}}\n', "line 1: is not usable JSON (Exceeds the limit"),
        ('{"a":' * 10_000, "line 1: is not usable JSON (maximum recursion"),
        ("[" * 100_000, "record 1: is not usable JSON (maximum recursion"),
    ],
)
def test_why_a_format_is_not_recognised_is_told(tmp_path, content, cause) -> None:
    """Catches a bare 'format not recognised' where the begin of the file shows the cause."""
    path = tmp_path / "t"
    path.write_bytes(content.encode())
    assert cause in refusal(path)


def test_lone_carriage_returns_are_told_whatever_columns_are_named(tmp_path) -> None:
    """Catches a choice of columns that leads to 'the header has:' and nothing after it."""
    path = write(tmp_path / "t.csv", "prompt_tokens,decode_tokens", "1,2", end="\r")
    assert "its lines end in CR alone" in refusal(path, columns="prompt=prompt_tokens")


def test_a_zip_archive_without_anything_is_called_so(tmp_path) -> None:
    """Catches an empty archive, which begins like no other, taken for an unknown format."""
    zipfile.ZipFile(tmp_path / "t.zip", "w").close()
    assert "is an archive without files" in refusal(tmp_path / "t.zip")
