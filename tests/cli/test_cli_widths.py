"""Tables of all commands fit a terminal of 80 columns."""

from __future__ import annotations

import re

import pytest
from command_line import olprouting

SMALL = ["--requests", "40", "--workers", "2", "--slots", "4"]
BY_PERIOD = [*SMALL, "--kv-tokens", "9000", "--periods", "120", "--rate", "0.2"]

COMMANDS = {
    "simulate": ["simulate", *SMALL, "--policy", "jsq", "--kv-tokens", "20000", "--details"],
    "gaps": ["gaps", *SMALL, "--policies", "jsq,br0", "--decisions", "3"],
    "hindsight": ["hindsight", *BY_PERIOD, "--time-limit", "0.5", "--policies", "jsq", "--details"],
    "imbalance": ["hindsight", "--objective", "imbalance", "--policies", "jsq,br0", "--details"],
    "prices": ["prices", *BY_PERIOD, "--policies", "jsq", "--sample", "3"],
    "theory": ["theory", "--details"],
    "forecast": ["forecast", "evaluate", "--requests", "200", "--forecasts", "oracle,survival"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_tables_fit_80_columns(name):
    """Catches a column more than a terminal shows: Rich cuts cells, other tables wrap."""
    done = olprouting(*COMMANDS[name])
    assert done.returncode == 0, done.stderr
    assert "…" not in done.stdout
    paragraphs = re.split(r"\n *\n", done.stdout)
    tables = [one for one in paragraphs if "─" in one]  # headings, rule and rows
    assert tables
    # what is no table stands before its title or after its caption, and is no part of the rows
    for table in tables:
        headings, _, rows = table.partition("─")
        for line in headings.splitlines()[-2:-1] + rows.splitlines()[1:]:
            assert len(line) <= 80 or line.endswith("."), line
