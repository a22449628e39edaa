"""Certificates of many decisions in one file, one a line (JSON Lines).

The last line lists the others as they were written, so that none can be lost: a document of schema
``olprouting/certificates/1`` holds ``lines``, for each line before it the ``policies`` whose
choices it holds, their ``iteration``, and the ``sha256`` of its text. It guards against loss and
mishap, not against a forger, who could write another.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from olprouting.certificates import reading as r
from olprouting.certificates.document import certificate, verify
from olprouting.certificates.reading import read, read_exact
from olprouting.certificates.verification import DoesNotHoldError, Verdict, Verification
from olprouting.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from olprouting.instances import Decision, DecisionResult
    from olprouting.progress import OnProgress

    Solved = tuple[Decision, DecisionResult, Sequence[dict[str, Any]]]

SCHEMA = "olprouting/certificates/1"

LISTING = "its last line, which lists the others: some of them may be missing too"

_FIELDS = r.fields(
    {
        "schema": r.text,
        "lines": r.list_of(
            r.fields({"policies": r.list_of(r.name), "iteration": r.whole, "sha256": r.text})
        ),
    }
)


@dataclass(frozen=True)
class Findings:
    """What checking a file of certificates found.

    Parameters
    ----------
    holding
        Those that hold.
    failures
        Line, and reason, of those that do not, or that are not as they were written.
    missing
        What was written and is not there, in words.
    """

    holding: tuple[Verification, ...]
    failures: tuple[tuple[int, str], ...]
    missing: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether everything is there and holds."""
        return not self.failures and not self.missing

    @property
    def not_checked(self) -> int:
        """How many of those that hold claim what could be neither proven nor refuted."""
        return sum(1 for finding in self.holding if finding.not_checked)

    @property
    def verdicts(self) -> dict[Verdict, int]:
        """How many certificates got each verdict, none left out that one got."""
        counts = Counter(finding.verdict for finding in self.holding)
        return {verdict: counts[verdict] for verdict in Verdict if counts[verdict]}

    def summary(self) -> str:
        """Return one line per verdict."""
        rows = [(number, str(verdict)) for verdict, number in self.verdicts.items()]
        if self.failures:
            rows.append((len(self.failures), "do not hold"))
        if self.missing:
            rows.append((len(self.missing), "missing"))
        return "\n".join(f"{number:>6}  {what}" for number, what in rows)

    def to_document(self) -> dict[str, Any]:
        """Return the findings as plain JSON types."""
        return {
            "holds": self.holds,
            "certificates": len(self.holding) + len(self.failures),
            "verdicts": {verdict.name.lower(): n for verdict, n in self.verdicts.items()},
            "failures": [{"line": line, "reason": reason} for line, reason in self.failures],
            "missing": list(self.missing),
            "not_checked": self.not_checked,
        }


def write_certificates(
    solved: Sequence[Solved], path: Path, on_progress: OnProgress | None = None
) -> None:
    """Write the certificate of each decision, as soon as its proof is found; that may take long.

    After Ctrl-C the file holds, and lists, those that were finished.

    Parameters
    ----------
    solved
        Each decision with its result, and what policies chose (`verify_decision`), at least one:
        `GapReport.solved` of a gap report.
    path
        Where to; the suffix should be ``.jsonl``, by which `olprouting verify` knows such files.
    on_progress
        Called with ("prove", decisions done, decisions in all).
    """
    with path.open("w+", encoding="utf-8") as file:
        try:
            for done, (decision, result, choices) in enumerate(solved, start=1):
                document = certificate(decision, result) | {"choices": list(choices)}
                file.write(json.dumps(document) + "\n")
                if on_progress is not None:
                    on_progress("prove", done, len(solved))
        finally:
            file.seek(0)
            file.write(json.dumps(listing(file.read().splitlines())) + "\n")


def verify_lines(
    text: str, source: str = "certificates", on_progress: OnProgress | None = None
) -> Findings:
    """Check the certificate in each line as `verify` does, and that all are there.

    Parameters
    ----------
    text
        One document of a schema that `verify` knows per line, and a line that lists them.
    source
        Where they came from, for messages.
    on_progress
        Called with ("check", lines done, lines in all).

    Raises
    ------
    InputError
        If there is no line, or one is no certificate at all.
    """
    lines = text.splitlines()
    listed = lines.pop() if lines and is_listing(lines[-1]) else None
    if not lines and listed is None:
        raise InputError(f"{source}: expected one certificate per line, found none")
    differences, missing = compare_with_listing(lines, listed, source)
    holding, failures = [], []
    for number, line in enumerate(lines, start=1):
        try:
            finding = verify(line, f"{source}, line {number}")
            if number in differences:
                raise DoesNotHoldError(differences[number])
            holding.append(finding)
        except DoesNotHoldError as error:
            failures.append((number, str(error)))
        if on_progress is not None:
            on_progress("check", number, len(lines))
    return Findings(tuple(holding), tuple(failures), missing)


def listing(lines: Sequence[str]) -> dict[str, Any]:
    """Return the document that lists the lines, each a certificate with choices."""
    return {
        "schema": SCHEMA,
        "lines": [_choices(json.loads(line)) | {"sha256": _sha256(line)} for line in lines],
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
    entries = read(read_exact(listed, where), _FIELDS, where)["lines"]
    place = {entry["sha256"]: old for old, entry in enumerate(entries)}
    if len(place) < len(entries):
        raise InputError(f"{where}: a line is listed twice")
    names = [_said(entry) for entry in entries]
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
    """Return whose choices a line holds, or None where it is no certificate: its own check says."""
    try:
        return _said(_choices(read_exact(line, "line")))
    except (InputError, IndexError, KeyError, TypeError):
        return None


def _choices(document: dict[str, Any]) -> dict[str, Any]:
    """Return of a certificate what its entry in the listing has, beside its text's SHA-256."""
    choices = document["choices"]
    return {
        "policies": [choice["policy"] for choice in choices],
        "iteration": choices[0]["iteration"],
    }


def _said(entry: dict[str, Any]) -> str:
    return f"{', '.join(entry['policies'])}, iteration {entry['iteration']}"


def _sha256(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()
