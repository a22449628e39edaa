"""`olprouting hindsight --objective imbalance`: the least imbalance of a run."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from olprouting.cli.saving import Saving
from olprouting.cli.tables import print_table
from olprouting.errors import Failures, InputError

if TYPE_CHECKING:
    from pathlib import Path

    from olprouting.engine import SimulationResult
    from olprouting.hindsight import ImbalanceRatio, ImbalanceResult
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
    as_json: bool,
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
    from olprouting.hindsight.imbalance.run import longest_run, total_imbalance

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
        if folder is not None:
            saving.save(lambda: found.write(folder))
    ratios = [imbalance_ratio(run, found) for run in runs]
    if as_json:
        typer.echo(json.dumps(_document(found, ratios, failures)))
    else:
        _print_result(found)
        if ratios:
            _print_ratios(found, ratios)
    interrupted = interrupted or found.stop_reason == "interrupted"
    saving.end(failures.messages, interrupted=interrupted)


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


def _document(
    found: ImbalanceResult, ratios: list[ImbalanceRatio], failures: Failures
) -> dict[str, Any]:
    return {
        "objective": "imbalance",
        "trace": found.trace.name,
        "requests": len(found.trace),
        "bound_tokens": found.bound_tokens,
        "total_tokens": found.total_tokens,
        "gap": found.gap,
        "proven_by": found.proven_by,
        "stop_reason": str(found.stop_reason),
        "wall_s": found.wall_s,
        "policies": [asdict(ratio) for ratio in ratios],
        "failures": list(failures.messages),
    }


def _print_result(found: ImbalanceResult) -> None:
    cluster = found.cluster
    typer.echo(
        f"{found.trace.name}: {len(found.trace)} requests on {cluster.workers} workers x "
        f"{cluster.slots[0]} slots, admitted as soon as a slot is free"
    )
    typer.echo(found.summary())


def _print_ratios(found: ImbalanceResult, ratios: list[ImbalanceRatio]) -> None:
    best = found.total_tokens
    print_table(
        "Policies against hindsight",
        {"policy": [ratio.policy for ratio in ratios]},
        {
            "total imbalance": [f"{ratio.total_tokens:,}" for ratio in ratios],
            "of the best run": [
                f"{ratio.total_tokens / best:.3f}" if best else "-" for ratio in ratios
            ],
            "of the bound": [
                "-" if ratio.ratio is None else f"{ratio.ratio:.3f}" for ratio in ratios
            ],
        },
        "tokens over the run; no policy that always fills free slots has less than the bound",
    )
