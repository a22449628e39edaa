"""`olprouting theory`: what the balance paper's theorem says about one setting."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olprouting.cli import options as o
from olprouting.cli.command import command, take
from olprouting.cli.tables import print_table
from olprouting.options import ClusterOptions

if TYPE_CHECKING:
    from olprouting.theory import StationaryImbalance, SupplyCheck, TheoremConstants

PromptLawOption = Annotated[
    str,
    typer.Option(
        help="uniform:SMALLEST:LARGEST, FILE.csv with columns size,probability, or "
        "trace:FILE|NAME for the prompts of a trace."
    ),
]
CompletionOption = Annotated[
    float, typer.Option("--p", help="Completion probability p per iteration; decodes last 1/p.")
]
ArrivalsOption = Annotated[
    float | None,
    typer.Option(help="Long-run arrivals, to check the supply condition.", show_default=False),
]


@command
def theory(
    *,
    prompt_law: PromptLawOption = "uniform:1:2000",
    p: CompletionOption = 0.005,
    cluster: Annotated[ClusterOptions, take("workers", "slots")],
    arrivals_per_iteration: ArrivalsOption = None,
    as_json: o.JsonOption = False,
) -> None:
    """Compute the theorem's constants and bounds, and the exact mean imbalance of FCFS rules.

    The model: independent prompts of the given law, geometric decode lengths, every slot full.
    """
    from olprouting.theory import (
        certified_ratio,
        check_supply,
        constants,
        read_prompt_law,
        stationary_imbalance,
    )

    law = read_prompt_law(prompt_law)
    found = constants(law, p, cluster.workers, cluster.slots)
    supply = None if arrivals_per_iteration is None else check_supply(found, arrivals_per_iteration)
    exact = stationary_imbalance(law, p, cluster.workers, cluster.slots)
    ratio = certified_ratio(found, exact)
    bounds = _bounds(found, exact, ratio, supply)
    if as_json:
        document = {
            "prompt_law": law.name,
            "constants": found.to_row(),
            "stationary_imbalance": exact.to_row(),
            "certified_ratio": ratio,
            "standing": {name: standing for name, _, _, standing in bounds},
            "supply": None if supply is None else _supply_row(supply),
        }
        typer.echo(json.dumps(document))
        return
    _print_constants(law.name, found)
    names, values, units, standings = zip(*bounds, strict=True)
    print_table(
        "mean imbalance in the long run",
        {"quantity": names},
        {"value": [_text(value) for value in values], "unit": units, "standing": standings},
        f"error of the exact value: at most {exact.error_tokens:.1e} tokens",
    )
    if supply is not None:
        typer.echo(supply.message())


def _print_constants(law: str, c: TheoremConstants) -> None:
    rows: list[tuple[str, float | None, str]] = [
        ("s", c.largest_prompt_tokens, "tokens"),
        ("n = G B", c.total_slots, "slots"),
        ("sigma^2", c.sigma2_tokens2, "tokens^2"),
        ("mu_2", c.mu2_tokens2, "tokens^2"),
        ("theta_0", c.theta0_per_token, "1/token"),
        ("V", c.V_tokens2, "tokens^2"),
        ("tau", c.tau_per_token, "1/token"),
        ("kappa", c.kappa_per_slot, "1/slot"),
        ("eps", c.eps_tokens, "tokens"),
        ("rho", c.rho, ""),
        ("n p", c.saturating_requests_per_iteration, "requests/iteration"),
        ("n p / rho", c.supply_requests_per_iteration, "requests/iteration"),
    ]
    names, values, units = zip(*rows, strict=True)
    print_table(
        f"{law}, p = {c.p:g}, G = {c.workers}, B = {c.slots}",
        {"constant": names},
        {"value": [_text(value) for value in values], "unit": units},
        "arXiv 2601.17855, section 4 and EC.1",
    )


def _bounds(
    c: TheoremConstants,
    exact: StationaryImbalance,
    ratio: float | None,
    supply: SupplyCheck | None,
) -> list[tuple[str, float | None, str, str]]:
    from olprouting.theory.theorem import NOT_CERTIFIED

    proved = _standing(
        "certified", c.supply_requests_per_iteration, None if supply is None else supply.holds
    )
    full = _standing(
        "exact", c.saturating_requests_per_iteration, None if supply is None else supply.saturates
    )
    doubtful = NOT_CERTIFIED
    if supply is not None and not supply.holds:
        doubtful = "does not apply: supply"
    return [
        ("FCFS rules, exact", exact.imbalance_tokens, "tokens", full),
        ("FCFS / (G sigma sqrt(B log G))", exact.normalised, "", full),
        ("IO_0, upper bound", c.io0_upper_bound_tokens, "tokens", proved),
        ("FCFS / IO_0, at least", ratio, "", proved),
        ("FCFS, theorem's lower bound", c.fcfs_lower_bound_tokens, "tokens", doubtful),
        (f"FCFS / IO_0, theorem ({c.ratio_case})", c.ratio_lower_bound, "", doubtful),
    ]


def _standing(word: str, needed: float | None, holds: bool | None) -> str:
    if needed is None:
        return "does not apply: rho = 0"
    if holds is None:
        return f"{word} if A(k)/k > {needed:.5g}"
    return word if holds else "does not apply: supply"


def _supply_row(supply: SupplyCheck) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(supply) | {
        "saturates": supply.saturates,
        "holds": supply.holds,
        "message": supply.message(),
    }


def _text(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"
