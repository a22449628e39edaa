"""`olprouting prices`: bid prices against other rules and against exact prices."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olprouting.cli import options as o
from olprouting.cli.price_tables import print_report, warn_never_started
from olprouting.errors import InputError

if TYPE_CHECKING:
    from olprouting.instances import Cluster, SloWeights, Trace

DEFAULT_REQUESTS = 250

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
DevicesOption = Annotated[int, typer.Option(min=1, help="Devices G.")]
SlotsOption = Annotated[int, typer.Option(min=1, help="Slots per device B, for every rule.")]
KvOption = Annotated[int, typer.Option(min=1, help="KV tokens per device M, for every rule.")]
RateOption = Annotated[float, typer.Option(help="Poisson arrivals per period, > 0.")]
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
OutOption = Annotated[
    Path | None, typer.Option(help="Folder for tables and figures.", show_default=False)
]


def prices(
    trace: o.TraceOption = o.DEFAULT_TRACE,
    requests: RequestsOption = DEFAULT_REQUESTS,
    weights: WeightsOption = "tail-latency",
    t1: T1Option = 400.0,
    t2: T2Option = 49.0,
    devices: DevicesOption = 4,
    slots: SlotsOption = 29,
    kv_tokens: KvOption = 20_000,
    rate: RateOption = 0.4,
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
    reject_after: o.RejectAfterOption = None,
    policies: PoliciesOption = None,
    sample: SampleOption = "30",
    time_limit: TimeLimitOption = 5.0,
    step_time: StepTimeOption = "llama-2-7b-a100-tp1",
    clock: ClockOption = "barrier",
    period_seconds: PeriodSecondsOption = None,
    ties: o.TiesOption = "random",
    seed: o.SeedOption = 0,
    out: OutOption = None,
    as_json: o.JsonOption = False,
) -> None:
    """Run the bid-price rule and others at equal limits; judge its prices and starts exactly.

    Without arguments: 250 requests drawn from the embedded profile of the Azure 2023 conversation
    trace, at 0.4 requests per period.
    """
    folder = None if out is None else o.writable_folder(out)
    from olprouting.cli.progress import announce_compilation, progress_bar
    from olprouting.forecasts import NoisyOracle
    from olprouting.policies import BidPriceOptions, PeriodOptions, PolicyOptions
    from olprouting.price_report import DEFAULT_POLICIES, measure_prices

    cluster = o.make_cluster(devices, slots, step_time)
    cluster = cluster.replace(kv_tokens=[kv_tokens] * devices)
    period_s = _period_s(cluster, clock, period_seconds)
    options = PolicyOptions(
        ties=ties,
        time_limit_s=time_limit,
        period=PeriodOptions(
            weights=parse_weights(weights),
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
            reject_after=reject_after,
        ),
    )
    forecast = NoisyOracle(noise)
    workload = _workload(trace, requests, rate, period_s, seed)
    announce_compilation()
    with progress_bar() as advance:
        report = measure_prices(
            workload,
            cluster,
            o.names(policies) or DEFAULT_POLICIES,
            options=options,
            sample=o.number_or_all("--sample", sample),
            forecast=forecast,
            clock=clock,
            time_limit_s=time_limit,
            seed=seed,
            on_progress=advance,
        )
    written = report.write(folder) if folder is not None and report.runs else ()
    if as_json:
        typer.echo(json.dumps(report.to_document()))
    else:
        print_report(report)
    warn_never_started(report)
    for path in written:
        typer.echo(f"wrote {path}", err=True)
    if report.interrupted:
        raise KeyboardInterrupt


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


def _workload(name: str, requests: int, rate: float, period_s: float | None, seed: int) -> Trace:
    import numpy as np

    from olprouting.price_report import poisson_by_period

    trace = o.load_workload(name, requests, "backlog", 1, seed).trace
    return poisson_by_period(trace, rate, np.random.default_rng([seed, 2]), period_s)
