"""`olprouting prices`: bid prices against other rules and against exact prices."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olprouting.cli import options as o
from olprouting.cli import period_options as p
from olprouting.cli.price_tables import print_front, print_report, warn_never_started
from olprouting.cli.saving import Saving, own_folder
from olprouting.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from olprouting.instances import Cluster, Trace
    from olprouting.policies import PolicyOptions
    from olprouting.progress import OnProgress

DEFAULT_REQUESTS = 250

DevicesOption = Annotated[int, typer.Option(min=1, help="Devices G.")]
KvOption = Annotated[int, typer.Option(min=1, help="KV tokens per device M, for every rule.")]
NoiseOption = Annotated[
    float, typer.Option(help="Forecast lengths are off by up to this share, 0..1.")
]
PeriodsOption = Annotated[int, typer.Option(min=1, help="T, the number of periods.")]
LastPeriodOption = Annotated[
    str, typer.Option(help="fixed (T is the last period) or receding (T counted from now).")
]
ResidualsOption = Annotated[
    str,
    typer.Option(
        help="Room that is planned with: true (the real devices) or open-loop (the rule's own "
        "starts at forecast lengths)."
    ),
]
StepsOption = Annotated[int, typer.Option(min=0, help="Subgradient steps K per period.")]
StepSizeOption = Annotated[float, typer.Option(help="Step size eta, > 0.")]
BatchOption = Annotated[int, typer.Option(min=1, help="Columns in a mini-batch.")]
RecordOption = Annotated[
    str, typer.Option(help="What becomes history: the best pair per period, or per request.")
]
RemainOption = Annotated[
    str, typer.Option(help="Starts still to come: slots (authors' code) or arrivals.")
]
NormalizerOption = Annotated[str, typer.Option(help="What a reward of 1 is: auto, or a number.")]
PositionsOption = Annotated[
    str,
    typer.Option(
        help="Prices belong to absolute periods (paper), or relative ones: so many periods ahead. "
        "A receding horizon always takes relative ones."
    ),
]
ExactEveryOption = Annotated[
    int, typer.Option(min=1, help="bid-price-exact solves for prices every so many periods.")
]
GuardOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Forget older history when a Poisson test finds that more requests arrive in a window "
        "of so many periods than before.",
        show_default=False,
    ),
]
ParetoOption = Annotated[
    str | None,
    typer.Option(
        help="Instead, run bid-price once under each published set of weights, and mark the best "
        "trade-offs between two metrics, such as ttft_mean,throughput_tokens_per_s.",
        show_default=False,
    ),
]
ClipOption = Annotated[bool, typer.Option(help="Clip normalised rewards at 1 (paper).")]
PoliciesOption = Annotated[
    str | None,
    typer.Option(
        help="Comma-separated rules to run beside bid-price: round-robin, jsq, random, "
        "power-of-two by default; also bid-price-exact, lp-rounding, period-integer, ..."
    ),
]
SampleOption = Annotated[str, typer.Option(help="Periods to judge exactly, or all.")]
StepTimeOption = Annotated[
    str, typer.Option(help="Step-time preset: llama-2-7b-a100-tp1, balance-authors, ...")
]
ClockOption = Annotated[str, typer.Option(help="barrier, or independent steps per device.")]
PeriodSecondsOption = Annotated[
    float | None,
    typer.Option(
        help="Length of a period with the independent clock; by default a step of a half-full "
        "device.",
        show_default=False,
    ),
]
TimeLimitOption = Annotated[float, typer.Option(min=0.0, help="Seconds per exact solve.")]


def prices(
    context: typer.Context,
    trace: o.TraceOption = o.DEFAULT_TRACE,
    columns: o.ColumnsOption = None,
    requests: p.RequestsOption = DEFAULT_REQUESTS,
    weights: p.WeightsOption = "tail-latency",
    t1: p.T1Option = 400.0,
    t2: p.T2Option = 49.0,
    devices: DevicesOption = 4,
    slots: p.SlotsOption = 29,
    kv_tokens: KvOption = 20_000,
    rate: p.RateOption = 0.4,
    noise: NoiseOption = 0.2,
    periods: PeriodsOption = 1000,
    last_period: LastPeriodOption = "fixed",
    residuals: ResidualsOption = "true",
    steps: StepsOption = 5,
    step_size: StepSizeOption = 0.01,
    batch: BatchOption = 64,
    record: RecordOption = "period",
    n_remain: RemainOption = "slots",
    normalizer: NormalizerOption = "auto",
    clip: ClipOption = False,
    positions: PositionsOption = "absolute",
    exact_every: ExactEveryOption = 1,
    guard_window: GuardOption = None,
    reject_after: o.RejectAfterOption = None,
    policies: PoliciesOption = None,
    sample: SampleOption = "30",
    pareto: ParetoOption = None,
    time_limit: TimeLimitOption = 5.0,
    step_time: StepTimeOption = "llama-2-7b-a100-tp1",
    clock: ClockOption = "barrier",
    period_seconds: PeriodSecondsOption = None,
    oversize: o.OversizeOption = "reject",
    ties: o.TiesOption = "random",
    seed: o.SeedOption = 0,
    out: p.OutOption = None,
    as_json: o.JsonOption = False,
) -> None:
    """Run the bid-price rule and others at equal limits; judge its prices and starts exactly.

    Without arguments: 250 requests drawn from the embedded profile of the Azure 2023 conversation
    trace, at 0.4 requests per period.
    """
    folder = None if out is None else own_folder(context, out)
    from olprouting.policies import BidPriceOptions, PeriodOptions, PolicyOptions

    cluster = o.make_cluster(devices, slots, step_time, kv_tokens)
    period_s = _period_s(cluster, clock, period_seconds)
    options = PolicyOptions(
        ties=ties,
        time_limit_s=time_limit,
        period=PeriodOptions(
            weights=p.parse_weights(weights),
            t1=t1,
            t2=t2,
            periods=periods,
            last_period=last_period,
            period_s=period_s,
            residuals=residuals,
        ),
        bid_price=BidPriceOptions(
            steps=steps,
            batch=batch,
            step_size=step_size,
            record=record,
            n_remain=n_remain,
            reward_normalizer=_normalizer(normalizer),
            clip=clip,
            positions=positions,
            exact_every=exact_every,
            guard_window=guard_window,
            reject_after=reject_after,
        ),
    )
    study = _Study(
        p.poisson_workload(trace, requests, rate, period_s, seed, columns),
        cluster,
        options,
        noise,
        clock,
        oversize,
        seed,
    )
    if pareto is None:
        study.compare(o.names(policies), o.number_or_all("--sample", sample), folder, as_json)
    elif policies is None:
        study.trace_front(pareto, folder, as_json)
    else:
        raise InputError("--pareto runs bid-price alone; leave out --policies")


@dataclass(frozen=True)
class _Study:
    """What all runs of the command have in common."""

    trace: Trace
    cluster: Cluster
    options: PolicyOptions
    noise: float
    clock: str
    oversize: str
    seed: int

    def conditions(self, advance: OnProgress) -> dict[str, Any]:
        """Return the arguments that `measure_prices` and `pareto` share."""
        from olprouting.engine import KvOptions
        from olprouting.forecasts import NoisyOracle

        return {
            "options": self.options,
            "forecast": NoisyOracle(self.noise),
            "clock": self.clock,
            "kv": KvOptions(oversize=self.oversize),
            "seed": self.seed,
            "on_progress": advance,
        }

    def compare(
        self, policies: list[str], sample: int | None, folder: Path | None, as_json: bool
    ) -> None:
        """Print how bid-price and other rules do, and how good its prices are."""
        from olprouting.cli.progress import announce_compilation, progress_bar
        from olprouting.price_report import DEFAULT_POLICIES, measure_prices

        announce_compilation()
        with progress_bar() as advance:
            report = measure_prices(
                self.trace,
                self.cluster,
                policies or DEFAULT_POLICIES,
                sample=sample,
                time_limit_s=self.options.time_limit_s,
                **self.conditions(advance),
            )
        saving = Saving()
        if folder is not None and report.runs:
            saving.save(lambda: report.write(folder))
        if as_json:
            typer.echo(json.dumps(report.to_document()))
        else:
            print_report(report)
        warn_never_started(report)
        saving.end(report.failures, interrupted=report.interrupted)

    def trace_front(self, metrics: str, folder: Path | None, as_json: bool) -> None:
        """Print which trade-offs between two metrics the published weights reach."""
        from olprouting.cli.progress import announce_compilation, progress_bar
        from olprouting.instances import WEIGHT_SETS
        from olprouting.price_report import pareto

        chosen = tuple(o.names(metrics))
        announce_compilation()
        with progress_bar() as advance:
            front = pareto(
                self.trace,
                self.cluster,
                WEIGHT_SETS.values(),
                chosen,  # type: ignore[arg-type]  # their number is checked there
                **self.conditions(advance),
            )
        saving = Saving()
        if folder is not None and front.points:
            saving.save(lambda: front.write(folder))
        if as_json:
            typer.echo(json.dumps(front.to_document()))
        else:
            print_front(front, list(WEIGHT_SETS))
        saving.end(interrupted=front.interrupted)


def _normalizer(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--normalizer {text!r}: expected auto, or a number > 0") from None


def _period_s(cluster: Cluster, clock: str, period_seconds: float | None) -> float | None:
    from olprouting.price_report import typical_step_s

    if clock != "independent" or period_seconds is not None:
        return period_seconds
    step = cluster.step_time
    assert cluster.kv_tokens is not None
    return typical_step_s(
        step.fixed_s,
        step.per_slot_s,
        step.per_token_s,
        int(cluster.slots[0]),
        int(cluster.kv_tokens[0]),
    )
