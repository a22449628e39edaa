"""Any JSON objects with usual names, one a line or in one list."""

from __future__ import annotations

import json

import pytest
from trace_files import refusal

from olprouting.traces import read_trace

LENGTHS = ("input_length", "output_length")
RECORDS = [
    {"arrival_s": 0.5, "prompt_tokens": 5, "decode_tokens": 2, "model": "a"},
    {"arrival_s": 1, "prompt_tokens": 6, "decode_tokens": 3, "model": "b"},
]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_is_read_compact_or_indented(tmp_path, indent) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(RECORDS, indent=indent))
    trace = read_trace(path)
    assert trace.decode_tokens.tolist() == [2, 3]
    assert trace.arrival_s.tolist() == [0, 0.5]
    assert "columns ignored: model" in trace.notices
    path.write_text(json.dumps(RECORDS, indent=indent)[:-3])
    assert "t.json: line" in refusal(path)


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ('{"prompt_tokens": 5, "decode_tokens": true}', "column 'decode_tokens': True is not a"),
        ('{"prompt_tokens": 5, "decode_tokens": null}', "column 'decode_tokens': is empty"),
        ('{"prompt_tokens": 5, "decode_tokens": [1]}', "column 'decode_tokens': [1] is not a"),
        ('{"prompt_tokens": 5, "decode_tokens": "x"}', "column 'decode_tokens': "),
        ('{"prompt_tokens": 5, "decode_tokens": 1.5}', "column 'decode_tokens': 1.5 must be a"),
        ('{"prompt_tokens": 5, "decode_tokens": 1e400}', "column 'decode_tokens': inf must be"),
        (f'{{"prompt_tokens": 5, "decode_tokens": {2**53 + 1}}}', "column 'decode_tokens': "),
        (f'{{"prompt_tokens": 5, "decode_tokens": {10**30}}}', "column 'decode_tokens': 1e+30"),
        ('{"prompt_tokens": 5}', "column 'decode_tokens': is missing; the record has: prompt"),
        ("7", "expected a JSON object, got 7"),
    ],
)
def test_a_bad_record_is_named(tmp_path, lines, bad, problem) -> None:
    """Catches values that are turned into numbers, and rows that are not told."""
    good = '{"prompt_tokens": 5, "decode_tokens": 2}'
    path = tmp_path / "t.json"
    path.write_text(f"{good}\n{bad}\n" if lines else f"[{good}, {bad}]")
    message = refusal(path)
    assert f"{'line' if lines else 'record'} 2" in message
    assert problem in message


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize("row", [1, 2])
@pytest.mark.parametrize("names", [("prompt_tokens", "decode_tokens"), LENGTHS])
def test_a_key_that_stands_twice_is_refused(tmp_path, lines, row, names) -> None:
    """Catches the last of two values that is taken silently."""
    good = f'{{"timestamp_ms": 0, "{names[0]}": 5, "{names[1]}": 2}}'
    bad = good.replace("}", f', "{names[1]}": 9}}')
    records = [bad, good] if row == 1 else [good, bad]
    path = tmp_path / "t.json"
    path.write_text("\n".join(records) if lines else f"[{', '.join(records)}]")
    assert f"{'line' if lines else 'record'} {row}: key '{names[1]}' stands twice" in refusal(path)


def test_a_list_that_a_document_holds_twice_is_refused(tmp_path) -> None:
    """Catches the second list taken for the document, and a message that none is there."""
    path = tmp_path / "t.json"
    path.write_text('{"data": [{"input_length": 1, "output_length": 2}],\n "data": []}')
    assert "key 'data' stands twice" in refusal(path)


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000])
def test_a_list_that_the_parser_gives_up_on_is_one_line(tmp_path, text) -> None:
    """Catches tracebacks at deep nesting and at whole numbers without end."""
    path = tmp_path / "t.json"
    path.write_text('[{"prompt_tokens": 5, "decode_tokens": 2}, ' + text)
    assert "t.json: is not usable JSON" in refusal(path)
