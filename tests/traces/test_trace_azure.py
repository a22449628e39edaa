"""Azure CSV: calendar times with seven digits, zones, encodings, order, damage."""

from __future__ import annotations

import numpy as np
import pytest
from trace_files import AZURE_ARRIVAL_S, AZURE_ROWS, azure, refusal, write, zipped

from olprouting.traces import read_trace


def assert_is_the_fixture(trace) -> None:
    np.testing.assert_array_equal(trace.arrival_s, AZURE_ARRIVAL_S)
    np.testing.assert_array_equal(trace.prompt_tokens, [374, 396, 879, 91, 91])
    np.testing.assert_array_equal(trace.decode_tokens, [44, 109, 55, 16, 17])


def test_seven_digit_fractions_keep_microseconds_and_are_rebased(tmp_path) -> None:
    """Catches strptime-like parsers that fail on or truncate the seventh digit."""
    trace = read_trace(azure(tmp_path / "a.csv"))
    assert_is_the_fixture(trace)
    assert trace.name == "a.csv"
    assert "times state no zone; taken as UTC" in trace.notices
    assert "times rebased: the first arrival is 0 s" in trace.notices


@pytest.mark.parametrize(
    ("end", "start"),
    [("\n", b""), ("\r\n", b""), ("\n", b"\xef\xbb\xbf"), ("\r\n", b"\xef\xbb\xbf")],
)
def test_line_endings_and_byte_order_mark_make_no_difference(tmp_path, end, start) -> None:
    """Catches a BOM that hides the first header and a CR that sticks to the last column."""
    header = "TIMESTAMP,ContextTokens,GeneratedTokens"
    assert_is_the_fixture(
        read_trace(write(tmp_path / "a.csv", header, *AZURE_ROWS, end=end, start=start))
    )


def test_a_file_without_final_newline_loses_no_row(tmp_path) -> None:
    path = azure(tmp_path / "a.csv")
    path.write_bytes(path.read_bytes().rstrip())
    assert_is_the_fixture(read_trace(path))


def test_shuffled_rows_are_sorted_stably_and_counted(tmp_path) -> None:
    """Rows 2 and 3 share a time: a sort that is not stable could swap 396 and 879."""
    first, second, third, fourth, fifth = AZURE_ROWS
    trace = read_trace(azure(tmp_path / "a.csv", fourth, second, first, third, fifth))
    assert_is_the_fixture(trace)
    assert "rows sorted by arrival (3 were out of order)" in trace.notices


def test_a_missing_column_is_named_with_the_accepted_names(tmp_path) -> None:
    rows = [row.rsplit(",", 1)[0] for row in AZURE_ROWS]
    message = refusal(azure(tmp_path / "a.csv", *rows, header="TIMESTAMP,ContextTokens"))
    assert "no column for decode_tokens" in message
    assert "GeneratedTokens" in message
    assert "num_decode_tokens" in message
    assert "the header has: TIMESTAMP, ContextTokens" in message


def test_the_format_given_decides_which_names_are_accepted(tmp_path) -> None:
    path = write(tmp_path / "a.csv", "arrived_at,ContextTokens,GeneratedTokens", "0,1,1")
    assert "no column for arrival; accepted names: TIMESTAMP;" in refusal(path, format="azure")


def test_times_of_2024_mix_whole_and_fractional_seconds_with_zone(tmp_path) -> None:
    """Catches format inference from the first row, which fails on the second."""
    trace = read_trace(
        azure(
            tmp_path / "a.csv",
            "2024-05-10 00:00:00+00:00,10,1",
            "2024-05-10 00:00:00.009930+00:00,20,2",
            "2024-05-10 02:00:01+02:00,30,3",
        )
    )
    np.testing.assert_array_equal(trace.arrival_s, [0, 0.00993, 1])
    assert "times state their zone" in trace.notices


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2024-05-10 00:00:00+00:00", "2023-11-16 18:17:03.9799600"),
        ("2023-11-16 18:17:03.9799600", "2024-05-10 00:00:00+00:00"),
    ],
)
def test_naive_and_zoned_times_in_one_file_are_refused(tmp_path, first, second) -> None:
    """A merge of the 2023 and 2024 files would otherwise guess an offset for half its rows."""
    message = refusal(azure(tmp_path / "a.csv", f"{first},1,1", f"{second},1,1"))
    assert "data row 2, column 'TIMESTAMP'" in message
    assert "zone" in message


def test_the_extra_column_of_2025_is_ignored_with_a_notice_and_gz_is_read(tmp_path) -> None:
    plain = write(
        tmp_path / "a.csv",
        "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens",
        "2024-10-15 00:00:00.5,2,100,7",
    )
    trace = read_trace(zipped(plain))
    assert (trace.prompt_tokens[0], trace.decode_tokens[0]) == (100, 7)
    assert "columns ignored: NumImages" in trace.notices


def test_a_truncated_gz_is_refused_with_the_last_row_that_was_read(tmp_path) -> None:
    """Catches reading half a download as if it were the whole trace."""
    message = refusal(zipped(azure(tmp_path / "a.csv"), cut=12))
    assert "a.csv.gz, data row" in message
    assert "truncated" in message


@pytest.mark.parametrize(
    ("row", "column", "problem"),
    [
        ("2023-11-16 18:17:04,abc,5", "ContextTokens", "'abc' is not a number"),
        ("2023-11-16 18:17:04,,5", "ContextTokens", "'' is not a number"),
        ("2023-11-16 18:17:04,nan,5", "ContextTokens", "nan must be a whole number from 0"),
        ("2023-11-16 18:17:04,-2,5", "ContextTokens", "-2 must be a whole number from 0"),
        ("2023-11-16 18:17:04,9007199254740993,5", "ContextTokens", "3 is more than 2^53"),
        ("2023-11-16 18:17:04,5,-1", "GeneratedTokens", "-1 must be a whole number from 0"),
        ("2023-11-16 18:17:04,5,1.5", "GeneratedTokens", "1.5 must be a whole number"),
        ("2023-11-16 18:17:04,5,inf", "GeneratedTokens", "inf must be a whole number"),
        ("16.11.2023 18:17,5,5", "TIMESTAMP", "is not a date and time"),
        ("12.5,5,5", "TIMESTAMP", "is not a date and time"),
    ],
)
def test_a_bad_value_is_named_by_file_row_and_column(tmp_path, row, column, problem) -> None:
    message = refusal(azure(tmp_path / "a.csv", *AZURE_ROWS[:3], row, AZURE_ROWS[4]))
    assert f"a.csv, data row 4, column '{column}': " in message
    assert problem in message


@pytest.mark.parametrize("rows_before", [1, 200_000])
@pytest.mark.parametrize(("row", "found"), [("2023-11-16 18:17:04,5", 2), ("a,1,2,3", 4)])
def test_a_short_or_long_row_is_named_wherever_it_stands(tmp_path, rows_before, row, found) -> None:
    """200,000 rows are several blocks of the streaming reader: row numbers must run on."""
    rows = ["2023-11-16 18:17:03.9799600,374,44"] * rows_before
    message = refusal(azure(tmp_path / "a.csv", *rows, row))
    assert f"data row {rows_before + 1}: {found} values where the header has 3" in message


def test_a_bad_value_far_down_is_named_by_its_row(tmp_path) -> None:
    """Catches row numbers that restart in every block of the streaming reader."""
    rows = ["2023-11-16 18:17:03.9799600,374,44"] * 200_000
    rows[150_000] = "2023-11-16 18:17:03.9799600,x,44"
    assert "data row 150001, column 'ContextTokens'" in refusal(azure(tmp_path / "a.csv", *rows))


def test_a_unit_cannot_be_given_to_calendar_times(tmp_path) -> None:
    message = refusal(azure(tmp_path / "a.csv"), time_unit="s")
    assert "data row 1, column 'TIMESTAMP'" in message


def test_the_real_conversation_trace_has_all_its_rows(shared_data) -> None:
    trace = read_trace(shared_data / "azure_2023_conv.csv")
    assert len(trace) == 19_366
    # The first two rows differ by 18:15:50.9951690 - 18:15:46.6805900.
    np.testing.assert_array_equal(trace.arrival_s[:2], [0, 4.314579])
    assert any("sha256 2f1e5b666d4e" in notice for notice in trace.notices)
