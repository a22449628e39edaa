"""The reduced form of every study in experiments/ runs from its command line to its report."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from olprouting.cli.app import app
from olprouting.studies import read_study

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
STUDIES = sorted(EXPERIMENTS.glob("*.toml"))


@pytest.mark.parametrize("file", STUDIES, ids=[file.stem for file in STUDIES])
def test_the_reduced_form_runs_and_reports(file, tmp_path):
    out = tmp_path / "out"
    run = ["study", "run", str(file), "--reduced", "--jobs", "1", "--out", str(out)]
    done = CliRunner().invoke(app, run)
    assert done.exit_code == 0, done.output
    cells = len(read_study(file, reduced=True).cells)
    assert f"{cells} of {cells} cells finished, 0 failed" in done.output
    assert CliRunner().invoke(app, ["study", "report", str(out)]).exit_code == 0
    assert (out / "report" / "report.html").stat().st_size > 10_000
    assert (out / "report" / "summary.tex").exists()


def test_the_sensitivity_to_beta_and_gamma_covers_the_published_operating_points():
    """Balance paper, section 5: (43, 0.86) and (14.67, 0.64) at H = 80."""
    study = read_study(EXPERIMENTS / "beta_gamma.toml")
    assert {43.0, 14.67} <= set(study.grid["beta"])
    assert {0.86, 0.64} <= set(study.grid["gamma"])
    assert study.settings["horizon"] == 80


def test_the_study_of_weights_has_all_seven_named_sets():
    from olprouting.instances import WEIGHT_SETS

    for reduced in (False, True):
        study = read_study(EXPERIMENTS / "slo_weights.toml", reduced=reduced)
        assert study.grid["weights"] == tuple(WEIGHT_SETS)
