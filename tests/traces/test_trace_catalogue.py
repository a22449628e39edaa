"""Names of traces, and downloads from a real HTTP server on this machine."""

from __future__ import annotations

import hashlib
import re
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from trace_files import azure

from olprouting.errors import InputError
from olprouting.traces import PUBLIC_TRACES, fetch, resolve, trace_names
from olprouting.traces.catalogue import PublicTrace, download

CONTENT = bytes(range(256)) * 4096  # 1 MiB: several pieces of the downloader
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves one file; records the ranges asked for; can break off or refuse ranges."""

    content = CONTENT
    serves_ranges = True
    breaks_after: int | None = None
    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ranges: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/trace.csv"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked else 0
        if self.server.status != 200:
            self.send_error(self.server.status)
            return
        if asked and self.server.serves_ranges:
            if start >= len(self.server.content):
                self.send_error(416)
                return
            self.send_response(206)
        else:
            start = 0
            self.send_response(200)
        body = self.server.content[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.breaks_after])

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def entry(server):
    return PublicTrace("mine", server.url, "CC0", sha256=SHA256)


def test_a_download_is_checked_kept_and_not_repeated(server, entry, tmp_path) -> None:
    seen = []
    path = download(entry, tmp_path / "cache", lambda done, total: seen.append((done, total)))
    assert path == tmp_path / "cache" / "mine.csv"
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert len(seen) > 1
    assert download(entry, tmp_path / "cache") == path
    assert server.ranges == [None]


def test_an_interrupted_download_is_resumed_where_it_stopped(server, entry, tmp_path) -> None:
    """Catches beginning anew, and taking the short file for the whole."""
    server.breaks_after = 700_000
    with pytest.raises(InputError, match="stopped at 700000 of 1048576 bytes; fetch again"):
        download(entry, tmp_path)
    assert not (tmp_path / "mine.csv").exists()
    server.breaks_after = None
    assert download(entry, tmp_path).read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=700000-"]
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]


def test_a_server_without_ranges_is_begun_anew(server, entry, tmp_path) -> None:
    """Catches appending the whole file to its first part."""
    (tmp_path / "mine.csv.part").write_bytes(CONTENT[:1000])
    server.serves_ranges = False
    assert download(entry, tmp_path).read_bytes() == CONTENT


def test_a_part_that_is_already_whole_is_used(entry, tmp_path) -> None:
    (tmp_path / "mine.csv.part").write_bytes(CONTENT)
    assert download(entry, tmp_path).read_bytes() == CONTENT


def test_a_corrupted_file_is_refused_and_not_kept(server, entry, tmp_path) -> None:
    server.content = CONTENT[:-1] + b"!"
    with pytest.raises(InputError, match="does not have the expected SHA-256"):
        download(entry, tmp_path)
    assert list(tmp_path.iterdir()) == []
    server.content = CONTENT
    assert download(entry, tmp_path).read_bytes() == CONTENT


def test_a_damaged_file_in_the_cache_is_fetched_again(server, entry, tmp_path) -> None:
    download(entry, tmp_path).write_bytes(b"damaged")
    assert download(entry, tmp_path).read_bytes() == CONTENT


def test_an_unknown_hash_is_recorded_and_checked_from_then_on(server, entry, tmp_path) -> None:
    unknown = replace(entry, sha256=None)
    path = download(unknown, tmp_path)
    assert (tmp_path / "mine.csv.sha256").read_text().strip() == SHA256
    path.unlink()
    server.content = b"changed at its source"
    with pytest.raises(InputError, match="does not have the expected SHA-256"):
        download(unknown, tmp_path)


def test_server_errors_and_no_server_are_told_in_one_line(server, entry, tmp_path) -> None:
    server.status = 404
    with pytest.raises(InputError, match=r"cannot download http://127.*: 404 Not Found"):
        download(entry, tmp_path)
    server.shutdown()
    server.server_close()
    with pytest.raises(InputError, match=r"cannot download .*refused; fetch again to resume"):
        download(entry, tmp_path)


def test_a_cache_that_cannot_be_made_is_told(entry, tmp_path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot keep mine\.csv in"):
        download(entry, tmp_path / "file" / "cache")


def test_names_are_unique_and_known_hashes_well_formed() -> None:
    names = trace_names()
    assert len(set(names)) == len(names)
    for public in PUBLIC_TRACES.values():
        assert public.url.startswith("https://")
        assert public.sha256 is None or re.fullmatch("[0-9a-f]{64}", public.sha256)


def test_known_hashes_are_those_of_the_real_files(shared_data) -> None:
    for name, file in (
        ("azure-2023-conv", "azure_2023_conv.csv"),
        ("mooncake-conversation", "mooncake_conversation.jsonl"),
    ):
        content = (shared_data / file).read_bytes()
        assert PUBLIC_TRACES[name].sha256 == hashlib.sha256(content).hexdigest()
        assert PUBLIC_TRACES[name].size_bytes == len(content)


def test_only_public_traces_can_be_fetched(tmp_path) -> None:
    with pytest.raises(InputError, match="Did you mean 'azure-2023-conv'"):
        fetch("azure-2023-con", tmp_path)
    with pytest.raises(InputError, match="nothing to fetch"):
        fetch("burstgpt-like", tmp_path)


def test_a_path_a_profile_and_a_fetched_trace_are_resolved(tmp_path) -> None:
    path = azure(tmp_path / "mine.csv")
    assert len(resolve(path)) == 5
    first = resolve(path, requests=2)
    assert len(first) == 2
    assert first.notices[-1] == "first 2 of 5 requests kept"
    azure(tmp_path / "azure-2023-conv.csv")
    assert resolve("azure-2023-conv", cache=tmp_path).name == "azure-2023-conv"
    drawn = resolve("azure-2023-conv-like", requests=3, seed=4)
    assert len(drawn) == 3
    assert "drawn with seed 4" in drawn.notices
    assert len(resolve("burstgpt-like")) == 8_000


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("azure-2024-code", "is not downloaded yet: run 'olprouting traces fetch azure-2024-code'"),
        ("azure", "unknown trace 'azure'; known: .*azure-2023-conv-like.*mooncake-synthetic"),
        ("nowhere/azure.csv", "cannot read nowhere/azure.csv: No such file"),
    ],
)
def test_what_cannot_be_resolved_says_what_to_do(tmp_path, name, message) -> None:
    with pytest.raises(InputError, match=message):
        resolve(name, cache=tmp_path)


def test_no_requests_cannot_be_asked_for() -> None:
    with pytest.raises(InputError, match="requests = 0"):
        resolve("burstgpt-like", requests=0)
