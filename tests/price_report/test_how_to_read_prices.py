"""README and the page on reading prices show what the command prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from olprouting.cli.app import app

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def printed():
    """What the command prints with all details, ends of lines stripped."""
    done = CliRunner().invoke(app, ["prices", "--details"])
    assert done.exit_code == 0
    return "\n".join(line.rstrip() for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("page", "least"), [("docs/prices.md", 1), ("docs/how-to-read-prices.md", 6)]
)
def test_what_a_page_shows_is_what_the_command_prints(printed, page, least) -> None:
    """Catches numbers, columns or sentences that have changed since."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = text.partition("Duality on one page")[0]
    shown = re.findall(r"^```text\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    assert len(shown) == least
    for block in shown:
        assert block in printed
