"""A slow referee: dense columns written out from the definitions, and SciPy's LP solver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from olprouting.prices import ResidualCapacity, SaaProblem, Scaling, make_columns

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

UNSCALED = Scaling()


class Case(NamedTuple):
    """A history as its requests, and what is left of the workers."""

    reward: list[float]
    worker: list[int]
    start: list[int]
    prompt: list[int]
    decode: list[int]
    batching: str
    age_offset: int | None
    positions: str
    slots: Floats
    kv_tokens: Floats
    n_remain: float
    width: int

    def columns(self) -> Any:
        return make_columns(
            self.reward,
            self.worker,
            self.start,
            self.prompt,
            self.decode,
            batching=self.batching,
            age_offset=self.age_offset,
            positions=self.positions,
        )

    def problem(self, scaling: Scaling = UNSCALED) -> SaaProblem:
        residuals = ResidualCapacity(
            [1] * len(self.slots), [1] * len(self.slots), self.slots.shape[1]
        )
        residuals.slots, residuals.kv_tokens = self.slots.copy(), self.kv_tokens.copy()
        residuals.width = self.width
        return residuals.problem(self.columns(), self.n_remain, scaling)

    def scarcity(self) -> Floats:
        """d, shape (2, G, P); beyond the width nothing counts."""
        d = np.stack([self.slots, self.kv_tokens]) / max(1.0, self.n_remain)
        d[:, :, self.width :] = 0
        return d

    def dense(self) -> Floats:
        """a of every column, shape (N, 2, G, P), written out age by age."""
        a = np.zeros((len(self.reward), 2, *self.slots.shape))
        for n, (g, k, s, o) in enumerate(
            zip(self.worker, self.start, self.prompt, self.decode, strict=True)
        ):
            mixed = self.batching == "mixed"
            offset = self.age_offset if self.age_offset is not None else (0 if mixed else 1)
            for age in range(o + 1 if mixed else o):
                position = age if self.positions == "relative" else k - 1 + age
                if position < self.width:
                    a[n, 0, g, position] = 1
                    a[n, 1, g, position] = s + age + offset
        return a

    def value(self, prices: Floats) -> float:
        """f at true prices, shape (2, G, P)."""
        margins = np.array(self.reward) - np.tensordot(self.dense(), prices, 3)
        mean = np.maximum(margins, 0).sum() / max(1, len(margins))
        return float((self.scarcity() * prices).sum() + mean)

    def lp_value(self) -> float:
        """Return max mean r x over mean a x <= d, 0 <= x <= 1: the minimum of f by duality."""
        n = len(self.reward)
        if n == 0:
            return 0.0
        a = self.dense().reshape(n, -1)
        solved = linprog(
            -np.array(self.reward) / n, A_ub=a.T / n, b_ub=self.scarcity().ravel(), bounds=(0, 1)
        )
        assert solved.status == 0, solved.message
        return float(-solved.fun)


@st.composite
def cases(draw: st.DrawFn, *, least: int = 0, most: int = 12) -> Case:
    """Small histories over both kernels, offsets, positions, and columns that end after T."""
    workers, periods = draw(st.integers(1, 3)), draw(st.integers(1, 9))
    positions = draw(st.sampled_from(["absolute", "relative"]))
    width = draw(st.integers(1, periods)) if positions == "relative" else periods
    count = draw(st.integers(least, most))

    def numbers(low: int, high: int) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    def residual(high: int) -> Floats:
        size = workers * periods
        flat = draw(st.lists(st.integers(0, high), min_size=size, max_size=size))
        return np.array(flat, np.float64).reshape(workers, periods)

    return Case(
        reward=[r / 4 for r in numbers(-8, 80)],
        worker=numbers(0, workers - 1),
        start=numbers(1, periods),
        prompt=numbers(0, 30),
        decode=numbers(1, 12),
        batching=draw(st.sampled_from(["decode", "mixed"])),
        age_offset=draw(st.sampled_from([None, 0, 1, 3])),
        positions=positions,
        slots=residual(6),
        kv_tokens=residual(120),
        n_remain=float(draw(st.sampled_from([0, 1, 3, 10]))),
        width=width,
    )


def random_case(seed: int, count: int = 60, workers: int = 2, periods: int = 40) -> Case:
    """A congested history, large enough that steps and mini-batches mean something."""
    rng = np.random.default_rng(seed)
    return Case(
        reward=rng.uniform(1, 5, count).tolist(),
        worker=rng.integers(workers, size=count).tolist(),
        start=rng.integers(1, periods + 1, count).tolist(),
        prompt=rng.integers(1, 60, count).tolist(),
        decode=rng.integers(1, 15, count).tolist(),
        batching="decode",
        age_offset=None,
        positions="absolute",
        slots=np.full((workers, periods), 4.0),
        kv_tokens=np.full((workers, periods), 150.0),
        n_remain=float(count),
        width=periods,
    )


def some_prices(case: Case, seed: int) -> Floats:
    """Prices >= 0, many of them 0, shape (2, G, P)."""
    rng = np.random.default_rng(seed)
    shape = (2, *case.slots.shape)
    prices = rng.random(shape) * (rng.random(shape) < 0.6)
    prices[:, :, case.width :] = 0
    return prices
