"""Options that commands of the batch/KV model share, and what they stand for."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olprouting.cli import options as o
from olprouting.errors import InputError

if TYPE_CHECKING:
    from olprouting.instances import SloWeights, Trace

RequestsOption = Annotated[int, typer.Option(min=1, help="Use the first so many requests.")]
WeightsOption = Annotated[
    str,
    typer.Option(
        help="A published set (tail-latency, requests, ...) or six numbers: alpha,beta,gamma,"
        "sigma,zeta1,zeta2; fractions such as 1/400 will do."
    ),
]
T1Option = Annotated[float, typer.Option(help="Threshold of end-to-end latency, in periods.")]
T2Option = Annotated[float, typer.Option(help="Threshold of time to first token, in periods.")]
SlotsOption = Annotated[int, typer.Option(min=1, help="Slots per device B, for every rule.")]
RateOption = Annotated[float, typer.Option(help="Poisson arrivals per period, > 0.")]
OutOption = Annotated[
    Path | None, typer.Option(help="Folder for tables and figures.", show_default=False)
]


def parse_weights(text: str) -> SloWeights:
    """Return the weights that a name or six numbers stand for.

    Raises
    ------
    InputError
        If there is no such set, or the numbers are not six, finite and >= 0.
    """
    from olprouting.instances import SloWeights

    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1:
        return SloWeights.preset(text)
    if len(parts) != 6:
        raise InputError(
            f"--weights {text!r}: expected six numbers (alpha,beta,gamma,sigma,zeta1,zeta2), got "
            f"{len(parts)}"
        )
    try:
        return SloWeights(*(float(Fraction(part)) for part in parts))
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"--weights {text!r}: {error}") from None


def poisson_workload(
    name: str, requests: int, rate: float, period_s: float | None, seed: int, columns: str | None
) -> Trace:
    """Return the first requests of a trace, with Poisson arrivals by period (or at times)."""
    import numpy as np

    from olprouting.price_report import poisson_by_period

    trace = o.load_workload(name, requests, "backlog", 1, seed, columns=columns).trace
    return poisson_by_period(trace, rate, np.random.default_rng([seed, 2]), period_s)
