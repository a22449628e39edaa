"""One period of the batch/KV model: its arrays, the check of starts and prices, what prices say."""

from olprouting.exact.period.check_period import (
    PeriodCheck,
    check_period,
    margins_of,
    used,
    value_bound,
    value_of,
)
from olprouting.exact.period.columns import PeriodColumns, period_columns
from olprouting.exact.period.picture import plot_duality
from olprouting.exact.period.price_sheet import price_ranges, price_sheet
from olprouting.exact.period.saa import SaaResult, solve_saa

__all__ = [
    "PeriodCheck",
    "PeriodColumns",
    "SaaResult",
    "check_period",
    "margins_of",
    "period_columns",
    "plot_duality",
    "price_ranges",
    "price_sheet",
    "solve_saa",
    "used",
    "value_bound",
    "value_of",
]
