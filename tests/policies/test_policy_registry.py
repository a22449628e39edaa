"""Policies by name, policies of the user's own, and what is said when either is wrong."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from olprouting.engine import simulate
from olprouting.errors import InputError, PolicyError
from olprouting.instances import Cluster, Trace
from olprouting.policies import (
    FunctionPolicy,
    PolicyOptions,
    make_policy,
    policy_names,
    register_policy,
)

TRACE = Trace([5, 3, 8, 2, 9], [2, 4, 1, 3, 2])
CLUSTER = Cluster([2, 1])


def jsq_in_python(view, rng):
    """JSQ with ties by index, as a user would write it."""
    active, free = view.active_requests, view.free_slots
    for i in range(view.admissions):
        g = min((g for g in range(len(free)) if free[g]), key=lambda g: active[g])
        active[g] += 1
        free[g] -= 1
        yield i, g


def test_a_registered_function_runs_in_the_same_engine() -> None:
    """Catches a second engine, or one with other semantics, for plain Python policies."""
    register_policy("my-jsq")(jsq_in_python)
    assert "my-jsq" in policy_names()
    ours = simulate(TRACE, CLUSTER, make_policy("jsq", 2, PolicyOptions(ties="index")), backlog=5)
    theirs = simulate(TRACE, CLUSTER, make_policy("my-jsq", 2), backlog=5)
    assert theirs.policy == "my-jsq"
    assert theirs.metrics == ours.metrics
    np.testing.assert_array_equal(theirs.finish_s, ours.finish_s)


def test_a_function_in_a_file_runs(tmp_path) -> None:
    """Catches a FILE.py:function that is not found, or a path with a space or colon-like part."""
    folder = tmp_path / "my policies"
    folder.mkdir()
    path = folder / "mine.py"
    path.write_text(
        "def last(view, rng):\n"
        "    free = [g for g, c in enumerate(view.free_slots) for _ in range(c)]\n"
        "    return enumerate(free[::-1][: view.admissions])\n"
    )
    policy = make_policy(f"{path}:last", 2)
    result = simulate(TRACE, CLUSTER, policy, backlog=5)
    assert result.worker[0] == 1
    assert result.metrics.finished == 5


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("{folder}/missing.py:f", "cannot load it: .*No such file"),
        ("{folder}/broken.py:f", "cannot load it: .*invalid syntax"),
        ("{folder}/empty.py:f", "empty.py has no function 'f'"),
        ("{folder}/near.py:rout", "near.py has no function 'rout'; did you mean 'route'"),
        ("{folder}/exits.py:f", r"exits.py, line 2: SystemExit: 3$"),
        ("{folder}/raises.py:f", r"raises.py, line 5: ZeroDivisionError: division by zero$"),
        ("{folder}/mute.py:f", r"mute.py, line 4: E: \(no text: SystemExit\)$"),
        ("{folder}/base.py:f", r"base.py, line 1: BaseException: no$"),
        ("{folder}/lacks.py:f", r"lacks.py, line 1: ModuleNotFoundError: .*'no_such_package'$"),
        ("{folder}/outside.py:f", r"outside.py, line 2: JSONDecodeError: "),
        ("{folder}/broken.py:f", r"broken.py, line 1: invalid syntax$"),
        ("{folder}/number.py:f", "f is not a function"),
        ("no_such_module:f", "cannot load it: .*No module named 'no_such_module'"),
        (":f", "cannot load it: "),
    ],
)
def test_a_place_without_a_function_is_refused(tmp_path, place, message) -> None:
    """Catches Python's own error, an exit of the file's own, and a message without a place."""
    (tmp_path / "near.py").write_text("def route(view, rng): ...\n")
    (tmp_path / "exits.py").write_text("import sys\nsys.exit(3)\n")
    (tmp_path / "raises.py").write_text("def g(n):\n    return n\n\n\ng(1 / 0)\n")
    (tmp_path / "mute.py").write_text(
        "class E(Exception):\n    def __str__(self):\n        raise SystemExit\nraise E\n"
    )
    (tmp_path / "base.py").write_text("raise BaseException('no')\n")
    (tmp_path / "lacks.py").write_text("import no_such_package\n")
    (tmp_path / "outside.py").write_text("import json\njson.loads('{')\n")
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "number.py").write_text("f = 3\n")
    with pytest.raises(InputError, match=message):
        make_policy(place.format(folder=tmp_path), 2)


def test_a_file_that_failed_to_load_is_loaded_afresh_when_mended(tmp_path) -> None:
    """Catches a half-loaded module that stays in `sys.modules` under the file's name."""
    path = tmp_path / "half_loaded_policy.py"
    path.write_text("def f(view, rng): ...\n1 / 0\n")
    with pytest.raises(InputError, match="line 2"):
        make_policy(f"{path}:f", 2)
    assert "half_loaded_policy" not in sys.modules


def test_an_unknown_name_lists_the_known_ones_and_the_nearest() -> None:
    """Catches a typo that falls back to some policy in silence."""
    with pytest.raises(InputError, match=r"unknown policy 'jqs'; known: .*br0, brh, .*jsq"):
        make_policy("jqs", 2)
    with pytest.raises(InputError, match=r"Did you mean 'least-load'\?"):
        make_policy("leastload", 2)


@pytest.mark.parametrize("name", ["jsq", "br0", "brh", "exact"])
def test_a_built_in_name_cannot_be_taken(name) -> None:
    """Catches reports in which JSQ is not JSQ."""
    with pytest.raises(InputError, match=f"policy name '{name}' is built in"):
        register_policy(name)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (None, "must return .waiting position, worker. pairs of integers"),
        (7, "must return .waiting position, worker. pairs of integers"),
        ([0, 1], "pairs of integers"),
        ([(0, 1, 1), (1, 1, 1)], "pairs of integers"),
        ([(0, 1), (1,)], "pairs of integers"),
        ([("0", "1"), ("1", "0")], "pairs of integers"),
        ([(0.5, 0), (1, 1)], "pairs of integers"),
        ([(0, float("nan")), (1, 1)], "pairs of integers"),
        ([], "iteration 1: it must admit exactly 3 requests"),
        ([(0, 0)], "iteration 1: it must admit exactly 3 requests"),
        ([(0, 0), (1, 0), (2, 1), (3, 1)], "it must admit exactly 3 requests"),
        ([(0, 0), (1, 0), (1, 1)], "it chose a request twice"),
        ([(0, 0), (1, 0), (5, 1)], r"waiting positions must lie in 0\.\.4"),
        ([(0, 0), (1, 0), (-1, 1)], r"waiting positions must lie in 0\.\.4"),
        ([(0, 0), (1, 0), (2, 2)], r"workers must lie in 0\.\.1"),
        ([(0, 0), (1, 0), (2, -2)], r"workers must lie in 0\.\.1"),
        ([(0, 0), (1, 0), (2, -1)], "-1 turns a request away, which only policies .* not maximal"),
        ([(0, 1), (1, 1), (2, 0)], "more requests than it has free slots"),
    ],
)
def test_bad_pairs_are_refused_by_name(pairs, message) -> None:
    """Regression: halves and text were converted in silence, None raised a TypeError."""
    policy = FunctionPolicy("mine", lambda view, rng: pairs)
    with pytest.raises(InputError, match=f"policy 'mine'.*{message}"):
        simulate(TRACE, CLUSTER, policy, backlog=5)


def test_pairs_may_come_in_any_order_and_kind() -> None:
    """Tuples, lists, arrays and generators of Python or NumPy integers are all pairs."""
    expected = simulate(TRACE, CLUSTER, FunctionPolicy("a", jsq_in_python), backlog=5).finish_s
    kinds = {
        "reversed": lambda view, rng: list(jsq_in_python(view, rng))[::-1],
        "lists": lambda view, rng: [list(pair) for pair in jsq_in_python(view, rng)],
        "array": lambda view, rng: np.array(list(jsq_in_python(view, rng)), np.int32),
        "numpy": lambda view, rng: [tuple(map(np.int64, p)) for p in jsq_in_python(view, rng)],
    }
    for name, function in kinds.items():
        result = simulate(TRACE, CLUSTER, FunctionPolicy(name, function), backlog=5)
        np.testing.assert_array_equal(result.finish_s, expected, err_msg=name)


def test_an_error_inside_a_policy_is_named_and_is_the_policies_own() -> None:
    """Catches an engine that dresses up a user's bug as its own, or hides where it is."""

    def broken(view, rng):
        yield 0, 0
        raise TypeError("my own mistake")

    with pytest.raises(PolicyError, match=r"'broken' raised .*: my own mistake") as caught:
        simulate(TRACE, CLUSTER, FunctionPolicy("broken", broken), backlog=5)
    assert isinstance(caught.value.__cause__, TypeError)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("ties", "lowest", "unknown ties 'lowest'; known: index, random"),
        ("br_growth", "none", "unknown br_growth 'none'; known: frozen, growing"),
        ("growth", "none", "unknown growth 'none'; known: frozen, growing"),
        ("subset_search", "all", "unknown subset_search 'all'; known: auto, enumerate, reachable"),
        ("horizon", -1, "horizon = -1 must be a whole number >= 0"),
        ("beta", 0.0, "beta = 0.0 must be finite and > 0"),
        ("beta", float("nan"), "beta = nan must be finite and > 0"),
        ("beta", float("inf"), "beta = inf must be finite and > 0"),
        ("gamma", 0.0, r"gamma = 0.0 must be in \(0, 1\]"),
        ("gamma", 1.01, r"gamma = 1.01 must be in \(0, 1\]"),
        ("gamma", float("nan"), r"gamma = nan must be in \(0, 1\]"),
        ("horizon", 2.5, "horizon = 2.5 must be a whole number >= 0"),
        ("r_max", 0, "r_max = 0 must be a whole number >= 1"),
        ("r_max", 4.0, "r_max = 4.0 must be a whole number >= 1"),
        ("s_greedy", -1, "s_greedy = -1 must be a whole number >= 0"),
    ],
)
def test_options_out_of_range_are_refused(option, value, message) -> None:
    """Each would run and give a policy that is not the one that was named."""
    with pytest.raises(InputError, match=message):
        PolicyOptions(**{option: value})


def test_enumeration_of_a_wide_window_is_refused() -> None:
    """2^21 subsets a decision: the message names the other search."""
    with pytest.raises(InputError, match="use subset_search='reachable'"):
        PolicyOptions(r_max=21, subset_search="enumerate")
    assert PolicyOptions(r_max=21).subset_search == "auto"
