"""Floor 1, options: what runs and questions may be asked for, every parameter written once.

This imports no numbers and no solver, so that the command line can say what there is at once.
"""

from olprouting.options.questions import (
    EvaluationOptions,
    GapOptions,
    HindsightOptions,
    Lookahead,
    PriceOptions,
)
from olprouting.options.rules import BidPriceOptions, PeriodOptions, PolicyOptions
from olprouting.options.run import (
    Clock,
    ClockOptions,
    KvMode,
    KvOptions,
    Oversize,
    Projection,
    ProjectionOptions,
    RunOptions,
)
from olprouting.options.workload import (
    Arrivals,
    ClusterOptions,
    ForecastOptions,
    ReadingOptions,
    WorkloadOptions,
)

__all__ = [
    "Arrivals",
    "BidPriceOptions",
    "Clock",
    "ClockOptions",
    "ClusterOptions",
    "EvaluationOptions",
    "ForecastOptions",
    "GapOptions",
    "HindsightOptions",
    "KvMode",
    "KvOptions",
    "Lookahead",
    "Oversize",
    "PeriodOptions",
    "PolicyOptions",
    "PriceOptions",
    "Projection",
    "ProjectionOptions",
    "ReadingOptions",
    "RunOptions",
    "WorkloadOptions",
]
