"""Files say one thing, once: what the one reader of JSON and TOML refuses, and in which words."""

from __future__ import annotations

import json

import pytest

from olprouting.errors import InputError
from olprouting.instances import Decision
from olprouting.instances.documents import load_document, load_json, load_toml, read_text

DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": ' + "9" * 5000 + "}", "^d.json: a number has more than 4,300 digits$"),
        ("[" * DEEP + "]" * DEEP, "^d.json: the JSON is nested too deeply$"),
        ('{"a":' * DEEP + "1" + "}" * DEEP, "^d.json: the JSON is nested too deeply$"),
        ('{"a": 1, "b": 2, "a": 3}', "^d.json: the field 'a' stands twice in one object"),
        ('[{"x": {"a": 1, "a": 1}}]', "^d.json: the field 'a' stands twice in one object"),
        ('{"a": NaN}', "^d.json: NaN is not a number"),
        ("[-Infinity]", "^d.json: -Infinity is not a number"),
        ("[1e400]", "^d.json: the number 1e400 is too large for a double"),
        ('{"a": 1', "^d.json: line 1, column 8: not JSON"),
        ("", "^d.json: line 1, column 1: not JSON"),
    ],
)
def test_json_that_says_two_things_or_no_number_is_refused_in_one_line(text, message) -> None:
    """Catches Python's own errors, a second value that wins in silence, and infinity."""
    with pytest.raises(InputError, match=message) as caught:
        load_json(text, "d.json")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("schema", [{}, [], [["x"]], 3, True, None, "s/2", ["s/1"], {"s/1": 1}])
def test_a_schema_of_another_type_is_named(schema) -> None:
    """Catches a lookup by schema that cannot hash a list or an object."""
    with pytest.raises(InputError, match=r"^d.json: expected a JSON object with schema 's/1'"):
        load_document(json.dumps({"schema": schema}), "d.json", "s/1")


@pytest.mark.parametrize("number", [2**53 + 1, 2**62 - 1, 10**400])
def test_whole_numbers_are_read_exactly(number) -> None:
    """Catches a reader that goes through doubles."""
    assert load_json(f"[{number}]", "d") == [number]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "9" * 5000, "not TOML: a number has more than 4,300 digits"),
        ("a = " + "[" * DEEP + "]" * DEEP, "the TOML is nested too deeply"),
        ("a = 1\na = 2", "not TOML: .*overwrite"),
        ("a = [1,\n=", r"not TOML: .*line 2"),
    ],
)
def test_toml_is_refused_in_one_line(text, message) -> None:
    """Catches the errors of `tomllib` that are none of its own kind."""
    with pytest.raises(InputError, match=f"^s.toml: {message}"):
        load_toml(text, "s.toml")


def test_a_byte_order_mark_is_allowed_and_lines_may_end_as_they_like(tmp_path) -> None:
    """Catches text from Windows that is refused, in a file or handed over as text."""
    path = tmp_path / "d.json"
    path.write_bytes(b"\xef\xbb\xbf[1,\r\n2]\r\n")
    assert read_text(path) == "[1,\n2]\n"
    assert load_json("\ufeff[1]", "d") == [1]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_named_with_the_way_out(tmp_path, encoding) -> None:
    """Catches "invalid start byte", which tells nobody what to do."""
    path = tmp_path / "d.json"
    path.write_bytes('{"a": 1}'.encode(encoding))
    with pytest.raises(InputError, match=r"d\.json: the text is UTF-16 or UTF-32; save it as"):
        read_text(path)


def test_what_is_no_text_is_placed(tmp_path) -> None:
    """Catches a codec's message without the file."""
    path = tmp_path / "d.json"
    path.write_bytes(b'{"a": "\xe9"}')
    with pytest.raises(InputError, match=r"d\.json: byte 7 is not UTF-8 \(0xe9\); save the file"):
        read_text(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_text(tmp_path)


def test_an_unknown_field_is_named_with_the_nearest_on_one_line() -> None:
    """Catches a name with a line break that makes two lines of a message, and a missing hint."""
    document = json.loads(Decision([[1]], [1], [1]).to_json())
    for name, shown in (("horizons", "horizons"), ("hori\nzon", r"hori\\nzon")):
        renamed = {(name if key == "horizon" else key): v for key, v in document.items()}
        with pytest.raises(InputError, match=f"{shown}; expected .*Did you mean 'horizon'") as got:
            Decision.from_json(json.dumps(renamed), "d.json")
        assert "\n" not in str(got.value)


def test_a_message_is_one_line_whatever_it_quotes() -> None:
    """Catches messages of other packages, which may have several lines."""
    assert str(InputError("first\nsecond\r\nthird")) == "first second third"
