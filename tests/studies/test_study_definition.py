"""Study files: what they spread out into, and what is refused with file, line and remedy."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from study_files import SMALL, write

from olprouting.errors import InputError
from olprouting.instances import WEIGHT_SETS
from olprouting.options import BidPriceOptions, KvOptions, PeriodOptions, PolicyOptions
from olprouting.studies import Kind, parameters, read_study
from olprouting.studies.grid import values_of
from olprouting.studies.parameters import policy_options

BETA = PolicyOptions.parameters["beta"]
STEPS = BidPriceOptions.parameters["steps"]


def test_cells_are_all_combinations_and_seeds_are_shared_by_policies(small):
    cells = read_study(small).cells
    combinations = {(c.policy.name, c.point["r_max"], c.seed) for c in cells}
    assert combinations == {(p, r, s) for p in ("jsq", "br0") for r in (2, 4, 8) for s in (3, 4)}
    assert len({c.id for c in cells}) == len(cells) == 12


def test_every_option_of_the_library_is_a_parameter():
    """A new option that studies could not reach would show here; the list is derived."""
    known = parameters(Kind.SIMULATE)
    for options in (PolicyOptions, PeriodOptions, BidPriceOptions):
        plain = {n for n, f in options.__dataclass_fields__.items() if "Opt" not in str(f.type)}
        assert plain <= set(known)
    assert {f"kv.{name}" for name in KvOptions.__dataclass_fields__} <= set(known)
    assert {"workers", "slots", "kv_tokens", "rate", "noise", "forecast", "refresh"} <= set(known)
    assert {"weights", "weights.alpha", "weights.zeta2", "clock", "signal_delay"} <= set(known)
    assert {"decisions", "judged_by"} <= set(parameters(Kind.GAPS)) - set(known)
    assert "sample" in parameters(Kind.PRICES)
    assert "signal_delay" not in parameters(Kind.GAPS)  # its measurement has no such argument


def test_a_single_weight_changes_the_named_set():
    options = policy_options({"weights": "latency-only", "weights.zeta2": 7.0, "t2": 20.0})
    assert options.period.weights == WEIGHT_SETS["latency-only"].replace(zeta2=7.0)
    assert options.period.t2 == 20.0


def test_a_policy_with_a_value_of_its_own_is_out_of_the_grid_for_it(small):
    text = SMALL.replace('"jsq"', '{ name = "two", policy = "br0", r_max = 3 }')
    cells = read_study(write(small, text)).cells
    own = [c for c in cells if c.policy.name == "two"]
    assert len(own) == 2  # one per seed, not one per grid point
    assert {c.settings["r_max"] for c in own} == {3}
    assert {c.point["r_max"] for c in own} == {None}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"from": 0.6, "to": 1.0, "by": 0.1}, (0.6, 0.7, 0.8, 0.9, 1.0)),  # no 0.7999999
        ({"from": 0, "to": 1, "steps": 5}, (0.0, 0.25, 0.5, 0.75, 1.0)),
        ({"from": 1, "to": 64, "steps": 4, "scale": "log"}, (1.0, 4.0, 16.0, 64.0)),
        ([1, 2.5], (1.0, 2.5)),
    ],
)
def test_ranges_have_the_values_one_would_write(given, expected):
    assert values_of(BETA, given) == expected


@given(st.integers(-50, 50), st.integers(1, 30), st.integers(1, 7))
def test_a_range_by_steps_of_whole_numbers_is_pythons_range(low, length, by):
    found = values_of(STEPS, {"from": low, "to": low + length, "by": by})
    assert found == tuple(range(low, low + length + 1, by))


def test_spawned_seeds_depend_on_the_root_seed_only(small):
    text = SMALL.replace("seeds = [3, 4]", "seeds = 3")
    first = read_study(write(small, text)).seeds
    assert len(set(first)) == 3
    many = read_study(write(small, SMALL.replace("seeds = [3, 4]", "seeds = 50"))).seeds
    assert max(many) < 2**31  # solvers take no larger ones
    assert many[:3] == first  # more seeds are added at the end
    write(small, text)
    assert read_study(write(small, text.replace("[2, 4, 8]", "[2]"))).seeds == first
    assert read_study(write(small, "root_seed = 1\n" + text)).seeds != first


def test_reduced_replaces_values_table_by_table(small):
    text = SMALL + "[reduced]\nseeds = [9]\ntrace.requests = 10\ngrid.r_max = [2]\n"
    full, reduced = (read_study(write(small, text), reduced=flag) for flag in (False, True))
    assert (full.name, reduced.name) == ("small", "small-reduced")
    assert (len(full.cells), len(reduced.cells)) == (12, 2)
    assert reduced.settings == full.settings | {"requests": 10}


def test_the_id_of_a_cell_is_of_its_content_and_not_of_where_its_files_lie(tmp_path):
    ids = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "own.csv", "prompt_tokens,decode_tokens\n5,3\n7,2\n")
        text = SMALL.replace("azure-2023-conv-like", "own.csv").replace("= 40", "= 2")
        ids.append([c.id for c in read_study(write(tmp_path / folder / "s.toml", text)).cells])
    assert ids[0] == ids[1]
    write(tmp_path / "b" / "own.csv", "prompt_tokens,decode_tokens\n5,3\n7,20\n")
    changed = [c.id for c in read_study(tmp_path / "b" / "s.toml").cells]
    assert not set(changed) & set(ids[0])


def test_a_trained_forecast_counts_by_its_content(small):
    text = SMALL + '[options]\nforecast = "learned:model.json"\n'
    ids = []
    for content in ("one", "two", "one"):
        model = write(small.with_name("model.json"), content)
        cells = read_study(write(small, text)).cells
        assert model in cells[0].depends_on()
        assert cells[0].foresight.name == f"learned:{model}"
        ids.append(cells[0].id)
    assert ids[0] == ids[2] != ids[1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("r_max = [2, 4, 8]", "r_mx = [2]", r"line 15: .*grid 'r_mx'.*Did you mean 'r_max'\?"),
        ("requests = 40", "request = 40", r"line 8: .*\[trace\].*'request'.*mean 'requests'\?"),
        ("kind =", "kin =", r"line 2: .*'kin'.*Did you mean 'kind'\?"),
        ('"simulate"', '"simulat"', r"line 2: .*'simulat'.*Did you mean 'simulate'\?"),
        ("[2, 4, 8]", "[]", r"line 15: r_max has no values: the grid is empty"),
        ("[2, 4, 8]", "{ from = 4, to = 2, by = 1 }", r"line 15: .*the grid is empty"),
        ("[2, 4, 8]", "{ from = 4, until = 2 }", r"line 15: .*'until'"),
        ("[2, 4, 8]", "{ from = 1, to = 3 }", r"either by or steps"),
        ("[2, 4, 8]", "[2, 2]", r"line 15: r_max has the value 2 twice.*duplicates"),
        ("[2, 4, 8]", "[2.5]", r"line 15: r_max = 2.5 must be of type int"),
        ("[2, 4, 8]", "[0]", r"line 15: r_max = 0 must be a whole number >= 1"),
        ("[3, 4]", "[3, 3]", r"line 4: seeds = \[3, 3\] has a seed twice"),
        ("[3, 4]", "0", r"line 4: seeds = 0 must be"),
        ('["jsq", "br0"]', '["jsq", "br9"]', r"unknown policy 'br9'.*Did you mean 'brh'\?"),
        ('["jsq", "br0"]', '["jsq", "jsq"]', r"line 3: policies: 'jsq' comes twice"),
        ('["jsq", "br0"]', "[]", r"line 3: policies = \[\] must be a list of at least one"),
        (
            '["jsq", "br0"]',
            '["jsq", { policy = "jsq", name = "again" }]',
            r"duplicate cells: jsq, r_max=2, seed=3 and again",
        ),
        ("slots = 4", "slots = 4\nr_max = 3", r"r_max in \[cluster\] belongs in \[options\]"),
        ("[grid]", "[options]\nr_max = 3\n[grid]", r"r_max stands in \[grid\] and in \[options\]"),
        ('"azure-2023-conv-like"', '"azure"', r"unknown trace 'azure'"),
        ("requests = 40", 'requests = 40\narrivals = "poisson"', r"'poisson' needs rate"),
        ("[grid]", "[outputs]\nmetric = []\n[grid]", r"'metric'.*Did you mean 'metrics'\?"),
        ("[grid]", '[options]\nforecast = "oracel"\n[grid]', r"'oracel'.*oracle"),
        ("seeds = [3, 4]", "seeds = [3,", r"not TOML: .*line"),
    ],
)
def test_mistakes_are_one_line_that_names_file_line_and_remedy(small, old, new, message):
    assert old in SMALL
    with pytest.raises(InputError) as refusal:
        read_study(write(small, SMALL.replace(old, new)))
    text = str(refusal.value)
    assert text.startswith(str(small))
    assert "\n" not in text
    assert re.search(message, text), text


def test_a_mistake_in_the_reduced_form_shows_in_the_full_one(small):
    with pytest.raises(InputError, match=r"line 17: .*'r_mx'"):
        read_study(write(small, SMALL + "[reduced]\ngrid.r_mx = [1]\n"))


def test_a_missing_file_and_a_missing_reduced_form_are_named(small, tmp_path):
    with pytest.raises(InputError, match=r"none\.toml: cannot be read"):
        read_study(tmp_path / "none.toml")
    with pytest.raises(InputError, match=r"--reduced needs a table \[reduced\]"):
        read_study(small, reduced=True)
