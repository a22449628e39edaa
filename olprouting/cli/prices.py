"""`olprouting prices`: bid prices against other policies and against exact prices."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olprouting.cli import options as o
from olprouting.cli.command import command, take
from olprouting.cli.saving import Saving, own_folder
from olprouting.cli.tables import show_report
from olprouting.errors import InputError
from olprouting.options import (
    BidPriceOptions,
    ClockOptions,
    ClusterOptions,
    ForecastOptions,
    KvOptions,
    PeriodOptions,
    PolicyOptions,
    PriceReportOptions,
    WorkloadOptions,
)

if TYPE_CHECKING:
    from pathlib import Path

    from olprouting.instances import Trace
    from olprouting.progress import OnProgress

ParetoOption = Annotated[
    str | None,
    typer.Option(
        help="Instead, run bid-price once under each published set of weights, and mark the best "
        "trade-offs between two metrics, such as ttft_mean,throughput_tokens_per_s.",
        show_default=False,
    ),
]
PoliciesOption = Annotated[
    str | None,
    typer.Option(
        help="Comma-separated policies to run beside bid-price and prices-0, the same with all "
        "prices 0: round-robin, jsq, random, power-of-two by default; also bid-price-exact, "
        "lp-rounding, period-integer, ..."
    ),
]
Workers = Annotated[
    ClusterOptions,
    take(
        *("workers", "slots", "kv_tokens", "step_time"),
        workers={"flag": "--workers", "help": "Workers G.", "default": 4},
        slots={"help": "Slots per worker B, for every policy.", "default": 29},
        kv_tokens={"help": "KV tokens per worker M, for every policy.", "default": 20_000},
        step_time={
            "help": "Step-time preset: llama-2-7b-a100-tp1, balance-authors, ...",
            "default": "llama-2-7b-a100-tp1",
        },
    ),
]
Period = Annotated[
    PeriodOptions,
    take("weights", "classes", "t1", "t2", "periods", "last_period", "residuals", "period_s"),
]
Learning = Annotated[
    BidPriceOptions,
    take(
        *("steps", "step_size", "batch", "record", "n_remain", "reward_normalizer", "clip"),
        *("positions", "exact_every", "guard_window", "reject_after"),
    ),
]
Time = Annotated[
    ClockOptions, take("clock", clock={"help": "barrier, or independent steps per worker."})
]


@command
def prices(
    context: typer.Context,
    *,
    workload: Annotated[WorkloadOptions, o.by_period("requests", requests={"default": 250})],
    cluster: Workers,
    policies: PoliciesOption = None,
    policy_options: Annotated[PolicyOptions, take("ties")],
    period: Period,
    learning: Learning,
    forecast: Annotated[ForecastOptions, take("noise", noise={"default": 0.2})],
    time: Time,
    kv: Annotated[KvOptions, take("oversize", oversize={"default": "reject"})],
    judging: Annotated[PriceReportOptions, take("sample", "time_limit_s")],
    pareto: ParetoOption = None,
    seed: o.SeedOption = 0,
    out: o.FolderOption = None,
    as_json: o.JsonOption = False,
    details: o.DetailsOption = False,
    strict: o.StrictOption = False,
) -> None:
    """Run the bid-price policy and others at equal limits; judge its prices and starts exactly.

    Without arguments: 250 requests drawn from the embedded profile of the Azure 2023 conversation
    trace, at 0.4 requests per period.
    """
    folder = None if out is None else own_folder(context, out)
    if time.clock == "independent" and period.period_s is None:
        period = replace(period, period_s=cluster.half_full_step_s())
    study = _Study(
        o.load_workload(workload, seed, period.period_s, period.classes).trace,
        cluster,
        replace(
            policy_options, time_limit_s=judging.time_limit_s, period=period, bid_price=learning
        ),
        forecast,
        time,
        kv,
        judging,
        seed,
    )
    if pareto is not None and period.classes is not None:
        raise InputError("--pareto varies the weights of all requests; leave out --classes")
    if pareto is None:
        study.compare(o.names(policies), folder, as_json=as_json, details=details, strict=strict)
    elif policies is None:
        study.trace_front(pareto, folder, as_json=as_json, strict=strict)
    else:
        raise InputError("--pareto runs bid-price alone; leave out --policies")


@dataclass(frozen=True)
class _Study:
    """What all runs of the command have in common."""

    trace: Trace
    cluster: ClusterOptions
    options: PolicyOptions
    forecast: ForecastOptions
    time: ClockOptions
    kv: KvOptions
    judging: PriceReportOptions
    seed: int

    def conditions(self, advance: OnProgress) -> dict[str, Any]:
        """Return the arguments that `measure_prices` and `pareto` share."""
        from olprouting.forecasts import make_forecast

        return {
            "options": self.options,
            "forecast": make_forecast(self.forecast.name),
            **asdict(self.time),
            "kv": self.kv,
            "seed": self.seed,
            "on_progress": advance,
        }

    def compare(
        self,
        policies: list[str],
        folder: Path | None,
        *,
        as_json: bool,
        details: bool,
        strict: bool,
    ) -> None:
        """Print how bid-price and other policies do, and how good its prices are."""
        from olprouting.cli.progress import progress_bar, warn_if_interpreted
        from olprouting.price_report import DEFAULT_POLICIES, measure_prices

        warn_if_interpreted()
        with progress_bar() as advance:
            report = measure_prices(
                self.trace,
                self.cluster.cluster(),
                policies or DEFAULT_POLICIES,
                **asdict(self.judging),
                **self.conditions(advance),
            )
        saving = Saving()
        if folder is not None and report.runs:
            with progress_bar() as advance:
                advance("write", 0, 1)
                saving.save(lambda: report.write(folder))
        show_report(report, as_json=as_json, details=details)
        misleading = report.warnings() if strict else ()
        saving.end(report.failures, interrupted=report.interrupted, misleading=misleading)

    def trace_front(
        self, metrics: str, folder: Path | None, *, as_json: bool, strict: bool
    ) -> None:
        """Print which trade-offs between two metrics the published weights reach."""
        from olprouting.cli.progress import progress_bar, warn_if_interpreted
        from olprouting.instances import WEIGHT_SETS
        from olprouting.price_report import pareto

        chosen = tuple(o.names(metrics))
        warn_if_interpreted()
        with progress_bar() as advance:
            front = pareto(
                self.trace,
                self.cluster.cluster(),
                WEIGHT_SETS.values(),
                chosen,  # type: ignore[arg-type]  # their number is checked there
                **self.conditions(advance),
            )
        saving = Saving()
        if folder is not None and front.points:
            saving.save(lambda: front.write(folder))
        show_report(front, as_json=as_json)
        misleading = front.warnings() if strict else ()
        saving.end(interrupted=front.interrupted, misleading=misleading)
