"""Checking a solved period: its starts, its prices, and the gap between what they are worth."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from olprouting.certificates.exact_json import rational, written
from olprouting.certificates.period_value import ExactPeriod
from olprouting.certificates.status import check_status
from olprouting.certificates.verification import DoesNotHoldError, Verdict, Verification

if TYPE_CHECKING:
    from olprouting.certificates.exact_json import Number
    from olprouting.certificates.period_value import Table

TOLERANCE = Fraction(1, 10**9)
"""Relative error that a file may contain, since linear programs are solved in doubles: of a row to
its capacity (at least 1), of a value or bound to the bound (at least the largest reward)."""

NOT_CHECKED = (
    "solver", "rows", "rows_in_full", "wall_s", "build_s", "limit_s", "threads", "seed", "message",
    "priced.source", "priced.unique",
)  # fmt: skip

OF_ALL_REQUESTS = ("lp", "dual", "reduced-dual", "lp-relaxation")
"""Prices of these sources bound the whole period's value."""


def verify_period(instance: dict[str, Any], result: dict[str, Any]) -> Verification:
    """Check a result of a period.

    Parameters
    ----------
    instance, result
        Exact documents (see `read_exact`) of schemas ``olprouting/period/1`` and
        ``olprouting/period-result/1``.

    Raises
    ------
    DoesNotHoldError
        With the claim that is wrong.
    """
    period = ExactPeriod.from_document(instance)
    whole = result["form"] == "integer"
    if result["form"] not in ("lp", "dual", "reduced-dual", "integer"):
        raise DoesNotHoldError(f"form: there is no {result['form']!r}")
    _check_facts(period, instance, result)
    value, excess = _primal(period, result, whole=whole)
    if value is None and result["value"] is not None:
        raise DoesNotHoldError("value: there is one without x")
    proven = _dual(period, result)
    if whole and proven is not None and all(r.denominator == 1 for r in period.rewards):
        proven = Fraction(floor(proven))  # then the optimum is whole too
    bound = None if result["bound"] is None else Fraction(rational(result["bound"]))
    scale = _scale(period, proven or bound)
    if bound is not None and proven is not None and not whole:
        _agree("bound", bound, proven, scale)
    if value is not None and bound is not None and bound < value - TOLERANCE * scale:
        raise DoesNotHoldError(f"bound {float(bound)!r} is below the value {float(value)!r}")
    check_status(result, sense=-1)
    verdict = _verdict(value, bound, proven, scale)
    gap = None if value is None or proven is None else written(proven - value)
    return Verification(
        kind=f"period ({result['form']})",
        verdict=verdict,
        value=None if value is None else written(value),
        bound=None if proven is None else written(proven),
        gap=gap,
        proof=_in_words(result, proven, excess, verdict),
        not_checked=NOT_CHECKED
        if proven is not None or result["priced"] is None
        else (*NOT_CHECKED, "priced (of the requests left waiting)"),
    )


def _check_facts(period: ExactPeriod, instance: dict[str, Any], result: dict[str, Any]) -> None:
    """Check what a result repeats of its problem."""
    if result["period"] != period.first:
        raise DoesNotHoldError(f"period: the problem's is {period.first}, not {result['period']}")
    clipped = instance.get("clipped", 0)
    if result["clipped"] != clipped:
        raise DoesNotHoldError(f"clipped: {clipped} residuals were, not {result['clipped']}")
    oversize = [j for j in range(len(period.rewards)) if not _fits(period, j)]
    if result["oversize"] != oversize:
        raise DoesNotHoldError(f"oversize: requests {oversize} are, not {result['oversize']}")


def _fits(period: ExactPeriod, request: int) -> bool:
    """Whether a request fits whole on some device, alone."""
    held = period.held[request]
    return any(
        all(slots[age] >= 1 and tokens[age] >= held + age for age in range(period.active[request]))
        for slots, tokens in zip(period.slots, period.kv_tokens, strict=True)
    )


def _primal(
    period: ExactPeriod, result: dict[str, Any], *, whole: bool
) -> tuple[Fraction | None, Fraction]:
    """Return the exact value of x and its largest relative excess over a row.

    It must be feasible within the tolerance (starts in whole: exactly), and worth what is claimed.
    """
    if result["x"] is None:
        return None, Fraction(0)
    x = _table("x", result["x"], len(period.rewards), period.devices)
    tolerance = Fraction(0) if whole else TOLERANCE
    excess = max([Fraction(0), *(Fraction(sum(row)) - 1 for row in x)])
    for j, row in enumerate(x):
        if min(row) < 0:
            raise DoesNotHoldError(f"x: request {j} has a negative share")
        if sum(row) > 1 + tolerance:
            raise DoesNotHoldError(f"x: request {j} is started {float(sum(row))!r} times")
        if whole and any(Fraction(share).denominator != 1 for share in row):
            raise DoesNotHoldError(f"x: request {j} is started in part")
    for name, use, capacity in zip(
        ("slots", "KV tokens"), period.use(x), (period.slots, period.kv_tokens), strict=True
    ):
        excess = max(excess, _check_rows(period, name, use, capacity, tolerance))
    value = period.value(x)
    if result["value"] is None:
        raise DoesNotHoldError(f"value: none is claimed, x is worth {float(value)!r}")
    _agree("value", rational(result["value"]), value, _scale(period, value))
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
                    f"x: device {g} uses {float(tokens)!r} of {most} {name} in period "
                    f"{period.first + offset}"
                )
    return worst


def _dual(period: ExactPeriod, result: dict[str, Any]) -> Fraction | None:
    """Return the bound that the prices prove, or None where they do not price all requests."""
    priced = result["priced"]
    if priced is None or priced["source"] not in OF_ALL_REQUESTS:
        return None
    batch, memory = (
        _table(name, priced[name], period.devices, period.remaining) for name in ("batch", "memory")
    )
    for name, table in (("batch", batch), ("memory", memory)):
        for g, row in enumerate(table):
            if min(row) < 0:
                raise DoesNotHoldError(f"priced.{name}: a price of device {g} is negative")
    claimed = _vector("option_values", priced["option_values"], len(period.rewards))
    scale = _scale(period, None)
    for j, (given, exact) in enumerate(
        zip(claimed, period.option_values(batch, memory), strict=True)
    ):
        _agree(f"priced.option_values[{j}]", given, exact, max(scale, exact))
    return period.dual_value(batch, memory)


def _table(name: str, rows: Any, height: int, width: int) -> list[list[Number]]:
    if not isinstance(rows, list) or len(rows) != height:
        raise DoesNotHoldError(f"{name} must have {height} rows")
    return [_vector(name, row, width) for row in rows]


def _vector(name: str, row: Any, width: int) -> list[Number]:
    if not isinstance(row, list) or len(row) != width:
        raise DoesNotHoldError(f"{name} must have {width} numbers in a row")
    return [rational(value) for value in row]


def _scale(period: ExactPeriod, value: Fraction | None) -> Fraction:
    return max([abs(value or Fraction(0)), *period.rewards, Fraction(0)])


def _agree(name: str, claimed: Number, exact: Fraction, scale: Fraction) -> None:
    if abs(claimed - exact) > TOLERANCE * scale:
        raise DoesNotHoldError(f"{name}: it is {float(exact)!r}, not {float(claimed)!r}")


def _verdict(
    value: Fraction | None, bound: Fraction | None, proven: Fraction | None, scale: Fraction
) -> Verdict:
    if value is None and bound is None:
        return Verdict.NOTHING
    if proven is None:
        return Verdict.BOUNDED if bound is None else Verdict.VALUE_ONLY
    if value is not None and proven == value:
        return Verdict.OPTIMAL
    if value is not None and abs(proven - value) <= TOLERANCE * scale:
        return Verdict.WITHIN_TOLERANCE
    resting = bound is not None and bound < proven - TOLERANCE * scale
    return Verdict.VALUE_ONLY if resting else Verdict.BOUNDED


def _in_words(
    result: dict[str, Any], proven: Fraction | None, excess: Fraction, verdict: Verdict
) -> str:
    said = "no prices of all requests"
    if proven is not None:
        said = f"prices >= 0 bound every value (tolerance {float(TOLERANCE):g}, relative)"
    if excess:
        said += f"; x exceeds a row by {float(excess):.1g} of it, by rounding"
    if verdict is Verdict.VALUE_ONLY:
        said += f"; {result['solver']} claims {float(rational(result['bound']))!r}"
    return said
