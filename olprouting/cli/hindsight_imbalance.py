"""`olprouting hindsight --objective imbalance`: the least imbalance of a run."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import typer

from olprouting.cli.saving import Saving
from olprouting.cli.tables import show_report, show_warnings
from olprouting.errors import Failures, InputError

if TYPE_CHECKING:
    from pathlib import Path

    from olprouting.engine import SimulationResult
    from olprouting.instances import Cluster, Trace
    from olprouting.policies import Policy
    from olprouting.progress import OnProgress


def least_imbalance(
    trace: Trace,
    cluster: Cluster,
    names: list[str],
    *,
    time_limit_s: float,
    seed: int,
    folder: Path | None,
    details: bool,
    as_json: bool,
    strict: bool,
) -> None:
    """Search for the run of least imbalance, from the best run of the policies on; print and save.

    Raises
    ------
    InputError
        If a policy is not maximal, or the trace is too large to be searched.
    KeyboardInterrupt
        After Ctrl-C, when what there is has been printed.
    """
    from olprouting.cli.progress import progress_bar, warn_if_interpreted
    from olprouting.hindsight import hindsight_imbalance, imbalance_ratio
    from olprouting.hindsight.imbalance.ratio import maximal_run
    from olprouting.hindsight.imbalance.report import ImbalanceReport
    from olprouting.hindsight.imbalance.run import longest_run, total_imbalance
    from olprouting.versions import versions

    policies = _maximal_policies(names, cluster.workers)
    longest_run(trace, cluster)  # what is too large is an error now, not after the runs
    warn_if_interpreted()
    saving, failures = Saving(), Failures()
    with progress_bar() as advance:
        runs, interrupted = _runs(trace, cluster, policies, seed, failures, advance)
        starts = [maximal_run(run, trace, cluster) for run in runs]
        found = hindsight_imbalance(
            trace,
            cluster,
            time_limit_s=0.0 if interrupted else time_limit_s,
            start=min(starts, key=lambda run: total_imbalance(trace, cluster, run), default=None),
            on_progress=advance,
        )
        report = ImbalanceReport(
            found=found,
            runs=tuple(imbalance_ratio(run, found) for run in runs),
            settings={
                "trace": trace.name,
                "requests": len(trace),
                "slots": cluster.slots.tolist(),
                "time_limit_s": time_limit_s,
                "seed": seed,
                "versions": versions(),
            },
            failures=tuple(failures.messages),
        )
        if folder is not None:
            advance("write", 0, 1)
            saving.save(lambda: report.write(folder))
    if as_json:
        typer.echo(json.dumps(report.results()))
        show_warnings(report)
    else:
        show_report(report, as_json=False, details=details)
    interrupted = interrupted or found.stop_reason == "interrupted"
    misleading = report.warnings() if strict else ()
    saving.end(failures.messages, interrupted=interrupted, misleading=misleading)


def _maximal_policies(names: list[str], workers: int) -> list[Policy]:
    from olprouting.policies import make_policy

    policies = [make_policy(name, workers) for name in names]
    for policy in policies:
        if not policy.maximal:
            raise InputError(
                f"--policies: {policy.name} may leave a slot free while requests wait; the least "
                "imbalance is that of policies that never do"
            )
    return policies


def _runs(
    trace: Trace,
    cluster: Cluster,
    policies: list[Policy],
    seed: int,
    failures: Failures,
    advance: OnProgress,
) -> tuple[list[SimulationResult], bool]:
    """Return the runs of the policies that do not fail, until Ctrl-C; and whether it came."""
    from olprouting.engine import simulate

    runs: list[SimulationResult] = []
    for policy in policies:
        on_progress = partial(advance, f"run {policy.name}")
        with failures.kept():
            run = simulate(trace, cluster, policy, seed=seed, on_progress=on_progress)
            if run.interrupted:
                return runs, True
            runs.append(run)
    return runs, False
