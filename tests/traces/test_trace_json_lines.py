"""Mooncake and Qwen-Bailian: alike, but different units and block sizes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from trace_files import refusal, write, zipped

from olprouting.traces import read_trace


def line(timestamp, prompt, decode, hash_ids, **more) -> str:
    return json.dumps(
        {
            "timestamp": timestamp,
            "input_length": prompt,
            "output_length": decode,
            "hash_ids": hash_ids,
            **more,
        }
    )


LINES = (
    line(0, 1025, 500, [0, 4, 5]),
    line(0, 512, 1, [0]),
    line(3000, 600, 3, [0, 4]),
    line(5999, 87_000, 9, list(range(170))),
)


def test_mooncake_times_are_milliseconds_and_the_second_block_is_the_key(tmp_path) -> None:
    """Rows 1 and 3 share their first two blocks: same conversation, same key."""
    trace = read_trace(write(tmp_path / "m.jsonl", *LINES))
    np.testing.assert_array_equal(trace.arrival_s, [0, 0, 3, 5.999])
    np.testing.assert_array_equal(trace.decode_tokens, [500, 1, 3, 9])
    np.testing.assert_array_equal(trace.key, [4, 0, 4, 1])
    assert "timestamps taken as ms" in trace.notices


def test_the_unit_of_time_is_an_argument(tmp_path) -> None:
    """Published samples of this format hold 0.2 and 0.4, which can only be seconds."""
    path = write(tmp_path / "m.jsonl", line(0.2, 5, 5, [1]), line(0.4, 5, 5, [1]))
    np.testing.assert_array_equal(read_trace(path, time_unit="s").arrival_s, [0, 0.2])
    as_ms = read_trace(path)
    np.testing.assert_array_equal(as_ms.arrival_s, [0, 0.0002])
    assert "some timestamps have fractions of ms; is time_unit 's' meant?" in as_ms.notices


def test_an_unknown_unit_is_refused(tmp_path) -> None:
    path = write(tmp_path / "m.jsonl", *LINES)
    assert "unknown time unit 'min'; known: ms, ns, s, us" in refusal(path, time_unit="min")


def test_a_number_of_blocks_that_does_not_fit_the_length_is_counted(tmp_path) -> None:
    path = write(tmp_path / "m.jsonl", *LINES, line(6000, 20, 5, [7, 8]))
    expected = "1 of 5 rows have a number of hash_ids other than input_length / 512 rounded up"
    assert expected in read_trace(path).notices


def test_qwen_bailian_is_told_by_chat_id_and_counts_seconds_and_16_token_blocks(tmp_path) -> None:
    """61.114 is seconds here; in Mooncake it would be milliseconds."""
    chat = {"chat_id": 159, "parent_chat_id": -1, "type": "text", "turn": 1}
    path = write(
        tmp_path / "q.jsonl", line(0, 17, 2, [1, 2], **chat), line(61.114, 33, 2, [1, 2, 3], **chat)
    )
    trace = read_trace(path)
    np.testing.assert_array_equal(trace.arrival_s, [0, 61.114])
    assert trace.notices[1:] == ("timestamps taken as s",)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ('{"timestamp": 1, "input', "line 2: is not valid JSON"),
        (line("1", 5, 5, [1]), "line 2, column 'timestamp': '1' is not a number"),
        (line(-1, 5, 5, [1]), "line 2, column 'timestamp': -1 must be a finite time >= 0"),
        (line(float("nan"), 5, 5, [1]), "line 2, column 'timestamp': nan must be a finite time"),
        (line(1, -3, 5, [1]), "line 2, column 'input_length': -3 must be a whole number from 0"),
        (line(1, 5, -5, [1]), "line 2, column 'output_length': -5 must be a whole number from 0"),
        (line(1, 5, 5, "ab"), "line 2, column 'hash_ids': 'ab' must be a list of ids"),
        (line(1, 5, 5, [[1]]), "line 2, column 'hash_ids': [1] is no id: expected a number or"),
        (line(1, 5, 5, [True]), "line 2, column 'hash_ids': True is no id"),
        (line(1, 5, 5, [1], session_id=2.5), "line 2, column 'session_id': 2.5 is no id"),
        (line(None, 5, 5, [1]), "line 2, column 'timestamp': is missing, and no delay"),
        (f'{{"timestamp": {"9" * 5000}}}', "line 2: is not usable JSON (Exceeds the limit"),
        ("[" * 100_000, "line 2: is not usable JSON (maximum recursion"),
        (line(1, 2**53 + 1, 5, [1]), "line 2, column 'input_length': 9.0072e+15 must be a whole"),
        (line(1, 10**400, 5, [1]), "line 2, column 'input_length': inf must be a whole number"),
        ("[1, 2]", "line 2: expected a JSON object"),
        ("", "line 2: is blank"),
    ],
)
def test_a_bad_line_is_named(tmp_path, bad, message) -> None:
    """Catches bad values that are read, and tracebacks of the JSON parser."""
    assert message in refusal(write(tmp_path / "m.jsonl", LINES[0], bad, LINES[1]))


def test_ids_are_identities_whatever_they_are(tmp_path) -> None:
    """Catches texts that are refused, and 64-bit ids that rounding makes one."""
    path = write(tmp_path / "m.jsonl", *(line(i, 600, 1, [0, 2**63 + i % 2]) for i in range(3)))
    trace = read_trace(path)
    assert trace.key.tolist() == [0, 1, 0]
    assert any("numbered as they first appear" in notice for notice in trace.notices)
    path = write(path, line(0, 600, 1, ["a", "b"]), line(0, 5, 1, ["b"]), line(0, 5, 1, ["a"]))
    assert read_trace(path).key.tolist() == [0, 0, 1]


def test_requests_without_ids_are_classes_of_their_own(tmp_path) -> None:
    """Catches requests without ids that are taken for one class, or for one that has an id."""
    bare = {"timestamp": 0, "input_length": 600, "output_length": 1}
    rows = (line(0, 600, 1, [3, 9]), json.dumps(bare), line(0, 600, 1, []), line(0, 600, 1, [3, 9]))
    trace = read_trace(write(tmp_path / "m.jsonl", *rows))
    assert trace.key.tolist() == [9, 10, 11, 9]
    assert "2 of 4 rows without an id: each is a class of its own" in trace.notices
    trace = read_trace(write(tmp_path / "m.jsonl", json.dumps(bare), json.dumps(bare)))
    assert trace.key is None
    assert len(trace) == 2


def test_sessions_are_keys_and_delays_count_from_the_turn_before(tmp_path) -> None:
    """Catches later turns without a time that are refused, or that all come at once."""

    def turn(session, **when) -> str:
        return json.dumps({"session_id": session, "input_length": 5, "output_length": 1, **when})

    turns = (
        turn("x", timestamp=0),
        turn("y", timestamp=700, delay=3),
        turn("x", delay=500),
        turn("x", delay=1000),
    )
    trace = read_trace(write(tmp_path / "s.jsonl", *turns))
    assert trace.arrival_s.tolist() == [0, 0.5, 0.7, 1.5]
    assert trace.key.tolist() == [0, 0, 1, 0]
    assert (
        "2 of 4 rows come by a delay: counted from the arrival of the turn before" in trace.notices
    )
    assert "1 of 4 rows have a delay that is not used" in trace.notices
    path = write(tmp_path / "s.jsonl", turns[0], turn("z", delay=500))
    assert "line 2, column 'timestamp': is missing, and no delay" in refusal(path)
    trace = read_trace(write(tmp_path / "s.jsonl", turn("x"), turn("x", delay=500)))
    assert trace.arrival_s is None
    assert "1 of 2 rows have a delay that is not used" in trace.notices


def test_whole_seconds_taken_as_milliseconds_are_doubted(tmp_path) -> None:
    """Catches 5 s of traffic that pass for 5 ms; a unit that is given is not doubted."""
    path = write(tmp_path / "m.jsonl", *(line(float(i), 600, 1, [0, i]) for i in range(6)))
    doubt = "timestamps as ms make 6 requests in 0.005 s; is time_unit 's' meant?"
    assert any(notice.startswith(doubt) for notice in read_trace(path).notices)
    for given in ({"columns": "unit=ms"}, {"time_unit": "s"}):
        assert not any("meant?" in notice for notice in read_trace(path, **given).notices)
    np.testing.assert_array_equal(read_trace(path, columns="unit=s").arrival_s, range(6))


def test_blank_lines_and_comments_above_lines_are_skipped_and_counted_as_lines(tmp_path) -> None:
    path = write(tmp_path / "m.jsonl", "# by hand", "", *LINES)
    assert len(read_trace(path)) == 4
    assert "line 4, column 'input_length'" in refusal(
        write(path, "#", "", LINES[0], line(1, "", 1, []))
    )


def test_blank_lines_at_the_end_are_no_error(tmp_path) -> None:
    assert len(read_trace(write(tmp_path / "m.jsonl", *LINES, "", ""))) == 4


def test_gzipped_lines_are_read_and_truncated_ones_refused(tmp_path) -> None:
    path = write(tmp_path / "m.jsonl", *LINES, start=b"\xef\xbb\xbf")
    assert len(read_trace(zipped(path))) == 4
    message = refusal(zipped(path, cut=12))
    assert "truncated" in message
    assert "line" in message


def test_the_real_conversation_trace_comes_in_batches(shared_data) -> None:
    trace = read_trace(shared_data / "mooncake_conversation.jsonl")
    assert len(trace) == 12_031
    np.testing.assert_array_equal(np.unique(trace.arrival_s)[:4], [0, 3, 5.999, 9])
    assert not any("meant?" in notice for notice in trace.notices)
    assert not any("hash_ids" in notice for notice in trace.notices)
    # Every prompt begins with the same block: the first id could not tell requests apart.
    assert len(np.unique(trace.key)) > 7_000
