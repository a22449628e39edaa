"""Named instances that come with olprouting, and what is known of their optima.

``data/instances/index.json`` names them all. Each has a file of its own in the format that
`olprouting solve` reads, and its best known results, with what proves them, in the index.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from olprouting.errors import unknown_name
from olprouting.hindsight import HindsightProblem
from olprouting.instances import Decision, PeriodProblem
from olprouting.instances.documents import fingerprint, load_json, read_text
from olprouting.traces.data_folder import data_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Instance = Decision | PeriodProblem | HindsightProblem

FOLDERS: Mapping[str, str] = {
    "decision": "decisions",
    "period": "periods",
    "hindsight": "hindsight",
}
"""Kinds of instances, and where they lie."""


@dataclass(frozen=True)
class Entry:
    """What the index says of an instance.

    Parameters
    ----------
    name
        Its name.
    kind
        One of `FOLDERS`.
    family
        What it was made from.
    difficulty
        ``"tiny"``, ``"medium"`` or ``"hard"``.
    seed
        Of its generator; None where it was written by hand.
    size
        Its dimensions by name.
    sha256
        Of its file.
    best
        Best known results: for each ``program`` (``"imbalance"``; ``"lp"`` and ``"integer"``;
        ``"hindsight"``) its ``result`` and, for decisions, ``proof``, as in a certificate, and the
        ``verdict`` of checking it (`olprouting.certificates.Verdict`, by name).
    """

    name: str
    kind: str
    family: str
    difficulty: str
    seed: int | None
    size: Mapping[str, Any]
    sha256: str
    best: tuple[Mapping[str, Any], ...]

    @property
    def file(self) -> Path:
        """Where the instance lies."""
        return data_folder() / "instances" / FOLDERS[self.kind] / f"{self.name}.json"

    def text(self) -> str:
        """Return the instance as the JSON text of its file."""
        return read_text(self.file)

    def load(self) -> Instance:
        """Return the instance."""
        if self.kind == "decision":
            return Decision.from_json(self.text(), self.name)
        if self.kind == "period":
            return PeriodProblem.from_json(self.text(), self.name)
        return HindsightProblem.from_document(load_json(self.text(), self.name))

    def certificate(self, program: str, text: str | None = None) -> dict[str, Any]:
        """Return a best known result as `olprouting.certificates.verify` reads it.

        Parameters
        ----------
        program
            Which of the best known results.
        text
            The instance; None reads its file.

        Raises
        ------
        InputError
            If the entry has no such program.
        """
        known = {one["program"]: one for one in self.best}
        if program not in known:
            raise unknown_name(f"program of {self.name}", program, known)
        best, instance = known[program], load_json(self.text() if text is None else text, self.name)
        if self.kind == "hindsight":
            return {
                **best["result"],
                "problem_sha256": fingerprint(instance),
                "problem": instance,
            }
        proof = {"proof": best["proof"]} if "proof" in best else {}
        return {
            "schema": "olprouting/certificate/1",
            "instance_sha256": fingerprint(instance),
            "instance": instance,
            "result": best["result"],
            **proof,
        }


@cache
def entries() -> Mapping[str, Entry]:
    """Return all entries of the library by name, in the order of the index."""
    index = data_folder() / "instances" / "index.json"
    listed = load_json(read_text(index), str(index))["instances"]
    return {one["name"]: Entry(**{**one, "best": tuple(one["best"])}) for one in listed}


def instance_names(kind: str | None = None) -> list[str]:
    """Return the names of the library's instances.

    Parameters
    ----------
    kind
        ``"decision"``, ``"period"`` or ``"hindsight"``; None for all.

    Raises
    ------
    InputError
        If there is no such kind.
    """
    if kind is not None and kind not in FOLDERS:
        raise unknown_name("kind of instance", kind, FOLDERS)
    return [name for name, entry in entries().items() if kind in (None, entry.kind)]


def load_instance(name: str) -> Instance:
    """Return the instance of that name.

    Raises
    ------
    InputError
        If there is none; the message suggests the nearest.
    """
    return best_known(name).load()


def best_known(name: str) -> Entry:
    """Return what the index says of an instance.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name not in entries():
        raise unknown_name("instance", name, entries())
    return entries()[name]
