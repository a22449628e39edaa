"""The instance library: the same bytes from the same seeds, and best known results that hold."""

from __future__ import annotations

import hashlib
import json
import runpy
from fractions import Fraction
from pathlib import Path

import pytest

import olprouting as olp
from olprouting.certificates import DoesNotHoldError, verify
from olprouting.library import Entry, best_known, entries
from olprouting.library.catalogue import FOLDERS
from olprouting.traces.data_folder import data_folder

SCRIPT = Path(__file__).resolve().parents[2] / "data" / "make_instances.py"
RESULTS = [(entry.name, best["program"]) for entry in entries().values() for best in entry.best]


def test_the_script_makes_the_same_bytes() -> None:
    """Catches a generator that changed, or a file that was edited by hand."""
    script = runpy.run_path(str(SCRIPT), run_name="make_instances")
    made = {one.name: one for one in script["library"]()}
    assert list(made) == olp.instance_names()
    for name, one in made.items():
        entry = best_known(name)
        kind, text = script["kind_and_text"](one.make())
        assert (kind, one.family, one.seed) == (entry.kind, entry.family, entry.seed)
        assert entry.file.read_bytes() == text.encode(), name
        assert hashlib.sha256(text.encode()).hexdigest() == entry.sha256


def test_what_the_library_holds() -> None:
    """About 80 instances, every kind and difficulty, within 2 MB, and nothing else beside them."""
    listed = [best_known(name) for name in olp.instance_names()]
    assert 70 <= len(listed) <= 90
    for kind in FOLDERS:
        of_kind = [entry for entry in listed if entry.kind == kind]
        assert {entry.difficulty for entry in of_kind} == {"tiny", "medium", "hard"}
    folder = data_folder() / "instances"
    files = {path for path in folder.rglob("*") if path.is_file()}
    assert files == {folder / "index.json", *(entry.file for entry in listed)}
    assert sum(path.stat().st_size for path in files) < 2_000_000
    decisions = [entry.size for entry in listed if entry.kind == "decision"]
    assert {2, 4, 8, 16} <= {size["workers"] for size in decisions}
    assert {0, 80} <= {size["horizon"] for size in decisions}
    assert {"1", "43/50", "1/2"} <= {size["gamma"] for size in decisions}
    assert {32, 64, 200, 400} <= {size["waiting"] for size in decisions}


@pytest.mark.parametrize(("name", "program"), RESULTS)
def test_a_best_known_result_holds(name, program) -> None:
    """Recomputed in exact arithmetic: value, bound, and how far they are proven."""
    entry = best_known(name)
    (best,) = (one for one in entry.best if one["program"] == program)
    text = json.dumps(entry.certificate(program))
    finding = verify(text, name, entry.text())
    assert finding.verdict.name.lower() == best["verdict"]
    result = best["result"]
    value = result["objective"] if "objective" in result else result["value"]
    assert float(Fraction(finding.value or "nan")) == pytest.approx(value, rel=1e-9)


def test_tiny_decisions_are_proven_exactly() -> None:
    """Nothing tiny rests on a solver's word."""
    for entry in entries().values():
        if entry.difficulty == "tiny" and entry.kind == "decision":
            assert [best["verdict"] for best in entry.best] == ["optimal"], entry.name


@pytest.mark.parametrize("name", ["e1", "e3", "hindsight-tiny"])
def test_instances_are_loaded_by_name(name) -> None:
    instance = olp.load_instance(name)
    kind = {"e1": olp.Decision, "e3": olp.PeriodProblem}.get(name)
    assert kind is None or isinstance(instance, kind)
    assert name in olp.instance_names(best_known(name).kind)


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(olp.InputError, match="Did you mean 'e1'"):
        olp.load_instance("e11")
    with pytest.raises(olp.InputError, match="unknown kind of instance 'trace'"):
        olp.instance_names("trace")
    with pytest.raises(olp.InputError, match="unknown program of e1 'lp'; known: imbalance"):
        best_known("e1").certificate("lp")


def test_a_result_of_another_instance_is_refused() -> None:
    """An index that mixes up two entries fails: E1's assignment is worth 1 in E2's place."""
    entry = best_known("e2")
    mixed = Entry(**{**vars(entry), "best": best_known("e1").best})
    with pytest.raises(DoesNotHoldError, match="assignment: "):
        verify(json.dumps(mixed.certificate("imbalance")))
