"""Options of the questions: what is judged, by what, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from olprouting.parameters import Options, options, parameter

ALL: Final = {"all": None}


class JudgedBy(StrEnum):
    """The window by which a policy's decisions are judged."""

    ALL = "all"
    """H = 0, and the horizon program too where a policy looks ahead."""
    MYOPIC = "myopic"
    """H = 0."""
    HORIZON = "horizon"
    """The horizon program."""
    BOTH = "both"
    """H = 0 and the horizon program."""


OWN_PATH: Final = "own"
"""Instead of a policy whose run supplies the states: each policy's own run."""


@options("options", "Judging")
@dataclass(frozen=True)
class GapOptions(Options):
    """How decisions and runs are judged."""

    decisions: int | None = parameter(
        200, "Decisions to solve per program, or all.", at_least=1, words=ALL
    )
    states: str = parameter(
        "jsq",
        "Policy whose run supplies the decisions that all policies answer; own: each its own.",
    )
    judged_by: str = parameter(
        JudgedBy.ALL,
        "Programs that judge all policies: myopic (H=0), horizon, both, "
        "all (horizon only if a policy looks ahead).",
        choices=tuple(JudgedBy),
        word="window",
    )
    time_limit_s: float | None = parameter(
        10.0,
        "Seconds per exact solve.",
        flag="--time-limit",
        at_least=0,
        details="A decision it leaves unproven is kept, with its bound.",
    )
    replications: int = parameter(
        0,
        "Further runs of each policy, each on blocks of the requests drawn anew; 0: no intervals.",
        at_least=0,
        details="All policies share these workloads; differences are of pairs.",
    )


@options("options", "Judging")
@dataclass(frozen=True)
class PriceReportOptions(Options):
    """How periods are judged."""

    sample: int | None = parameter(30, "Periods to judge exactly, or all.", at_least=1, words=ALL)
    time_limit_s: float | None = parameter(
        5.0, "Seconds per exact solve.", flag="--time-limit", at_least=0
    )


@options("options", "Search")
@dataclass(frozen=True)
class HindsightOptions(Options):
    """When a search in hindsight ends."""

    time_limit_s: float = parameter(
        60.0, "Seconds for the search; the proof comes on top.", flag="--time-limit", at_least=0
    )
    gap: float = parameter(0.01, "Stop when bound and schedule are that close.", at_least=0)


@options("options", "Judging")
@dataclass(frozen=True)
class EvaluationOptions(Options):
    """How forecasts are judged."""

    horizon: int = parameter(80, "Horizon H of the forecast.", at_least=1)
    train_share: float = parameter(
        0.5, "First share of the requests trains; the others are asked about."
    )
    sample: int | None = parameter(
        50_000,
        "(request, age) pairs to ask about, or all.",
        flag="--queries",
        at_least=1,
        words=ALL,
    )
