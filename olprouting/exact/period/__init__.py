"""One period of the batch/KV model: its arrays, and the check of starts and prices."""

from olprouting.exact.period.check_period import (
    PeriodCheck,
    check_period,
    margins_of,
    used,
    value_bound,
    value_of,
)
from olprouting.exact.period.columns import PeriodColumns, period_columns
from olprouting.exact.period.saa import SaaResult, solve_saa

__all__ = [
    "PeriodCheck",
    "PeriodColumns",
    "SaaResult",
    "check_period",
    "margins_of",
    "period_columns",
    "solve_saa",
    "used",
    "value_bound",
    "value_of",
]
