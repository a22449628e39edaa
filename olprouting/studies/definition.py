"""What a study is: read from a TOML file, checked, and spread out into cells.

A study file holds::

    kind = "simulate"          # simulate, gaps or prices: what is measured in every cell
    policies = ["jsq", "brh"]  # policies; or tables, see below
    seeds = [0, 1, 2]          # or a number of seeds, spawned from root_seed (0 by default)
    name = "my-study"          # the file's name by default

    [trace]                    # parameters of `WorkloadOptions`
    source = "azure-2023-conv-like"
    requests = 2000

    [cluster]                  # parameters of `ClusterOptions`
    workers = 8

    [options]                  # any other parameter
    horizon = 80
    weights = "tail-latency"   # a named set; single weights: weights.zeta2 = 4
    kv.mode = "blocks"         # options of KV accounting

    [grid]                     # lists and ranges over any parameter of the three tables
    beta = [1, 10, 43]
    gamma = { from = 0.6, to = 1.0, by = 0.1 }
    weights.zeta2 = { from = 1, to = 64, steps = 7, scale = "log" }

    [outputs]                  # fields of `Outputs`
    metrics = ["mean_imbalance_tokens"]

    [reduced]                  # what --reduced replaces, with tables of the same names
    seeds = [0]
    grid.beta = [1, 43]

A missing value (no limit, all decisions) is written ``"none"``. A policy may be a table such as
``{ name = "BR-H, soft", policy = "brh", beta = 14.67 }``: its parameters come before all others and
are out of the grid for it. Paths are relative to the study file. Every grid point, policy and seed
makes one cell. A seed draws the same requests for all policies and grid points, which makes
differences between them sharper (common random numbers). Equal studies give equal tables, unless
an exact solve ends at its ``time_limit_s``: what it has by then depends on the machine.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from olprouting.errors import InputError, member_named, shown, unknown_name
from olprouting.instances.documents import load_toml, read_text
from olprouting.studies.cell import Cell, PolicyEntry
from olprouting.studies.grid import RANGE_KEYS, points_of, values_of
from olprouting.studies.hashing import content_sha256
from olprouting.studies.outputs import Outputs
from olprouting.studies.parameters import OPTIONS, Kind, parameters
from olprouting.studies.places import line_of

if TYPE_CHECKING:
    from olprouting.parameters import Parameter

SECTIONS: Final = ("trace", "cluster", OPTIONS)
KEYS: Final = ("kind", "policies", "seeds", "root_seed", "name", *SECTIONS, "grid", "outputs")
REDUCED: Final = "reduced"
MOST_SEEDS: Final = 10_000
MOST_CELLS: Final = 1_000_000
"""Cells of the largest study: a cell has a line of its own in every table."""

_NAME: Final = re.compile(r"""(?![ .])[^/\\:*?"<>|\x00-\x1f\x7f]{1,100}(?<![ .])""")
_RESERVED: Final = re.compile(r"(CON|PRN|AUX|NUL|(COM|LPT)[0-9¹²³])(\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Study:
    """A parameter study.

    Parameters
    ----------
    name
        What reports call it.
    kind
        What is measured.
    policies
        Policies, at least one.
    settings
        Parameters with one value, by name.
    grid
        Parameters with several, by name.
    seeds
        One per replication, each >= 0.
    outputs
        What is kept and reported.
    document
        The definition as it was written, after ``[reduced]``.
    folder
        What relative paths start from.
    files
        SHA-256 by path of files as they were when the study began; others are hashed as they are.

    Raises
    ------
    InputError
        If two cells are the same.
    """

    name: str
    kind: Kind
    policies: tuple[PolicyEntry, ...]
    settings: dict[str, Any]
    grid: dict[str, tuple[Any, ...]]
    seeds: tuple[int, ...]
    outputs: Outputs
    document: dict[str, Any] = field(repr=False)
    folder: Path = field(default_factory=Path)
    files: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def sha256(self) -> str:
        """Hash of the definition, by which a folder of results recognises its study."""
        return content_sha256(self.document)

    @functools.cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells: by grid point, then policy, then seed.

        Raises
        ------
        InputError
            If two cells are the same.
        """
        found: dict[str, Cell] = {}
        self._refuse_too_many()
        for policy in self.policies:
            free = {n: v for n, v in self.grid.items() if n not in policy.settings}
            for point in points_of(free):
                for number, seed in enumerate(self.seeds):
                    settings = self.settings | point | policy.settings
                    cell = Cell(
                        kind=self.kind,
                        policy=policy,
                        seed=seed,
                        point=dict.fromkeys(self.grid) | point,
                        settings=settings,
                        outputs=self.outputs,
                        keeps_series=number == 0,
                        folder=self.folder,
                        files=self.files,
                    )
                    if (twin := found.get(cell.id)) is not None:
                        raise InputError(f"duplicate cells: {twin.label} and {cell.label}")
                    found[cell.id] = cell
        return tuple(found.values())

    def _refuse_too_many(self) -> None:
        number = sum(
            math.prod(len(v) for n, v in self.grid.items() if n not in policy.settings)
            for policy in self.policies
        ) * len(self.seeds)
        if number > MOST_CELLS:
            raise InputError(
                f"grid: {number:,} cells (points x policies x seeds); a study has at most "
                f"{MOST_CELLS:,}"
            )


def read_study(path: str | Path, *, reduced: bool = False) -> Study:
    """Read a study from a TOML file.

    Parameters
    ----------
    path
        The file; this module's docstring describes it.
    reduced
        Whether to apply its ``[reduced]`` table, the form for a quick run.

    Returns
    -------
    Study
        Checked: every policy, option and name exists, and no two cells are the same.

    Raises
    ------
    InputError
        If something is wrong; the message names the file and, where there is one, the line.
    """
    path = Path(path)
    text = read_text(path)
    document = load_toml(text, str(path))
    smaller = document.pop(REDUCED, None)
    document.setdefault("name", path.stem)
    study: Study | None = None
    try:
        study = _checked(study_of(document, path.resolve().parent))
        if smaller is not None:
            changed = _merged(document | {"name": f"{study.name}-{REDUCED}"}, smaller)
            less = _checked(study_of(changed, study.folder))
            study = less if reduced else study
    except InputError as error:
        line = line_of(text, str(error), in_reduced=study is not None)
        raise InputError(f"{path}{line}: {error}") from None
    if reduced and smaller is None:
        raise InputError(f"{path}: --reduced needs a table [{REDUCED}]")
    return study


def study_of(
    document: Mapping[str, Any], folder: Path, files: Mapping[str, str] | None = None
) -> Study:
    """Return the study of a definition.

    Parameters
    ----------
    document
        Keys and tables as in a study file, with a name and without ``[reduced]``.
    folder
        What relative paths start from.
    files
        SHA-256 by path of files that need not be there any more.

    Raises
    ------
    InputError
        If something is wrong.
    """
    if not isinstance(document, Mapping):
        raise InputError(f"the definition must be a table, found {shown(document)}")
    for key in document:
        if key not in KEYS:
            raise unknown_name("key", key, (*KEYS, REDUCED))
    if "kind" not in document:
        raise InputError(f"kind is missing: one of {', '.join(Kind)}")
    kind = member_named(Kind, "kind", str(document["kind"]))
    known = parameters(kind)
    settings: dict[str, Any] = {}
    for section in SECTIONS:
        settings |= _settings(kind, known, section, _table(document, section))
    grid = {
        name: values_of(_known(known, "grid", name), given)
        for name, given in _flat(_table(document, "grid")).items()
    }
    for parameter in grid.keys() & settings.keys():
        raise InputError(f"{parameter} stands in [grid] and in [{known[parameter].section}]")
    return Study(
        name=_name(document["name"]),
        kind=kind,
        policies=_policies(kind, known, document.get("policies")),
        settings=settings,
        grid=grid,
        seeds=_seeds(document.get("seeds", 1), document.get("root_seed", 0)),
        outputs=Outputs.of(_table(document, "outputs")),
        document=dict(document),
        folder=folder,
        files=files or {},
    )


def _checked(study: Study) -> Study:
    """Return a study after a look at the options of every cell."""
    for cell in study.cells:
        if cell.keeps_series:  # options do not depend on the seed
            cell.check()
    return study


def _name(given: Any) -> str:
    """Return a study's name, which becomes that of a folder, on any system."""
    if not isinstance(given, str) or not _NAME.fullmatch(given) or _RESERVED.fullmatch(given):
        raise InputError(
            f"name = {shown(given)}: a study's name is not a path: 1 to 100 characters, none of "
            '/ \\ : * ? " < > |, no point or blank at either end, and no name that Windows '
            "reserves, such as NUL"
        )
    return given


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = document.get(name, {})
    if not isinstance(table, Mapping):
        raise InputError(f"{name} = {shown(table)} must be a table: [{name}]")
    return table


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with dotted names for what stands in tables within it."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping) and not value.keys() & set(RANGE_KEYS):
            flat |= {f"{name}.{inner}": given for inner, given in value.items()}
        else:
            flat[name] = value
    return flat


def _known(known: Mapping[str, Parameter], where: str, name: str) -> Parameter:
    if name not in known:
        raise unknown_name(f"parameter in {where}", name, known)
    return known[name]


def _settings(
    kind: Kind, known: Mapping[str, Parameter], section: str, table: Mapping[str, Any]
) -> dict[str, Any]:
    settings = {}
    for name, value in _flat(table).items():
        own = {n: p for n, p in known.items() if p.section == section}
        if name in known and name not in own:
            raise InputError(f"{name} in [{section}] belongs in [{known[name].section}]")
        settings[name] = _known(own, f"[{section}] of kind {kind!s}", name).typed(value)
    return settings


def _policies(kind: Kind, known: Mapping[str, Parameter], given: Any) -> tuple[PolicyEntry, ...]:
    if not isinstance(given, list) or not given:
        raise InputError(f"policies = {shown(given)} must be a list of at least one policy")
    entries = []
    for entry in given:
        if isinstance(entry, str):
            entries.append(PolicyEntry(entry, entry, {}))
            continue
        if not isinstance(entry, Mapping) or not isinstance(entry.get("policy"), str):
            raise InputError(f"policies: {shown(entry)} must be a name, or a table with a policy")
        rest = {name: value for name, value in entry.items() if name not in ("name", "policy")}
        settings = {
            name: _known(known, f"a policy of kind {kind!s}", name).typed(value)
            for name, value in _flat(rest).items()
        }
        name = entry.get("name", entry["policy"])
        if not isinstance(name, str):
            raise InputError(f"policies: name = {shown(name)} must be text")
        entries.append(PolicyEntry(name, entry["policy"], settings))
    names = [entry.name for entry in entries]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(f"policies: {name!r} comes twice; give one of them another name")
    return tuple(entries)


def _seeds(given: Any, root: Any) -> tuple[int, ...]:
    def whole(value: Any, least: int) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63

    if not whole(root, 0):
        raise InputError(f"root_seed = {shown(root)} must be a whole number in 0..2^63-1")
    if whole(given, 1):
        if given > MOST_SEEDS:
            raise InputError(f"seeds = {shown(given)} must be at most {MOST_SEEDS}")
        children = np.random.SeedSequence(root).spawn(given)
        return tuple(int(child.generate_state(1)[0]) >> 1 for child in children)  # solvers: 31 bits
    if not isinstance(given, list) or not given or not all(whole(seed, 0) for seed in given):
        raise InputError(
            f"seeds = {shown(given)} must be a list of whole numbers in 0..2^63-1, or how many "
            "to spawn"
        )
    if len(set(given)) < len(given):
        raise InputError(f"seeds = {shown(given)} has a seed twice: its cells would be duplicates")
    return tuple(given)


def _merged(document: Mapping[str, Any], changes: Any) -> dict[str, Any]:
    """Return a definition with values replaced, table by table."""
    if not isinstance(changes, Mapping):
        raise InputError(f"{REDUCED} = {shown(changes)} must be a table: [{REDUCED}]")
    merged = dict(document)
    for name, value in changes.items():
        old = merged.get(name)
        is_range = isinstance(value, Mapping) and bool(value.keys() & set(RANGE_KEYS))
        both = isinstance(value, Mapping) and isinstance(old, Mapping) and not is_range
        merged[name] = _merged(old, value) if both else value  # type: ignore[arg-type]
    return merged
