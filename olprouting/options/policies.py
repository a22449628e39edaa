"""Options of the routing policies: the built-in ones, and those that plan by periods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from olprouting.errors import InputError, shown
from olprouting.parameters import LARGEST_OPTION, NONE, Options, options, parameter

if TYPE_CHECKING:
    from olprouting.instances import SloClasses, SloWeights

MOST_ENUMERATED = 20
"""Largest R_max whose 2^R_max subsets may be enumerated."""


def _weights(text: str) -> SloWeights:
    from olprouting.instances import SloWeights

    return SloWeights.parse(text)


def _classes(text: str) -> SloClasses | None:
    from olprouting.instances import SloClasses

    return None if text == NONE else SloClasses.parse(text)


@options("options", "Period")
@dataclass(frozen=True)
class PeriodOptions(Options):
    """What the policies that plan by periods maximise (bid-price paper, section 3.1)."""

    weights: SloWeights = parameter(
        "tail-latency",
        "A published set (tail-latency, requests, ...) or six numbers: alpha,beta,gamma,"
        "sigma,zeta1,zeta2; fractions such as 1/400 will do.",
        parse=_weights,
    )
    classes: SloClasses | None = parameter(
        NONE,
        "Classes of requests with weights of their own: NAME:SHARE:WEIGHTS,..., drawn by share; "
        "NAME:WEIGHTS,... where the trace has a column slo_class.",
        parse=_classes,
        details="They replace the weights.",
    )
    t1: float = parameter(
        400,
        "Threshold of end-to-end latency, in periods.",
        details="At least 1, as for t2: nobody is faster than one period.",
    )
    t2: float = parameter(49, "Threshold of time to first token, in periods.")
    periods: int = parameter(1000, "T, the number of periods.", at_least=1)
    last_period: str = parameter(
        "fixed",
        "fixed (T is the last period) or receding (T counted from now).",
        choices=("fixed", "receding"),
        details="Past a fixed last period nothing is admitted (paper); with a receding one there "
        "are always T periods to come, the current one included.",
    )
    inclusive: bool = parameter(False, "Whether a latency equal to its threshold counts.")
    period_s: float | None = parameter(
        None,
        "Length of a period with the independent clock; by default a step of a half-full worker.",
        flag="--period-seconds",
        above=0,
        unit="seconds",
        details="In Python, None makes every iteration of the barrier clock a period.",
    )
    residuals: str = parameter(
        "true",
        "Room that is planned with: true (the real workers) or open-loop (the policy's own starts "
        "at forecast lengths).",
        choices=("true", "open-loop"),
        details="Open-loop bookings hold every start for its forecast length and never hear of the "
        "workers again (authors' code). Real free slots limit starts in either case; a booked "
        "start that overflows a worker's KV tokens leads to preemption, and is booked again.",
    )

    def __post_init__(self) -> None:
        """Check every parameter, and that no threshold is below one period."""
        from olprouting.instances._checks import latency_threshold

        super().__post_init__()
        for name in ("t1", "t2"):
            latency_threshold(name, getattr(self, name))

    @property
    def reward_weights(self) -> SloWeights | SloClasses:
        """The weights of all requests, or of each class."""
        return self.weights if self.classes is None else self.classes

    @property
    def receding(self) -> bool:
        """Whether T periods are always to come."""
        return self.last_period == "receding"

    @property
    def open_loop(self) -> bool:
        """Whether residuals are those of the policy's own bookings."""
        return self.residuals == "open-loop"


@options("options", "Bid prices")
@dataclass(frozen=True)
class BidPriceOptions(Options):
    """How the bid-price policies learn their prices."""

    steps: int = parameter(5, "Subgradient steps K per period.", at_least=0)
    batch: int | None = parameter(64, "Columns in a mini-batch.", at_least=1)
    step_size: float = parameter(0.01, "Step size eta, > 0.", above=0)
    record: str = parameter(
        "period",
        "What becomes history: the best pair per period, or per request.",
        choices=("period", "request"),
        details="The paper takes that of every period, the authors' code that of every request.",
    )
    n_remain: str = parameter(
        "slots",
        "Starts still to come: slots (authors' code) or arrivals.",
        choices=("slots", "arrivals", "known"),
        details="The slots of all workers, the arrivals expected until T, or the known_starts.",
    )
    arrivals_per_period: float | None = parameter(
        None, "Rate for n_remain = arrivals; none takes the rate seen so far.", at_least=0
    )
    known_starts: float | None = parameter(
        None, "Starts in the whole run, for n_remain = known.", at_least=0
    )
    positions: str = parameter(
        "absolute",
        "Prices belong to absolute periods (paper), or relative ones: so many periods ahead. A "
        "receding horizon always takes relative ones.",
        choices=("absolute", "relative"),
    )
    reward_normalizer: float | str = parameter(
        "auto",
        "What a reward of 1 is: auto, or a number.",
        flag="--normalizer",
        above=0,
        words={"auto": "auto"},
        details="auto is a quantile of recent rewards.",
    )
    clip: bool = parameter(False, "Clip normalised rewards at 1 (paper).")
    exact_every: int = parameter(
        1, "bid-price-exact solves for prices every so many periods.", at_least=1
    )
    guard_window: int | None = parameter(
        None,
        "Forget older history when a Poisson test finds that more requests arrive in a window of "
        "so many periods than before.",
        at_least=1,
    )
    reject_after: int | None = parameter(
        None,
        "bid-price policies turn a request away that has waited for so many periods, if its margin "
        "was negative all the time.",
        at_least=1,
        details="Negative on every worker at every decision.",
    )

    def __post_init__(self) -> None:
        """Check every parameter, and that known starts are given where they are asked for."""
        super().__post_init__()
        if self.n_remain == "known" and self.known_starts is None:
            raise InputError("n_remain = 'known' needs known_starts")


@options("options", "Policies")
@dataclass(frozen=True)
class PolicyOptions(Options):
    """Options of the built-in policies; each policy takes those it knows.

    Parameters
    ----------
    period
        What the policies that plan by periods maximise; `solver` and `time_limit_s` solve for them.
    bid_price
        How ``bid-price`` and ``bid-price-exact`` learn prices.
    """

    ties: str = parameter(
        "random",
        "Ties between workers: random or index.",
        choices=("random", "index"),
    )
    horizon: int = parameter(
        80, "Lookahead H of brh, exact and least-imbalance.", at_least=0, at_most=LARGEST_OPTION
    )
    beta: float = parameter(43.0, "Overflow penalty beta of brh.", above=0)
    gamma: float = parameter(
        0.86, "Discount gamma of brh, exact and least-imbalance, in (0, 1].", above=0, at_most=1
    )
    r_max: int = parameter(
        4,
        "R_max: window of BR's second stage.",
        at_least=1,
        at_most=LARGEST_OPTION,
        details="Requests at the head of the queue that it looks at. Up to 8 the subsets are "
        "enumerated; beyond that reachable totals are searched, with memory in proportion to r_max "
        "x slots x tokens.",
    )
    s_greedy: int = parameter(
        7,
        "S_greedy: BR's first stage above it.",
        at_least=0,
        at_most=LARGEST_OPTION,
        details="Stage 1 works while more slots than this are free.",
    )
    br_growth: str = parameter(
        "frozen",
        "Candidates in the score of brh: frozen (as published) or growing.",
        choices=("frozen", "growing"),
    )
    subset_search: str = parameter(
        "auto",
        "BR's subset search: auto, enumerate or reachable.",
        choices=("auto", "enumerate", "reachable"),
    )
    solver: str = parameter(
        "auto",
        "highs, native, auto (native, then highs), cpsat, or any of Pyomo as pyomo:NAME.",
        details="It solves the decisions of exact, and the programs of period policies.",
    )
    formulation: str | None = parameter(None, "size-class or assignment.")
    time_limit_s: float | None = parameter(
        10.0, "Seconds per solve of exact.", flag="--time-limit", at_least=0
    )
    growth: str = parameter(
        "growing",
        "Admitted requests in exact and least-imbalance: growing or frozen.",
        choices=("growing", "frozen"),
    )
    period: PeriodOptions = field(default_factory=PeriodOptions)
    bid_price: BidPriceOptions = field(default_factory=BidPriceOptions)

    def __post_init__(self) -> None:
        """Check every parameter, and that windows fit into this machine."""
        from olprouting.instances._checks import require_memory

        super().__post_init__()
        require_memory(f"horizon = {shown(self.horizon)}", 32 * (self.horizon + 1))
        require_memory(f"r_max = {shown(self.r_max)}", 16 * self.r_max)
        if self.subset_search == "enumerate" and self.r_max > MOST_ENUMERATED:
            raise InputError(
                f"r_max = {self.r_max}: enumeration looks at 2^r_max subsets; "
                "use subset_search='reachable'"
            )
