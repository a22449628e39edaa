"""What is run, and on what: requests, cluster, and what is known of decode lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from olprouting.errors import InputError, shown
from olprouting.parameters import Options, is_real, options, parameter

if TYPE_CHECKING:
    from olprouting.instances import Cluster

ARRIVALS: Final = {
    "backlog": "",
    "recorded": "",
    "poisson": ":RATE",
    "poisson-by-period": ":RATE",
    "batches": ":N:S",
    "closed": ":C",
}
"""Kinds of arrivals, and the numbers that follow each."""

_COUNTS: Final = ("batches", "closed")
"""Kinds whose first number counts requests."""


@dataclass(frozen=True)
class Arrivals:
    """How requests are released.

    Attributes
    ----------
    kind
        One of `ARRIVALS`.
    numbers
        The numbers that belong to it: a rate, requests per batch and seconds between batches, or
        requests in flight.
    """

    kind: str
    numbers: tuple[float, ...] = ()

    @classmethod
    def of(cls, text: str, rate: float | None = None) -> Arrivals:
        """Return the arrivals that a text such as ``poisson:2.5`` stands for.

        Parameters
        ----------
        text
            The kind, and its numbers after colons.
        rate
            The RATE of a Poisson process where the text has none: a number can vary in a grid.

        Raises
        ------
        InputError
            If the text is not understood, or the rate is missing, there twice, or none of its kind.
        """
        kind, *numbers = text.split(":")
        by_rate = ARRIVALS.get(kind) == ":RATE"
        if rate is not None:
            if not by_rate or numbers:
                raise InputError(f"arrivals = {text!r} takes no rate of its own (rate = {rate})")
            return cls(kind, (rate,))
        if by_rate and not numbers:
            raise InputError(f"arrivals = {text!r} needs rate, or {kind}:RATE")
        if kind in ARRIVALS and len(numbers) == ARRIVALS[kind].count(":"):
            found = tuple(map(_positive, numbers))
            if None not in found and (kind not in _COUNTS or numbers[0].isdecimal()):
                return cls(kind, found)  # type: ignore[arg-type]  # None is not in it
        known = [kind + numbers for kind, numbers in ARRIVALS.items()]
        raise InputError(
            f"arrivals = {shown(text)}: expected {', '.join(known[:-1])} or {known[-1]}"
        )


def _positive(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if is_real(number) and number > 0 else None


COLUMNS: Final = (
    "Columns of a trace file, where its own names do not tell: "
    "arrival=NAME,prompt=NAME,decode=NAME,key=NAME, and unit=s, ms, us or ns of its times."
)


@options("trace", "Requests")
@dataclass(frozen=True)
class WorkloadOptions(Options):
    """Where requests come from, and how they are released."""

    source: str = parameter(
        "azure-2023-conv-like",
        "A file, folder or pattern, - for standard input, or a name of `olprouting traces list`.",
        flag="--trace",
        details="Or a law: ratio:PROMPT:DECODE:MEAN_TOTAL (a mix of geometric lengths), "
        "geometric:P:S (the model of the balance paper's theory). What is drawn is drawn with the "
        "seed.",
    )
    columns: str | None = parameter(None, COLUMNS)
    requests: int | None = parameter(
        None,
        "Use the first so many requests.",
        at_least=1,
        details="None takes all of a file, and as many as a profile's source had.",
    )
    waiting: int = parameter(
        32, "Visible waiting requests, where arrivals are a backlog.", at_least=1
    )
    arrivals: str = parameter(
        "backlog",
        "backlog (all requests known in order, --waiting of them visible), recorded, "
        "poisson:RATE (per second), batches:N:S (N requests every S seconds), or closed:C (C in "
        "flight; each that completes releases the next).",
        details="Or poisson-by-period:RATE (per period).",
    )
    rate: float | None = parameter(
        None,
        "Poisson arrivals per period, > 0.",
        above=0,
        details="Or per second: the RATE of either kind of Poisson arrivals.",
    )
    history: int = parameter(
        0, "Forecasts learn from the first so many requests; the run follows.", at_least=0
    )
    rows: str = parameter(
        "first",
        "Which requests of a file: the first, random ones, or blocks of the first ones drawn anew; "
        "the seed draws.",
        choices=("first", "random", "blocks"),
    )
    speed_up: float = parameter(1.0, "Factor of recorded arrivals.", above=0)

    def __post_init__(self) -> None:
        """Check every parameter, and that arrivals and rate fit together."""
        super().__post_init__()
        Arrivals.of(self.arrivals, self.rate)

    @property
    def backlog(self) -> int | None:
        """Visible requests of a backlog; None where time releases requests."""
        return self.waiting if self.arrivals == "backlog" else None

    @property
    def in_flight(self) -> int | None:
        """Requests in flight of a closed loop; None where something else releases requests."""
        arrivals = Arrivals.of(self.arrivals, self.rate)
        return int(arrivals.numbers[0]) if arrivals.kind == "closed" else None


@options("trace", "Reading")
@dataclass(frozen=True)
class ReadingOptions(Options):
    """How a trace file is read (`read_trace`)."""

    format: str | None = parameter(None, "File format, if content does not tell it.")
    columns: str | None = parameter(None, COLUMNS)
    time_unit: str | None = parameter(
        None, "Unit of numeric times: s, ms, us or ns (default: the format's)."
    )
    zero_output: str = parameter(
        "drop",
        "Requests with 0 output tokens: drop, keep (as 1 token) or error.",
    )
    start_s: float = parameter(0.0, "Leave out the first seconds.")
    duration_s: float | None = parameter(None, "Read only so many seconds.")


@options("cluster", "Cluster")
@dataclass(frozen=True)
class ClusterOptions(Options):
    """A cluster of equal workers."""

    workers: int = parameter(8, "Workers G.", at_least=1)
    slots: int = parameter(72, "Slots per worker B.", at_least=1)
    kv_tokens: int | None = parameter(None, "KV limit per worker, tokens.", at_least=1)
    step_time: str = parameter(
        "balance-authors", "Step-time preset: balance-authors, llama-3-8b-a100-tp1, ..."
    )

    def cluster(self) -> Cluster:
        """Return the cluster.

        Raises
        ------
        InputError
            If the preset is unknown, or the cluster is too large for this machine.
        """
        from olprouting.instances import Cluster, StepTime

        step = StepTime.preset(self.step_time, self.slots)
        return Cluster.homogeneous(
            self.workers, self.slots, kv_tokens=self.kv_tokens, step_time=step
        )

    def half_full_step_s(self) -> float:
        """Return how long a step of a half-full worker with a KV limit takes, in seconds."""
        step = self.cluster().step_time
        tokens = (self.kv_tokens or 0) / 2
        return step.fixed_s + step.per_slot_s * self.slots / 2 + step.per_token_s * tokens


@options("options", "Forecast")
@dataclass(frozen=True)
class ForecastOptions(Options):
    """What the policies know of decode lengths."""

    forecast: str | None = parameter(
        "oracle",
        "oracle, noisy:SPREAD, survival, km, exact-match, learned, or learned:FILE; all but the "
        "first two learn from --history and from what completes.",
    )
    noise: float | None = parameter(
        None,
        "Forecast lengths are off by up to this share, 0..1.",
        at_least=0,
        at_most=1,
        details="Short for noisy:SPREAD.",
    )

    def __post_init__(self) -> None:
        """Check every parameter, and that no more than one forecast is named."""
        super().__post_init__()
        if self.noise is not None and self.forecast not in (None, "oracle"):
            raise InputError(
                f"noise = {self.noise} is a forecast of its own; leave out "
                f"forecast = {self.forecast!r}"
            )

    @property
    def name(self) -> str:
        """Name of the forecast, for `make_forecast`."""
        return f"noisy:{self.noise!r}" if self.noise is not None else self.forecast or "oracle"
