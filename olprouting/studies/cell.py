"""One cell of a study: a grid point, a policy and a seed, with all that is needed to run it."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from olprouting.errors import InputError
from olprouting.forecasts import check_forecast_name
from olprouting.options import ClusterOptions, ForecastOptions, WorkloadOptions
from olprouting.policies import make_policy
from olprouting.studies.hashing import content_sha256, file_sha256
from olprouting.studies.parameters import arguments_of, policy_options
from olprouting.traces.workload import check_source, is_file_name, source_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from olprouting.policies import Policy
    from olprouting.studies.outputs import Outputs
    from olprouting.studies.parameters import Kind

_LEARNED: Final = "learned:"


@dataclass(frozen=True)
class PolicyEntry:
    """A policy of a study.

    Attributes
    ----------
    name
        What tables call it.
    policy_name
        What `make_policy` calls it.
    settings
        Parameters that it has a value of its own for.
    """

    name: str
    policy_name: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes
    ----------
    kind
        What is measured.
    policy
        Of which policy.
    seed
        Draws requests, arrivals, forecasts and ties.
    point
        Values of the grid's parameters by name; None where the policy has its own.
    settings
        All parameters that were given a value, by name.
    outputs
        What is kept.
    keeps_series
        Whether it is of the first seed, whose series are kept.
    folder
        What relative paths start from.
    files
        SHA-256 by path of files as they were when the study began.
    """

    kind: Kind
    policy: PolicyEntry
    seed: int
    point: dict[str, Any]
    settings: dict[str, Any]
    outputs: Outputs
    keeps_series: bool
    folder: Path = field(repr=False)
    files: Mapping[str, str] = field(repr=False)

    @functools.cached_property
    def id(self) -> str:
        """Hash of what the results depend on: files by content, wherever they lie."""
        settings = dict(self.settings)
        if self.trace_sha256 is not None:
            settings["source"] = self.trace_sha256
        if self.model_file is not None:
            settings["forecast"] = self._sha256(self.model_file)
        name = (
            self.policy.policy_name
            if self.policy_file is None
            else self.policy.policy_name.rpartition(":")[2]
        )
        code = None if self.policy_file is None else self._sha256(self.policy_file)
        series = self.outputs.series_every if self.keeps_series else None
        return content_sha256([str(self.kind), name, code, self.seed, settings, series])[:20]

    @property
    def label(self) -> str:
        """Policy, grid point and seed in words."""
        point = {n: v for n, v in (self.point | self.policy.settings).items() if v is not None}
        parts = [f"{name}={value}" for name, value in point.items()]
        return ", ".join([self.policy.name, *parts, f"seed={self.seed}"])

    @property
    def row(self) -> dict[str, Any]:
        """The columns that every row of its results begins with."""
        return {"cell": self.id, "policy": self.policy.name, "seed": self.seed}

    @functools.cached_property
    def workload(self) -> WorkloadOptions:
        """Where its requests come from."""
        fields = WorkloadOptions.chosen(self.settings)
        name = fields.get("source")
        if name is not None and is_file_name(name):
            fields["source"] = str(_placed(Path(name), self.folder))
        return WorkloadOptions(**fields)

    @functools.cached_property
    def trace_sha256(self) -> str | None:
        """Hash of the file its requests depend on; None if a law draws them."""
        file = source_file(self.workload.source)
        return None if file is None else self._sha256(file)

    @functools.cached_property
    def policy_file(self) -> Path | None:
        """The file of a user's function; None for policies that have a name."""
        file, _, function = self.policy.policy_name.rpartition(":")
        if not function or not file.endswith(".py"):
            return None
        return _placed(Path(file), self.folder)

    @functools.cached_property
    def cluster(self) -> ClusterOptions:
        """Its cluster."""
        return ClusterOptions.of(self.settings)

    @property
    def foresight(self) -> ForecastOptions:
        """What its policy knows of decode lengths."""
        fields = ForecastOptions.chosen(self.settings)
        if self.model_file is not None:
            fields["forecast"] = f"{_LEARNED}{self.model_file}"
        return ForecastOptions(**fields)

    @functools.cached_property
    def model_file(self) -> Path | None:
        """The file of a trained forecast; None for others."""
        name = self.settings.get("forecast") or ""
        if not name.startswith(_LEARNED):
            return None
        return _placed(Path(name.removeprefix(_LEARNED)), self.folder)

    @property
    def policy_name(self) -> str:
        """What `make_policy` calls its policy, with the path of a user's file."""
        name = self.policy.policy_name
        return name if self.policy_file is None else f"{self.policy_file}:{name.rpartition(':')[2]}"

    def make_policy(self) -> Policy:
        """Return its policy."""
        return make_policy(self.policy_name, self.cluster.workers, policy_options(self.settings))

    def check(self) -> None:
        """Raise an InputError where its options are out of range or a name is unknown."""
        try:
            check_source(self.workload)
            self.cluster.cluster()
            check_forecast_name(self.foresight.name)
            if self.foresight.name == "learned" and not self.workload.history:
                raise InputError("forecast 'learned' needs history, requests before the run")
            self.make_policy()
            arguments_of(self.kind, self.settings)
        except InputError as error:
            raise InputError(f"{error} ({self.label})") from None

    def depends_on(self) -> list[Path]:
        """Return the files that its results depend on."""
        files = (source_file(self.workload.source), self.policy_file, self.model_file)
        return [file for file in files if file is not None]

    def _sha256(self, file: Path) -> str:
        return self.files.get(str(file)) or _hashed(file)


def _placed(path: Path, folder: Path) -> Path:
    """Return a path that starts from the study's folder, or else from the current one."""
    beside = folder / path
    if os.path.exists(beside):
        return beside
    if os.path.exists(path):
        return path.absolute()
    return beside if path.suffix else path  # a word without suffix is a name that nobody knows


@functools.lru_cache(maxsize=64)
def _hashed_at(file: Path, size_bytes: int, changed_ns: int) -> str:
    return file_sha256(file)


def _hashed(file: Path) -> str:
    try:
        state = file.stat()
    except (OSError, ValueError) as error:  # a name may be none for the system
        raise InputError(f"{file}: cannot read it: {error}") from None
    return _hashed_at(file, state.st_size, state.st_mtime_ns)
