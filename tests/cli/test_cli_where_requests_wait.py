"""docs/where-requests-wait.md: its commands and its Python run, and what it says is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import olprouting as olp
from olprouting.cli.app import app

PAGE = (Path(__file__).parents[2] / "docs" / "where-requests-wait.md").read_text(encoding="utf-8")


def test_its_commands_and_its_python_run() -> None:
    """Catches an option that was renamed after the page was written."""
    code = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    scope: dict = {}
    exec(code[0], scope)
    assert scope["run"].metrics.finished == 400
    for line in re.findall(r"^\$ olprouting (.*)$", PAGE, re.MULTILINE):
        small = [*shlex.split(line), "--requests", "330"]
        if small[0] == "gaps":
            small += ["--decisions", "3", "--replications", "0", "--horizon", "2"]
        done = CliRunner().invoke(app, small)
        assert done.exit_code == 0, done.output


def test_where_slots_never_fill_both_worlds_are_one() -> None:
    """The page says so: a request starts at once, wherever it would have waited."""
    trace = olp.resolve("azure-2023-conv-like", requests=200, seed=1)
    cluster = olp.Cluster.homogeneous(3, 20)
    central, arrival = (
        olp.simulate(
            trace,
            cluster,
            olp.make_policy("power-of-two", 3),
            in_flight=20,
            dispatch=dispatch,
        )
        for dispatch in ("central", "arrival")
    )
    np.testing.assert_array_equal(central.worker, arrival.worker)
    np.testing.assert_array_equal(central.finish_s, arrival.finish_s)
