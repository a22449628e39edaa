"""Columns that the user names, in tables of any kind, wherever a trace is given."""

from __future__ import annotations

import json

import numpy as np
import pytest
import typer
from trace_files import refusal, write
from typer.testing import CliRunner

from olprouting.cli.app import app
from olprouting.errors import InputError
from olprouting.options import WorkloadOptions
from olprouting.studies import read_study
from olprouting.studies.workload import workload_of
from olprouting.traces import load_workload, read_trace, resolve

COLUMNS = "arrival=t,prompt=n in,decode=n_out,key=who,unit=ms"
ROWS = ((500, 10, 2, "ann"), (1500, 20, 3, "bob"), (2500, 30, 4, "ann"), (2500, 40, 5, ""))
NAMES = ("t", "n in", "n_out", "who")


@pytest.fixture(params=["csv", "parquet", "jsonl", "json"])
def table(request, tmp_path):
    import pandas as pd

    path = tmp_path / f"t.{request.param}"
    frame = pd.DataFrame(ROWS, columns=NAMES)
    if request.param == "csv":
        frame.to_csv(path, index=False)
    elif request.param == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=request.param == "jsonl")
    return path


def test_any_table_is_read_by_the_columns_given(table) -> None:
    trace = read_trace(table, columns=COLUMNS)
    np.testing.assert_array_equal(trace.arrival_s, [0, 1, 2, 2])
    np.testing.assert_array_equal(trace.prompt_tokens, [10, 20, 30, 40])
    np.testing.assert_array_equal(trace.decode_tokens, [2, 3, 4, 5])
    np.testing.assert_array_equal(trace.key, [0, 1, 0, 2])
    assert "1 of 4 rows without an id: each is a class of its own" in trace.notices
    mapping = dict(pair.split("=") for pair in COLUMNS.split(","))
    np.testing.assert_array_equal(resolve(table, columns=mapping).key, trace.key)


def test_columns_not_given_are_found_by_their_usual_names(tmp_path) -> None:
    path = write(tmp_path / "t.csv", "arrival_ms,input_tokens,made", "500,7,1", "750,8,2")
    trace = read_trace(path, columns="decode=made")
    assert trace.arrival_s.tolist() == [0, 0.25]
    assert trace.prompt_tokens.tolist() == [7, 8]


def test_a_name_that_tells_its_unit_need_not_be_told(tmp_path) -> None:
    """Catches a unit that is asked for again because the column was named."""
    path = write(tmp_path / "t.csv", "arrival_ms,p,d", "500,7,1", "750,8,2")
    assert read_trace(path, columns="arrival=arrival_ms,prompt=p,decode=d").arrival_s[-1] == 0.25


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("prompt=nowhere,decode=n_out", "no column for prompt_tokens; accepted names: nowhere;"),
        ("key=nowhere,prompt=n in,decode=n_out", "no column for key"),
        ("prompt=n in,decode=n_out,arrival=t", "column 't' holds numbers without a unit"),
        ("promt=n in", "unknown role of a column 'promt'; .*Did you mean 'prompt'"),
        ("prompt", "expected ROLE=COLUMN"),
        ("prompt=", "expected ROLE=COLUMN"),
        ("prompt=a,prompt=b", "prompt is given twice"),
        ("prompt=t,decode=t", "'t' is given twice"),
        ("unit=min", "unknown time unit 'min'"),
        ({"prompt": 3}, "prompt = 3 must be the name of a column"),
    ],
)
def test_a_choice_that_cannot_be_followed_is_refused(tmp_path, columns, message) -> None:
    path = write(tmp_path / "t.csv", ",".join(NAMES), "1,2,3,4")
    with pytest.raises(InputError, match=message):
        read_trace(path, columns=columns)


def test_choices_that_contradict_each_other_are_refused(tmp_path) -> None:
    """Catches options of which one is silently ignored."""
    path = write(tmp_path / "t.csv", ",".join(NAMES), "1,2,3,4")
    assert "given twice: ms, s" in refusal(path, columns="unit=ms", time_unit="s")
    assert "leave out the format" in refusal(path, columns="prompt=t", format="azure")
    with pytest.raises(InputError, match="columns apply to files only"):
        resolve("burstgpt-like", columns="prompt=t")
    with pytest.raises(InputError, match="is drawn, not read"):
        load_workload(WorkloadOptions(source="burstgpt-like", columns="prompt=t"), 0)


@pytest.mark.parametrize(
    ("header", "both", "choice"),
    [
        (
            "arrival_ms,arrival_s,prompt_tokens,output_tokens",
            "'arrival_ms' and 'arrival_s' may each be the arrival",
            "arrival=arrival_s",
        ),
        (
            "prompt_tokens,ContextTokens,output_tokens,x",
            "'prompt_tokens' and 'ContextTokens' may each be the prompt_tokens",
            "prompt=prompt_tokens",
        ),
        (
            "arrived_at,num_prefill_tokens,num_decode_tokens,output_tokens",
            "'num_decode_tokens' and 'output_tokens' may each be the decode_tokens",
            "decode=output_tokens",
        ),
    ],
)
def test_two_columns_for_one_quantity_are_refused(tmp_path, header, both, choice) -> None:
    """Catches one of them that is taken silently, in known formats too; a choice settles it."""
    path = write(tmp_path / "t.csv", header, "1,2,3,4", "2,3,4,5")
    assert f"columns {both}; say which by --columns" in refusal(path)
    assert len(read_trace(path, columns=choice)) == 2


@pytest.mark.parametrize("name", ["arrival_ns", "Arrival_minutes", "arrival (s)", "arrived_at_ms"])
def test_times_of_an_unknown_unit_are_not_left_out(tmp_path, name) -> None:
    """Catches a trace that loses its arrivals because the column's name is a new one."""
    path = write(tmp_path / "t.csv", f"{name},num_prefill_tokens,num_decode_tokens", "7,1,1")
    assert f"column '{name}' looks like arrival times" in refusal(path)
    assert f"--columns 'arrival={name},unit=UNIT'" in refusal(path)
    assert read_trace(path, columns=f"arrival={name},unit=ns").arrival_s is not None


def commands(group: typer.Typer) -> dict[str, set[str]]:
    """Return the parameters of every command by its words."""
    found = {}

    def visit(command, words: str) -> None:
        for name, inner in getattr(command, "commands", {}).items():
            visit(inner, f"{words} {name}".strip())
        found[words] = {word.lstrip("-") for one in command.params for word in one.opts}

    visit(typer.main.get_command(group), "")
    return found


TAKING_A_TRACE = [words for words, parameters in commands(app).items() if "trace" in parameters]


@pytest.mark.parametrize("words", TAKING_A_TRACE)
def test_every_command_that_takes_a_trace_takes_columns(tmp_path, words) -> None:
    """Catches a command that has no such option, or does not pass it on to the reader."""
    path = str(write(tmp_path / "t.csv", ",".join(NAMES), "1,2,3,4"))
    out = ["--out", str(tmp_path / "model.json")] if words == "forecast train" else []
    given = [path, str(tmp_path / "o.csv")] if words == "traces convert" else [path]
    given = given if words.startswith("traces") else ["--trace", path]
    arguments = [*words.split(), *given, *out, "--columns", "prompt=nowhere"]
    with pytest.raises(InputError, match="accepted names: nowhere"):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert len(TAKING_A_TRACE) >= 8


def test_a_study_names_columns(tmp_path, table) -> None:
    study = tmp_path / "s.toml"
    source = json.dumps({"source": table.name, "columns": COLUMNS, "arrivals": "recorded"})
    lines = [f"{k} = {v!r}" for k, v in json.loads(source).items()]
    write(study, 'kind = "simulate"', 'policies = ["jsq"]', "[trace]", *lines)
    (cell,) = read_study(study).cells
    trace = workload_of(cell.workload, 0, cell.trace_sha256, None).trace
    assert trace.arrival_s.tolist() == [0, 1, 2, 2]
    write(study, 'kind = "simulate"', 'policies = ["jsq"]', "[trace]", *lines[:1], "columns = 'x'")
    with pytest.raises(InputError, match="expected ROLE=COLUMN"):
        read_study(study)


def test_a_study_reads_a_folder_and_sees_that_it_changed(tmp_path) -> None:
    """Catches a folder that cannot be hashed, and one whose files change unseen."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for name in ("a", "b"):
        write(folder / f"{name}.csv", "prompt_tokens,decode_tokens", "1,2")
    study = write(
        tmp_path / "s.toml",
        'kind = "simulate"',
        'policies = ["jsq"]',
        "[trace]",
        "source = 'parts'",
    )
    (cell,) = read_study(study).cells
    before = cell.trace_sha256
    write(folder / "c.csv", "prompt_tokens,decode_tokens", "1,2")
    with pytest.raises(InputError, match="is not the trace this study began with"):
        workload_of(cell.workload, 0, before, None)
    (now,) = read_study(study).cells
    assert len(workload_of(now.workload, 0, now.trace_sha256, None).trace) == 3
