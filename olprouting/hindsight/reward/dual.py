"""The Lagrangian dual of the hindsight program, minimised through smoothed versions of it.

UB(p) (`olprouting.hindsight.reward.certificate`) is convex but has kinks everywhere. With a width
w > 0, (max_i m_i)+ is replaced by w * log(1 + sum_i exp(m_i / w)), which is smooth, lies above it
by at most w * log(1 + number of starts), and whose gradient is capacity minus the use of a
*fractional* schedule: every start with its softmax share. A quasi-Newton method minimises it for
falling w; the shares tell the schedule search when each request should start.

Long traces start coarse: one price for `stride` periods, and only every `stride`-th start. The
exact UB is evaluated at every point of the fine stages, and at the end of each coarse one.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from olprouting.hindsight.reward.dual_kernels import Starts, smoothed
from olprouting.hindsight.reward.quasi_newton import descend
from olprouting.instances.slo_classes import weight_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from olprouting.hindsight.reward.problem import HindsightProblem

    Floats = npt.NDArray[np.float64]

PATIENCE = 20
"""A stage ends when so many steps together gain less than its tolerance."""


class Stage(NamedTuple):
    """A smoothing: width in mean rewards, periods per price, most steps, relative tolerance."""

    width: float
    stride: int
    steps: int
    tolerance: float


COARSE_WIDTHS = (0.03, 0.01, 0.003)
FINE_WIDTHS = (0.001, 3e-4, 1e-4, 3e-5, 1e-5)
LONGEST_STRIDE = 32


def starts_of(problem: HindsightProblem) -> Starts:
    """Return the problem as the kernels take it: periods from 0."""
    _, _, _, kv_tokens = problem.classes()
    end_limit, first_limit = problem.latency_limits
    return Starts(
        tokens=problem.first_tokens,
        active=problem.active,
        decode=problem.decode_tokens.copy(),
        arrival=problem.arrival_period - 1,
        weights=weight_rows(problem.weights, problem.slo_class, len(problem)),
        periods=problem.periods,
        delay=problem.delay,
        end_limit=end_limit,
        first_limit=first_limit,
        kv_limit=kv_tokens,
    )


class SmoothedDual:
    """The dual, where its minimisation stands, and the best prices so far.

    Attributes
    ----------
    prices
        Those of the smallest UB evaluated so far, shape (2, C, T).
    bound
        That UB, in floating point.
    share, moment
        At the last point: the softmax shares of each request, summed, and summed with the period
        (from 0) as a factor, shape (J,).
    evaluations
        How often UB or a smoothing of it was evaluated.
    """

    def __init__(self, problem: HindsightProblem) -> None:
        self.starts = starts_of(problem)
        _, counts, slots, kv_tokens = problem.classes()
        self._capacity = np.stack([counts * slots, counts * kv_tokens]).astype(np.float64)
        self._unit = np.stack([np.ones(len(slots)), slots / kv_tokens])  # of p_mem: slots are to
        # KV tokens as they are in a full worker, so that both gradients have the same size
        shape = (2, len(slots), problem.periods)
        self._use = np.empty(shape)
        self.share, self.moment = np.zeros(len(problem)), np.zeros(len(problem))
        self.prices = np.zeros(shape)
        self.bound = np.inf
        self.evaluations = 0
        self.mean_reward = 1.0
        self.evaluate(self.prices, 1e-9)
        self.mean_reward = self.bound / max(1, len(problem))
        mean_active = float(self.starts.active.mean()) if len(problem) else 1.0
        self._longest = max(1, min(LONGEST_STRIDE, int(mean_active / 8)))

    def evaluate(self, prices: Floats, width: float, stride: int = 1) -> float:
        """Return the smoothed UB at prices, shape (2, C, T), and keep them if they are the best."""
        soft, hard = smoothed(
            self.starts, prices, width, stride, self._use, self.share, self.moment
        )
        self.evaluations += 1
        paid = float((self._capacity * prices.sum(axis=2)).sum())
        if stride == 1 and hard + paid < self.bound:
            self.bound, self.prices = hard + paid, prices.copy()
        return float(soft + paid)

    def stages(self) -> list[Stage]:
        """Return the stages for this problem, coarse to fine."""
        strides = []
        stride = 1
        while stride <= self._longest:
            strides.append(stride)
            stride *= 4
        strides = strides[:0:-1] or [1]
        coarse = [Stage(width, strides[0], 150, 1e-4) for width in COARSE_WIDTHS]
        coarse += [Stage(COARSE_WIDTHS[-1], stride, 150, 1e-4) for stride in strides[1:]]
        fine = [Stage(width, 1, 400, 0.1 * width) for width in FINE_WIDTHS[:-1]]
        return [*coarse, *fine, Stage(FINE_WIDTHS[-1], 1, 400, 1e-2 * FINE_WIDTHS[-1])]

    def minimise(self) -> Iterator[Stage]:
        """Go through the stages; yield after every step, of which there is one at least."""
        stages = self.stages()
        coarse = self._folded(np.zeros_like(self.prices), stages[0].stride)
        for stage, following in pairwise([*stages, None]):
            assert stage is not None
            values: list[float] = []
            for value, point in descend(partial(self._function, stage), coarse):
                coarse = point
                values.append(value)
                yield stage
                if len(values) >= stage.steps:
                    break
                if len(values) > PATIENCE:
                    gained = values[-PATIENCE - 1] - value
                    if gained < stage.tolerance * abs(value):
                        break
            fine = self._unfolded(coarse, stage.stride)
            if stage.stride > 1:
                self.evaluate(fine, stage.width * self.mean_reward)
                yield stage
            if following is not None:
                coarse = self._folded(fine, following.stride)

    def _function(self, stage: Stage, point: Floats) -> tuple[float, Floats]:
        prices = self._unfolded(point, stage.stride)
        value = self.evaluate(prices, stage.width * self.mean_reward, stage.stride)
        spare = (self._capacity[:, :, None] - self._use) * self._unit[:, :, None]
        blocks = np.arange(0, spare.shape[2], stage.stride)
        return value, np.add.reduceat(spare, blocks, axis=2).ravel()

    def _unfolded(self, point: Floats, stride: int) -> Floats:
        """Return prices by period, shape (2, C, T), of a point with one price per `stride`."""
        classes, periods = self.prices.shape[1:]
        blocks = np.repeat(point.reshape(2, classes, -1), stride, axis=2)[:, :, :periods]
        unfolded: Floats = np.ascontiguousarray(blocks * self._unit[:, :, None])
        return unfolded

    def _folded(self, prices: Floats, stride: int) -> Floats:
        folded: Floats = (prices[:, :, ::stride] / self._unit[:, :, None]).ravel()
        return folded
