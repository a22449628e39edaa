"""Where the data of this project lie: beside the sources, or inside an installed package."""

from __future__ import annotations

import functools
from pathlib import Path

from olprouting.errors import InputError


@functools.cache
def data_folder() -> Path:
    """Return the folder of small data that comes with olprouting.

    A wheel carries it as ``olprouting/_data``; in a source checkout it is ``data`` beside the
    package.

    Raises
    ------
    InputError
        If neither is there.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_data", package.parent / "data"):
        if (folder / "profiles").is_dir():
            return folder
    raise InputError(f"the data of olprouting are missing beside {package}; reinstall it")
