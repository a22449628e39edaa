"""A pooch downloader that goes on where an interrupted transfer stopped."""

from __future__ import annotations

import http.client
import shutil
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK_BYTES = 1 << 18
_TIMEOUT_S = 60


@dataclass(frozen=True)
class ResumingDownloader:
    """Downloads through a part file that survives a broken transfer.

    Parameters
    ----------
    part
        Where the bytes received so far lie; an existing file is continued with an HTTP range
        request, or begun anew if the server does not serve ranges.
    progress
        Called with (bytes so far, total bytes or None) after every piece; None to stay silent.
    """

    part: Path
    progress: Callable[[int, int | None], None] | None = None

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        """Fetch `url` into `output_file` (the signature that pooch calls)."""
        have = self.part.stat().st_size if self.part.exists() else 0
        request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as response:
                total = self._receive(response, have)
        except urllib.error.HTTPError as error:
            if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise InputError(f"cannot download {url}: {error.code} {error.reason}") from None
            # Nothing is left after the part file: it is whole, and its checksum will tell.
            total = have
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise InputError(f"cannot download {url}: {reason}; fetch again to resume") from None
        received = self.part.stat().st_size
        if total is not None and received < total:
            raise InputError(
                f"transfer of {url} stopped at {received} of {total} bytes; fetch again to resume"
            )
        shutil.move(self.part, Path(output_file))

    def _receive(self, response: Any, have: int) -> int | None:
        """Append (or begin anew) and return the expected size of the whole file."""
        resumed = response.status == http.client.PARTIAL_CONTENT
        start = have if resumed else 0
        length = response.headers.get("Content-Length")
        total = None if length is None else start + int(length)
        with self.part.open("ab" if resumed else "wb") as file:
            while piece := response.read(_CHUNK_BYTES):
                file.write(piece)
                if self.progress is not None:
                    self.progress(file.tell(), total)
        return total
