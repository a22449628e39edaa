"""Numbers by which compiled code knows a policy and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RANDOM: Final = 0
ROUND_ROBIN: Final = 1
POWER_OF_TWO: Final = 2
JSQ: Final = 3
LEAST_LOAD: Final = 4


class BalanceParameters(NamedTuple):
    """Options of BR-0 and BR-H.

    Attributes
    ----------
    overflow_penalty
        beta of the score; G for BR-0.
    offset_weights
        gamma^h for h = 0..H, shape (H+1,), float64.
    growing
        1 if candidates grow by a token per offset in the score, 0 if frozen.
    window
        R_max, how many requests from the head of the queue Stage 2 looks at.
    greedy_slots
        S_greedy: Stage 1 works while more slots than this are free.
    search_totals
        True if Stage 2 searches the totals that subsets can reach; None if it enumerates subsets.
    """

    overflow_penalty: float
    offset_weights: npt.NDArray[np.float64]
    growing: int
    window: int
    greedy_slots: int
    search_totals: bool | None


class ImbalanceParameters(NamedTuple):
    """Options of least-imbalance.

    Attributes
    ----------
    offset_weights
        gamma^h for h = 0..H, shape (H+1,), float64.
    growing
        1 if candidates grow by a token per offset, 0 if frozen.
    """

    offset_weights: npt.NDArray[np.float64]
    growing: int


class LoadWeights(NamedTuple):
    """What routers that people run add up to the load of a worker, and take the least of.

    Attributes
    ----------
    queued_requests, running_requests
        Weights of its requests: queued at the worker, and in service.
    queued_tokens, running_tokens
        Weights of their tokens.
    relative
        Whether queued requests count from 0 (the fewest of all workers) to 1 (the most), and tokens
        as shares of the worker's KV tokens.
    """

    queued_requests: float
    running_requests: float
    queued_tokens: float
    running_tokens: float
    relative: bool = False


class BalanceThresholds(NamedTuple):
    """When SGLang's router goes by requests rather than by what it has sent where.

    Attributes
    ----------
    absolute, relative
        It does if the busiest worker has more than `absolute` requests over the idlest, and more
        than `relative` times as many.
    """

    absolute: int
    relative: float


class PolicyParameters(NamedTuple):
    """A compiled policy with its options, as compiled code takes them.

    What is None is a type of its own to compiled code, which then leaves out what it is for.

    Attributes
    ----------
    fcfs
        Which of the FCFS policies above it is; None for others.
    random_ties
        Whether ties between workers are broken at random rather than by index.
    balance
        Options of BR-0 and BR-H; None for others.
    imbalance
        Options of least-imbalance; None for others.
    load_weights
        Weights of a policy that takes the least weighted load; None for others.
    thresholds
        Thresholds of sglang; None for others.
    """

    fcfs: int | None
    random_ties: bool
    balance: BalanceParameters | None = None
    imbalance: ImbalanceParameters | None = None
    load_weights: LoadWeights | None = None
    thresholds: BalanceThresholds | None = None

    @property
    def offset_weights(self) -> npt.NDArray[np.float64] | None:
        """Weights of the offsets it weighs loads at; None where it looks at no loads ahead."""
        weighed = self.balance or self.imbalance
        return None if weighed is None else weighed.offset_weights
