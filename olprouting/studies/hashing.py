"""Hashes by which a study recognises files, definitions and cells."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from olprouting.errors import InputError
from olprouting.traces.reading import trace_sha256

if TYPE_CHECKING:
    from pathlib import Path


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal; of a folder, that of its files as a trace.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    if path.is_dir():
        return trace_sha256(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot read it: {error.strerror}") from None


def content_sha256(document: Any) -> str:
    """Return the SHA-256 of plain values, whatever the order of their keys."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
