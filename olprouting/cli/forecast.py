"""`olprouting forecast`: how well completions are foreseen, and training to foresee them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olprouting.cli import options as o
from olprouting.cli.command import command, option, take
from olprouting.cli.saving import Saving, make_folder, own_file, own_folder
from olprouting.cli.tables import print_table
from olprouting.options import EvaluationOptions

if TYPE_CHECKING:
    from olprouting.forecast_report import ForecastReport

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
    if as_json:
        typer.echo(json.dumps(report.to_document()))
    else:
        _print(report)
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


def _print(report: ForecastReport) -> None:
    settings, rows = report.settings, report.forecasts
    typer.echo(
        f"{settings['trace']}: {settings['train_requests']} requests train, "
        f"{settings['test_requests']} test, {settings['queries']} queries, "
        f"horizon {settings['horizon']}"
    )
    print_table(
        "Accuracy of forecasts",
        {"forecast": [row.forecast for row in rows]},
        {
            "AUC": [_text(row.auc, ".3f") for row in rows],
            "MAE": [_text(row.mae_finisher_tokens, ".1f") for row in rows],
            "ECE": [f"{row.calibration_error:.3f}" for row in rows],
            "bias": [f"{row.bias_tokens:+.1f}" for row in rows],
            "covered": [f"{row.covered_share:.1%}" for row in rows],
            "fit s": [f"{row.fit_s:.2f}" for row in rows],
            "query us": [f"{row.predict_us:.2f}" for row in rows],
        },
        "AUC and calibration error (ECE) of P(r <= H); MAE in tokens where r <= H; "
        "bias of E min(r, H+1) in tokens",
    )
    _print_bins(
        "Share that finished within the window, by forecast probability",
        [
            (each.forecast, f"{each.from_probability:g}", each.observed_share)
            for each in report.calibration
        ],
        "calibrated where a share lies between the heads of its column and the next",
    )
    _print_bins(
        "Share answered from history of their own, by age",
        [
            (each.forecast, str(each.from_age_tokens), each.covered_share)
            for each in report.coverage
        ],
        "age in tokens, from the head of the column",
    )
    for note in dict.fromkeys(row.auc_note for row in rows if row.auc_note):
        typer.echo(f"note: no AUC: {note}", err=True)
    for notice in settings["notices"]:
        typer.echo(f"note: {notice}", err=True)
    if report.interrupted:
        typer.echo("interrupted: the table holds what was finished", err=True)


def _print_bins(title: str, cells: list[tuple[str, str, float]], caption: str) -> None:
    """Print a row per forecast and a column per bin; nothing where a bin holds no query."""
    shares = {(forecast, start): share for forecast, start, share in cells}
    forecasts = list(dict.fromkeys(forecast for forecast, _, _ in cells))
    starts = sorted({start for _, start, _ in cells}, key=float)
    print_table(
        title,
        {"forecast": forecasts},
        {
            start: [_text(shares.get((forecast, start)), ".2f") for forecast in forecasts]
            for start in starts
        },
        caption,
    )


def _text(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"
