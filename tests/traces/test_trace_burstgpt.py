"""BurstGPT: ties at one-second resolution, failures with 0 tokens, windows; the JSON sample."""

from __future__ import annotations

import json

import numpy as np
import pytest
from trace_files import refusal, write

from olprouting.errors import InputError
from olprouting.traces import read_trace, require_arrivals

HEADER = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"
ROWS = (
    "5,ChatGPT,472,18,490,Conversation log",
    "45,ChatGPT,1087,0,1087,Conversation log",
    "45,GPT-4,417,276,693,API log",
    "45,ChatGPT,1360,647,2007,Conversation log",
    "118,ChatGPT,185,215,400,API log",
)


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "b.csv", HEADER, *ROWS)


def test_ties_keep_file_order_and_failures_are_dropped_and_counted(path) -> None:
    trace = read_trace(path)
    np.testing.assert_array_equal(trace.arrival_s, [0, 40, 40, 113])
    np.testing.assert_array_equal(trace.prompt_tokens, [472, 417, 1360, 185])
    assert "1 of 5 rows dropped: 0 generated tokens" in trace.notices
    assert "columns ignored: Model, Total tokens, Log Type" in trace.notices


def test_failures_can_be_kept_as_one_token_and_are_counted(path) -> None:
    trace = read_trace(path, zero_output="keep")
    np.testing.assert_array_equal(trace.decode_tokens, [18, 1, 276, 647, 215])
    assert "1 of 5 rows with 0 generated tokens kept as 1 token" in trace.notices


def test_failures_can_be_an_error_that_names_the_row(path) -> None:
    message = refusal(path, zero_output="error")
    assert "b.csv, data row 2: 0 generated tokens (1 such rows)" in message


def test_an_unknown_treatment_of_failures_is_refused(path) -> None:
    assert "known: drop, error, keep" in refusal(path, zero_output="ignore")


def test_a_first_row_that_fails_does_not_set_the_clock(tmp_path) -> None:
    """Catches rebasing before dropping, which leaves the first arrival at 7 s."""
    path = write(tmp_path / "b.csv", HEADER, "1,ChatGPT,5,0,5,API log", "8,ChatGPT,5,5,10,API log")
    np.testing.assert_array_equal(read_trace(path).arrival_s, [0])


def test_the_new_session_columns_are_ignored_with_a_notice(tmp_path) -> None:
    header = HEADER.replace("Model", "Session ID,Elapsed time,Model")
    path = write(tmp_path / "b.csv", header, "5,,1.5,ChatGPT,472,18,490,API log")
    trace = read_trace(path)
    assert trace.prompt_tokens.tolist() == [472]
    assert any("Session ID, Elapsed time, Model" in notice for notice in trace.notices)


def test_a_window_is_cut_rebased_and_counted(path) -> None:
    """[30, 100) seconds after the first arrival holds the two successful requests at 40."""
    trace = read_trace(path, start_s=30, duration_s=70)
    np.testing.assert_array_equal(trace.arrival_s, [0, 0])
    np.testing.assert_array_equal(trace.prompt_tokens, [417, 1360])
    assert "window from 30 s to 100 s: 2 of 4 requests kept" in trace.notices


@pytest.mark.parametrize(
    "window", [{"start_s": -1}, {"start_s": float("nan")}, {"duration_s": 0}, {"start_s": 1e9}]
)
def test_windows_that_make_no_sense_or_are_empty_are_refused(path, window) -> None:
    with pytest.raises(InputError, match=r"start_s|duration_s|holds no requests"):
        read_trace(path, **window)


def sample(path, *records):
    path.write_text(json.dumps({"num_samples": len(records), "data": records}, indent=2))
    return path


def test_the_json_sample_has_lengths_but_no_arrivals(tmp_path) -> None:
    path = sample(tmp_path / "s.json", {"input_length": 5, "output_length": 7})
    trace = read_trace(path)
    assert (trace.prompt_tokens[0], trace.decode_tokens[0], trace.arrival_s) == (5, 7, None)
    with pytest.raises(InputError, match=r"no arrival times in s\.json: choose an arrival process"):
        require_arrivals(trace)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"input_length": 5}, "record 2, column 'output_length': is missing"),
        ({"input_length": "5", "output_length": 7}, "record 2, column 'input_length': '5'"),
        ({"input_length": -1, "output_length": 7}, "record 2, column 'input_length': -1 must be"),
        ({"input_length": True, "output_length": 7}, "'input_length': True is not a number"),
        (3, "record 2: expected a JSON object"),
    ],
)
def test_a_bad_record_of_the_sample_is_named(tmp_path, record, message) -> None:
    good = {"input_length": 5, "output_length": 7}
    assert message in refusal(sample(tmp_path / "s.json", good, record))


def test_a_truncated_sample_is_refused_with_its_line(tmp_path) -> None:
    path = sample(tmp_path / "s.json", {"input_length": 5, "output_length": 7})
    path.write_text(path.read_text()[:-8])
    assert "is not valid JSON" in refusal(path)


def test_the_real_sample_has_all_its_records(shared_data) -> None:
    trace = read_trace(shared_data / "burstgpt_sample_8000.json")
    # The file states its own statistics: means 362.897875 and 57.048125.
    assert len(trace) == 8_000
    assert trace.prompt_tokens.mean() == 362.897875
    assert trace.decode_tokens.mean() == 57.048125
