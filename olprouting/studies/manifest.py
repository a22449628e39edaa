"""What a folder of results knows of its study: definition, files, seeds, versions, commands."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from olprouting.errors import InputError, shown
from olprouting.files import write_text
from olprouting.instances._checks import text_field
from olprouting.instances.documents import (
    load_document,
    naming,
    read_text,
    refuse_wrong_fields,
    require_equal,
)
from olprouting.studies.definition import Study, study_of
from olprouting.studies.hashing import file_sha256
from olprouting.versions import versions

SCHEMA: Final = "olprouting/study/1"
FILE: Final = "manifest.json"

_FIELDS = {
    "schema", "definition", "definition_sha256", "folder", "study_file", "files", "seeds",
    "cells", "runs",
}  # fmt: skip


@dataclass(frozen=True)
class Manifest:
    """The manifest of a folder of results.

    Attributes
    ----------
    study
        The study.
    definition_sha256
        Hash of its definition.
    study_file
        Path and SHA-256 of the file it was read from, None if it was none.
    files
        SHA-256 by path of every file that results depend on.
    runs
        One entry per command: what it was, when, with how many jobs, and all versions.
    """

    study: Study
    definition_sha256: str
    study_file: dict[str, str] | None
    files: dict[str, str]
    runs: tuple[dict[str, Any], ...] = field(default_factory=tuple)

    @classmethod
    def of(cls, study: Study, study_file: Path | None) -> Self:
        """Return the manifest of a study that begins."""
        files = {file for cell in study.cells for file in cell.depends_on()}
        return cls(
            study=study,
            definition_sha256=study.sha256,
            study_file=(
                None
                if study_file is None
                else {"path": str(study_file), "sha256": file_sha256(study_file)}
            ),
            files={str(file): file_sha256(file) for file in sorted(files)},
        )

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the manifest of a folder.

        Raises
        ------
        InputError
            If it has none, or none of ours.
        """
        path = folder / FILE
        if not path.exists():
            raise InputError(f"{folder} holds no study: there is no {FILE}")
        document = load_document(read_text(path), str(path), SCHEMA)
        with naming(str(path), SCHEMA):
            refuse_wrong_fields("manifest", document, _FIELDS)
            files = _texts("files", document["files"])
            place = text_field("folder", document["folder"])
            study = study_of(document["definition"], Path(place), files)
            require_equal("definition_sha256", document["definition_sha256"], study.sha256)
            require_equal("seeds", document["seeds"], list(study.seeds))
            require_equal("cells", document["cells"], len(study.cells))
            file = document["study_file"]
            return cls(
                study=study,
                definition_sha256=study.sha256,
                study_file=None if file is None else _texts("study_file", file),
                files=files,
                runs=_runs(document["runs"]),
            )

    def write(self, folder: Path) -> None:
        """Write the manifest to a folder."""
        document = {
            "schema": SCHEMA,
            "definition": self.study.document,
            "definition_sha256": self.definition_sha256,
            "folder": str(self.study.folder),
            "study_file": self.study_file,
            "files": self.files,
            "seeds": list(self.study.seeds),
            "cells": len(self.study.cells),
            "runs": list(self.runs),
        }
        write_text(folder / FILE, json.dumps(document, indent=2) + "\n")

    def with_runs(self, runs: tuple[dict[str, Any], ...]) -> Self:
        """Return the manifest with the commands of an earlier one."""
        return replace(self, runs=runs)

    def with_run(self, command: str, workers: str) -> Self:
        """Return the manifest with one more command."""
        run = {
            "command": command,
            "began": datetime.now(UTC).isoformat(timespec="seconds"),
            "workers": workers,
            "versions": versions(),
        }
        return replace(self, runs=(*self.runs, run))

    def refuse_another(self, folder: Path, now: Manifest, *, force: bool) -> None:
        """Refuse to continue if the study is another one, or its files have changed.

        Parameters
        ----------
        folder
            Where this manifest lies.
        now
            The manifest that the study would have if it began now.
        force
            Whether changed files are accepted: cells that depend on them are computed again.

        Raises
        ------
        InputError
            In both cases.
        """
        if self.definition_sha256 != now.definition_sha256:
            raise InputError(
                f"{folder} holds another study: {self.study.name!r} with definition "
                f"{self.definition_sha256[:12]}, not {now.study.name!r} with "
                f"{now.definition_sha256[:12]}; choose another --out"
            )
        before = set(self.files.values())
        changed = [path for path, sha in now.files.items() if sha not in before]
        if changed and not force:
            raise InputError(
                f"{changed[0]} changed since the study in {folder} began (its SHA-256 differs); "
                "restore it, choose another --out, or compute its cells again with --force"
            )


def _texts(name: str, given: Any) -> dict[str, str]:
    if not isinstance(given, dict):
        raise InputError(f"{name} must be an object, found {shown(given)}")
    return {key: text_field(f"{name}[{shown(key)}]", value) for key, value in given.items()}


def _runs(given: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(given, list) or not all(isinstance(run, dict) for run in given):
        raise InputError(f"runs must be a list of objects, found {shown(given)}")
    return tuple(given)
