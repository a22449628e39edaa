"""The command `solve` on a period, and LP and MPS files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import highspy
import pytest
import typer
from period_cases import e3, random_period
from typer.testing import CliRunner

from olprouting.cli.solve import solve as command
from olprouting.errors import InputError
from olprouting.exact import export, solve
from olprouting.exact.period.price_sheet import price_sheet
from olprouting.instances import PeriodResult

if TYPE_CHECKING:
    from pathlib import Path

app = typer.Typer()
app.command()(command)


@pytest.fixture
def e3_file(tmp_path: Path) -> Path:
    path = tmp_path / "e3.json"
    path.write_text(e3().to_json(), encoding="utf-8")
    return path


def test_solve_prints_value_starts_and_prices(e3_file: Path) -> None:
    run = CliRunner().invoke(app, [str(e3_file)])
    assert run.exit_code == 0, run.output
    summary, starts, sheet, prices, option_values = run.output.split("\n\n")
    rows = dict(line.split(maxsplit=1) for line in summary.splitlines())
    assert (rows["status"], rows["value"], rows["prices_from"]) == ("optimal", "44.0", "lp")
    assert starts.splitlines()[1].split() == ["request", "worker", "share"]
    starts_of = [line.split()[:-2] for line in starts.splitlines()[2:]]
    assert starts_of == [["16", "to", "19"], ["34", "to", "39"]]  # equal ones in one row
    assert sheet.splitlines()[1].split()[-4:] == ["x", "use", "margin", "slack"]
    assert sheet.splitlines()[2].split() == ["0", "to", "15", "0", "0", "5", "5", "0", "0"]
    assert prices.splitlines()[2].split() == ["0", "1", "2", "0.5"]
    assert option_values.strip() == "option values: none above 0"


def test_solve_prints_json_and_exports(e3_file: Path, tmp_path: Path) -> None:
    model = tmp_path / "e3.mps"
    options = ["--form", "integer", "--prices", "lp-relaxation", "--json", "--export", str(model)]
    run = CliRunner().invoke(app, [str(e3_file), *options])
    assert run.exit_code == 0, run.output
    result = PeriodResult.from_json(run.output)
    assert (result.value, result.prices.batch[0, 0]) == (44, 2)
    assert "kv_tokens_g0_k1" in model.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--formulation", "assignment"], "holds a period; it takes --form"),
        (["--form", "dual", "--export", "x.lp"], "unknown formulation to export 'dual'"),
        (["--export", "x.txt"], r"the suffix must be one of \.lp, \.mps"),
    ],
)
def test_options_of_the_other_kind_are_refused(
    e3_file: Path, options: list[str], message: str
) -> None:
    run = CliRunner().invoke(app, [str(e3_file), *options])
    assert isinstance(run.exception, InputError)
    with pytest.raises(InputError, match=message):
        raise run.exception


def test_a_decision_has_no_form(tmp_path: Path) -> None:
    path = tmp_path / "decision.json"
    path.write_text(json.dumps({"schema": "olprouting/decision/1"}), encoding="utf-8")
    run = CliRunner().invoke(app, [str(path), "--form", "lp"])
    assert "holds a decision; it takes --formulation" in str(run.exception)


@pytest.mark.parametrize("suffix", ["lp", "mps"])
@pytest.mark.parametrize("form", ["lp", "integer"])
@pytest.mark.parametrize("reduce_rows", [True, False])
def test_an_exported_program_reads_back_to_its_optimum(
    tmp_path: Path, suffix: str, form: str, reduce_rows: bool
) -> None:
    # the sense of the objective is what gets lost between formats
    problem = random_period(4)  # of value 67: slots and tokens both bind
    path = tmp_path / f"a folder.{suffix}"
    export(problem, path, form, reduce_rows=reduce_rows)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    highs.run()
    value = highs.getInfo().objective_function_value
    assert value > 30
    assert value == pytest.approx(solve(problem, formulation=form).value)
    assert "start_r7_g1" in highs.getLp().col_names_
    names = set(highs.getLp().row_names_)
    assert "once_r0" in names
    assert reduce_rows or {"slots_g0_k3", "kv_tokens_g1_k3"} <= names


def test_an_empty_period_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing waits"):
        export(e3(copies=0), tmp_path / "e.lp")


def test_the_sheet_is_the_arithmetic_of_the_dual() -> None:
    """Reward = price x use + margin; slack is 0 where a request is admitted, never negative."""
    problem = random_period(7)
    result = solve(problem)
    sheet = price_sheet(problem, result)
    assert sheet["reward"].to_numpy() == pytest.approx(problem.rewards)
    parts = sheet["price_times_use"] + sheet["margin"]
    assert parts.to_numpy() == pytest.approx(problem.rewards)
    assert (sheet["slack"] >= 0).all()
    admitted = sheet[sheet["share"] > 1e-9]
    assert len(admitted)
    assert admitted["slack"].to_numpy() == pytest.approx(0, abs=1e-6)
    costly = sheet["margin"] < 0
    assert sheet["slack"][costly].to_numpy() == pytest.approx(-sheet["margin"][costly].to_numpy())
