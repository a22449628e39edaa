"""What a study costs beyond the work of its cells, against the same cells in a plain loop.

Run ``pytest tests/benchmarks/test_studies_benchmark.py --benchmark-enable``: compare the mean of
each with that of ``plain_loop``. Nothing is asserted on time.
"""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

import pytest

from olprouting.studies import read_study, run_study
from olprouting.studies.measure import run_cell

if TYPE_CHECKING:
    from pathlib import Path

    from olprouting.studies import Study

CELLS = 40
CELL_S = 0.05

POLICY = f"""
import time

import numpy as np


def fill(view, rng):
    time.sleep({CELL_S})
    free = np.repeat(np.arange(len(view.free_slots)), view.free_slots)
    return enumerate(free[: view.admissions])
"""

STUDY = f"""
kind = "simulate"
policies = ["policy.py:fill"]
seeds = {CELLS}
trace = {{ source = "ratio:1:1:20", requests = 4 }}
cluster = {{ workers = 1, slots = 4 }}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Study:
    folder: Path = tmp_path_factory.mktemp("study")
    (folder / "policy.py").write_text(textwrap.dedent(POLICY), encoding="utf-8")
    (folder / "study.toml").write_text(textwrap.dedent(STUDY), encoding="utf-8")
    study = read_study(folder / "study.toml")
    run_cell(study.cells[0])  # compiled before anything is timed
    return study


def test_plain_loop(benchmark, study) -> None:
    benchmark.pedantic(lambda: [run_cell(cell) for cell in study.cells], rounds=1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_study(benchmark, study, jobs, tmp_path) -> None:
    def run() -> None:
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        assert run_study(study, tmp_path / "out", jobs=jobs).complete

    benchmark.pedantic(run, rounds=1)
