"""Vidur, our own exports, and any other table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_files import refusal, write

from olprouting.errors import InputError
from olprouting.instances import Trace
from olprouting.traces import read_trace, require_arrivals, write_trace

SUFFIXES = (".csv", ".csv.gz", ".parquet")


def test_vidur_arrivals_lose_their_decimal_noise(tmp_path) -> None:
    path = write(
        tmp_path / "v.csv",
        "arrived_at,num_prefill_tokens,num_decode_tokens",
        "0,10,20",
        "5.8926549999999995,30,40",
    )
    assert read_trace(path).arrival_s.tolist() == [0, 5.892655]


def test_a_vidur_length_file_has_no_arrivals_and_says_what_to_choose(tmp_path) -> None:
    path = write(
        tmp_path / "v.csv", "num_prefill_tokens,num_decode_tokens,pd_ratio", "2000,10,200.0"
    )
    trace = read_trace(path)
    assert trace.arrival_s is None
    with pytest.raises(InputError, match=r"v\.csv.*poisson at 5/s with seed 1, or backlog"):
        require_arrivals(trace)
    assert "a time window cannot be cut" in refusal(path, start_s=1)


@pytest.mark.parametrize(
    ("column", "times", "options", "expected"),
    [
        ("arrival_ms", ("1500", "3250"), {}, [0, 1.75]),
        ("Arrival Time", ("1500", "3250"), {"time_unit": "ms"}, [0, 1.75]),
        ("timestamp", ("2024-05-10T00:00:00Z", "2024-05-10T00:00:01.5Z"), {}, [0, 1.5]),
        ("timestamp", ("1700000000", "1700000002"), {"time_unit": "s"}, [0, 2]),
    ],
)
def test_any_table_with_usual_names_is_read(tmp_path, column, times, options, expected) -> None:
    path = write(
        tmp_path / "g.csv",
        f"id,{column},input_tokens,Output Tokens",
        f"a,{times[0]},10,20",
        f"b,{times[1]},30,40",
    )
    trace = read_trace(path, **options)
    np.testing.assert_array_equal(trace.arrival_s, expected)
    np.testing.assert_array_equal(trace.decode_tokens, [20, 40])
    assert "columns ignored: id" in trace.notices


def test_numbers_without_a_unit_are_not_guessed(tmp_path) -> None:
    path = write(tmp_path / "g.csv", "timestamp,input_tokens,output_tokens", "3,1,1")
    assert "column 'timestamp' holds numbers without a unit; give time_unit" in refusal(path)


def test_our_lengths_beside_a_foreign_clock_are_not_taken_for_an_export(tmp_path) -> None:
    """Catches losing the arrivals because two of our column names were found."""
    path = write(tmp_path / "g.csv", "arrived_at,prompt_tokens,decode_tokens", "7,1,1", "9,1,1")
    np.testing.assert_array_equal(read_trace(path).arrival_s, [0, 2])


def test_a_column_that_stands_twice_is_refused(tmp_path) -> None:
    path = write(tmp_path / "g.csv", "prompt_tokens,prompt_tokens,decode_tokens", "1,2,3")
    assert "'prompt_tokens' stands twice" in refusal(path)


@pytest.mark.parametrize("time", ["-1", "inf", "nan", "soon"])
def test_a_bad_time_is_named(tmp_path, time) -> None:
    path = write(
        tmp_path / "g.csv", "arrival_s,prompt_tokens,decode_tokens", "0,1,1", f"{time},1,1"
    )
    assert "data row 2, column 'arrival_s'" in refusal(path)


def test_a_missing_value_in_parquet_is_named(tmp_path) -> None:
    import pandas as pd

    path = tmp_path / "g.parquet"
    pd.DataFrame({"prompt_tokens": [1, None], "decode_tokens": [1, 1]}).to_parquet(path)
    assert "data row 2, column 'prompt_tokens': is empty" in refusal(path)


def test_booleans_in_parquet_are_no_tokens(tmp_path) -> None:
    """Catches true and false that are read as requests of 1 and 0 tokens."""
    import pandas as pd

    path = tmp_path / "g.parquet"
    pd.DataFrame({"prompt_tokens": [True, False], "decode_tokens": [1, 1]}).to_parquet(path)
    assert "column 'prompt_tokens' holds true and false, not numbers" in refusal(path)


@pytest.mark.parametrize("typed", [True, False])
def test_calendar_times_in_parquet_are_read_typed_or_as_text(tmp_path, typed) -> None:
    """pandas writes text as large_string, which is not Arrow's plain string type."""
    import pandas as pd

    path = tmp_path / "g.parquet"
    moments = ["2024-01-01T00:00:00.25Z", "2024-01-01T00:00:01.00Z"]
    if typed:
        moments = pd.to_datetime(moments)
    frame = pd.DataFrame({"timestamp": moments, "prompt_tokens": [1, 2], "decode_tokens": [1, 2]})
    frame.to_parquet(path)
    np.testing.assert_array_equal(read_trace(path).arrival_s, [0, 0.75])


def test_damaged_parquet_is_refused(tmp_path) -> None:
    path = tmp_path / "g.parquet"
    write_trace(Trace([1], [1]), path)
    path.write_bytes(path.read_bytes()[:-20])
    assert "damaged Parquet" in refusal(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_export_keeps_a_clock_that_starts_late(tmp_path, suffix) -> None:
    """Rebasing our own export would shift every finish time of a replay by 0.1 s."""
    path = tmp_path / f"t{suffix}"
    write_trace(Trace([5, 6], [7, 8], arrival_s=[0.1, 0.30000000000000004]), path)
    assert read_trace(path).arrival_s.tolist() == [0.1, 0.30000000000000004]


def test_a_window_of_an_export_begins_at_0(tmp_path) -> None:
    """What is cut out is a trace of its own: its first arrival must not stay at 30 s."""
    path = tmp_path / "t.csv"
    write_trace(Trace([5, 6, 7], [1, 1, 1], arrival_s=[10, 30, 31]), path)
    assert read_trace(path, start_s=20).arrival_s.tolist() == [0, 1]


def test_an_export_on_an_epoch_clock_is_rebased(tmp_path) -> None:
    """An epoch clock would put every request 54 years after the start of the run."""
    path = write(
        tmp_path / "t.csv",
        "arrival_s,prompt_tokens,decode_tokens",
        "1700000000,1,1",
        "1700000002,1,1",
    )
    np.testing.assert_array_equal(read_trace(path).arrival_s, [0, 2])


tokens = st.integers(1, 2**53)
columns = st.integers(1, 30).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "prompt_tokens": st.lists(tokens, min_size=n, max_size=n),
            "decode_tokens": st.lists(tokens, min_size=n, max_size=n),
            "arrival_s": st.none()
            | st.lists(st.floats(0, 3e8), min_size=n, max_size=n).map(sorted),
            "release_iteration": st.none()
            | st.lists(st.integers(1, 10**9), min_size=n, max_size=n).map(sorted),
            "key": st.none() | st.lists(st.integers(-(2**53), 2**53), min_size=n, max_size=n),
        }
    )
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(columns=columns)
def test_what_is_written_is_read_back_to_the_last_bit(tmp_path_factory, suffix, columns) -> None:
    path = tmp_path_factory.mktemp("round") / f"t{suffix}"
    trace = Trace(**columns)
    write_trace(trace, path)
    back = read_trace(path)
    for column in columns:
        np.testing.assert_array_equal(getattr(back, column), getattr(trace, column), column)


@pytest.mark.parametrize("name", ["t.xlsx", "nowhere/t.csv", "folder.csv"])
def test_a_target_that_cannot_be_written_is_refused(tmp_path, name) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"end it in|there is no folder|it is a folder"):
        write_trace(Trace([1], [1]), tmp_path / name)
