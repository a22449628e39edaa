"""What is imported when: the first answer must not wait for libraries that it does not need."""

from __future__ import annotations

from pathlib import Path

import pytest
from child_processes import COMMAND_LINE, python

import olprouting as olp

EXAMPLE = Path(__file__).resolve().parents[1] / "data" / "examples" / "e1.json"
HEAVY = {
    "cvxpy",
    "distributed",
    "jinja2",
    "matplotlib",
    "numba",
    "ortools",
    "pandas",
    "pooch",
    "pyarrow",
    "pyomo.environ",  # every solver and transformation of Pyomo; models need pyomo.core
    "scipy",
    "sklearn",
}
COMMAND = """
import sys
sys.argv = ["olprouting", *{arguments!r}]
from olprouting.__main__ import main
try:
    main()
except SystemExit:
    pass
print("modules:", *sys.modules)
"""


def loaded(script: str) -> set[str]:
    """Return the modules that a fresh process has loaded after `script`."""
    done = python(script)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("modules:")[2].split())


def test_importing_the_package_loads_nothing_but_itself() -> None:
    """Catches a name that is loaded before it is used."""
    modules = loaded("import sys, olprouting; print('modules:', *sys.modules)")
    assert "olprouting" in modules
    assert not modules & (HEAVY | {"numpy", "pyomo", "rich", "typer"})
    assert not {name for name in modules if name.startswith("olprouting.")}


@pytest.mark.parametrize(
    ("arguments", "also_not"),
    [
        (["--help"], {"highspy", "numpy", "pyomo"}),
        (["--version"], {"highspy", "numpy", "pyomo", "rich"}),
        (["traces", "list"], {"pyomo"}),
        (["solve", str(EXAMPLE), "--solver", "highs"], {"rich"}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_loads_what_it_needs(arguments: list[str], also_not: set[str]) -> None:
    """Catches an import at the top of a file that only one of its functions needs."""
    modules = loaded(COMMAND.format(arguments=arguments))
    assert "olprouting.cli.app" in modules
    assert not modules & (HEAVY | also_not)


def test_the_version_is_the_packages() -> None:
    """Catches a version that is written down twice."""
    assert python(COMMAND_LINE, "--version").stdout == f"olprouting {olp.__version__}\n"


def test_every_name_can_be_loaded() -> None:
    """Catches a name in the stub that its module does not have."""
    assert {name for name in olp.__all__ if getattr(olp, name) is None} == set()
    assert olp.__version__
