"""Options of the questions: what is judged, by what, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from olprouting.parameters import Options, options, parameter

ALL: Final = {"all": None}


class JudgedBy(StrEnum):
    """The window by which a policy's decisions are judged."""

    OWN = "own"
    """H = 0 for policies without lookahead, the horizon program for those with."""
    MYOPIC = "myopic"
    """H = 0 for all."""
    HORIZON = "horizon"
    """The horizon program for all."""
    BOTH = "both"
    """Each policy by H = 0 and by the horizon program."""


@options("options", "Judging")
@dataclass(frozen=True)
class GapOptions(Options):
    """How decisions are judged."""

    decisions: int | None = parameter(
        200, "Decisions to solve per policy, or all.", at_least=1, words=ALL
    )
    judged_by: str = parameter(
        JudgedBy.OWN,
        "Program that judges: own (H=0 for policies without lookahead), myopic, horizon, both.",
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
