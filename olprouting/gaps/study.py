"""The main question: how far each routing policy is from the proven optimum."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from olprouting.engine.arguments import check_numbers
from olprouting.errors import Failures, InputError, member_named
from olprouting.exact import SolveOptions
from olprouting.forecasts import Oracle
from olprouting.gaps.measure import Judge, JudgedDecision
from olprouting.gaps.policy_gaps import PolicyGaps
from olprouting.gaps.report import GapReport
from olprouting.gaps.runs import PolicyRun, replicate
from olprouting.gaps.sampling import SampledRun, ask, sample_run
from olprouting.options import (
    OWN_PATH,
    Dispatch,
    DispatchOptions,
    GapOptions,
    JudgedBy,
    PolicyOptions,
    ProjectionOptions,
    RunOptions,
    WorkloadOptions,
)
from olprouting.policies import make_policy
from olprouting.versions import versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from olprouting.forecasts import Forecast
    from olprouting.gaps.sampling import SampledDecision
    from olprouting.instances import Assignment, Cluster, Trace
    from olprouting.policies import Policy
    from olprouting.progress import OnProgress

DEFAULT_POLICIES = ("random", "round-robin", "power-of-two", "jsq", "least-load", "br0", "brh")
ARRIVAL_POLICIES = (*DEFAULT_POLICIES[:5], "least-imbalance")


def measure_gaps(
    trace: Trace,
    cluster: Cluster,
    policies: Sequence[str] | None = None,
    *,
    options: PolicyOptions | None = None,
    decisions: int | None = GapOptions.decisions,
    states: str = GapOptions.states,
    judged_by: JudgedBy | str = GapOptions.judged_by,
    backlog: int | None = WorkloadOptions.waiting,
    in_flight: int | None = None,
    dispatch: Dispatch | str = DispatchOptions.dispatch,
    forecast: Forecast | None = None,
    projection: str = ProjectionOptions.projection,
    refresh: str = ProjectionOptions.refresh,
    time_limit_s: float | None = GapOptions.time_limit_s,
    replications: int = GapOptions.replications,
    max_iterations: int | None = RunOptions.max_iterations,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> GapReport:
    """Run each policy, let all of them answer decisions of one run, and solve those exactly.

    Parameters
    ----------
    trace, cluster
        What to run.
    policies
        Names of routing policies (`make_policy`); None takes all built-in ones without a solver or
        prices that the way of dispatch allows.
    options
        Options of the policies; `solver`, `formulation`, `gamma`, `horizon` and `growth` also say
        how decisions are solved.
    decisions
        How many decisions to sample of a run, >= 1, from those at which there is a choice; None
        solves all.
    states
        Name of the policy whose run supplies the decisions; all policies answer the same ones, and
        one solve per program judges them all. JSQ by default: its path depends on no parameter of
        the policies compared, and its excess is the yardstick. ``"own"`` judges each policy on its
        own path instead: what it loses there, but no two rows have the same decisions.
    judged_by
        ``"myopic"``: all by H = 0; ``"horizon"``: all by the horizon program; ``"both"``: all by
        both; ``"all"``: by H = 0, and also by the horizon program if a policy looks ahead.
    backlog
        Visible waiting requests, all known in order; None releases requests as the trace says.
    in_flight, dispatch
        A closed loop, and whether requests are dispatched on arrival (`simulate`). On arrival a
        decision is where to send the requests just released; it is solved with all workers open and
        what is queued counted among their loads.
    forecast, projection, refresh
        What the horizon program and lookahead policies know of decode lengths (`simulate`).
    time_limit_s
        Per exact solve. A decision it leaves unproven is kept, with its bound.
    replications
        Further runs of each policy on workloads put together from blocks of the requests
        (`olprouting.traces.resampled`), for intervals of the mean imbalance; 0 for none.
    max_iterations
        Ends every run; see `simulate`.
    seed
        Seed of runs, samples and replications.
    on_progress
        Called with (what is being done, units done, units in all) after every run and solve.

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
    if policies is None:
        on_arrival = member_named(Dispatch, "dispatch", dispatch) is Dispatch.ARRIVAL
        policies = ARRIVAL_POLICIES if on_arrival else DEFAULT_POLICIES
    if decisions is not None and decisions < 1:
        raise InputError(f"decisions = {decisions} must be >= 1, or None for all")
    if cluster.kv_tokens is not None:
        raise InputError("gaps: the exact programs have no KV limits; leave out kv_tokens")
    check_numbers(replications=(replications, 0, ""), max_iterations=(max_iterations, 0, ""))
    made = [make_policy(name, cluster.workers, options) for name in policies]
    path = None if states == OWN_PATH else make_policy(states, cluster.workers, options)
    for policy in (*made, *([path] if path else [])):
        if not policy.maximal:
            raise InputError(
                f"{policy.name} may leave slots free while requests wait, and the exact programs "
                "do not; measure_prices (olprouting prices) compares such policies"
            )
    windows = _windows(judged_by, [policy.horizon for policy in made], options.horizon)
    # one window for all runs, so that they share their kernels
    view_horizon = max(*windows, *(policy.horizon for policy in made))
    judge = Judge(
        jsq=make_policy("jsq", cluster.workers, options),
        gamma=options.gamma,
        growth=options.growth,
        solver=options.solver,
        formulation=options.formulation,
        options=SolveOptions(time_limit_s=time_limit_s, seed=seed),
        seed=seed,
    )
    running = {
        "seed": seed,
        "backlog": backlog,
        "in_flight": in_flight,
        "dispatch": dispatch,
        "forecast": forecast,
        "projection": projection,
        "refresh": refresh,
        "view_horizon": view_horizon,
        "max_iterations": max_iterations,
    }
    found, failures = _Findings(on_progress=on_progress), Failures()
    try:
        runs: dict[str, SampledRun] = {}
        for number, policy in enumerate(made):
            size = decisions if states in (OWN_PATH, policy.name) else 1
            found.advance(f"run {policy.name}", number, len(made))
            with failures.kept():
                runs[policy.name] = _run(trace, cluster, policy, size, made, running)
                found.add_run(policy.name, runs[policy.name])
        if runs and path is not None and states not in runs:
            runs[states] = _run(trace, cluster, path, decisions, made, running)
        answering = [policy for policy in made if policy.name in found.runs]
        if states == OWN_PATH:
            for policy in answering:
                sample = runs[policy.name].sample
                answers = {policy.name: tuple(one.assignment for one in sample)}
                found.judge(judge, sample, answers, windows)
        elif runs:
            sample = runs[states].sample
            answers = {}
            for policy in answering:
                with failures.kept():
                    answers[policy.name] = ask(policy, sample, seed)
            found.judge(judge, sample, answers, windows)
        _replicate(found, trace, cluster, answering, replications, running)
    except KeyboardInterrupt:
        found.interrupted = True
    if not found.runs:
        failures.raise_first()
    return GapReport(
        settings={
            "trace": trace.name,
            "notices": list(trace.notices),
            "requests": len(trace),
            "slots": cluster.slots.tolist(),
            "backlog": backlog,
            "in_flight": in_flight,
            "dispatch": str(dispatch),
            "forecast": (forecast or Oracle()).name,
            "projection": projection,
            "refresh": refresh,
            "states": states,
            "judged_by": str(judged_by),
            "decisions": decisions,
            "time_limit_s": time_limit_s,
            "replications": replications,
            "max_iterations": max_iterations,
            "seed": seed,
            **asdict(options),
            "versions": versions(),
        },
        runs=tuple(found.runs.values()),
        choices={name: run.choices for name, run in runs.items()},
        policies=found.entries(),
        judged=tuple(found.judged),
        series=found.series,
        interrupted=found.interrupted,
        failures=failures.messages,
    )


def _run(
    trace: Trace,
    cluster: Cluster,
    policy: Policy,
    size: int | None,
    answering: Sequence[Policy],
    running: dict[str, Any],
) -> SampledRun:
    run = sample_run(
        trace,
        cluster,
        policy,
        sample_size=size,
        series_every=1,
        with_residents=any(one.needs_residents for one in answering),
        **running,
    )
    if run.result.interrupted:
        raise KeyboardInterrupt
    return run


def _replicate(
    found: _Findings,
    trace: Trace,
    cluster: Cluster,
    policies: Sequence[Policy],
    replications: int,
    running: dict[str, Any],
) -> None:
    """Add replications to the runs of all policies; Ctrl-C leaves those that are complete."""
    total = replications * len(policies)
    for place, policy in enumerate(policies):

        def on_run(number: int, before: int = place * replications) -> None:
            found.advance("run: replications", before + number, total)

        means = replicate(
            trace, cluster, policy, replications=replications, on_run=on_run, **running
        )
        found.runs[policy.name] = replace(found.runs[policy.name], replicated=means)


@dataclass
class _Findings:
    """What a study has so far; it survives Ctrl-C."""

    on_progress: OnProgress | None
    runs: dict[str, PolicyRun] = field(default_factory=dict)
    judged: list[JudgedDecision] = field(default_factory=list)
    series: dict[str, pd.DataFrame] = field(default_factory=dict)
    interrupted: bool = False

    def advance(self, what: str, done: int, total: int) -> None:
        if self.on_progress is not None:
            self.on_progress(what, done, total)

    def add_run(self, policy: str, run: SampledRun) -> None:
        self.runs[policy] = PolicyRun.of(policy, run.result, run.dispatch_s)
        columns = ["start_s", "imbalance_tokens", "admitted_requests"]
        self.series[policy] = run.result.series_frame()[columns]

    def judge(
        self,
        judge: Judge,
        sample: Sequence[SampledDecision],
        answers: dict[str, tuple[Assignment, ...]],
        windows: Sequence[int],
    ) -> None:
        if not answers:
            return
        for lookahead in windows:
            for number, state in enumerate(sample):
                chosen = {name: answer[number] for name, answer in answers.items()}
                self.judged.extend(judge.measure(state, chosen, lookahead))
                self.advance(f"solve: H = {lookahead}", number + 1, len(sample))

    def entries(self) -> tuple[PolicyGaps, ...]:
        """Return one entry per program and policy that has judged decisions, program by program."""
        entries = []
        records = [one.record for one in self.judged]
        for window in dict.fromkeys(record.horizon for record in records):
            for name, run in self.runs.items():
                own = [one for one in records if (one.policy, one.horizon) == (name, window)]
                if own:
                    entries.append(PolicyGaps.of(run, own))
        return tuple(entries)


def _windows(judged_by: JudgedBy | str, own: Sequence[int], horizon: int) -> tuple[int, ...]:
    lookahead = member_named(JudgedBy, "window", judged_by)
    if lookahead is JudgedBy.MYOPIC or horizon == 0:
        return (0,)
    if lookahead is JudgedBy.HORIZON:
        return (horizon,)
    return (0, horizon) if lookahead is JudgedBy.BOTH or any(own) else (0,)
