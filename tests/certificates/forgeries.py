"""Documents that say something wrong, with everything that follows from it said to match."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.exact.period.check_period import value_bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from olprouting.instances import PeriodProblem

Document = dict[str, Any]
Forgery = tuple[str, Document]

IMPOSSIBLE = ("infeasible", "infeasible_or_unbounded")
LIMITS = ("time_limit", "node_limit", "other_limit")


def plain(value: Fraction | int) -> int | float:
    """A number as results write it."""
    return int(value) if Fraction(value).denominator == 1 else float(value)


def gap_of(value: float | None, bound: float | None) -> float | None:
    """The relative gap as results write it."""
    if value is None or bound is None:
        return None
    return abs(value - bound) / max(abs(value), 1e-9) if value != bound else 0.0


def restated(saved: Document, **changes: Any) -> Document:
    """A decision's or period's certificate with a changed result, status and gaps to match."""
    document = copy.deepcopy(saved)
    result = document["result"]
    result.update(changes)
    value_name, solution = ("objective", "assignment")
    if "x" in result:
        value_name, solution = "value", "x"
    value, bound, stop = result[value_name], result["bound"], result["stop_reason"]
    empty = stop in LIMITS and result[solution] is None
    result["status"] = "limit_no_solution" if empty else stop
    if "absolute_gap" in result:
        result["absolute_gap"] = None if None in (value, bound) else float(abs(value - bound))
    result["relative_gap"] = gap_of(value, bound)
    return document


def decision_forgeries(
    saved: Document, assignments: list[tuple[Any, Fraction]]
) -> Iterator[Forgery]:
    """Forgeries of a proven optimum; `assignments` are all, with their values."""
    best = min(value for _, value in assignments)
    for stop in IMPOSSIBLE:
        yield f"status {stop}", restated(saved, stop_reason=stop)
        nothing = {"assignment": None, "objective": None, "bound": None}
        yield f"status {stop} alone", restated(saved, stop_reason=stop, **nothing)
    yield (
        "done without an assignment",
        restated(saved, stop_reason="optimal_within_gap", assignment=None, objective=None),
    )
    for shift in (-1, 1, Fraction(1, 2)):
        moved = plain(best + shift)
        yield f"value and bound {shift}", restated(saved, objective=moved, bound=moved)
        if shift > 0:
            yield (
                f"bound {shift} without a value",
                restated(
                    saved, stop_reason="time_limit", assignment=None, objective=None, bound=moved
                ),
            )
    worse = {value: pairs for pairs, value in assignments if value > best}
    for value, pairs in sorted(worse.items())[:4]:
        stated = {"assignment": [list(pair) for pair in pairs], "objective": plain(value)}
        for bound in {value, (value + best) / 2}:
            claim = restated(
                saved,
                **stated,
                bound=plain(bound),
                stop_reason="optimal" if bound == value else "time_limit",
            )
            yield f"value {value}, bound {bound}", claim
            for kind in ("zero", "level", "enumeration"):
                for proven in ("0", str(bound)):
                    yield (
                        f"value {value}, bound {bound}, {kind} proves {proven}",
                        claim | {"proof": {"kind": kind, "bound": proven}},
                    )
            order = [g for g, w in enumerate(saved["instance"]["workers"]) if w["free_slots"]]
            searched = {"kind": "search", "bound": str(bound), "order": order, "bounds": []}
            yield f"value {value}, bound {bound}, search", claim | {"proof": searched}
        yield from _with_choice(saved, stated, value, best)


def _with_choice(
    saved: Document, stated: Document, value: Fraction, best: Fraction
) -> Iterator[Forgery]:
    """Yield certificates whose choice is worse, and is taken for the optimum or gains by it."""
    mine, optimum = stated["assignment"], saved["result"]["assignment"]
    choice = {
        "policy": "x",
        "iteration": 1,
        "assignment": mine,
        "value_tokens": float(value),
        "gap_tokens": float(value - best),
    }
    swapped = restated(saved, **stated, bound=plain(value), stop_reason="optimal")
    yield "optimum replaced by the choice", swapped | {"choices": [choice | {"gap_tokens": 0.0}]}
    better = choice | {"assignment": optimum, "value_tokens": float(best)}
    for gap in (0.0, float(best - value), float(value - best)):
        yield f"choice better, gap {gap}", swapped | {"choices": [better | {"gap_tokens": gap}]}
    unproven = restated(saved, **stated, bound=0, stop_reason="time_limit")
    if best < value and best >= 0:
        yield (
            "choice better than the incumbent",
            unproven | {"choices": [better | {"gap_tokens": float(best)}]},
        )
    yield "gap 0 of a worse choice", saved | {"choices": [choice | {"gap_tokens": 0.0}]}
    gained = choice | {"value_tokens": float(best), "gap_tokens": 0.0}
    yield "choice worth less than it is", saved | {"choices": [gained]}


def period_forgeries(saved: Document, problem: PeriodProblem) -> Iterator[Forgery]:
    """Forgeries of a period that is solved to optimality."""
    result, reward_of = saved["result"], problem.rewards.tolist()
    value, bound = result["value"], result["bound"]
    for stop in IMPOSSIBLE:
        yield f"status {stop}", restated(saved, stop_reason=stop)
        nothing = {"x": None, "value": None, "bound": None, "priced": None}
        yield f"status {stop} alone", restated(saved, stop_reason=stop, **nothing)
    for shift in (-1.0, 1.0):
        if result["form"] != "integer" or shift < 0:
            yield f"bound {shift}", restated(saved, bound=bound + shift, stop_reason="time_limit")
        if value is not None:
            moved = {"value": value + shift, "bound": value + shift, "stop_reason": "optimal"}
            yield f"value and bound {shift}", restated(saved, **moved)
            unpriced = moved | {"priced": None}
            yield f"value and bound {shift}, no prices", restated(saved, **unpriced)
    for name, wrong in (("rows_in_full", 1), ("clipped", 1), ("period", 9)):
        yield name, restated(saved, **{name: wrong})
    admitted = [j for j, row in enumerate(result["x"] or []) if sum(row) > 0 and reward_of[j] > 0]
    for j in admitted:
        x = copy.deepcopy(result["x"])
        x[j] = [0.0] * len(x[j])
        less = value - reward_of[j] * sum(result["x"][j])
        stated = {"x": x, "value": less, "bound": less, "stop_reason": "optimal"}
        yield f"request {j} left", restated(saved, **stated)
        yield f"request {j} left, no prices", restated(saved, **stated, priced=None)
    priced = result["priced"]
    if priced is not None:
        for source in {"lp", "dual", "fixed-integers", "word"} - {priced["source"]}:
            if source != "fixed-integers" or result["form"] != "integer":
                yield f"source {source}", restated(saved, priced=priced | {"source": source})
        negative = [[p - 1 for p in row] for row in priced["batch"]]
        yield "prices - 1", restated(saved, priced=priced | {"batch": negative})
        for factor in (0.0, 0.5, 2.0) if result["form"] != "integer" else ():
            tables = [factor * np.array(priced[name]) for name in ("batch", "memory")]
            if value_bound(problem, *tables) > bound + 1e-6:  # others may be as good
                scaled = dict(zip(("batch", "memory"), (t.tolist() for t in tables), strict=True))
                yield f"prices x {factor}", restated(saved, priced=priced | scaled)


def malformed(document: Document) -> Iterator[tuple[str, str]]:
    """Texts that are no such document: a field too many, given twice, missing, of another type."""
    for path, node in _objects(document, ()):
        yield f"{path}: strange field", json.dumps(_put(document, path, node | {"strange": 1}))
        if node:
            first = next(iter(node))
            again = {f"{first}#": node[first]} | node
            yield f"{path}: {first} twice", _text_twice(document, path, again, first)
        for name in node if path[-1:] != ("versions",) else ():
            fewer = {key: value for key, value in node.items() if key != name}
            if name not in (
                "slot_prices",
                "choices",
                "clipped",
                "inclusive",
                "age_offset",
                "versions",
            ):
                yield f"{path}: no {name}", json.dumps(_put(document, path, fewer))
    for path, number in _numbers(document, ()):
        for wrong in (str(number), True, [number], {"value": number}):
            yield f"{path}: {wrong!r}", json.dumps(_put(document, path, wrong))
        if isinstance(number, float):
            yield f"{path}: NaN", json.dumps(_put(document, path, float("nan")))
            yield f"{path}: Infinity", json.dumps(_put(document, path, float("inf")))
        deep = json.dumps(_put(document, path, "DEEP")).replace('"DEEP"', "[" * 3000 + "]" * 3000)
        yield f"{path}: deep", deep


def _text_twice(document: Document, path: Any, node: Document, name: str) -> str:
    return json.dumps(_put(document, path, node)).replace(f'"{name}#"', f'"{name}"')


def _objects(node: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Document]]:
    if isinstance(node, dict):
        yield path, node
    for key, value in _first(node):
        yield from _objects(value, (*path, key))


def _numbers(node: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(node, int | float) and not isinstance(node, bool):
        yield path, node
    for key, value in _first(node):
        yield from _numbers(value, (*path, key))


def _first(node: Any) -> list[tuple[Any, Any]]:
    """The members of a node; of a list the last alone, for they are alike."""
    if isinstance(node, dict):
        return list(node.items())
    return [(len(node) - 1, node[-1])] if isinstance(node, list) and node else []


def _put(document: Document, path: tuple[Any, ...], value: Any) -> Document:
    if not path:
        return value  # type: ignore[no-any-return]
    changed = copy.deepcopy(document)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return changed
