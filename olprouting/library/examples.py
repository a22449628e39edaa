"""Tiny examples with known answers, and the lessons that use them; both come with olprouting."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from olprouting.errors import InputError, unknown_name
from olprouting.instances import Decision, PeriodProblem, Trace
from olprouting.instances.documents import load_json, read_text
from olprouting.traces import read_trace
from olprouting.traces.data_folder import data_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUFFIXES = (".json", ".csv")
_KINDS: Mapping[str, type[Decision | PeriodProblem]] = {
    "olprouting/decision/1": Decision,
    "olprouting/period/1": PeriodProblem,
}


def example_names() -> tuple[str, ...]:
    """Return the names of the examples."""
    return tuple(sorted(path.stem for path in _examples().iterdir() if path.suffix in _SUFFIXES))


def example(name: str) -> Decision | PeriodProblem | Trace:
    """Return an example, such as ``"e2"``: a decision, a period or a trace written by hand.

    Parameters
    ----------
    name
        One of `example_names`.

    Raises
    ------
    InputError
        If there is no such example.
    """
    if name not in example_names():
        raise unknown_name("example", name, example_names())
    if (table := _examples() / f"{name}.csv").exists():
        return read_trace(table)
    text = read_text(_examples() / f"{name}.json")
    return _KINDS[load_json(text, name)["schema"]].from_json(text)


def copy_lessons(folder: Path) -> tuple[Path, ...]:
    """Copy the notebooks and the examples to ``notebooks`` and ``examples`` in a folder.

    Parameters
    ----------
    folder
        Is made if it is missing.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    InputError
        If one of them is there already: it may hold somebody's answers. Nothing is written then.
    """
    copies = {
        source: folder / kind / source.name
        for kind, place in (("notebooks", _notebooks()), ("examples", _examples()))
        for source in sorted(place.iterdir())
        if source.is_file()
    }
    for target in copies.values():
        if target.exists():
            raise InputError(f"{target} is there already; name another folder")
    for source, target in copies.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return tuple(copies.values())


def _examples() -> Path:
    return data_folder() / "examples"


def _notebooks() -> Path:
    """Return the folder of the notebooks: in a wheel beside the data, else in the checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_notebooks"
    return installed if installed.is_dir() else package.parent / "notebooks"
