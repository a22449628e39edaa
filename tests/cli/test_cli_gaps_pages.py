"""What README and docs/how-to-read-gaps.md show of `olprouting gaps` is what it prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from olprouting.cli.app import app

REPOSITORY = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUOTE = re.compile(r"(?:^> .*\n)+", re.MULTILINE)


def words(text: str) -> str:
    """Return a text on one line, up to the times, which differ from machine to machine."""
    return " ".join(re.sub(r"A decision takes.*", "", text, flags=re.DOTALL).split())


@pytest.fixture(scope="module")
def guide() -> str:
    return (REPOSITORY / "docs" / "how-to-read-gaps.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(guide: str):
    """The page of the command that the guide explains, with time enough to prove everything."""
    command = next(code for language, code in BLOCK.findall(guide) if language == "console")
    arguments = shlex.split(command.removeprefix("$ olprouting"))
    result = CliRunner().invoke(app, [*arguments, "--time-limit", "30"])
    assert result.exit_code == 0, result.output
    return result


def test_the_guide_shows_the_table_that_is_printed(guide, page) -> None:
    """Catches numbers and columns of an earlier version."""
    shown = next(code for language, code in BLOCK.findall(guide) if language == "text")
    assert words(shown) in words(page.stdout)


def test_the_guide_answers_ten_questions_with_what_is_printed(guide, page) -> None:
    """Catches an answer that the page no longer gives."""
    printed = " ".join(page.output.split())
    quotes = [" ".join(quote.replace("> ", "").split()) for quote in QUOTE.findall(guide)]
    assert len(quotes) >= 10
    for quote in quotes:
        assert quote in printed
    assert re.findall(r"^\*\*(\d+)\.", guide, re.MULTILINE) == [str(n) for n in range(1, 11)]


def test_the_guide_shows_what_the_default_command_prints() -> None:
    """The lookahead program is left out here: it takes long, and its proofs depend on the machine.

    Catches numbers of an earlier version.
    """
    text = (REPOSITORY / "docs" / "gaps.md").read_text(encoding="utf-8")
    shown = next(code for language, code in BLOCK.findall(text) if language == "text")
    compared = re.sub(r"^Lookahead.*\n(?:  .*\n)*", "", shown, flags=re.MULTILINE)
    result = CliRunner().invoke(app, ["gaps", "--judged-by", "myopic", "--time-limit", "30"])
    assert words(compared) == words(result.stdout)
