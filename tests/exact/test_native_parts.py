"""Parts of the native search by themselves."""

from __future__ import annotations

import dataclasses
from itertools import product

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_cases import decisions, least
from numba.core import event
from scipy.optimize import linprog

from olprouting.exact import SolveOptions, assignments, recheck
from olprouting.exact.formulations import FORMULATIONS
from olprouting.exact.highs import new_highs, pass_model
from olprouting.exact.matrix import compile_model
from olprouting.exact.native import backend
from olprouting.exact.native.certify import attains_relaxation
from olprouting.exact.native.fill_kernels import FOUND, IMPOSSIBLE, fill_completely
from olprouting.exact.native.prepare import placed_classes, prepare
from olprouting.exact.native.regret_kernels import set_budget
from olprouting.exact.native.relaxation import FEW_WORKERS, new_relaxation
from olprouting.exact.native.relaxation_kernels import relaxed
from olprouting.exact.native.search import Search
from olprouting.instances import Decision
from olprouting.library import instance_names, load_instance

AZURE_LIKE = [
    name
    for name in instance_names("decision")
    if name.startswith(("azure-g8-p32", "azure-g8-p200", "azure-g16-p400"))
]


SOME = st.sampled_from([0.5, 5.0, 50.0])


def rooted(decision: Decision) -> Search | None:
    """Return a search that has its root bound, or None if slots stay free."""
    if decision.admissions == 0 or decision.free_slots.sum() > decision.waiting:
        return None
    search = Search(prepare(decision), SolveOptions(), None)
    search.greedy()
    search.root()
    return search


def linear_relaxation(decision: Decision) -> float:
    """Return the value of the size-class program with fractions allowed, by HiGHS."""
    matrix = compile_model(FORMULATIONS["size-class"](decision).pyomo_model())
    solver = new_highs(verbose=False)
    pass_model(solver, dataclasses.replace(matrix, integer=np.zeros_like(matrix.integer)))
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)


@pytest.mark.parametrize("name", AZURE_LIKE)
def test_the_root_bound_is_that_of_the_linear_relaxation(name: str) -> None:
    # catches charges that stop short of their best: the search would still be right, but slow
    decision = load_instance(name)
    assert isinstance(decision, Decision)
    search = Search(prepare(decision), SolveOptions(node_limit=1), None)
    search.run()
    linear = linear_relaxation(decision)
    assert float(search.bound) >= linear - 1e-6 * max(1.0, abs(linear))


@settings(max_examples=300, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=6),
    room=st.lists(st.integers(0, 25), min_size=1, max_size=3),
    slots=st.lists(st.integers(1, 6), min_size=3, max_size=3),
)
def test_workers_are_filled_completely_if_they_can_be(
    sizes: list[int], room: list[int], slots: list[int]
) -> None:
    # catches a filling left out as no better than another, and a request that nobody got
    amounts = np.sort(np.array(sizes, float))[::-1].copy()
    limits, seats = np.array(room, float), np.array(slots[: len(room)])

    def fits(owner: tuple[int, ...] | np.ndarray) -> bool:
        totals = np.bincount(owner, amounts, len(room))
        counts = np.bincount(owner, minlength=len(room))
        return bool((totals <= limits).all() and (counts <= seats).all())

    owner = np.zeros(len(sizes), np.int64)
    end = fill_completely(amounts, limits, seats, 10**6, owner)
    possible = any(fits(choice) for choice in product(range(len(room)), repeat=len(sizes)))
    assert end == (FOUND if possible else IMPOSSIBLE)
    assert end == IMPOSSIBLE or fits(owner)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 9999),
    workers=st.sampled_from([2, 5, FEW_WORKERS, FEW_WORKERS + 1, 14]),
    horizon=st.integers(1, 12),
    spread=st.sampled_from([2, 30]),
)
def test_the_relaxation_is_settled_at_its_least_value(
    seed: int, workers: int, horizon: int, spread: int
) -> None:
    # catches a flow that misses the steepest set, or a set that is said to be steep and is not;
    # the linear program over the peaks is solved by SciPy
    rng = np.random.default_rng(seed)
    base = rng.integers(-spread, spread, size=(workers, horizon + 1)).astype(float)
    floor = rng.integers(-spread, spread, size=horizon + 1).astype(float)
    weights = workers * 0.86 ** np.arange(horizon + 1)
    prices = rng.choice([0.0, 0.3, 1.0], size=workers) * weights.sum() / workers
    low = rng.integers(0, spread, size=workers).astype(float)
    high = low + rng.integers(0, spread, size=workers)
    relaxation = new_relaxation(base, floor, weights)
    relaxation.prices[:], relaxation.low[:], relaxation.high[:] = prices, low, high
    value = relaxed(relaxation, 0)
    point = relaxation.point

    peaks = np.maximum((base + point[:, None]).max(axis=0), floor)
    assert ((low <= point) & (point <= high)).all()
    assert value == pytest.approx(weights @ peaks - prices @ point, abs=1e-9)
    rows = [(g, h) for g in range(workers) for h in range(horizon + 1)]
    matrix = np.zeros((len(rows), horizon + 1 + workers))
    for row, (g, h) in enumerate(rows):
        matrix[row, h], matrix[row, horizon + 1 + g] = -1, 1
    linear = linprog(
        np.concatenate([weights, -prices]),
        A_ub=matrix,
        b_ub=[-base[g, h] for g, h in rows],
        bounds=[(f, None) for f in floor] + list(zip(low, high, strict=True)),
    )
    assert value == pytest.approx(linear.fun, abs=1e-6)


@settings(max_examples=300, deadline=None)
@given(decision=decisions(), charges=st.lists(st.floats(-1, 1), min_size=4, max_size=4), above=SOME)
def test_no_solution_below_the_cut_is_beyond_the_budget(
    decision: Decision, charges: list[float], above: float
) -> None:
    # catches a regret that is too large, whatever the charges: optima would be lost
    search = rooted(decision)
    if search is None:
        return
    p, s = search.prepared.problem, search.state
    s.charge[0] = np.array(charges[: len(p.slots)]) * p.price
    values = {
        pairs: float(recheck(decision, pairs) * search.prepared.unit - search.prepared.offset)
        for pairs in assignments(decision)
    }
    cut = min(values.values()) + above
    s.counts[0] = p.slots[0]
    set_budget(p, s, 0, cut)
    for pairs, value in values.items():
        held, owner = placed_classes(search.prepared, pairs)
        if value < cut:
            assert s.regret[0][held[owner == 0]].sum() < s.budget[0] + 1e-9


@settings(max_examples=300, deadline=None)
@given(decision=decisions())
def test_slackness_is_shown_for_optima_only(decision: Decision) -> None:
    # catches a condition left out: an exchange, a set of workers, a worker that sets no peak
    search = rooted(decision)
    if search is None:
        return
    best = least(decision)
    for candidate in assignments(decision):
        placed = placed_classes(search.prepared, candidate)
        if attains_relaxation(search.prepared, search.state, *placed):
            assert recheck(decision, candidate) == best


@pytest.mark.parametrize("name", ["azure-g8-p200-c3-h80-y0.86", "azure-g8-p200-c16-h80-y0.86"])
def test_slackness_spares_the_search_through_ties(name: str) -> None:
    # catches conditions that are too strict: the search through ties is long, or left off
    decision = load_instance(name)
    assert isinstance(decision, Decision)
    search = Search(prepare(decision), SolveOptions(), None)
    search.run()
    assert search.bound == search.value
    assert search.place["nodes"] < 10


@pytest.mark.parametrize(
    "name", ["burst-g4-w16", "azure-g8-p200-c32-h80-y0.86", "azure-g16-p64-c32-h80-y0.5-frozen"]
)
def test_nothing_is_compiled_within_the_limit(name: str) -> None:
    # catches a kernel, or a type it is called with, that the first solve would compile on the way
    decision = load_instance(name)
    assert isinstance(decision, Decision)
    backend.compile_bounds()
    backend.compile_passes()
    with event.install_recorder("numba:compile") as recorder:
        Search(prepare(decision), SolveOptions(time_limit_s=0.5), None).run()
    assert [entry.data["dispatcher"].__name__ for _, entry in recorder.buffer] == []
