"""Options of the rules that plan by periods: what a period is worth, and how prices are learned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from olprouting.errors import InputError, unknown_name
from olprouting.instances import WEIGHT_SETS, SloWeights
from olprouting.instances._checks import latency_threshold, positive

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class PeriodOptions:
    """What the rules that plan by periods maximise (bid-price paper, section 3.1).

    Parameters
    ----------
    weights
        Weights of the reward.
    t1, t2
        Thresholds of end-to-end latency and of time to first token, in periods, >= 1.
    periods
        T >= 1.
    last_period
        ``"fixed"``: T is the last period, past which nothing is admitted (paper).
        ``"receding"``: there are always T periods to come, the current one included.
    inclusive
        Whether a latency equal to its threshold counts.
    period_s
        Length of a period in seconds, > 0; None makes every iteration of the barrier clock one.
    residuals
        ``"true"``: the room that the real devices have. ``"open-loop"``: what is left by the
        rule's own bookings, which hold every start for its forecast length and never hear of the
        devices again (authors' code). Real free slots limit starts in either case; a booked start
        that overflows a device's KV tokens leads to preemption, and is booked again.

    Raises
    ------
    InputError
        If an option is out of range.
    """

    weights: SloWeights = WEIGHT_SETS["tail-latency"]
    t1: float = 400
    t2: float = 49
    periods: int = 1000
    last_period: str = "fixed"
    inclusive: bool = False
    period_s: float | None = None
    residuals: str = "true"

    def __post_init__(self) -> None:
        _named("residuals", self.residuals, ("true", "open-loop"))
        _named("last_period", self.last_period, ("fixed", "receding"))
        _at_least_one("periods", self.periods)
        for name in ("t1", "t2"):
            latency_threshold(name, getattr(self, name))
        if self.period_s is not None:
            positive("period_s", self.period_s)

    @property
    def receding(self) -> bool:
        """Whether T periods are always to come."""
        return self.last_period == "receding"

    @property
    def open_loop(self) -> bool:
        """Whether residuals are those of the rule's own bookings."""
        return self.residuals == "open-loop"


@dataclass(frozen=True)
class BidPriceOptions:
    """How the bid-price rules learn their prices.

    Parameters
    ----------
    steps, batch, step_size
        K >= 0 steps per period, columns in a mini-batch, and eta > 0 of Algorithm 2.
    record
        What becomes history: ``"period"``, the best pair of every period (paper), or
        ``"request"``, the best device of every request (authors' code).
    n_remain
        Starts still to come: ``"slots"``, the slots of all devices (authors' code);
        ``"arrivals"``, the arrivals expected until T; or ``"known"``.
    arrivals_per_period
        Rate for ``"arrivals"``, >= 0; None takes the rate seen so far.
    known_starts
        Starts in the whole run, >= 0, for ``"known"``.
    positions
        ``"absolute"`` periods (paper), or ``"relative"`` to the start; a receding horizon always
        takes relative ones.
    reward_normalizer
        A number > 0, or ``"auto"``, a quantile of recent rewards.
    clip
        Whether normalised rewards above 1 become 1 (paper).
    exact_every
        The exact rule solves for prices every so many periods, >= 1.
    guard_window
        Length in periods, >= 1, of the window in which a significant increase of the arrival rate
        makes older history be dropped; None: no guard.
    reject_after
        Turn a request away once it has waited for so many periods, >= 1, if its margin was
        negative on every device at every decision; None: never.

    Raises
    ------
    InputError
        If an option is out of range. Those of Algorithm 2 are checked when a rule is made.
    """

    steps: int = 5
    batch: int | None = 64
    step_size: float = 0.01
    record: str = "period"
    n_remain: str = "slots"
    arrivals_per_period: float | None = None
    known_starts: float | None = None
    positions: str = "absolute"
    reward_normalizer: float | str = field(default="auto")
    clip: bool = False
    exact_every: int = 1
    guard_window: int | None = None
    reject_after: int | None = None

    def __post_init__(self) -> None:
        _named("record", self.record, ("period", "request"))
        _named("n_remain", self.n_remain, ("slots", "arrivals", "known"))
        _named("positions", self.positions, ("absolute", "relative"))
        if not isinstance(self.reward_normalizer, str):
            positive("reward_normalizer", self.reward_normalizer)
        _at_least_one("exact_every", self.exact_every)
        for name in ("guard_window", "reject_after"):
            if getattr(self, name) is not None:
                _at_least_one(name, getattr(self, name))
        for name in ("arrivals_per_period", "known_starts"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name), zero_allowed=True)
        if self.n_remain == "known" and self.known_starts is None:
            raise InputError("n_remain = 'known' needs known_starts")


def _named(what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise unknown_name(what, str(name), known)


def _at_least_one(name: str, value: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name} = {value!r} must be a whole number >= 1")
