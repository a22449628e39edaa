"""The teaching notebooks run, their solutions too, and they are stored executed and tidy."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

if TYPE_CHECKING:
    from types import ModuleType

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_FIGURE_BYTES = 100_000
FIGURE = "image/svg+xml"
HIDDEN_TAGS = {"tags": ["hide-cell"], "jupyter": {"source_hidden": True}}

HIDDEN = re.compile(r"<details>(.*?)</details>", re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ABSOLUTE = re.compile(r"(?<![\w.])/(?:home|root|tmp|Users|usr|opt|work|var|mnt)/|\b[A-Z]:\\\\\w")

per_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def execute() -> ModuleType:
    """Return the script that runs and stores them."""
    spec = importlib.util.spec_from_file_location("execute", FOLDER / "execute.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def kinds(cell: Any) -> list[str]:
    """Return what a cell shows, such as a figure or printed text."""
    return [str(output.get("name") or min(output.get("data", {"": 0}))) for output in cell.outputs]


def solutions(cell: Any) -> list[str]:
    if cell.cell_type != "markdown":
        return []
    return [code for hidden in HIDDEN.findall(cell.source) for code in PYTHON.findall(hidden)]


def python_of(path: Path) -> list[str]:
    """Return the Python of a notebook, solutions too, without the notebook's own commands."""
    cells = read(path).cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    code += [code for cell in cells for code in solutions(cell)]
    return [re.sub(r"^( *)%.*$", r"\1pass", text, flags=re.MULTILINE) for text in code]


def test_they_are_numbered() -> None:
    numbers = [path.name[:2] for path in NOTEBOOKS]
    assert numbers == [f"{number:02d}" for number in range(1, len(NOTEBOOKS) + 1)]


@per_notebook
def test_runs_with_its_solutions_and_shows_what_is_stored(
    execute, path, tmp_path, monkeypatch
) -> None:
    """Catches code that changed under a notebook: cells and hidden solutions assert their numbers.

    It runs in an empty folder, as a lesson does that was copied out of a wheel.

    A cell that now shows a table where a figure is stored, or a warning, is stale too.
    """
    stored = read(path)
    longer = nbformat.v4.new_notebook(metadata=stored.metadata)
    for cell in stored.cells:
        longer.cells.append(cell.copy())
        longer.cells += [nbformat.v4.new_code_cell(code) for code in solutions(cell)]
    monkeypatch.setattr(execute, "FOLDER", tmp_path)
    execute.run(longer)
    execute.tidy(longer)
    known = {cell.id: cell for cell in stored.cells if cell.cell_type == "code"}
    fresh = [cell for cell in longer.cells if cell.id in known]
    assert len(fresh) == len(known) > 0
    for cell in fresh:
        assert kinds(cell) == kinds(known[cell.id]), cell.source


@per_notebook
def test_is_stored_executed(path) -> None:
    """Catches a notebook saved without running it, or whose run failed."""
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    shown = [output for cell in cells for output in cell.outputs]
    assert {output.output_type for output in shown} <= {"stream", "execute_result", "display_data"}
    assert all(output.get("name") != "stderr" for output in shown)
    assert any(FIGURE in output.get("data", {}) for output in shown)


@per_notebook
def test_holds_nothing_of_the_machine_that_ran_it(path) -> None:
    """Catches paths, times and versions, which would differ after every run, and large figures."""
    notebook = read(path)
    assert notebook.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert all(cell.metadata in ({}, HIDDEN_TAGS) for cell in notebook.cells)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            figure = output.get("data", {}).get(FIGURE, "")
            assert len(figure) < MOST_FIGURE_BYTES
            assert "<dc:" not in figure  # where Matplotlib writes its version and the date
            assert "image/png" not in output.get("data", {})
    assert "Running HiGHS" not in json.dumps(notebook)
    assert not ABSOLUTE.search(json.dumps(notebook))


@per_notebook
def test_asks_first_and_ends_with_solved_exercises(path) -> None:
    """Catches a notebook without its question, or an exercise whose solution was forgotten."""
    notebook = read(path)
    assert notebook.cells[0].source.startswith(f"# {int(path.name[:2])}. ")
    assert "**Question.**" in notebook.cells[0].source
    exercises = notebook.cells[-1].source
    assert exercises.count("## Exercises") == 1
    asked = re.findall(r"^\*\*(\d+)\.\*\* ", exercises, re.MULTILINE)
    assert asked == [str(number) for number in range(1, len(asked) + 1)]
    assert len(solutions(notebook.cells[-1])) == len(asked) >= 3


@per_notebook
def test_uses_public_names_only(path) -> None:
    """Catches a lesson that teaches a module nobody promised to keep.

    Public is what a package of the API reference lists in ``__all__``, and every model.
    """
    for text in python_of(path):
        for node in ast.walk(ast.parse(text)):
            assert not isinstance(node, ast.Attribute) or not node.attr.startswith("_"), node.attr
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("olprouting"):
                package = importlib.import_module(node.module or "")
                models = {model.stem for model in (FOLDER.parent / "models").glob("*.py")}
                public = models if node.module == "olprouting.models" else set(package.__all__)
                assert {name.name for name in node.names} <= public


@per_notebook
def test_starts_with_an_installation_and_hides_its_checks(path) -> None:
    """Catches a lesson that cannot be started elsewhere, and a check amid what is taught."""
    first, *others = (cell for cell in read(path).cells if cell.cell_type == "code")
    assert "%pip install" in first.source
    assert first.metadata == HIDDEN_TAGS
    for cell in others:
        if cell.metadata != HIDDEN_TAGS:
            assert not re.search("^assert", cell.source, re.MULTILINE), cell.source


@per_notebook
def test_links_lead_somewhere(path) -> None:
    """Catches a renamed notebook or data file."""
    text = "\n".join(cell.source for cell in read(path).cells)
    links = re.findall(r"\]\((?!http)([^)#\s]+)\)", text)
    files = re.findall(r"`((?:data|experiments|models)/[\w./]+)`", text)
    assert links
    for target in [*(FOLDER / link for link in links), *(FOLDER.parent / name for name in files)]:
        assert target.exists(), target


def test_every_notebook_is_in_the_index() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((\d\d_\w+\.ipynb)\)", index) == [path.name for path in NOTEBOOKS]
