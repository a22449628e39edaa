"""Study files and manifests that would write elsewhere, never end, or say what is not so."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from study_files import SMALL, write

from olprouting.errors import InputError
from olprouting.studies import read_study
from olprouting.studies.manifest import Manifest
from olprouting.studies.tables import to_latex, to_markdown


@pytest.mark.parametrize(
    "name",
    ["../../../escaped", "/tmp/x", "a/b", r"a\b", "..", ".", "", " ", ".hidden", "end.", "end ",
     "C:x", "a\tb", "a\u0000b", "NUL", "nul.txt", "com1", "LPT9.x", "y" * 101],
)  # fmt: skip
def test_a_name_that_is_a_path_or_no_folder_anywhere_is_refused(small, name):
    """Catches results outside the folder of results, and names that only some systems have."""
    path = write(small, f"name = {json.dumps(name)}\n{SMALL}")
    with pytest.raises(InputError, match="a study's name is not a path") as caught:
        read_study(path)
    assert "\n" not in str(caught.value)
    assert "study.toml" in str(caught.value) or path.name in str(caught.value)


@pytest.mark.parametrize("name", ["a study, v2 (β=1)", "com", "nulls", "a..b", "x"])
def test_other_names_are_allowed(small, name):
    """Catches a check that refuses more than it must."""
    assert read_study(write(small, f"name = {json.dumps(name)}\n{SMALL}")).name == name


def test_names_that_are_no_text_are_refused(small):
    """Catches 3 that becomes "3" and a list that becomes the name of a policy."""
    with pytest.raises(InputError, match="line 1: name = 3: a study's name is not a path"):
        read_study(write(small, f"name = 3\n{SMALL}"))
    text = SMALL.replace('"jsq"', '{ name = [1], policy = "jsq" }')
    with pytest.raises(InputError, match=r"policies: name = \[1\] must be text"):
        read_study(write(small, text))


def test_a_byte_order_mark_is_allowed_and_utf_16_is_named(small):
    """Catches a file saved on Windows that is no TOML for an invisible reason."""
    expected = read_study(small).cells
    small.write_bytes(b"\xef\xbb\xbf" + small.read_bytes().replace(b"\n", b"\r\n"))
    assert [cell.id for cell in read_study(small).cells] == [cell.id for cell in expected]
    small.write_text(SMALL, encoding="utf-16")
    with pytest.raises(InputError, match=r"\.toml: the text is UTF-16 or UTF-32; save it as UTF-8"):
        read_study(small)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[2, 4, 8]", "{ from = 1, to = 1e18, by = 1 }", "1,000,000,000,000,000,000 values; at"),
        ("[2, 4, 8]", "{ from = 1, to = 1e300, by = 1e-300 }", "has over 10.18 values; at"),
        ("[2, 4, 8]", "{ from = 1, to = 2, steps = 1000000000000 }", "values; at most 100,000"),
        ("[2, 4, 8]", "{ from = nan, to = 2, by = 1 }", "needs finite numbers for from and to"),
        ("[2, 4, 8]", "{ from = 1, to = inf, by = 1 }", "needs finite numbers for from and to"),
        ("[2, 4, 8]", "{ from = 1, to = 2, by = nan }", "by = nan must be finite and > 0"),
        ("[2, 4, 8]", "{ from = 1, to = 2, by = true }", "by = True must be finite and > 0"),
        ("[2, 4, 8]", "{ from = 1, to = 2, by = 'x' }", "by = 'x' must be finite and > 0"),
        ("[2, 4, 8]", "[9223372036854775808]", "r_max = 9223372036854775808 must be"),
        ("[2, 4, 8]", "[" + "9" * 5000 + "]", "not TOML: a number has more than 4,300 digits"),
        ("[2, 4, 8]", "[0x" + "f" * 5000 + "]", "r_max = <int too large to print> must be"),
        ("[2, 4, 8]", "[1000000000000]", "r_max = 1000000000000 must be a whole"),
        ("slots = 4", "slots = 4000000000", "slots = 4000000000 must be at most 134217728"),
        ("workers = 2", "workers = 1000000000000", "workers = 1000000000000: would need 32,000 GB"),
        ("seeds = [3, 4]", "seeds = 1000000000000", "seeds = 1000000000000 must be at most 10000"),
        ("[2, 4, 8]", "{ from = 1, to = 100000, by = 1 }\nbeta = [1, 2, 3]", "grid: 1,200,000"),
        ("seeds = [3, 4]", "seeds = [99999999999999999999]", "must be a list of whole numbers in"),
    ],
)  # fmt: skip
def test_what_cannot_end_or_fit_is_refused_at_once(small, old, new, message):
    """Catches a list of 1e18 points, and memory that is taken before it is counted."""
    with pytest.raises(InputError, match=message) as caught:
        read_study(write(small, SMALL.replace(old, new)))
    assert len(str(caught.value)) < 600


def test_numbers_that_are_none_are_refused_as_options(small):
    """Catches nan, which is in no range and out of none."""
    for number in ("nan", "inf", "-inf"):
        with pytest.raises(InputError, match=r"line \d+: beta = -?(nan|inf) must be a finite"):
            read_study(write(small, SMALL + f"[options]\nbeta = {number}\n"))


@pytest.fixture
def manifest(small, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    Manifest.of(read_study(small), small).with_run("run", "1 process").write(folder)
    return folder


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"definition_sha256": "0" * 64}, "definition_sha256 is stated as"),
        ({"definition_sha256": 3}, "definition_sha256 is stated as 3"),
        ({"definition": [1]}, "the definition must be a table"),
        ({"definition": {"kind": "simulate"}}, "manifest.json"),
        ({"cells": 13}, "cells is stated as 13, but the document proves 12"),
        ({"seeds": [3]}, r"seeds is stated as \[3\]"),
        ({"files": {"x": 3}}, r"files\['x'\] = 3 must be text"),
        ({"files": []}, r"files must be an object"),
        ({"folder": None}, "folder = None must be text"),
        ({"runs": [3]}, "runs must be a list of objects"),
        ({"study_file": "s.toml"}, "study_file must be an object"),
        ({"surplus": 1}, r"unknown field\(s\) surplus"),
        ({"schema": {}}, "expected a JSON object with schema 'olprouting/study/1'"),
    ],
)
def test_a_manifest_that_does_not_add_up_is_refused(manifest, change, message):
    """Catches results that are taken for those of another study."""
    assert len(Manifest.read(manifest).study.cells) == 12
    path = manifest / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=message) as caught:
        Manifest.read(manifest)
    assert "manifest.json" in str(caught.value)


def test_a_cut_manifest_is_refused(manifest):
    """Catches a traceback after a full disk."""
    path = manifest / "manifest.json"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"manifest\.json: line \d+, column \d+: not JSON"):
        Manifest.read(manifest)


def test_markdown_shows_names_as_they_are():
    """Catches a name that ends a cell, begins a tag, a link or emphasis, or breaks the line."""
    table = pd.DataFrame({"a|b": ["`x`*_y_ <b>[z](u) a_b\nc"]})
    text = to_markdown(table, "*t*", "note")
    assert text.splitlines()[0] == r"**\*t\***: note"
    assert text.splitlines()[2] == r"| a\|b |"
    assert text.splitlines()[4] == r"| \`x\`\*\_y\_ \<b\>\[z\](u) a_b c |"


def test_latex_shows_names_as_they_are():
    """Catches a name that runs a command, in a cell, a heading or the caption."""
    name = r"\input{x} 50% a_b #1 $x$ ^ ~ {y} & <z>"
    text = to_latex(pd.DataFrame({name: [name, "1 ± 2"]}), name, "note")
    for command in (r"\input", "$x$", " 50% ", "#1 $", " & <", " ^ ", " ~ "):
        assert command not in text.replace(r"\%", "").replace(r"\#", "").replace(r"\&", "")
    assert text.count(r"\textbackslash{}input\{x\} 50\% a") == 3
    assert r"1 $\pm$ 2" in text
