"""`olprouting forecast`: how well completions are foreseen, and training to foresee them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from olprouting.cli import options as o
from olprouting.cli.command import command, option, take
from olprouting.cli.saving import Saving, make_folder, own_file, own_folder
from olprouting.cli.tables import show_report
from olprouting.options import EvaluationOptions

forecast_app = typer.Typer(
    name="forecast", help="Judge and train forecasts of completions.", no_args_is_help=True
)

WindowOption = Annotated[int, option(EvaluationOptions, "horizon", panel="")]
ForecastsOption = Annotated[
    str | None,
    typer.Option(
        help="Comma-separated: oracle, noisy:SPREAD, survival, km, exact-match, learned or "
        "learned:FILE; one of each by default.",
        show_default=False,
    ),
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for tables and figure.", show_default=False),
]
ModelOption = Annotated[Path, typer.Option("--out", help="File for the model (JSON).")]


@forecast_app.command()
@command
def evaluate(
    context: typer.Context,
    *,
    workload: o.RequestsInOrder,
    forecasts: ForecastsOption = None,
    judging: Annotated[EvaluationOptions, take("horizon", "train_share", "sample")],
    seed: o.SeedOption = 0,
    out: FolderOption = None,
    as_json: o.JsonOption = False,
) -> None:
    """Fit forecasts to the first requests of a trace and judge them on the later ones."""
    folder = None if out is None else own_folder(context, out)
    from olprouting.cli.progress import progress_bar
    from olprouting.forecast_report import DEFAULT_FORECASTS, evaluate_forecasts

    trace = o.load_workload(workload, seed).trace
    with progress_bar() as advance:
        report = evaluate_forecasts(
            trace,
            o.names(forecasts) or DEFAULT_FORECASTS,
            **asdict(judging),
            seed=seed,
            on_progress=advance,
        )
    saving = Saving()
    if folder is not None and report.forecasts:
        saving.save(lambda: report.write(folder))
    show_report(report, as_json=as_json)
    saving.end(report.failures, interrupted=report.interrupted)


@forecast_app.command()
@command
def train(
    context: typer.Context,
    *,
    out: ModelOption,
    workload: o.RequestsInOrder,
    horizon: WindowOption = EvaluationOptions.horizon,
    seed: o.SeedOption = 0,
) -> None:
    """Train the learned forecast on a trace and save it, for --forecast learned:FILE."""
    make_folder(out.parent)
    out = own_file(context, out, (workload.source,))
    from olprouting.cli.progress import progress_bar
    from olprouting.forecasts.learned import train_learned

    history = o.load_workload(workload, seed).trace
    with progress_bar() as advance:
        model = train_learned(history, horizon, seed=seed, on_progress=advance)
    saving = Saving()
    saving.save(lambda: [model.save(out)])
    typer.echo(
        f"trained on {len(history)} requests of {history.name} "
        f"({model.provenance['rows']} rows), horizon {horizon}"
    )
    saving.end()
