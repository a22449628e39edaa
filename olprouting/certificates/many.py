"""Certificates of many decisions in one file, one a line (JSON Lines)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from olprouting.certificates.document import certificate, verify
from olprouting.certificates.verification import DoesNotHoldError, Verdict, Verification
from olprouting.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from olprouting.instances import Decision, SolveResult

    Solved = tuple[Decision, SolveResult, dict[str, Any]]
    OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Findings:
    """What checking a file of certificates found.

    Parameters
    ----------
    holding
        Those that hold.
    failures
        Line, and reason, of those that do not.
    """

    holding: tuple[Verification, ...]
    failures: tuple[tuple[int, str], ...]

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
        return "\n".join(f"{number:>6}  {what}" for number, what in rows)

    def to_document(self) -> dict[str, Any]:
        """Return the findings as plain JSON types."""
        return {
            "holds": not self.failures,
            "certificates": len(self.holding) + len(self.failures),
            "verdicts": {verdict.name.lower(): n for verdict, n in self.verdicts.items()},
            "failures": [{"line": line, "reason": reason} for line, reason in self.failures],
        }


def write_certificates(
    solved: Sequence[Solved], path: Path, on_progress: OnProgress | None = None
) -> None:
    """Write the certificate of each decision, as soon as its proof is found; that may take long.

    Parameters
    ----------
    solved
        Each decision with its result, and what a policy chose (see `choice`):
        ``[(one.decision, one.result, one.choice()) for one in report.judged]`` of a gap report.
    path
        Where to; the suffix should be ``.jsonl``, by which `olprouting verify` knows such files.
    on_progress
        Called with ("proving", decisions done, decisions in all).
    """
    with path.open("w", encoding="utf-8") as file:
        for done, (decision, result, choice) in enumerate(solved, start=1):
            file.write(json.dumps(certificate(decision, result) | {"choice": choice}) + "\n")
            if on_progress is not None:
                on_progress("proving", done, len(solved))


def verify_lines(
    text: str, source: str = "certificates", on_progress: OnProgress | None = None
) -> Findings:
    """Check the certificate in each line as `verify` does.

    Parameters
    ----------
    text
        One document of a schema that `verify` knows per line.
    source
        Where they came from, for messages.
    on_progress
        Called with ("checking", lines done, lines in all).

    Raises
    ------
    InputError
        If there is no line, or one is no certificate at all.
    """
    lines = text.splitlines()
    if not lines:
        raise InputError(f"{source}: expected one certificate per line, found none")
    holding, failures = [], []
    for number, line in enumerate(lines, start=1):
        try:
            holding.append(verify(line, f"{source}, line {number}"))
        except DoesNotHoldError as error:
            failures.append((number, str(error)))
        if on_progress is not None:
            on_progress("checking", number, len(lines))
    return Findings(tuple(holding), tuple(failures))
