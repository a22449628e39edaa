"""One period of the batch/KV model: optimum, bound and prices, by any solver."""

from olprouting.exact.period.check_period import (
    PeriodCheck,
    check_period,
    margins_of,
    used,
    value_bound,
    value_of,
)
from olprouting.exact.period.columns import PeriodColumns, period_columns
from olprouting.exact.period.export_period import export_period
from olprouting.exact.period.saa import SaaResult, solve_saa
from olprouting.exact.period.solve_period import PRICE_SOURCES, solve_period
from olprouting.exact.period.solvers import FORMS, lp_solver_names

__all__ = [
    "FORMS",
    "PRICE_SOURCES",
    "PeriodCheck",
    "PeriodColumns",
    "SaaResult",
    "check_period",
    "export_period",
    "lp_solver_names",
    "margins_of",
    "period_columns",
    "solve_period",
    "solve_saa",
    "used",
    "value_bound",
    "value_of",
]
