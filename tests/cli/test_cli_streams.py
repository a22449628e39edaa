"""Ctrl-C in `solve`, and output that nobody can take: real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from child_processes import COMMAND_LINE, finish, start

from olprouting.library import best_known

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and streams of POSIX")


def command(*arguments: str, stdout: int = subprocess.PIPE, **variables: str):
    return start(COMMAND_LINE, *arguments, stdout=stdout, env={**os.environ, **variables})


def wait_until(reached, process: subprocess.Popen[str]) -> None:
    end_s = time.monotonic() + 120
    while not reached():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end_s
        time.sleep(0.01)


def instance(name: str, folder: Path) -> str:
    (folder / "instance.json").write_text(best_known(name).text())
    return str(folder / "instance.json")


def test_ctrl_c_during_the_search_saves_and_prints_what_there_is(tmp_path):
    """Catches exit code 0, and the proof of a certificate that goes on after Ctrl-C."""
    out, model = tmp_path / "out.json", tmp_path / "model.lp"
    file = instance("burst-g8-w32", tmp_path)  # which HiGHS does not finish
    process = command("solve", file, "--export", str(model), "--out", str(out))
    wait_until(model.exists, process)
    time.sleep(3)  # the model is written just before the search begins
    process.send_signal(signal.SIGINT)
    shown, errors = finish(process)
    assert process.returncode == 130, errors
    assert "interrupted" in shown
    assert "Traceback" not in errors
    saved = json.loads(out.read_text())
    assert saved["result"]["stop_reason"] == "interrupted"
    assert saved["proof"]["kind"] == "zero"


def test_ctrl_c_during_the_proof_keeps_the_result_that_was_printed(tmp_path):
    """Catches a result that is saved only after its proof, which may take a minute."""
    out = tmp_path / "out.json"
    process = command("solve", instance("azure-g8-p200-c16", tmp_path), "--out", str(out), "--json")
    assert process.stdout is not None
    printed = json.loads(process.stdout.readline())
    assert json.loads(out.read_text())["result"] == printed
    process.send_signal(signal.SIGINT)
    _, errors = finish(process)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert json.loads(out.read_text())["result"] == printed
    assert {path.name for path in tmp_path.iterdir()} == {"instance.json", "out.json"}


def test_a_reader_that_has_seen_enough_costs_nothing(tmp_path):
    """Catches `| head`: a broken pipe, and no file, for it was to be written after printing."""
    out = tmp_path / "out.json"
    process = command("solve", instance("e2", tmp_path), "--out", str(out))
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    errors = process.stderr.read()
    assert process.wait(timeout=60) == 0
    assert errors.splitlines() == [f"wrote {out}, for `olprouting verify`"]
    assert json.loads(out.read_text())["proof"]["bound"] == "1"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full of Linux")
def test_a_full_stdout_is_one_line_and_costs_no_file(tmp_path):
    """Catches a traceback, and results that are lost because they cannot be printed."""
    out = tmp_path / "out.json"
    with Path("/dev/full").open("w") as stdout:
        process = command(
            "solve", instance("e2", tmp_path), "--out", str(out), stdout=stdout.fileno()
        )
    _, errors = finish(process)
    assert process.returncode == 2
    cannot = "olprouting: standard output cannot be written: No space left on device"
    assert errors.splitlines()[-2:] == [f"wrote {out}, for `olprouting verify`", cannot]
    assert out.exists()


def test_a_code_page_that_lacks_a_character_is_no_traceback(tmp_path):
    """Catches an error at the first name that the terminal cannot show."""
    law = tmp_path / "größe.csv"
    law.write_text("size,probability\n5,0.5\n7,0.5\n")
    arguments = ["theory", "--prompt-law", str(law), "--details"]
    process = command(*arguments, PYTHONIOENCODING="ascii", COLUMNS="400")
    shown, errors = finish(process)
    assert process.returncode == 0, errors
    assert "gr\\xf6\\xdfe" in shown


def test_a_policy_that_closes_the_standard_streams_costs_nothing(tmp_path):
    """Catches a ValueError at the end, in place of what was to be printed."""
    policy = tmp_path / "closes.py"
    policy.write_text(
        "import sys\n\n\ndef f(view, rng):\n    sys.stdout.close()\n    sys.stderr.close()\n"
        "    free = [g for g, c in enumerate(view.free_slots) for _ in range(c)]\n"
        "    return list(enumerate(free[: view.admissions]))\n"
    )
    process = command("simulate", "--requests", "20", "--policy", f"{policy}:f", "--json")
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert json.loads(printed)["finished"] == 20
