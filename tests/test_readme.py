"""The README and the guides: their Python runs, their commands exist, their numbers are tested."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from olprouting.studies import read_study

REPOSITORY = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GUIDES = sorted(f"docs/{file.name}" for file in REPOSITORY.joinpath("docs").glob("*.md"))
TIMES = re.compile(r"^(wall_s|build_s) .*$", re.MULTILINE)


def page(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def blocks(language: str, name: str) -> list[str]:
    return [code for found, code in BLOCK.findall(page(name)) if found == language]


@pytest.mark.parametrize(("name", "least"), [("README.md", 1), ("docs/python.md", 3)])
def test_python_blocks_print_the_text_blocks(name, least):
    shown = [TIMES.sub("", block) for block in blocks("text", name)]
    namespace: dict[str, Any] = {}
    printed = []
    for code in blocks("python", name):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(code, namespace)
        if output.getvalue():
            printed.append(TIMES.sub("", output.getvalue()))
    assert printed == shown[-len(printed) :]
    assert len(printed) >= least


def test_the_study_in_the_readme_is_one(tmp_path):
    """Catches a file that a reader copies and that is then refused."""
    (shown,) = blocks("toml", "README.md")
    file = tmp_path / "study.toml"
    file.write_text(shown, encoding="utf-8")
    study = read_study(file)
    assert set(study.grid) == {"beta", "gamma"}
    assert len(study.cells) == (4 + 1) * 5  # br0 looks at neither


def test_the_findings_in_the_readme_are_those_of_the_guides():
    """The guides' pages are compared with what is printed; catches numbers of an older version."""
    findings = page("README.md").split("## Three findings")[1].split("## ")[0]
    sources = " ".join((page("docs/gaps.md") + page("docs/prices.md")).split())
    numbers = re.findall(r"[-+]?[\d,.]*\d%?", findings.replace("95% intervals", ""))
    claimed = [number for number in numbers if number != "0"]
    assert len(claimed) >= 10
    for number in claimed:
        assert number in sources, number


def test_the_readme_is_short():
    """A front door: what it loses stands in docs/."""
    assert len((REPOSITORY / "README.md").read_bytes()) <= 6000


@pytest.mark.parametrize("name", ["README.md", *GUIDES])
def test_every_command_exists(name):
    from typer.main import get_command

    from olprouting.cli.app import app

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    commands = "".join(blocks("console", name)) + " ".join(re.findall(r"`.*?`", page(name)))
    used = set(re.findall(r"(?:^\$ |`)olprouting ([a-z]+)", commands, re.MULTILINE))
    assert used or name != "README.md"
    assert used <= known


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", *GUIDES])
def test_links_and_named_files_exist(name):
    text = page(name)
    targets = re.findall(r"\]\((?!http)([^)#]+)\)", text)
    files = re.findall(
        r"`((?:olprouting|models|tests|data)/[\w/.]+\.\w+|(?:models|tests|data)/)`", text
    )
    for target in targets:
        if target.startswith("generated/"):  # a page of the site alone
            continue
        assert (REPOSITORY / name).parent.joinpath(target).exists(), target
    for file in files:
        assert (REPOSITORY / file).exists(), file
