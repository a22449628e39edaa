"""What the project's pages say of it stays true, and their example of a policy runs."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import olprouting as olp

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMED_BLOCK = re.compile(r"^```python\n(# (\w+\.py)\n.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBERS = {"seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_policy_that_the_guide_adds_passes_its_test(tmp_path: Path) -> None:
    """Catches a guide whose example no longer fits the library."""
    files = {name: code for code, name in NAMED_BLOCK.findall(page("CONTRIBUTING.md"))}
    assert set(files) == {"largest_first.py", "test_largest_first.py"}
    for name, code in files.items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_the_citation_is_of_this_version_and_of_both_papers() -> None:
    """Catches a release, licence or paper that the citation does not follow."""
    citation = yaml.safe_load(page("CITATION.cff"))
    assert citation["version"] == PROJECT["version"] == olp.__version__
    assert citation["license"] == PROJECT["license"]
    papers = {paper["identifiers"][0]["value"] for paper in citation["references"]}
    assert papers == set(re.findall(r"arXiv:\d{4}\.\d{5}", page("README.md")))
    assert "CITATION.cff" in page("pyproject.toml")


def test_the_changelog_counts_what_there_is() -> None:
    """Catches a feature counted when it was first written down, and never again."""
    changes = page("CHANGELOG.md")
    assert "## [Unreleased]" in changes
    problems = re.search(r"(\d+) named problems", changes)
    assert problems is not None
    assert int(problems[1]) == len(olp.instance_names())
    lessons = re.search(r"(\w+) notebooks", changes)
    assert lessons is not None
    assert NUMBERS[lessons[1]] == len(list((ROOT / "notebooks").glob("*.ipynb")))


@pytest.mark.parametrize("where", ["CONTRIBUTING.md", ".ci/run"])
def test_a_commit_is_checked_by_what_ci_checks(where: str) -> None:
    """Catches a check that CI makes and a commit does not, or a tool that the dev extra lacks."""
    (group,) = yaml.safe_load(page(".pre-commit-config.yaml"))["repos"]
    commands = [hook["entry"].split() for hook in group["hooks"]]
    tools = {"ruff check", "ruff format", "mypy", "lint-imports"}
    assert {" ".join(command[: 1 + (command[0] == "ruff")]) for command in commands} == tools
    assert all(tool in page(where) for tool in tools)
    dev = " ".join(PROJECT["optional-dependencies"]["dev"])
    assert all(package in dev for package in ("import-linter", "mypy", "pre-commit", "ruff"))
