"""The optimum of a tiny decision or period by trying everything, and who may be accepted at all.

Shares nothing with olprouting: it reads the text itself, with fractions for numbers.
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any, NoReturn

MOST = 20_000
"""Assignments that are tried; larger problems have no answer here."""


class InvalidError(Exception):
    """The text must not be accepted."""


class TooLargeError(Exception):
    """The text may be right, but this module does not know its optimum."""


def read(data: bytes) -> dict[str, Any]:
    """Return a document with fractions for doubles; nothing twice, nothing infinite."""
    try:
        text = data.decode("utf-8-sig")
        document = json.loads(
            text, object_pairs_hook=_unique, parse_float=_double, parse_constant=_refuse
        )
    except (ValueError, RecursionError) as error:
        raise InvalidError(str(error)[:80]) from None
    _require(isinstance(document, dict), "an object")
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _require(len(dict(pairs)) == len(pairs), "no name twice")
    return dict(pairs)


def _double(text: str) -> Fraction:
    _require(abs(float(text)) <= 1.8e308, "finite")
    return Fraction(float(text))


def _refuse(text: str) -> NoReturn:
    raise InvalidError(text)


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise InvalidError(what)


def _weight(value: Any) -> int | Fraction:
    _require(type(value) in (int, Fraction), "a number")
    return value


def _number(value: Any) -> int | Fraction:
    _require(type(value) in (int, Fraction), "a number")
    _require(type(value) is int or abs(value) < 2**53, "a double that is exact")
    return value


def _count(value: Any, least: int) -> int:
    _require(type(value) in (int, Fraction) and value == int(value) >= least, "whole")
    return int(value)


def _only(document: Any, required: set[str], optional: frozenset[str] = frozenset()) -> None:
    _require(isinstance(document, dict), "an object")
    _require(required <= document.keys() <= required | optional, "fields")


def decision(data: bytes) -> Fraction:
    """Return the least imbalance of a decision."""
    document = read(data)
    _only(document, {"schema", "horizon", "gamma", "growth", "workers", "waiting_prompt_tokens"})
    gamma = document["gamma"]
    _require(type(gamma) in (int, Fraction, str), "gamma")
    # a gamma written 0.86 is 43/50, so that its text counts and not its double
    gamma = Fraction(str(float(gamma))) if isinstance(gamma, Fraction) else Fraction(gamma)
    _require(0 < gamma <= 1, "gamma in (0, 1]")
    _require(document["growth"] in ("growing", "frozen"), "growth")
    grows = document["growth"] == "growing"
    _require(type(document["horizon"]) is int, "horizon")
    window = range(document["horizon"] + 1) if document["horizon"] >= 0 else _refuse("horizon")
    _require(isinstance(document["workers"], list) and bool(document["workers"]), "workers")
    loads, free = [], []
    for worker in document["workers"]:
        _only(worker, {"projected_load_tokens", "free_slots"})
        row = worker["projected_load_tokens"]
        _require(isinstance(row, list) and len(row) == len(window), "one load per offset")
        loads.append([_number(load) for load in row])
        _require(all(load >= 0 for load in loads[-1]), "loads >= 0")
        free.append(_count(worker["free_slots"], 0))
    _require(isinstance(document["waiting_prompt_tokens"], list), "a list")
    sizes = [_number(size) for size in document["waiting_prompt_tokens"]]
    _require(all(size > 0 for size in sizes), "sizes > 0")
    workers = range(len(loads))
    if (len(workers) + 1) ** len(sizes) * len(window) > MOST:
        raise TooLargeError
    admissions = min(len(sizes), sum(free))
    best = None
    for choice in itertools.product((None, *workers), repeat=len(sizes)):
        if sum(g is not None for g in choice) != admissions:
            continue
        if any(choice.count(g) > free[g] for g in workers):
            continue
        value = Fraction(0)
        for h in window:
            load = [row[h] for row in loads]
            for size, g in zip(sizes, choice, strict=True):
                if g is not None:
                    load[g] += size + (h if grows else 0)
            value += gamma**h * (len(load) * max(load) - sum(load))
        best = value if best is None else min(best, value)
    assert best is not None
    return best


def period(data: bytes) -> Fraction:
    """Return the largest reward of starting each request whole, on one worker or none."""
    document = read(data)
    required = {"schema", "period", "periods", "batching", "weights", "t1", "t2"}
    _only(
        document,
        required | {"workers", "requests"},
        frozenset({"inclusive", "age_offset", "clipped"}),
    )
    first, last = document["period"], document["periods"]
    _require(type(first) is int and type(last) is int and 1 <= first <= last, "periods")
    _require(document["batching"] in ("decode", "mixed"), "batching")
    mixed = document["batching"] == "mixed"
    _only(document["weights"], {"alpha", "beta", "gamma", "sigma", "zeta1", "zeta2"})
    weights = {name: _weight(value) for name, value in document["weights"].items()}
    _require(all(value >= 0 for value in weights.values()), "weights >= 0")
    t1, t2 = _number(document["t1"]), _number(document["t2"])
    _require(t1 >= 1 and t2 >= 1, "thresholds >= 1")
    inclusive = document.get("inclusive", False)
    _require(type(inclusive) is bool, "inclusive")
    age_offset = document.get("age_offset", 0 if mixed else 1)
    _require(type(age_offset) is int and age_offset >= 0, "age_offset")
    _count(document.get("clipped", 0), 0)
    left = last - first + 1
    workers = document["workers"]
    _require(isinstance(workers, list) and bool(workers), "workers")
    room = []
    for worker in workers:
        _only(worker, {"slots", "kv_tokens"})
        for name in worker:
            row = worker[name]
            _require(isinstance(row, list) and len(row) == left, "one per period")
            worker[name] = [max(0, _count(value, -(2**53))) for value in row]
        room.append((worker["slots"], worker["kv_tokens"]))
    _require(isinstance(document["requests"], list), "requests")
    requests = []
    for request in document["requests"]:
        _only(request, {"prompt_tokens", "decode_tokens", "arrival_period"})
        s, o = _count(request["prompt_tokens"], 0), _count(request["decode_tokens"], 1)
        t = _count(request["arrival_period"], -(2**53))
        _require(t <= first, "arrived")
        k = first + mixed
        reward = weights["alpha"] * min(o, last - k + 1) + weights["beta"] * max(
            last - k - o + 1, 0
        )
        reward += weights["gamma"] * (last - k + 1) + weights["sigma"]
        late, slow = k + o - t, k - t
        reward += weights["zeta1"] * (late <= t1 if inclusive else late < t1)
        reward += weights["zeta2"] * (slow <= t2 if inclusive else slow < t2)
        active = min(o + mixed, left)
        requests.append((reward, [s + age + age_offset for age in range(active)]))
    if (len(workers) + 1) ** len(requests) * left > MOST:
        raise TooLargeError
    best = Fraction(0)
    for choice in itertools.product((None, *range(len(workers))), repeat=len(requests)):
        value, used, held = Fraction(0), {}, {}
        for (reward, tokens), g in zip(requests, choice, strict=True):
            if g is None:
                continue
            value += reward
            for age, kv in enumerate(tokens):
                used[g, age] = used.get((g, age), 0) + 1
                held[g, age] = held.get((g, age), 0) + kv
        fits = all(used[g, age] <= room[g][0][age] for g, age in used) and all(
            held[g, age] <= room[g][1][age] for g, age in held
        )
        if fits:
            best = max(best, value)
    return best
