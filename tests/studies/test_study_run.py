"""Running studies: equal bytes however they run, resuming after every kind of end, broken cells."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from child_processes import COMMAND_LINE, finish, start
from study_files import CLIPPED, SMALL, tables, write

import olprouting as olp
from olprouting.errors import InputError
from olprouting.locks import only_writer
from olprouting.studies import Results, measure, read_study, run_study, study_status
from olprouting.studies.outcome import CELLS, CellOutcome
from olprouting.studies.store import Store

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def command(*arguments: str | Path) -> subprocess.Popen[str]:
    return start(COMMAND_LINE, "study", *map(str, arguments), start_new_session=True)


def starts(folder: Path) -> int:
    log = folder / "starts.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def wait_for(reached, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 120
    while not reached():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_cell_holds_what_simulate_returns(small, tmp_path):
    study = read_study(small)
    assert run_study(study, tmp_path / "out", jobs=1).complete
    frame = Results.read(tmp_path / "out").frame(CELLS)
    row = frame[(frame.policy == "br0") & (frame.r_max == 4) & (frame.seed == 4)].iloc[0]
    run = olp.simulate(
        olp.resolve("azure-2023-conv-like", requests=40, seed=4),
        olp.Cluster.homogeneous(2, 4),
        olp.make_policy("br0", 2, olp.PolicyOptions(r_max=4)),
        backlog=32,
        seed=4,
    )
    for name, value in run.metrics.to_row().items():
        assert row[name] == value, name


def test_forecasts_learn_from_the_requests_before_the_run(small, tmp_path):
    text = SMALL.replace("requests = 40", "requests = 40\nhistory = 60").replace(
        "r_max = [2, 4, 8]", 'forecast = ["survival"]\nhorizon = [5]'
    )
    study = read_study(write(small, text.replace('"br0"', '"brh"')))
    run_study(study, tmp_path / "out", jobs=1)
    frame = Results.read(tmp_path / "out").frame(CELLS)
    row = frame[(frame.policy == "brh") & (frame.seed == 3)].iloc[0]
    drawn = olp.resolve("azure-2023-conv-like", requests=100, seed=3)
    rows = np.arange(100)
    run = olp.simulate(
        drawn.take(rows >= 60),
        olp.Cluster.homogeneous(2, 4),
        olp.make_policy("brh", 2, olp.PolicyOptions(horizon=5)),
        backlog=32,
        seed=3,
        forecast=olp.make_forecast("survival", drawn.take(rows < 60), horizon=5, seed=3),
    )
    assert row.arrived == 40
    assert row.mean_imbalance_tokens == run.metrics.mean_imbalance_tokens


def test_what_a_policy_warns_of_stands_beside_its_results(tmp_path):
    """Clipped rewards are no longer the paper's: a table that hid that would mislead."""
    run_study(read_study(write(tmp_path / "clipped.toml", CLIPPED)), tmp_path / "out", jobs=1)
    rows = Results.read(tmp_path / "out").rows(CELLS)
    notices = {row["policy"]: row["notices"] for row in rows}
    assert "clip" in notices["bid-price"]
    assert notices["jsq"] == ""


def test_tables_have_the_same_bytes_for_one_process_and_for_four(small, tmp_path):
    study = read_study(small)
    for jobs in (1, 4):
        assert run_study(study, tmp_path / str(jobs), jobs=jobs).complete
    assert tables(tmp_path / "1") == tables(tmp_path / "4")
    assert {"cells.csv", "cells.parquet"} <= set(tables(tmp_path / "1"))


def test_finished_cells_are_not_computed_again(policy_study, tmp_path):
    study = read_study(policy_study("logged"))
    run_study(study, tmp_path / "out", jobs=1)
    before = tables(tmp_path / "out")
    assert starts(tmp_path) == len(study.cells) == 4
    assert run_study(study, tmp_path / "out", jobs=1).complete
    assert starts(tmp_path) == 4
    assert tables(tmp_path / "out") == before


@posix
@pytest.mark.parametrize("jobs", [1, 2])
def test_kill_9_loses_only_running_cells_and_leaves_no_process(policy_study, tmp_path, jobs):
    file = policy_study("logged", seeds=10)
    out = tmp_path / "out"
    process = command("run", file, "--out", out, "--jobs", str(jobs))
    wait_for(lambda: starts(tmp_path) >= 6, process)
    process.kill()
    process.wait()
    begun = starts(tmp_path)
    status = study_status(out)
    ahead = 0 if jobs == 1 else jobs  # handed over, its outcome still on the way
    assert begun - jobs - ahead <= status.finished < status.cells == 20
    time.sleep(0.5)
    assert starts(tmp_path) <= begun + jobs  # workers do not live on without their parent
    begun = starts(tmp_path)
    assert run_study(read_study(file), out, jobs=1).complete
    assert starts(tmp_path) == begun + 20 - status.finished
    run_study(read_study(file), tmp_path / "whole", jobs=1)
    assert tables(out) == tables(tmp_path / "whole")


@posix
def test_ctrl_c_ends_with_130_and_leaves_a_resumable_study(policy_study, tmp_path):
    file = policy_study("logged", seeds=10)
    out = tmp_path / "out"
    process = command("run", file, "--out", out, "--jobs", "2")
    wait_for(lambda: starts(tmp_path) >= 6, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes at once
    shown, errors = finish(process)
    assert process.returncode == 130, errors
    assert "of 20 cells finished, 0 failed" in shown
    assert "Traceback" not in errors
    status = study_status(out)
    assert 0 < status.finished < 20
    assert (out / "tables" / "cells.csv").exists()
    assert run_study(read_study(file), out, jobs=1).complete


def test_a_journal_that_was_cut_off_is_read_up_to_its_last_whole_line(small, tmp_path):
    study = read_study(small)
    run_study(study, tmp_path / "out", jobs=1)
    whole = tables(tmp_path / "out")
    part = next((tmp_path / "out" / "parts").iterdir())
    store = Store(tmp_path / "out")
    for row in Results.read(tmp_path / "out").rows(CELLS)[:6]:
        store.add(CellOutcome(row["cell"], {CELLS: [row]}))
    shutil.rmtree(part)
    store.journal.write_bytes(store.journal.read_bytes()[:-20])
    assert study_status(tmp_path / "out").finished == 5
    assert run_study(study, tmp_path / "out", jobs=1).complete
    assert tables(tmp_path / "out") == whole


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_broken_cell_is_named_with_its_parameters_and_the_others_finish(
    policy_study, tmp_path, jobs
):
    study = read_study(policy_study("breaks", seeds=1, workers="[1, 2, 3, 4]"))
    status = run_study(study, tmp_path / "out", jobs=jobs)
    assert (status.finished, status.cells) == (3, 4)
    (failure,) = status.failures
    assert "raised at decision 1 (iteration 1): ZeroDivisionError: three w" in failure["error"]
    assert json.loads(failure["parameters"])["workers"] == 3
    assert "failed: policies.py:breaks" in status.summary()
    assert '"workers": 3' in status.summary()


def test_a_broken_cell_runs_again_with_the_next_command_and_is_then_no_failure(
    policy_study, tmp_path
):
    file = policy_study("breaks", seeds=1, workers="[2, 3]")
    assert len(run_study(read_study(file), tmp_path / "out", jobs=1).failures) == 1
    policies = tmp_path / "policies.py"
    policies.write_text(policies.read_text().replace("== 3", "== 99"))
    status = run_study(read_study(file), tmp_path / "out", jobs=1, force=True)
    assert status.complete
    assert not status.failures


@posix
def test_a_cell_that_kills_its_process_is_broken_and_the_others_finish(policy_study, tmp_path):
    study = read_study(policy_study("kills", seeds=1, workers="[1, 3, 2]"))
    status = run_study(study, tmp_path / "out", jobs=2)
    assert status.finished == 2
    (failure,) = status.failures
    assert json.loads(failure["parameters"])["workers"] == 3
    assert failure["error"] == "the process that ran it died"


@posix
def test_the_command_exits_with_2_where_cells_failed_and_for_bad_input(policy_study, tmp_path):
    file = policy_study("breaks", seeds=1, workers="[3]")
    process = command("run", file, "--out", tmp_path / "out", "--jobs", "1")
    shown, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "three workers are too many" in shown
    assert "olprouting: 1 cells failed" in errors
    process = command("status", tmp_path)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert errors.startswith(f"olprouting: {tmp_path} holds no study")
    assert errors.count("\n") == 1


def test_the_folder_of_another_study_and_of_other_files_is_refused(small, tmp_path):
    run_study(read_study(small), tmp_path / "out", jobs=1)
    other = read_study(write(small, SMALL.replace("[2, 4, 8]", "[2, 4]")))
    for force in (False, True):
        with pytest.raises(InputError, match="holds another study: 'small'"):
            run_study(other, tmp_path / "out", jobs=1, force=force)
    with pytest.raises(InputError, match="holds other files and no study"):
        run_study(other, tmp_path, jobs=1)


def test_two_commands_do_not_write_to_one_folder(small, tmp_path):
    study = read_study(small)
    run_study(study, tmp_path / "out", jobs=1)
    with (
        only_writer(tmp_path / "out"),
        pytest.raises(InputError, match="another command is writing there"),
    ):
        run_study(study, tmp_path / "out", jobs=1)
    assert run_study(study, tmp_path / "out", jobs=1).complete


def test_an_unknown_metric_is_refused_after_the_first_cell_and_not_after_the_last(
    policy_study, tmp_path
):
    file = policy_study("logged", seeds=20)
    write(file, file.read_text() + '\n[outputs]\nmetrics = ["mean_imbalance"]\n')
    with pytest.raises(InputError, match=r"'mean_imbalance'.*Did you mean 'mean_imbalance_tokens'"):
        run_study(read_study(file), tmp_path / "out", jobs=1)
    assert starts(tmp_path) == 1


def test_a_comment_does_not_make_another_study(small, tmp_path):
    run_study(read_study(small), tmp_path / "out", jobs=1)
    same = read_study(write(small, "# a remark\n" + SMALL))
    assert run_study(same, tmp_path / "out", jobs=1).complete


def test_a_trace_that_changed_is_refused_and_computed_again_with_force(small, tmp_path):
    trace = write(tmp_path / "own.csv", "prompt_tokens,decode_tokens\n5,3\n7,2\n")
    text = SMALL.replace("azure-2023-conv-like", "own.csv").replace("= 40", "= 2")
    run_study(read_study(write(small, text)), tmp_path / "out", jobs=1)
    before = pd.read_csv(tmp_path / "out" / "tables" / "cells.csv")
    write(trace, "prompt_tokens,decode_tokens\n5,3\n7,20\n")
    with pytest.raises(InputError, match=r"own\.csv changed since the study .* began"):
        run_study(read_study(small), tmp_path / "out", jobs=1)
    assert run_study(read_study(small), tmp_path / "out", jobs=1, force=True).complete
    after = pd.read_csv(tmp_path / "out" / "tables" / "cells.csv")
    assert len(after) == len(before) == 12
    assert (before.decode_tokens == 5).all()
    assert (after.decode_tokens == 23).all()
    assert run_study(read_study(small), tmp_path / "out", jobs=1).complete


def test_the_manifest_says_what_a_number_depends_on(small, tmp_path):
    for _ in range(2):
        run_study(read_study(small), tmp_path / "out", jobs=1, study_file=small, command="do it")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["seeds"] == [3, 4]
    assert manifest["cells"] == 12
    assert [run["command"] for run in manifest["runs"]] == ["do it"] * 2
    assert "numpy" in manifest["runs"][0]["versions"]
    assert len(manifest["study_file"]["sha256"]) == 64
    (profile,) = manifest["files"]
    assert profile.endswith("azure-2023-conv-like.json")


def test_whatever_ends_a_cell_costs_that_cell_alone(small, monkeypatch, tmp_path):
    """Catches an exit of somebody's code, or an error without a text, that ends the study."""

    class MuteError(Exception):
        def __str__(self) -> str:
            raise GeneratorExit

    raised = iter([SystemExit(3), MuteError(), GeneratorExit()])

    def fail(cell):
        raise next(raised, RuntimeError("late"))

    monkeypatch.setitem(measure._MEASURES, measure.Kind.SIMULATE, fail)
    status = run_study(read_study(small), tmp_path / "out", jobs=1)
    errors = [failure["error"] for failure in status.failures]
    assert len(errors) == status.cells
    assert errors[:3] == [
        "SystemExit: 3",
        "MuteError: (no text: GeneratorExit)",
        "GeneratorExit:",
    ]
