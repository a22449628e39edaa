"""Text tables as people have them: quotes, separators, blanks, comments, encodings."""

from __future__ import annotations

import pytest
from trace_files import AZURE_HEADER, AZURE_ROWS, azure, refusal, write

from olprouting.traces import read_trace
from olprouting.traces.formats import _csv

PROMPTS = [374, 396, 879, 91, 91]


@pytest.mark.parametrize("between", [";", "\t", ", ", " ,"])
def test_separators_and_blanks_make_no_difference(tmp_path, between) -> None:
    lines = [line.replace(",", between) for line in (AZURE_HEADER, *AZURE_ROWS)]
    trace = read_trace(write(tmp_path / "a.csv", *lines))
    assert trace.prompt_tokens.tolist() == PROMPTS
    assert trace.arrival_s[-1] == 10


def test_times_with_zone_and_blanks_after_them_are_read(tmp_path) -> None:
    """Catches a zone that is not seen because it does not stand at the end of its cell."""
    path = azure(tmp_path / "a.csv", "2024-05-10 00:00:00Z ,1,1", "2024-05-10 00:00:02+00:00,2,2")
    assert read_trace(path).arrival_s.tolist() == [0, 2]


def test_blank_lines_and_comments_above_the_header_are_skipped(tmp_path) -> None:
    path = write(tmp_path / "a.csv", "# exported, by hand", "", "#", AZURE_HEADER, *AZURE_ROWS)
    assert read_trace(path).prompt_tokens.tolist() == PROMPTS
    path = write(tmp_path / "a.csv", "# x", AZURE_HEADER, *AZURE_ROWS[:2], "soon,1,1")
    assert "data row 3, column 'TIMESTAMP'" in refusal(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_marked_encodings_are_read_and_others_named(tmp_path, encoding) -> None:
    """Catches the files that spreadsheets save as 'Unicode text'."""
    text = "\n".join((AZURE_HEADER, *AZURE_ROWS)).replace(",", "\t")
    path = tmp_path / "a.csv"
    path.write_text(text, encoding=encoding)
    if encoding in ("utf-16-le", "utf-16-be"):
        assert "it is no UTF-8 text: save it as UTF-8" in refusal(path)
    else:
        assert read_trace(path).prompt_tokens.tolist() == PROMPTS


@pytest.mark.parametrize("block_bytes", [64, 1000, 1 << 22])
def test_quoted_cells_may_hold_anything_wherever_a_block_ends(
    tmp_path, monkeypatch, block_bytes
) -> None:
    """Catches blocks cut at a line break within quotes, and quotes that mean nothing."""
    monkeypatch.setattr(_csv, "BLOCK_BYTES", block_bytes)
    notes = ['"two\nlines"', '5" disk', '"a ""b""\n,\n"', "", '"\n\n\n"', 'x"y"z', '"1,2"']
    rows = [f"{i},{notes[i % len(notes)]},{i + 1},{i + 2}" for i in range(200)]
    path = write(tmp_path / "q.csv", "arrival_s,note,prompt_tokens,decode_tokens", *rows)
    trace = read_trace(path)
    assert trace.prompt_tokens.tolist() == list(range(1, 201))
    assert trace.decode_tokens.tolist() == list(range(2, 202))
    path = write(path, *path.read_text().splitlines(), 'x,"\n",1,1')
    assert "data row 201, column 'arrival_s': 'x'" in refusal(path)


def test_a_cell_of_megabytes_in_a_column_nobody_needs_is_no_obstacle(tmp_path) -> None:
    cell = '"' + "word\n" * 1_200_000 + '"'
    path = write(tmp_path / "q.csv", "note,prompt_tokens,decode_tokens", f"{cell},1,2", "x,3,4")
    assert read_trace(path).prompt_tokens.tolist() == [1, 3]


def test_a_quote_that_is_never_closed_swallows_no_rows(tmp_path) -> None:
    """Catches the requests after it, which would be read as one long note."""
    rows = ("1,2,a", '3,4,"b', "5,6,c")
    path = write(tmp_path / "q.csv", "prompt_tokens,decode_tokens,note", *rows)
    assert "data row 2: a quote that opens in this row is never closed" in refusal(path)


def test_headers_that_differ_in_case_only_are_ambiguous(tmp_path) -> None:
    """Catches one of two columns that is taken because it stands first or last."""
    path = write(tmp_path / "c.csv", "Prompt_Tokens,prompt_tokens,decode_tokens", "1,2,3")
    assert "columns 'Prompt_Tokens' and 'prompt_tokens' differ only in case" in refusal(path)
    assert read_trace(path, columns="prompt=Prompt_Tokens").prompt_tokens.tolist() == [1]
    azure_like = "TIMESTAMP,ContextTokens,contexttokens,GeneratedTokens"
    path = write(tmp_path / "c.csv", azure_like, "2024-05-10 00:00:00,1,2,3")
    assert "differ only in case" in refusal(path)
    unneeded = "prompt_tokens,decode_tokens,Note,note"
    assert len(read_trace(write(tmp_path / "c.csv", unneeded, "1,2,3,4"))) == 1


def test_a_prompt_of_no_tokens_is_dropped_and_counted(tmp_path) -> None:
    path = write(tmp_path / "z.csv", "prompt_tokens,decode_tokens", "0,5", "7,5", "0,0")
    trace = read_trace(path)
    assert trace.prompt_tokens.tolist() == [7]
    assert "2 of 3 rows dropped: 0 prompt tokens" in trace.notices


def test_splitwise_traces_are_read_in_seconds(tmp_path) -> None:
    header = (
        "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size"
    )
    trace = read_trace(
        write(tmp_path / "s.csv", header, "0,2,0,1.25,1,374,44", "1,2,0,3,1,396,109")
    )
    assert trace.arrival_s.tolist() == [0, 1.75]
    assert trace.decode_tokens.tolist() == [44, 109]
    assert " as splitwise, " in trace.notices[0]
