"""The least total imbalance of a run in hindsight: proven on small traces, bounded on others."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.hindsight.schedule import Schedule
from olprouting.instances import StopReason
from olprouting.instances._checks import positive
from olprouting.instances.documents import aligned
from olprouting.instances.gap import relative_gap

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances import Cluster, Trace

    Ints = npt.NDArray[np.int64]

MAX_BINARIES = 200_000


@dataclass(frozen=True, eq=False)
class ImbalanceResult:
    """Least total imbalance in hindsight.

    Attributes
    ----------
    bound_tokens
        No maximal policy has a smaller total over the run.
    proven_by
        How that was proven.
    total_tokens
        Total of the best run found, recomputed in integers; None if none was found.
    schedule
        That run: worker and iteration of each admission; None likewise.
    stop_reason
        Why the solver stopped.
    wall_s
        Seconds, model building included.
    """

    bound_tokens: int
    proven_by: str
    total_tokens: int | None
    schedule: Schedule | None
    stop_reason: StopReason
    wall_s: float

    @property
    def gap(self) -> float | None:
        """Return (total - bound) / total."""
        return relative_gap(self.total_tokens, self.bound_tokens)

    def summary(self) -> str:
        """Return the result as aligned lines."""
        return aligned(
            {
                "bound_tokens": self.bound_tokens,
                "total_tokens": self.total_tokens,
                "gap": self.gap,
                "status": self.stop_reason,
                "wall_s": f"{self.wall_s:.2f}",
                "bound proven by": self.proven_by,
            }
        )


def hindsight_imbalance(
    trace: Trace, cluster: Cluster, *, time_limit_s: float = 60.0
) -> ImbalanceResult:
    """Minimise the total imbalance of a run over all maximal policies, lengths known.

    The program of `models/hindsight_imbalance.py`, solved by HiGHS. Without KV limits.

    Parameters
    ----------
    trace
        A few requests with releases by iteration.
    cluster
        The workers.
    time_limit_s
        For the solver, >= 0.

    Returns
    -------
    ImbalanceResult
        ``optimal`` if proven; at the time limit, the better of HiGHS's bound and
        `imbalance_bound`.

    Raises
    ------
    InputError
        If the trace has no releases by iteration, workers have KV limits, or the program would
        have more than 200,000 binaries.
    """
    from models import hindsight_imbalance as model
    from olprouting.exact.highs import STOP_REASONS, new_highs, pass_model
    from olprouting.exact.interruptible import Interruptible
    from olprouting.exact.matrix import compile_model

    began = time.perf_counter()
    positive("time_limit_s", time_limit_s, zero_allowed=True)
    release = _releases(trace, cluster)
    simple = imbalance_bound(trace, cluster)
    if not len(trace):
        empty = Schedule(np.zeros(0, np.int64), np.zeros(0, np.int64))
        return ImbalanceResult(0, "there are no requests", 0, empty, StopReason.OPTIMAL, 0.0)
    iterations = _longest_run(trace, cluster, release)
    binaries = len(trace) * cluster.workers * iterations
    if binaries > MAX_BINARIES:
        raise InputError(
            f"{len(trace)} requests on {cluster.workers} workers need up to {binaries} binaries, "
            f"more than {MAX_BINARIES}; take fewer requests, or imbalance_bound"
        )
    program = model.build(
        trace.prompt_tokens, trace.decode_tokens, release, cluster.slots, iterations
    )
    matrix = compile_model(program)
    solver = new_highs(verbose=False)
    for name, value in (
        ("time_limit", float(time_limit_s)),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", 0.5),
        ("threads", 1),
    ):
        solver.setOptionValue(name, value)
    pass_model(solver, matrix)
    solver.HandleUserInterrupt = True
    Interruptible(solver.run, solver.cancelSolve).result()
    info = solver.getInfo()
    reason = STOP_REASONS.get(solver.getModelStatus().name, StopReason.ERROR)
    lower = math.ceil(info.mip_dual_bound - 0.01) if math.isfinite(info.mip_dual_bound) else 0
    bound, proven_by = max(lower, 0), "HiGHS's branch and bound, rounded up: totals are whole"
    if simple > bound:
        bound, proven_by = simple, FORCED
    total, schedule = None, None
    if info.primal_solution_status == 2:
        values = np.asarray(solver.getSolution().col_value)
        device, start = np.full(len(trace), -1), np.full(len(trace), -1)
        for (i, g, k), admit in program.admit.items():
            if values[matrix.column_of[id(admit)]] > 0.5:
                device[i], start[i] = g, k
        schedule = Schedule(device, start)
        total = total_imbalance(trace, cluster, schedule)
    if reason in (StopReason.OPTIMAL, StopReason.OPTIMAL_WITHIN_GAP):
        reason = StopReason.OPTIMAL if total == bound else StopReason.OPTIMAL_WITHIN_GAP
    wall_s = time.perf_counter() - began
    return ImbalanceResult(bound, proven_by, total, schedule, reason, wall_s)


FORCED = (
    "iterations whose active requests are forced: until the slots are full every maximal policy "
    "admits at once, and the fullest worker holds the largest request and the mean at least"
)


def imbalance_bound(trace: Trace, cluster: Cluster) -> int:
    """Return a lower bound on the total imbalance of any maximal policy, in tokens.

    As long as all requests released so far have been admitted at once because they fit, the set
    of active requests is the same under every maximal policy. There the peak is at least the
    largest load of a single request, and the mean load rounded up. From the first iteration in
    which more are active or released than there are slots, the bound adds 0: it is weak for
    saturated runs.

    Parameters
    ----------
    trace
        The requests, with releases by iteration.
    cluster
        The workers, without KV limits.
    """
    release = _releases(trace, cluster)
    workers, total = cluster.workers, 0
    ends = release + trace.decode_tokens
    k = int(release[0]) if len(trace) else 0
    while len(trace):
        active = (release <= k) & (k < ends)
        count = int(active.sum())
        if count > cluster.total_slots:
            break
        if not count:
            later = release[release > k]
            if not len(later):
                break
            k = int(later[0])
            continue
        loads = trace.prompt_tokens[active] + k - release[active]
        whole = int(loads.sum())
        total += workers * max(int(loads.max()), -(-whole // workers)) - whole
        k += 1
    return total


def total_imbalance(trace: Trace, cluster: Cluster, schedule: Schedule) -> int:
    """Return the total imbalance of a run that admits as in `schedule`, in integers."""
    last = int((schedule.start_period + trace.decode_tokens).max())
    loads = np.zeros((cluster.workers, last + 1), np.int64)
    for j, (g, k) in enumerate(
        zip(schedule.device.tolist(), schedule.start_period.tolist(), strict=True)
    ):
        length = int(trace.decode_tokens[j])
        loads[g, k : k + length] += trace.prompt_tokens[j] + np.arange(length)
    return int((cluster.workers * loads.max(axis=0) - loads.sum(axis=0)).sum())


def _releases(trace: Trace, cluster: Cluster) -> Ints:
    if trace.release_iteration is None:
        raise InputError(f"{trace.name}: releases by iteration are needed (release_iteration)")
    if cluster.kv_tokens is not None:
        raise InputError("hindsight imbalance is without KV limits; leave out kv_tokens")
    return trace.release_iteration


def _longest_run(trace: Trace, cluster: Cluster, release: Ints) -> int:
    """Return an iteration by which every maximal policy is done.

    After the last release, slots are full as long as anybody waits; that lasts at most the total
    work over the slots, and then nobody takes longer than the longest request.
    """
    full = -(-int(trace.decode_tokens.sum()) // cluster.total_slots)
    return int(release[-1]) + full + int(trace.decode_tokens.max())
