"""Period problems of the tests: E3, random ones, hard ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from olprouting.instances import WEIGHT_SETS, PeriodProblem, SloWeights


def e3(slots: int = 10, kv_tokens: int = 48, copies: int = 20) -> PeriodProblem:
    """E3, max 5x+4y, x+y<=10, 6x+4y<=48, as one period that is the last one.

    A start is worth sigma = 4, and 1 more to requests that came just now (t2 = 5). At age 0 a
    request holds its prompt and one token: 6 and 4.
    """
    return PeriodProblem(
        period=1,
        periods=1,
        weights=SloWeights(0, 0, 0, 4, 0, 1),
        t1=5,
        t2=5,
        slots=[[slots]],
        kv_tokens=[[kv_tokens]],
        prompt_tokens=[5] * copies + [3] * copies,
        decode_tokens=[3] * (2 * copies),
        arrival_period=[1] * copies + [-10] * copies,
    )


def random_period(
    seed: int, *, batching: str = "decode", waiting: int = 8, workers: int = 2, periods: int = 12
) -> PeriodProblem:
    """A problem at period 3 whose residuals vary: residents grow, end, and capacity moves."""
    rng = np.random.default_rng(seed)
    remaining = periods - 2
    residents = rng.integers(0, 4, size=workers)
    slots = np.full((workers, remaining), rng.integers(1, 6))
    tokens = np.full((workers, remaining), rng.integers(40, 160))
    for g in range(workers):
        for _ in range(residents[g]):
            left, held = rng.integers(1, remaining + 3), rng.integers(5, 30)
            active = np.arange(remaining) < left
            slots[g] -= active
            tokens[g] -= active * (held + np.arange(remaining))
    tokens += rng.integers(-5, 6, size=tokens.shape) * (rng.random(tokens.shape) < 0.2)
    names = list(WEIGHT_SETS)
    return PeriodProblem(
        period=3,
        periods=periods,
        weights=WEIGHT_SETS[names[seed % len(names)]],
        t1=float(rng.integers(1, 15)),
        t2=float(rng.integers(1, 6)),
        slots=slots,
        kv_tokens=tokens,
        prompt_tokens=rng.integers(0, 60, size=waiting),
        decode_tokens=rng.integers(1, periods + 4, size=waiting),
        arrival_period=rng.integers(-3, 4, size=waiting),
        batching=batching,
    )


@st.composite
def periods(draw: Any, most_waiting: int = 8, most_workers: int = 3) -> PeriodProblem:
    """Any small problem of either batching mode, empty ones and full workers included."""
    return random_period(
        draw(st.integers(0, 2**20)),
        batching=draw(st.sampled_from(["decode", "mixed"])),
        waiting=draw(st.integers(0, most_waiting)),
        workers=draw(st.integers(1, most_workers)),
        periods=draw(st.integers(3, 14)),
    )


def large_period(waiting: int, workers: int, remaining: int, seed: int = 0) -> PeriodProblem:
    """A realistic problem: residents end over time, requests of hundreds of periods."""
    rng = np.random.default_rng(seed)
    slots = 29 - np.sort(rng.integers(0, 29, (workers, remaining)))[:, ::-1]
    return PeriodProblem(
        period=1,
        periods=remaining,
        weights=WEIGHT_SETS["tail-latency"],
        t1=400,
        t2=49,
        slots=slots,
        kv_tokens=118_784 * slots // 29,
        prompt_tokens=rng.integers(50, 4000, waiting),
        decode_tokens=rng.integers(1, 500, waiting),
        arrival_period=1 - rng.integers(0, 80, waiting),
    )


def hard_integer() -> PeriodProblem:
    """Equal workers, many requests of nearly proportional worth and size: slow to prove."""
    rng = np.random.default_rng(1)
    waiting, workers, remaining = 90, 6, 40
    decode = rng.integers(5, 60, waiting)
    return PeriodProblem(
        period=1,
        periods=remaining,
        weights=SloWeights(1, 0, 0, 1, 0, 0),
        t1=400,
        t2=49,
        slots=np.full((workers, remaining), 7),
        kv_tokens=np.full((workers, remaining), 1511),
        prompt_tokens=7 * decode + rng.integers(0, 9, waiting),
        decode_tokens=decode,
        arrival_period=np.ones(waiting, dtype=int),
    )
