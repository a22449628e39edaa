"""Bid prices: what a slot and a KV token are worth, learned from history."""

from olprouting.prices.bid_prices import BidPrices, PriceOptions
from olprouting.prices.columns import Columns, Positions, make_columns, no_columns
from olprouting.prices.descent import DescentOptions, Iterate, StepRule, learn_prices, value_at
from olprouting.prices.exact_minimum import exact_prices
from olprouting.prices.history import History
from olprouting.prices.problem import SaaProblem
from olprouting.prices.rate_guard import RateGuard, RateShift, rate_increase_p_value
from olprouting.prices.result import PriceResult
from olprouting.prices.routing import greedy_admission
from olprouting.prices.routing_kernels import admit_greedily, pairs_to_record, request_margins
from olprouting.prices.scaling import ClippedRewardsWarning, Scaling, automatic_normalizer
from olprouting.prices.scarcity import Remaining, Residuals, remaining_starts

__all__ = [
    "BidPrices",
    "ClippedRewardsWarning",
    "Columns",
    "DescentOptions",
    "History",
    "Iterate",
    "Positions",
    "PriceOptions",
    "PriceResult",
    "RateGuard",
    "RateShift",
    "Remaining",
    "Residuals",
    "SaaProblem",
    "Scaling",
    "StepRule",
    "admit_greedily",
    "automatic_normalizer",
    "exact_prices",
    "greedy_admission",
    "learn_prices",
    "make_columns",
    "no_columns",
    "pairs_to_record",
    "rate_increase_p_value",
    "remaining_starts",
    "request_margins",
    "value_at",
]
