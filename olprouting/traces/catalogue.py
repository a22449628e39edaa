"""The traces that go by a name: profiles that come with olprouting, and public files to fetch."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from olprouting.errors import InputError, unknown_name
from olprouting.traces.profiles import load_profile, profile_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from olprouting.instances.trace import Trace


@dataclass(frozen=True)
class PublicTrace:
    """A public trace file.

    Parameters
    ----------
    name
        What `resolve` and `fetch` call it.
    url
        Where the file is.
    licence
        Its licence.
    requests
        Rows in the file, failed ones included; None where unknown.
    size_bytes, sha256
        Of the file; None where not known beforehand. The hash of such a file is recorded at its
        first download and checked from then on.
    """

    name: str
    url: str
    licence: str
    requests: int | None = None
    size_bytes: int | None = None
    sha256: str | None = None

    @property
    def file_name(self) -> str:
        """Name of the file in the cache."""
        return self.name + Path(self.url).suffix


_AZURE_2023 = (
    "https://raw.githubusercontent.com/Azure/AzurePublicDataset/master/data/"
    "AzureLLMInferenceTrace_{}.csv"
)
_AZURE_2024 = (
    "https://azurepublicdatasettraces.blob.core.windows.net/azurellminfererencetrace/"
    "AzureLLMInferenceTrace_{}_1week.csv"
)
_MOONCAKE = (
    "https://raw.githubusercontent.com/kvcache-ai/Mooncake/main/FAST25-release/traces/"
    "{}_trace.jsonl"
)
_BURSTGPT = "https://github.com/HPMLL/BurstGPT/releases/download/v1.2/BurstGPT_1.csv"

_ENTRIES = (
    PublicTrace(
        "azure-2023-conv",
        _AZURE_2023.format("conv"),
        "CC-BY 4.0",
        requests=19_366,
        size_bytes=719_188,
        sha256="2f1e5b666d4e3055fdbba98598ce2ec307767b9064e03e2fa46676dbcc7d0bf8",
    ),
    PublicTrace(
        "azure-2023-code",
        _AZURE_2023.format("code"),
        "CC-BY 4.0",
        requests=8_819,
        size_bytes=320_117,
        sha256="54e9a6d2a4bd06ba1e060304b900abbc74cbea53de96506e60fe5bb4f2277fb6",
    ),
    PublicTrace("azure-2024-conv", _AZURE_2024.format("conv"), "CC-BY 4.0", requests=27_303_999),
    PublicTrace("azure-2024-code", _AZURE_2024.format("code"), "CC-BY 4.0", requests=16_803_695),
    PublicTrace("burstgpt-1", _BURSTGPT, "CC-BY 4.0"),
    PublicTrace(
        "mooncake-conversation",
        _MOONCAKE.format("conversation"),
        "Apache-2.0",
        requests=12_031,
        size_bytes=3_029_533,
        sha256="b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df",
    ),
    PublicTrace("mooncake-toolagent", _MOONCAKE.format("toolagent"), "Apache-2.0", requests=23_608),
    PublicTrace(
        "mooncake-synthetic",
        _MOONCAKE.format("synthetic"),
        "Apache-2.0",
        requests=3_993,
        size_bytes=1_136_313,
        sha256="bd070915a98fc0ed264d7cfef2ce746002eb3076a695ec31ba2674c0111ec131",
    ),
)

PUBLIC_TRACES = {entry.name: entry for entry in _ENTRIES}
"""Public traces by name."""


def trace_names() -> list[str]:
    """Return every name that `resolve` knows: embedded profiles, then public traces."""
    return [*profile_names(), *PUBLIC_TRACES]


def default_cache() -> Path:
    """Return the folder of downloaded traces in the user's cache."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("olprouting")) / "traces"


def fetch(
    name: str,
    cache: Path | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Path:
    """Download a public trace, or find it in the cache, and check its SHA-256.

    An interrupted transfer is resumed by the next call. Where the hash is not known beforehand it
    is recorded beside the file at the first download.

    Parameters
    ----------
    name
        A name in `PUBLIC_TRACES`.
    cache
        Folder to keep the file in; the user's cache if None.
    progress
        Called with (bytes so far, total bytes or None) while downloading.

    Returns
    -------
    Path
        The checked file.

    Raises
    ------
    InputError
        If the name is unknown, the transfer fails, or the checksum differs.
    """
    if name in profile_names():
        raise InputError(f"trace {name!r} comes with olprouting; there is nothing to fetch")
    if name not in PUBLIC_TRACES:
        raise unknown_name("public trace", name, PUBLIC_TRACES)
    return download(PUBLIC_TRACES[name], cache or default_cache(), progress)


def download(
    entry: PublicTrace, cache: Path, progress: Callable[[int, int | None], None] | None = None
) -> Path:
    """Download one entry into `cache` unless its checked file is there; see fetch."""
    import pooch

    from olprouting.traces.downloading import ResumingDownloader

    record = cache / f"{entry.file_name}.sha256"
    sha256 = entry.sha256 or (record.read_text().strip() if record.exists() else None)
    try:
        with _quiet(pooch.get_logger()):
            path = Path(
                pooch.retrieve(
                    entry.url,
                    known_hash=sha256,
                    fname=entry.file_name,
                    path=cache,
                    downloader=ResumingDownloader(cache / f"{entry.file_name}.part", progress),
                )
            )
    except InputError:
        raise
    except ValueError:  # pooch's word for a wrong checksum; it keeps no such file
        raise InputError(
            f"{entry.url} does not have the expected SHA-256 {sha256}: it was damaged on the way "
            "or changed at its source; fetch again"
        ) from None
    except OSError as error:
        raise InputError(f"cannot keep {entry.file_name} in {cache}: {error.strerror}") from None
    if sha256 is None:
        record.write_text(f"{pooch.file_hash(str(path))}\n")
    return path


def resolve(
    name_or_path: str | Path,
    *,
    requests: int | None = None,
    seed: int = 0,
    cache: Path | None = None,
) -> Trace:
    """Return the trace of a name or a file.

    Parameters
    ----------
    name_or_path
        A file, the name of an embedded profile (a synthetic trace is drawn from it), or the name
        of a public trace that has been fetched. A name wins over a file of the same name; write
        ``./name`` for the file.
    requests
        The first so many requests of a file; how many to draw from a profile. All of a file, and
        as many as the profile's source had, if None.
    seed
        Seed of the draw from a profile.
    cache
        Folder of fetched traces; the user's cache if None.

    Raises
    ------
    InputError
        If it is no file and no known name, or a public trace that has not been fetched.
    """
    if requests is not None and requests < 1:
        raise InputError(f"requests = {requests} must be >= 1")
    name = str(name_or_path)
    if name in profile_names():
        return _drawn(name, requests, seed)
    from olprouting.traces.reading import read_trace

    trace = read_trace(locate(name_or_path, cache))
    if name in PUBLIC_TRACES:
        trace = trace.replace(name=name)
    if requests is None or requests >= len(trace):
        return trace
    return trace.head(requests).with_notice(f"first {requests} of {len(trace)} requests kept")


def locate(name_or_path: str | Path, cache: Path | None = None) -> Path:
    """Return the file of a fetched public trace or of a path, without reading it."""
    name = str(name_or_path)
    if name in PUBLIC_TRACES:
        path = (cache or default_cache()) / PUBLIC_TRACES[name].file_name
        if not path.exists():
            raise InputError(
                f"trace {name!r} is not downloaded yet: run 'olprouting traces fetch {name}'"
            )
        return path
    path = Path(name_or_path)
    looks_like_path = path.suffix or len(path.parts) > 1
    if not path.exists() and not looks_like_path:
        raise unknown_name("trace", name, trace_names())
    return path


def _drawn(name: str, requests: int | None, seed: int) -> Trace:
    import numpy as np

    from olprouting.traces.synthetic import from_profile

    count = load_profile(name).requests if requests is None else requests
    trace = from_profile(name, count, np.random.default_rng(seed))
    return trace.with_notice(f"drawn with seed {seed}")


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from announcing on stderr what our callers show themselves."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
