"""Packed files and pipes: unpacked as streams, only so far, and in the calling thread."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import tarfile
import threading
import zipfile

import pyarrow as pa
import pytest
from trace_files import azure, refusal

from olprouting.traces import read_trace

PROMPTS = [374, 396, 879, 91, 91]


def zstd(data: bytes) -> bytes:
    target = pa.BufferOutputStream()
    with pa.CompressedOutputStream(target, "zstd") as file:
        file.write(data)
    return target.getvalue().to_pybytes()


PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd}


def cli(*arguments: str, **options) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "olprouting", *arguments]
    return subprocess.run(command, capture_output=True, timeout=120, check=False, **options)


@pytest.mark.parametrize("packing", PACKERS)
def test_packed_tables_and_lines_are_read(tmp_path, packing) -> None:
    """Catches a packing that is told by its suffix, and a stream that Arrow cannot take."""
    table = tmp_path / "packed"
    table.write_bytes(PACKERS[packing](azure(tmp_path / "a.csv").read_bytes()))
    assert read_trace(table).prompt_tokens.tolist() == PROMPTS
    lines = tmp_path / "lines"
    lines.write_bytes(PACKERS[packing](b'{"timestamp":0,"input_length":5,"output_length":2}\n' * 3))
    assert len(read_trace(lines)) == 3


@pytest.mark.parametrize("packing", PACKERS)
def test_a_truncated_packed_file_is_refused_with_its_packing_and_row(tmp_path, packing) -> None:
    """Catches half a download that is read as a whole, and tracebacks of the unpackers."""
    rows = "\n".join(f"2024-05-10 00:00:00,{i},{i * 7919 % 10007}" for i in range(1, 60_000))
    path = tmp_path / "cut"
    data = PACKERS[packing](b"TIMESTAMP,ContextTokens,GeneratedTokens\n" + rows.encode())
    path.write_bytes(data[: len(data) * 9 // 10])
    message = refusal(path)
    assert f"the {packing} data are truncated or damaged after this data row" in message
    assert "cut, data row" in message


LINE = b'{"timestamp":1,"input_length":1,"output_length":1,"x":"'


@pytest.mark.parametrize(
    ("head", "unit", "tail"),
    [
        (b"prompt_tokens,decode_tokens,x\n", b"1,1," + b"x" * 100 + b"\n", b""),
        (b"prompt_tokens,decode_tokens\n1,", b"1", b""),
        (b'[{"prompt_tokens":1,"decode_tokens":1},', b"{},", b"{}]"),
        (LINE + b'"}\n' + LINE, b" ", b'"}\n'),
    ],
)
def test_a_small_file_that_stands_for_gigabytes_is_refused(tmp_path, head, unit, tail) -> None:
    """Catches content that is unpacked whole before anybody looks at it."""
    path = tmp_path / "bomb.gz"
    block = unit * ((1 << 20) // len(unit))
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(head)
        for _ in range(70):
            file.write(block)
        file.write(tail)
    message = refusal(path)
    assert "unpack to more than 67,108,864" in message or "more than 67,108,864 bytes" in message


def test_a_parquet_file_of_endless_equal_rows_is_refused(tmp_path) -> None:
    """Catches the same in Parquet, where a page of 1 kB can stand for any number of rows."""
    from pyarrow import parquet

    path = tmp_path / "bomb.parquet"
    ones = pa.array([1], pa.int64()).dictionary_encode()
    many = pa.DictionaryArray.from_arrays(pa.array(bytes(1 << 20), pa.int8()), ones.dictionary)
    table = pa.table({"prompt_tokens": many, "decode_tokens": many})
    with parquet.ParquetWriter(path, table.schema) as writer:
        for _ in range(8):
            writer.write_table(table)
    assert "unpack to more than 67,108,864" in refusal(path)


def test_tables_are_unpacked_in_the_calling_thread_only(tmp_path, monkeypatch) -> None:
    """Arrow's streaming reader calls Python from threads, which can hang or abort at exit."""
    seen = set()
    for name in ("read", "read1", "readinto"):
        real = getattr(gzip.GzipFile, name)

        def noting(self, *arguments, real=real):
            seen.add(threading.get_ident())
            return real(self, *arguments)

        monkeypatch.setattr(gzip.GzipFile, name, noting)
    path = tmp_path / "g.csv.gz"
    rows = b"".join(b"%d,1,1\n" % i for i in range(300_000))
    path.write_bytes(gzip.compress(b"timestamp,input_tokens,output_tokens\n" + rows, 1))
    assert "numbers without a unit" in refusal(path)
    assert seen == {threading.get_ident()}


@pytest.mark.parametrize(("name", "packing"), [("-", None), ("/dev/stdin", "gzip"), ("-", "zstd")])
def test_a_pipe_is_read_once_and_hashed(tmp_path, name, packing) -> None:
    """Catches files opened twice: a pipe has nothing left the second time."""
    data = azure(tmp_path / "a.csv").read_bytes()
    packed = data if packing is None else PACKERS[packing](data)
    done = cli("traces", "info", name, "--json", input=packed)
    assert done.returncode == 0, done.stderr
    assert b'"requests": 5' in done.stdout
    assert f'"size_bytes": {len(packed)}'.encode() in done.stdout


def test_what_is_no_trace_in_a_pipe_is_refused_before_its_end(tmp_path) -> None:
    """Catches a pipe that is kept whole first: this one has no end."""
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        done = cli("traces", "info", "-", stdin=endless.stdout)
        endless.kill()
    assert done.returncode == 2
    assert b"format not recognised" in done.stderr


def test_a_worker_is_refused() -> None:
    assert "/dev/zero is a worker, not a file" in refusal("/dev/zero")


def test_archives_of_other_kinds_are_called_by_their_names(tmp_path) -> None:
    """Catches 'not recognised' where the user can be told what to do."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        archive.add(azure(tmp_path / "a.csv"), "a.csv")
    tar = tmp_path / "a.tgz"
    tar.write_bytes(target.getvalue())
    assert "is a tar archive: unpack it and give the folder" in refusal(tar)
    book = tmp_path / "a.xlsx"
    with zipfile.ZipFile(book, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
    assert "is an office document: save the table in it as CSV" in refusal(book)


def test_parquet_within_another_file_is_refused(tmp_path) -> None:
    path = tmp_path / "p.parquet.gz"
    path.write_bytes(gzip.compress(b"PAR1 and so on"))
    assert "is Parquet within another file: unpack it first" in refusal(path)
