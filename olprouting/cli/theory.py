"""`olprouting theory`: what the balance paper's theorem says about one setting."""

from __future__ import annotations

from typing import Annotated

import typer

from olprouting.cli import options as o
from olprouting.cli.command import command, take
from olprouting.cli.saving import Saving, own_folder
from olprouting.cli.tables import show_report
from olprouting.options import ClusterOptions

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
    context: typer.Context,
    *,
    prompt_law: PromptLawOption = "uniform:1:2000",
    p: CompletionOption = 0.005,
    cluster: Annotated[ClusterOptions, take("workers", "slots")],
    arrivals_per_iteration: ArrivalsOption = None,
    out: o.FolderOption = None,
    details: o.DetailsOption = False,
    as_json: o.JsonOption = False,
) -> None:
    """Compute the theorem's constants and bounds, and the exact mean imbalance of FCFS policies.

    The model: independent prompts of the given law, geometric decode lengths, every slot full.
    """
    folder = None if out is None else own_folder(context, out)
    from olprouting.theory import TheoryReport, read_prompt_law

    law = read_prompt_law(prompt_law)
    found = TheoryReport.of(law, p, cluster.workers, cluster.slots, arrivals_per_iteration)
    saving = Saving()
    if folder is not None:
        saving.save(lambda: found.write(folder))
    show_report(found, as_json=as_json, details=details)
    saving.end()
