"""The house as CONTRIBUTING.md draws it, as import-linter keeps it, and as it stands."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "olprouting"


def layers() -> list[set[str]]:
    """Return the floors of import-linter, the highest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (floors,) = [c for c in project["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    return [set(layer.split(" | ")) for layer in floors["layers"]]


def test_the_guide_draws_the_floors_that_are_kept() -> None:
    """Catches a package that was added or moved in one of the two places."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawing = re.search(r"(?:^    \S.*\n)+", page[page.index("## The house") :], re.MULTILINE)
    assert drawing is not None
    left = [line.strip().split("  ")[0] for line in drawing[0].splitlines()]
    floors = re.sub(r",\n", ", ", "\n".join(left)).splitlines()
    assert [set(floor.split(", ")) for floor in floors] == layers()


def test_every_package_stands_on_a_floor() -> None:
    """Catches a package that import-linter does not look at."""
    modules = {path.stem for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"}
    modules = {name for name in modules if not name.startswith("_")}
    assert modules == set().union(*layers())


def test_no_two_public_classes_share_a_name() -> None:
    """Catches one word for two things."""
    places = defaultdict(set)
    for folder in (PACKAGE, ROOT / "models"):
        for path in folder.rglob("[!_]*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].add(path.relative_to(ROOT))
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert not twice
