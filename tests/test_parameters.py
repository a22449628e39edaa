"""Parameters: written once, and the same in Python, on the command line and in study files."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import numpy as np
import pytest
from typer.main import get_command

import olprouting.options as all_options
from olprouting.cli.app import app
from olprouting.engine import simulate
from olprouting.errors import InputError
from olprouting.forecast_report import evaluate_forecasts
from olprouting.gaps import measure_gaps
from olprouting.hindsight import hindsight
from olprouting.instances import SloWeights
from olprouting.options import (
    Arrivals,
    ClockOptions,
    EvaluationOptions,
    GapOptions,
    HindsightOptions,
    PeriodOptions,
    PriceReportOptions,
    ProjectionOptions,
    RunOptions,
)
from olprouting.parameters import Options, options, parameter
from olprouting.price_report import measure_prices, pareto

GROUPS = [
    group
    for name in all_options.__all__
    if isinstance(group := getattr(all_options, name), type) and issubclass(group, Options)
]


@options("options", "Example")
@dataclass(frozen=True)
class Example(Options):
    """An example."""

    count: int = parameter(3, "How many.", at_least=1, at_most=9)
    share: float = parameter(0.5, "Which part.", above=0, at_most=1)
    wait_s: float | None = parameter(None, "How long.", at_least=0, unit="seconds")
    colour: str = parameter("red", "Which colour.", choices=("red", "green"))
    size: float | str = parameter("auto", "How large.", above=0, words={"auto": "auto"})
    every: int | None = parameter(10, "Which ones.", at_least=1, words={"all": None})
    bold: bool = parameter(False, "Whether it is bold.")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("count", 0, "count = 0 must be a whole number >= 1 and <= 9"),
        ("count", 10, "count = 10 must be"),
        ("count", 2.0, "count = 2.0 must be a whole number"),
        ("count", True, "count = True must be a whole number"),
        ("count", np.int64(0), "count = 0 must be"),
        ("share", 0, r"share = 0 must be in \(0, 1\]"),
        ("share", float("nan"), "share = nan must be"),
        ("share", 10**400, "share = 1000"),
        ("wait_s", -1, "wait_s = -1 must be a finite number of seconds >= 0"),
        ("colour", "gren", "unknown colour 'gren'; known: green, red. Did you mean 'green'"),
        ("size", "large", "size = 'large' must be finite and > 0"),
        ("bold", 1, "bold = 1 must be True or False"),
    ],
)
def test_a_value_out_of_range_is_refused_with_name_value_and_range(field, value, message):
    """Catches a bound that is not checked, and a message that does not say what would do."""
    with pytest.raises(InputError, match=message):
        Example(**{field: value})


def test_values_in_range_are_taken_as_they_are():
    """Catches a bound that is taken for its neighbour, and numbers of NumPy that are refused."""
    made = Example(count=np.int64(9), share=1, wait_s=0, size=2.5, every=None)
    assert (made.count, made.share, made.wait_s, made.size, made.every) == (9, 1, 0, 2.5, None)


def test_what_a_study_file_says_has_one_form():
    """Catches 1 and 1.0 that make two cells, and a none that is a word."""
    share, wait_s = Example.parameters["share"], Example.parameters["wait_s"]
    assert type(share.typed(1)) is float
    assert wait_s.typed("none") is None
    with pytest.raises(InputError, match=r"count = 1\.5 must be of type int"):
        Example.parameters["count"].typed(1.5)


def test_words_on_the_command_line_stand_for_values():
    """Catches a word that reaches the library, and digits that Python refuses to read."""
    every, size = Example.parameters["every"], Example.parameters["size"]
    assert (every.read("all"), every.read("7"), size.read("auto"), size.read("2")) == (
        *(None, 7),
        *("auto", 2.0),
    )
    for text in ("0", "some", "9" * 5000):
        with pytest.raises(InputError, match=r"--every .*: expected a number >= 1, or all"):
            every.read(text)


@pytest.mark.parametrize("group", GROUPS)
def test_the_docstring_is_the_reference_of_the_options(group):
    """Catches a parameter that the reference lacks."""
    assert [name for name in group.parameters if f"\n    {name} : " not in group.__doc__] == []


@pytest.mark.parametrize("group", GROUPS)
def test_defaults_are_in_range_and_every_parameter_has_a_type_and_help(group):
    """Catches a default that its own check refuses, and a type that study files cannot write."""
    made = group()
    for name, one in group.parameters.items():
        assert one.help.endswith(".")
        assert one.types
        if one.parse is None:
            assert getattr(made, name) == one.default


@pytest.mark.parametrize(
    ("function", "groups"),
    [
        (simulate, (ProjectionOptions, ClockOptions, RunOptions)),
        (measure_gaps, (ProjectionOptions, GapOptions)),
        (measure_prices, (ClockOptions, PriceReportOptions)),
        (pareto, (ClockOptions,)),
        (hindsight, (HindsightOptions,)),
        (evaluate_forecasts, (EvaluationOptions,)),
    ],
)
def test_functions_have_the_defaults_of_their_options(function, groups):
    """Catches a default that is changed in one place only, and an argument that is renamed."""
    arguments = inspect.signature(function).parameters
    for group in groups:
        for name, one in group.parameters.items():
            assert arguments[name].default == one.default


def test_every_option_of_the_command_line_that_is_a_parameter_has_its_panel_and_help():
    """Catches an option that is declared by hand beside its parameter."""
    known = {one.option: one for group in GROUPS for one in group.parameters.values()}
    for name in ("gaps", "simulate", "prices"):
        for found in get_command(app).commands[name].params:
            one = known.get(found.opts[0])
            if one is not None:
                assert found.rich_help_panel in {
                    group.parameters[one.name].panel
                    for group in GROUPS
                    if one.name in group.parameters
                }


@pytest.mark.parametrize(
    ("text", "rate", "expected"),
    [
        ("backlog", None, Arrivals("backlog")),
        ("recorded", None, Arrivals("recorded")),
        ("poisson:2.5", None, Arrivals("poisson", (2.5,))),
        ("poisson-by-period", 0.4, Arrivals("poisson-by-period", (0.4,))),
        ("batches:3:0.5", None, Arrivals("batches", (3.0, 0.5))),
    ],
)
def test_arrivals_have_one_syntax(text, rate, expected):
    """Catches numbers that are lost or swapped."""
    assert Arrivals.of(text, rate) == expected


@pytest.mark.parametrize(
    ("text", "rate", "message"),
    [
        ("poisson", None, "'poisson' needs rate, or poisson:RATE"),
        ("poisson:2", 2.0, "takes no rate of its own"),
        ("backlog", 2.0, "takes no rate"),
        ("poison:1", None, "expected backlog, recorded, poisson:RATE"),
        ("poisson:0", None, "expected"),
        ("poisson:nan", None, "expected"),
        ("batches:3", None, "expected"),
        ("batches:2.5:1", None, "expected"),
    ],
)
def test_arrivals_that_are_not_understood_are_refused(text, rate, message):
    """Catches half a batch, a rate of nothing, and two rates."""
    with pytest.raises(InputError, match=message):
        Arrivals.of(text, rate)


def test_a_text_that_stands_for_a_value_is_read_in_python_too():
    """Catches a named set of weights that is found to be none only in the middle of a run."""
    assert PeriodOptions(weights="latency-only").weights == SloWeights.preset("latency-only")
    with pytest.raises(InputError, match="Did you mean 'latency-only'"):
        PeriodOptions(weights="latencyonly")
