"""The last line of a file of certificates: which others were written, in their order.

A document of schema ``olprouting/certificates/1`` holds ``lines``: for each line before it the
``policy`` and ``iteration`` of its choice, and the ``sha256`` of its text. It guards against loss
and mishap, not against a forger, who could write another.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from olprouting.certificates.exact_json import read_exact
from olprouting.certificates.fields import check_fields
from olprouting.certificates.known_fields import LISTING as LISTING_FIELDS
from olprouting.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA = "olprouting/certificates/1"

LISTING = "its last line, which lists the others: some of them may be missing too"


def listing(lines: Sequence[str]) -> dict[str, Any]:
    """Return the document that lists the lines, each a certificate with a choice."""
    choices = [json.loads(line)["choice"] for line in lines]
    return {
        "schema": SCHEMA,
        "lines": [
            {
                "policy": choice["policy"],
                "iteration": choice["iteration"],
                "sha256": _sha256(line),
            }
            for line, choice in zip(lines, choices, strict=True)
        ],
    }


def is_listing(line: str) -> bool:
    """Whether a line is meant to list the others."""
    try:
        return read_exact(line, "line").get("schema") == SCHEMA
    except InputError:
        return False


def compare_with_listing(
    lines: Sequence[str], listed: str | None, source: str
) -> tuple[dict[int, str], tuple[str, ...]]:
    """Return what is wrong with lines, by number, and what is missing.

    Parameters
    ----------
    lines
        Those that are there.
    listed
        The line that lists them, or None if there is none.
    source
        Where they came from, for messages.

    Raises
    ------
    InputError
        If the listing is malformed.
    """
    if listed is None:
        return {}, (LISTING,)
    where = f"{source}, last line"
    document = read_exact(listed, where)
    check_fields(document, LISTING_FIELDS, where)
    entries = document["lines"]
    place = {entry["sha256"]: old for old, entry in enumerate(entries)}
    if len(place) < len(entries):
        raise InputError(f"{where}: a line is listed twice")
    names = [f"{entry['policy']}, iteration {entry['iteration']}" for entry in entries]
    there = [_sha256(line) for line in lines]
    absent = set(place.values()) - {place.get(sha256) for sha256 in there}
    differences: dict[int, str] = {}
    previous = -1
    for number, sha256 in enumerate(there, start=1):
        old = place.get(sha256)
        if old is None:
            differences[number] = "it is not as it was written"
            if previous + 1 in absent:  # it stands in place of this one
                previous += 1
                absent.remove(previous)
        elif old <= previous:
            differences[number] = f"it was written as line {old + 1}"
        else:
            previous = old
            if _named(lines[number - 1]) != names[old]:
                differences[number] = f"it is not of {names[old]}, as which it is listed"
    return differences, tuple(f"line {old + 1} as written ({names[old]})" for old in sorted(absent))


def _named(line: str) -> str | None:
    """Return whose choice a line holds, or None where it is no certificate: its own check says."""
    try:
        choice = read_exact(line, "line")["choice"]
        return f"{choice['policy']}, iteration {choice['iteration']}"
    except (InputError, KeyError, TypeError):
        return None


def _sha256(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()
