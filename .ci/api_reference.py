"""Build the API reference from docstrings: ``python .ci/api_reference.py FOLDER``."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import warnings
from pathlib import Path

import pdoc

import olprouting

PACKAGES = (
    "olprouting",
    *(
        f"olprouting.{module.name}"
        for module in pkgutil.iter_modules(olprouting.__path__)
        # those that `olprouting` names come with it
        if module.ispkg and module.name not in ("cli", *olprouting.__all__)
    ),
    "olprouting.exact.period",
    "olprouting.forecasts.learned",
    "olprouting.parameters",
)


def build(folder: Path) -> None:
    """Write one page per public package, and one per model."""
    for package in PACKAGES:  # names that packages load on demand are to be found by pdoc
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            getattr(module, name)
    pdoc.render.configure(docformat="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # names that only type checkers import are shown as they are written
        warnings.filterwarnings("ignore", "Error parsing type annotation")
        # what libraries deprecate in one another is not about our pages
        warnings.simplefilter("ignore", DeprecationWarning)
        pdoc.pdoc(*PACKAGES, output_directory=folder)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
