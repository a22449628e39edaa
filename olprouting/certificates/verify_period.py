"""Checking a solved period: its starts, its prices, and the gap between what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from olprouting.certificates import reading as r
from olprouting.certificates.period_search import worth_more
from olprouting.certificates.reading import said, same_double
from olprouting.certificates.status import (
    OF_A_SOLVE,
    ROUNDING,
    Claims,
    check_status,
    claims,
    reported,
)
from olprouting.certificates.verification import (
    DoesNotHoldError,
    TooLongError,
    Verdict,
    Verification,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from olprouting.certificates.period_value import ExactPeriod, Table
    from olprouting.certificates.reading import Number

TOLERANCE = Fraction(1, 10**9)
"""Relative error that a file may contain, since linear programs are solved in doubles: of a row to
its capacity (at least 1), of a bound to itself (at least what one request alone can be worth). None
is granted where starts and rewards are whole."""

ABOUT_THE_RUN = (
    "solver", "rows", "wall_s", "build_s", "limit_s", "threads", "seed", "message",
)  # fmt: skip

_SOURCES = ("lp-relaxation", "fixed-integers")


@dataclass(frozen=True)
class PriceClaims:
    """Prices that a result claims: of slots, of KV tokens, and what starts are worth at them."""

    batch: Table
    memory: Table
    option_values: Sequence[Number]
    source: str
    unique: bool | None


@dataclass(frozen=True)
class PeriodClaims(Claims):
    """What a result of a period claims: what it repeats of the problem, its starts, its prices."""

    form: str
    period: int
    x: Table | None
    priced: PriceClaims | None
    oversize: tuple[int, ...]
    clipped: int
    rows_in_full: int


_PRICES = r.into(
    PriceClaims,
    {
        "batch": r.list_of(r.list_of(r.number)),
        "memory": r.list_of(r.list_of(r.number)),
        "option_values": r.list_of(r.number),
        "source": r.name,
        "unique": r.optional(r.flag),
    },
)

RESULT = r.into(
    PeriodClaims,
    {
        **OF_A_SOLVE,
        "form": r.one_of("lp", "dual", "reduced-dual", "integer"),
        "period": r.whole,
        "value": r.optional(r.number),
        "x": r.optional(r.list_of(r.list_of(r.number))),
        "priced": r.optional(_PRICES),
        "oversize": r.list_of(r.whole),
        "clipped": r.whole,
        "rows": r.whole,
        "rows_in_full": r.whole,
    },
)
"""Reads a document of schema ``olprouting/period-result/1``."""


def verify_period(period: ExactPeriod, result: PeriodClaims) -> Verification:
    """Check a result of a period.

    Raises
    ------
    DoesNotHoldError
        With the claim that is wrong.
    """
    integer = result.form == "integer"
    _check_facts(period, result)
    value, excess = _primal(period, result, integer=integer)
    if value is None and result.value is not None:
        raise DoesNotHoldError("value: there is one without x")
    left_out = set() if integer else _left_out(period, result)
    alone = _most_alone(period, left_out, integer=integer)
    dual = _dual(period, result, left_out, alone)
    proven, words = (None, "no prices") if dual is None else dual
    bound = None if result.bound is None else Fraction(result.bound)
    slack = max(TOLERANCE * max(alone, abs(proven or bound or Fraction(0))), _rounding(period))
    if integer and period.whole_rewards:
        slack = Fraction(0)
    if value is not None and bound is not None and not _reaches(bound, value, slack):
        raise DoesNotHoldError(f"bound {float(bound)!r} is below the value {float(value)!r}")
    if bound is not None and not integer:
        if proven is not None:
            _agree("bound", bound, proven, slack)
        elif result.stop_reason != "error":  # then prices are withheld, and the bound is kept
            raise DoesNotHoldError(f"bound: no prices are there that prove {float(bound)!r}")
    check_status(result, sense=-1, solved=result.x is not None)
    if bound is not None and integer and (proven is None or bound < proven):
        proven, words = _searched(period, result, value, (proven, words), slack)
    resting = bound is not None and (proven is None or not _reaches(bound, proven, slack))
    if excess:
        words += f"; x exceeds a row by {float(excess):.1g} of it, by rounding"
    if resting:
        words += f"; {result.solver} claims {float(result.bound or 0)!r}"
    return Verification(
        kind=f"period ({result.form})",
        verdict=_verdict(value, proven, slack, resting=resting),
        value=None if value is None else said(value),
        bound=None if proven is None else said(proven),
        gap=None if value is None or proven is None else said(proven - value),
        proof=words,
        not_checked=claims(result.stop_reason, "bound", "status", resting=resting)
        + _unproven_prices(result.priced, value, dual, slack),
        about_the_run=(*ABOUT_THE_RUN, *reported(result.stop_reason)),
    )


def _unproven_prices(
    priced: PriceClaims | None,
    value: Fraction | None,
    dual: tuple[Fraction, str] | None,
    slack: Fraction,
) -> tuple[str, ...]:
    """Return the claims of prices that are not checked.

    They are optimal if starts are worth what they prove; not by themselves, nor for a program of
    the requests left waiting.
    """
    if priced is None or dual is None:
        return ()
    met = value is not None and abs(dual[0] - value) <= slack
    optimal = met and priced.source != "fixed-integers"
    unique = () if priced.unique is None else ("priced.unique",)
    return unique if optimal else ("priced", *unique)


def _check_facts(period: ExactPeriod, result: PeriodClaims) -> None:
    """Check what a result repeats of its problem."""
    if result.period != period.first:
        raise DoesNotHoldError(f"period: the problem's is {period.first}, not {result.period}")
    if result.clipped != period.clipped:
        raise DoesNotHoldError(f"clipped: {period.clipped} residuals were, not {result.clipped}")
    oversize = [j for j in range(len(period.rewards)) if not period.fits_whole(j)]
    if list(result.oversize) != oversize:
        raise DoesNotHoldError(f"oversize: requests {oversize} are, not {list(result.oversize)}")
    rows = 2 * period.workers * period.remaining
    if result.rows_in_full != rows:
        raise DoesNotHoldError(f"rows_in_full: the program as written has {rows}")
    if result.priced is not None:
        known = _SOURCES if result.form == "integer" else (result.form,)
        if result.priced.source not in known:
            raise DoesNotHoldError(f"priced.source: it must be {' or '.join(known)}")


def _primal(
    period: ExactPeriod, result: PeriodClaims, *, integer: bool
) -> tuple[Fraction | None, Fraction]:
    """Return the exact value of x and its largest relative excess over a row.

    It must be feasible within the tolerance (starts in whole: exactly), and worth what is claimed.
    """
    if result.x is None:
        return None, Fraction(0)
    x = _table("x", result.x, len(period.rewards), period.workers)
    tolerance = Fraction(0) if integer else TOLERANCE
    excess = max([Fraction(0), *(Fraction(sum(row)) - 1 for row in x)])
    for j, row in enumerate(x):
        if min(row) < 0:
            raise DoesNotHoldError(f"x: request {j} has a negative share")
        if sum(row) > 1 + tolerance:
            raise DoesNotHoldError(f"x: request {j} is admitted {float(sum(row))!r} times")
        if integer and any(Fraction(share).denominator != 1 for share in row):
            raise DoesNotHoldError(f"x: request {j} is admitted in part")
    for what, use, capacity in zip(
        ("slots", "KV tokens"), period.use(x), (period.slots, period.kv_tokens), strict=True
    ):
        excess = max(excess, _check_rows(period, what, use, capacity, tolerance))
    value = period.value(x)
    if result.value is None:
        raise DoesNotHoldError(f"value: none is claimed, x is worth {float(value)!r}")
    if not same_double(result.value, value):
        slack = Fraction(0) if integer and period.whole_rewards else ROUNDING * value
        _agree("value", result.value, value, slack)
    return value, excess


def _check_rows(
    period: ExactPeriod, name: str, use: Table, capacity: Table, tolerance: Fraction
) -> Fraction:
    worst = Fraction(0)
    for g, (used, left) in enumerate(zip(use, capacity, strict=True)):
        for offset, (tokens, most) in enumerate(zip(used, left, strict=True)):
            excess = Fraction(tokens - most) / max(most, 1)
            worst = max(worst, excess)
            if excess > tolerance:
                raise DoesNotHoldError(
                    f"x: worker {g} uses {float(tokens)!r} of {most} {name} in period "
                    f"{period.first + offset}"
                )
    return worst


def _left_out(period: ExactPeriod, result: PeriodClaims) -> set[int]:
    """Return the requests that a linear program left out, as it may those that fit whole nowhere.

    They have no option value in the file, though the prices give one to some of them.
    """
    priced, oversize = result.priced, result.oversize
    if priced is None:
        return set()
    claimed = _vector("option_values", priced.option_values, len(period.rewards))
    if any(claimed[j] != 0 for j in oversize):
        return set()
    options = period.only(oversize).option_values(*_prices(period, priced))
    least = TOLERANCE * _most_alone(period, set(), integer=False)
    return set(oversize) if any(option > least for option in options) else set()


def _dual(
    period: ExactPeriod, result: PeriodClaims, left_out: set[int], alone: Fraction
) -> tuple[Fraction, str] | None:
    """Return the bound that the prices prove, and how, or None where there are none.

    Whatever prices >= 0 are given, they bound the value of the whole period. Requests that fit
    whole on no worker cannot start whole, and a linear program may have left them out.
    """
    priced = result.priced
    if priced is None:
        return None
    batch, memory = _prices(period, priced)
    options = period.option_values(batch, memory)
    claimed = _vector("option_values", priced.option_values, len(options))
    absent = _left_out(period, result)
    if priced.source == "fixed-integers":
        absent |= {j for j, row in enumerate(result.x or []) if sum(row) > 0}
    for j, (given, exact) in enumerate(zip(claimed, options, strict=True)):
        here = Fraction(0) if j in absent else exact
        slack = TOLERANCE * max(alone, here, period.rewards[j])
        _agree(f"priced.option_values[{j}]", given, here, slack)
    words = f"prices >= 0 bound every value (tolerance {float(TOLERANCE):g}, relative)"
    if result.form == "integer":
        proven = period.only(_whole(period)).dual_value(batch, memory)
        if period.whole_rewards:
            proven = Fraction(floor(proven))  # then the optimum is whole too
        return proven, words
    if left_out:
        if result.x is not None and any(sum(result.x[j]) > 0 for j in left_out):
            raise DoesNotHoldError("x: a request is admitted that the prices leave out")
        words += f"; requests {sorted(left_out)} fit whole nowhere and are left out"
    kept = [j for j in range(len(options)) if j not in left_out]
    return period.only(kept).dual_value(batch, memory), words


def _whole(period: ExactPeriod) -> list[int]:
    """Return the requests that can start whole."""
    return [j for j in range(len(period.rewards)) if period.fits_whole(j)]


def _prices(period: ExactPeriod, priced: PriceClaims) -> tuple[Table, Table]:
    shape = period.workers, period.remaining
    batch = _table("batch", priced.batch, *shape)
    memory = _table("memory", priced.memory, *shape)
    for which, table in (("batch", batch), ("memory", memory)):
        for g, row in enumerate(table):
            if min(row) < 0:
                raise DoesNotHoldError(f"priced.{which}: a price of worker {g} is negative")
    return batch, memory


def _searched(
    period: ExactPeriod,
    result: PeriodClaims,
    value: Fraction | None,
    proven: tuple[Fraction | None, str],
    slack: Fraction,
) -> tuple[Fraction | None, str]:
    """Return the bound of an integer program, and how it was proven, after a search of its starts.

    Raises
    ------
    DoesNotHoldError
        If whole starts are worth more than the claimed bound.
    """
    assert result.bound is not None
    bound = Fraction(result.bound)
    most = bound + slack
    nothing = [[0] * period.remaining] * period.workers
    priced = result.priced
    batch, memory = (nothing, nothing) if priced is None else _prices(period, priced)
    startable = period.only(_whole(period))
    try:
        for target in (*(() if value is None else (value,)), bound, most):
            better = worth_more(startable, target, batch, memory)
            if better is None:
                return target, "all whole starts that the prices do not rule out were tried"
            if better > most and not same_double(result.bound, better):
                raise DoesNotHoldError(
                    f"bound: it is {float(bound)!r}, but starts worth {float(better)!r} exist"
                )
    except TooLongError:
        pass
    return proven


def _table(name: str, rows: Table, height: int, width: int) -> Table:
    if len(rows) != height:
        raise DoesNotHoldError(f"{name} must have {height} rows")
    return [_vector(name, row, width) for row in rows]


def _vector(name: str, row: Sequence[Number], width: int) -> Sequence[Number]:
    if len(row) != width:
        raise DoesNotHoldError(f"{name} must have {width} numbers in a row")
    return row


def _most_alone(period: ExactPeriod, left_out: set[int], *, integer: bool) -> Fraction:
    """Return the most that one request alone, admitted whole or in part, can be worth."""
    worth = [Fraction(0)]
    for j, reward in enumerate(period.rewards):
        if period.fits_whole(j):
            worth.append(reward)
        elif not integer and j not in left_out:
            worth.append(reward * period.most_share(j))
    return max(worth)


def _reaches(bound: Fraction, value: Fraction, slack: Fraction) -> bool:
    """Whether a claimed bound is no lower than a value, or the double nearest to it."""
    return bound >= value - slack or same_double(bound, value)


def _rounding(period: ExactPeriod) -> Fraction:
    """Return by how much doubles may miss a bound: margins are what prices leave of rewards."""
    return max(period.rewards, default=Fraction(0)) * len(period.rewards) / 2**52


def _agree(name: str, claimed: Number, exact: Fraction, slack: Fraction) -> None:
    if abs(claimed - exact) > slack:
        raise DoesNotHoldError(f"{name}: it is {float(exact)!r}, not {float(claimed)!r}")


def _verdict(
    value: Fraction | None, proven: Fraction | None, slack: Fraction, *, resting: bool
) -> Verdict:
    if resting:
        return Verdict.VALUE_ONLY
    if value is None or proven is None:
        return Verdict.NOTHING if value is None and proven is None else Verdict.BOUNDED
    if proven == value:
        return Verdict.OPTIMAL
    within = abs(proven - value) <= slack
    return Verdict.WITHIN_TOLERANCE if within else Verdict.BOUNDED
