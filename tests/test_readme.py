"""The README's Python runs and prints what the README shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIMES = re.compile(r"^(wall_s|build_s) .*$", re.MULTILINE)


def blocks(language: str) -> list[str]:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    return [code for found, code in BLOCK.findall(text) if found == language]


def test_python_blocks_print_the_text_blocks():
    shown = [TIMES.sub("", block) for block in blocks("text")]
    namespace: dict[str, Any] = {}
    printed = []
    for code in blocks("python"):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(code, namespace)
        if output.getvalue():
            printed.append(TIMES.sub("", output.getvalue()))
    assert printed == shown[-len(printed) :]
    assert len(printed) >= 2


def test_every_command_in_the_readme_exists():
    from typer.main import get_command

    from olprouting.cli.app import app

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    used = set(re.findall(r"olprouting ([a-z]+)", "".join(blocks("console"))))
    assert used
    assert used <= known


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_and_named_files_exist(page):
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!http)([^)#]+)\)", text)
    files = re.findall(r"`((?:olprouting|models|tests|data)/[\w/.]+)`", text)
    for target in [*targets, *files]:
        assert (REPOSITORY / target).exists(), target
