"""Options of a run: its clock, how KV tokens are counted, and what its policy sees."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from olprouting.errors import InputError
from olprouting.parameters import Options, options, parameter


class Clock(StrEnum):
    """When workers run their steps."""

    BARRIER = "barrier"
    """All together, as long as the slowest needs."""
    INDEPENDENT = "independent"
    """Each by itself, as long as it needs."""


class Dispatch(StrEnum):
    """Where requests wait."""

    CENTRAL = "central"
    """In one queue, until the policy starts them in a free slot."""
    ARRIVAL = "arrival"
    """In the queue of one worker, to which the policy sends them on arrival, for good."""


class Projection(StrEnum):
    """How loads are projected from forecasts that change with age."""

    CUTOFF = "cutoff"
    """A request counts in full until its expected remaining time is over (the paper's plug-in)."""
    EXPECTED = "expected"
    """A request counts at every offset by the probability that it is still active."""


class KvMode(StrEnum):
    """What a request is charged on its worker."""

    TOKENS = "tokens"
    """The tokens it holds."""
    BLOCKS = "blocks"
    """The same, rounded up to whole blocks."""
    RESERVE = "reserve"
    """Prompt and longest output from admission on; more only if it grows beyond that."""


class Oversize(StrEnum):
    """What becomes of a request that no worker could hold to its end."""

    ERROR = "error"
    """The run is refused."""
    REJECT = "reject"
    """The request is turned away on release, and counted."""


@options("options", "Forecast")
@dataclass(frozen=True)
class ProjectionOptions(Options):
    """How policies with lookahead project loads from forecasts."""

    projection: str = parameter(
        Projection.CUTOFF,
        "How forecasts that learn are projected: cutoff or expected.",
        choices=tuple(Projection),
    )
    refresh: str = parameter(
        "iteration",
        "Renew the forecast every iteration, or every horizon iterations.",
        choices=("iteration", "horizon"),
    )


@options("options", "Run")
@dataclass(frozen=True)
class ClockOptions(Options):
    """How time passes."""

    clock: str = parameter(
        Clock.BARRIER,
        "barrier (workers step together) or independent (each at its own pace).",
        choices=tuple(Clock),
    )
    batching: str = parameter(
        "decode",
        "decode, or mixed: an iteration of prefill before the first token.",
        choices=("decode", "mixed"),
    )


@options("options", "Run")
@dataclass(frozen=True)
class DispatchOptions(Options):
    """Where requests wait."""

    dispatch: str = parameter(
        Dispatch.CENTRAL,
        "central (one queue; the policy starts requests in free slots) or arrival (it sends each "
        "on arrival to the queue of one worker).",
        choices=tuple(Dispatch),
        details="On arrival `View` tells what is queued at each worker, and arrivals are not a "
        "backlog: closed:C, recorded, poisson:RATE or batches.",
    )


@options("options", "Run")
@dataclass(frozen=True)
class RunOptions(Options):
    """What a policy sees, and when a run ends."""

    signal_delay: int = parameter(0, "Age of loads and counts, in iterations.", at_least=0)
    periods: int | None = parameter(None, "Stop after period T.", at_least=1)
    max_iterations: int | None = parameter(None, "Stop after so many iterations.", at_least=0)
    max_idle_iterations: int = parameter(
        10_000,
        "Idle iterations in a row after which the clock jumps to the next release.",
        at_least=1,
    )


@options("options", "KV tokens")
@dataclass(frozen=True)
class KvOptions(Options):
    """Options of KV accounting; they matter only to a cluster with ``kv_tokens``."""

    mode: KvMode | str = parameter(
        KvMode.TOKENS,
        "How KV is counted: tokens, blocks, or reserve (prompt + longest).",
        flag="--kv-mode",
        choices=tuple(KvMode),
        word="KV mode",
    )
    block_tokens: int = parameter(
        16, "Block size of blocks: with 16, a request of 17 tokens is charged 32.", at_least=1
    )
    max_output_tokens: int | None = parameter(
        None,
        "Output tokens that reserve sets aside per request; none takes its forecast length.",
        at_least=1,
    )
    age_offset: int | None = parameter(
        None,
        "Tokens that a request holds at age 0 beyond its prompt.",
        at_least=0,
        details="None: 1 for decode (the token being generated), 0 for mixed.",
    )
    oversize: Oversize | str = parameter(
        Oversize.ERROR,
        "A request no worker can ever hold: error or reject.",
        choices=tuple(Oversize),
        word="KV oversize",
    )

    def __post_init__(self) -> None:
        """Check every parameter, and that only reservations have a longest output."""
        super().__post_init__()
        object.__setattr__(self, "mode", KvMode(self.mode))
        object.__setattr__(self, "oversize", Oversize(self.oversize))
        if self.max_output_tokens is not None and self.mode is not KvMode.RESERVE:
            raise InputError(f"max_output_tokens belongs to mode 'reserve', not {self.mode!s}")
