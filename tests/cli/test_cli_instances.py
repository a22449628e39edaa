"""``olprouting instances``: list, show, export."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from olprouting.certificates import verify
from olprouting.cli.instances import instances_app
from olprouting.errors import InputError
from olprouting.library import instance_names

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str) -> str:
    outcome = CliRunner().invoke(instances_app, list(arguments))
    if outcome.exception is not None:
        raise outcome.exception
    return outcome.output


def test_list_names_all_with_value_and_gap() -> None:
    """One line per program, not wider than a terminal; JSON has the same rows."""
    output = run("list")
    assert max(map(len, output.splitlines())) <= 80
    assert all(f" {name} " in output for name in instance_names())
    rows = json.loads(run("list", "--json"))
    assert {row["name"] for row in rows} == set(instance_names())
    periods = json.loads(run("list", "--kind", "period", "--json"))
    assert {row["program"] for row in periods} == {"lp", "integer"}


def test_show_says_what_is_known() -> None:
    lines = dict(line.split(maxsplit=1) for line in run("show", "e3").splitlines())
    assert lines["size"] == "1 workers, 40 waiting, 1 periods"
    assert lines["lp"] == "value 44.0, bound 44.0; proof: exact"
    entry = json.loads(run("show", "e2", "--json"))
    assert entry["best"][0]["result"]["objective"] == 1


@pytest.mark.parametrize("name", ["e2", "e3", "hindsight-tiny"])
def test_export_writes_the_instance(name, tmp_path: Path) -> None:
    out = tmp_path / "instance.json"
    run("export", name, "--out", str(out))
    assert json.loads(out.read_text())


def test_export_writes_models(tmp_path: Path) -> None:
    for name, suffix, text in (("e2", "lp", "admit_s5_w2"), ("e3", "mps", "start_r0_g0")):
        out = tmp_path / f"model.{suffix}"
        run("export", name, "--out", str(out))
        assert text in out.read_text()


def test_export_writes_certificates(tmp_path: Path) -> None:
    for name, program in (("e2", "imbalance"), ("e3", "integer"), ("hindsight-tiny", "hindsight")):
        out = tmp_path / "certificate.json"
        run("export", name, "--out", str(out), "--certificate", program)
        assert verify(out.read_text()).value is not None


def test_bad_input_is_named(tmp_path: Path) -> None:
    for arguments, reason in (
        (("show", "e99"), "unknown instance 'e99'"),
        (("list", "--kind", "traces"), "unknown kind of instance"),
        (("export", "e1", "--out", str(tmp_path / "e1.txt")), "suffix must be .json"),
        (("export", "hindsight-tiny", "--out", str(tmp_path / "h.lp")), "as .json only"),
        (("export", "e1", "--out", str(tmp_path / "none" / "e1.json")), "cannot be written"),
        (
            ("export", "e1", "--out", str(tmp_path / "c.json"), "--certificate", "lp"),
            "unknown program of e1",
        ),
    ):
        with pytest.raises(InputError, match=reason):
            run(*arguments)
