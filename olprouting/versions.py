"""Versions of what a number depends on, for reports and `olprouting doctor`."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "olprouting",
    "numpy",
    "numba",
    "pyomo",
    "highspy",
    "ortools",
    "cvxpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "pyarrow",
)


def versions() -> dict[str, str]:
    """Return the version of Python and of every package that numbers depend on."""
    return {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


__version__ = _version("olprouting")
