"""The main question: how far each routing policy is from the proven optimum."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from olprouting.errors import Failures, InputError, member_named
from olprouting.exact import SolveOptions
from olprouting.forecasts import Oracle
from olprouting.gaps.measure import Judge, JudgedDecision
from olprouting.gaps.report import GapReport, PolicyGaps
from olprouting.gaps.sampling import SampledRun, sample_run
from olprouting.options import (
    GapOptions,
    JudgedBy,
    PolicyOptions,
    ProjectionOptions,
    WorkloadOptions,
)
from olprouting.policies import make_policy
from olprouting.versions import versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from olprouting.forecasts import Forecast
    from olprouting.instances import Cluster, Trace
    from olprouting.progress import OnProgress

DEFAULT_POLICIES = ("random", "round-robin", "power-of-two", "jsq", "least-load", "br0", "brh")


def measure_gaps(
    trace: Trace,
    cluster: Cluster,
    policies: Sequence[str] = DEFAULT_POLICIES,
    *,
    options: PolicyOptions | None = None,
    decisions: int | None = GapOptions.decisions,
    judged_by: JudgedBy | str = GapOptions.judged_by,
    backlog: int | None = WorkloadOptions.waiting,
    forecast: Forecast | None = None,
    projection: str = ProjectionOptions.projection,
    refresh: str = ProjectionOptions.refresh,
    time_limit_s: float | None = GapOptions.time_limit_s,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> GapReport:
    """Run each policy, sample its decisions, and solve each of them exactly.

    Parameters
    ----------
    trace, cluster
        What to run.
    policies
        Names of routing policies (`make_policy`).
    options
        Options of the policies; `solver`, `formulation`, `gamma`, `horizon` and `growth` also say
        how decisions are solved.
    decisions
        How many decisions to sample per policy, >= 1; None solves all.
    judged_by
        ``"own"``: policies without lookahead by the H = 0 program, the others by the horizon
        program; ``"myopic"``: all by H = 0; ``"horizon"``: all by the horizon program;
        ``"both"``: all by both.
    backlog
        Visible waiting requests, all known in order; None releases requests as the trace says.
    forecast, projection, refresh
        What the horizon program and lookahead policies know of decode lengths (`simulate`).
    time_limit_s
        Per exact solve. A decision it leaves unproven is kept, with its bound.
    seed
        Seed of runs and samples.
    on_progress
        Called with (policy, decisions solved, decisions sampled) after every solve.

    Returns
    -------
    GapReport
        After Ctrl-C: all decisions solved until then. A policy that fails in the middle of its run
        is among its failures, and the others are there; if nothing is, its error is raised.

    Raises
    ------
    InputError
        If an argument is out of range, a name is unknown, or the exact programs do not apply: they
        know no KV limits, and admit as many requests as there are slots.
    """
    options = options or PolicyOptions()
    if decisions is not None and decisions < 1:
        raise InputError(f"decisions = {decisions} must be >= 1, or None for all")
    if cluster.kv_tokens is not None:
        raise InputError("gaps: the exact programs have no KV limits; leave out kv_tokens")
    made = [make_policy(name, cluster.workers, options) for name in policies]
    for policy in made:
        if not policy.maximal:
            raise InputError(
                f"{policy.name} may leave slots free while requests wait, and the exact programs "
                "do not; measure_prices (olprouting prices) compares such policies"
            )
    windows = {policy.name: _windows(judged_by, policy.horizon, options.horizon) for policy in made}
    judge = Judge(
        jsq=make_policy("jsq", cluster.workers, options),
        gamma=options.gamma,
        growth=options.growth,
        solver=options.solver,
        formulation=options.formulation,
        options=SolveOptions(time_limit_s=time_limit_s, seed=seed),
        seed=seed,
    )
    found, failures = _Findings(), Failures()
    try:
        for policy in made:
            with failures.kept():
                run = sample_run(
                    trace,
                    cluster,
                    policy,
                    sample_size=decisions,
                    seed=seed,
                    backlog=backlog,
                    forecast=forecast,
                    projection=projection,
                    refresh=refresh,
                    series_every=1,
                    view_horizon=max(windows[policy.name]),
                )
                if run.result.interrupted:
                    raise KeyboardInterrupt
                found.add_series(policy.name, run)
                for lookahead in windows[policy.name]:
                    found.judge(judge, policy.name, run, lookahead, on_progress)
    except KeyboardInterrupt:
        found.interrupted = True
    if not found.entries:
        failures.raise_first()
    return GapReport(
        settings={
            "trace": trace.name,
            "notices": list(trace.notices),
            "requests": len(trace),
            "slots": cluster.slots.tolist(),
            "backlog": backlog,
            "forecast": (forecast or Oracle()).name,
            "projection": projection,
            "refresh": refresh,
            "judged_by": str(judged_by),
            "decisions": decisions,
            "time_limit_s": time_limit_s,
            "seed": seed,
            **asdict(options),
            "versions": versions(),
        },
        policies=tuple(found.entries),
        judged=tuple(found.judged),
        series=found.series,
        interrupted=found.interrupted,
        failures=failures.messages,
    )


@dataclass
class _Findings:
    """What a study has so far; it survives Ctrl-C."""

    entries: list[PolicyGaps] = field(default_factory=list)
    judged: list[JudgedDecision] = field(default_factory=list)
    series: dict[str, pd.DataFrame] = field(default_factory=dict)
    interrupted: bool = False

    def add_series(self, policy: str, run: SampledRun) -> None:
        self.series[policy] = run.result.series_frame()[["start_s", "imbalance_tokens"]]

    def judge(
        self,
        judge: Judge,
        policy: str,
        run: SampledRun,
        lookahead: int,
        on_progress: OnProgress | None,
    ) -> None:
        judged: list[JudgedDecision] = []
        try:
            for sampled in run.sample:
                judged.append(judge.measure(policy, sampled, lookahead))
                if on_progress is not None:
                    on_progress(policy, len(judged), len(run.sample))
        finally:
            self.judged.extend(judged)
            if judged:
                self.entries.append(PolicyGaps.of(run, [one.record for one in judged]))


def _windows(judged_by: JudgedBy | str, own: int, horizon: int) -> tuple[int, ...]:
    lookahead = member_named(JudgedBy, "window", judged_by)
    if lookahead is JudgedBy.OWN:
        return (own,)
    if lookahead is JudgedBy.MYOPIC:
        return (0,)
    return (horizon,) if lookahead is JudgedBy.HORIZON or horizon == 0 else (0, horizon)
