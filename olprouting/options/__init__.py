"""Floor 1, options: what runs and questions may be asked for, every parameter written once.

This imports no numbers and no solver, so that the command line can say what there is at once.
"""

from olprouting.options.policies import BidPriceOptions, PeriodOptions, PolicyOptions
from olprouting.options.questions import (
    OWN_PATH,
    EvaluationOptions,
    GapOptions,
    HindsightOptions,
    JudgedBy,
    PriceReportOptions,
)
from olprouting.options.run import (
    Clock,
    ClockOptions,
    Dispatch,
    DispatchOptions,
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
    "OWN_PATH",
    "Arrivals",
    "BidPriceOptions",
    "Clock",
    "ClockOptions",
    "ClusterOptions",
    "Dispatch",
    "DispatchOptions",
    "EvaluationOptions",
    "ForecastOptions",
    "GapOptions",
    "HindsightOptions",
    "JudgedBy",
    "KvMode",
    "KvOptions",
    "Oversize",
    "PeriodOptions",
    "PolicyOptions",
    "PriceReportOptions",
    "Projection",
    "ProjectionOptions",
    "ReadingOptions",
    "RunOptions",
    "WorkloadOptions",
]
