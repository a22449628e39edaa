"""Runs of a trace: whether a maximal policy can make them, their imbalance, and a bound on it.

All in integers, without a solver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.hindsight.schedule import Schedule
    from olprouting.instances import Cluster, Trace

    Ints = npt.NDArray[np.int64]

MOST_REQUESTS = 2_000
MOST_LOADS = 20_000_000
"""Runs with more loads, one per worker and iteration, are refused: their tables fill the memory."""

FORCED = (
    "iterations whose active requests are forced: until the slots are full every maximal policy "
    "admits at once, and the fullest worker holds the largest request and the mean at least"
)


def releases(trace: Trace, cluster: Cluster) -> Ints:
    """Return the iteration in which each request joins the queue, shape (N,).

    Raises
    ------
    InputError
        If the trace has none, or workers have KV limits.
    """
    if trace.release_iteration is None:
        raise InputError(f"{trace.name}: releases by iteration are needed (release_iteration)")
    if cluster.kv_tokens is not None:
        raise InputError("hindsight imbalance is without KV limits; leave out kv_tokens")
    return trace.release_iteration


def longest_run(trace: Trace, cluster: Cluster) -> int:
    """Return an iteration by which every maximal policy is done; 0 for no requests.

    After the last release, slots are full as long as anybody waits; that lasts at most the total
    work over the slots, and then nobody takes longer than the longest request.

    Raises
    ------
    InputError
        If the run would be too large to be searched or added up, or its sums leave 64 bits.
    """
    release = releases(trace, cluster)
    if not len(trace):
        return 0
    decode = trace.decode_tokens.tolist()
    last: int = int(release[-1]) - (-sum(decode) // cluster.total_slots) + max(decode)
    for number, most, what in (
        (len(trace), MOST_REQUESTS, "requests"),
        (cluster.workers * last, MOST_LOADS, "loads of workers in iterations"),
    ):
        if number > most:
            raise InputError(
                f"{trace.name}: {number} {what} are more than {most}; take fewer requests"
            )
    sizes = zip(trace.prompt_tokens.tolist(), decode, strict=True)
    work = sum(o * s + o * (o - 1) // 2 for s, o in sizes)
    if cluster.workers * work >= 2**62:
        raise InputError(
            f"{trace.name}: the loads of a run sum to {work} tokens, with {cluster.workers} "
            "workers too many to be counted in 64 bits"
        )
    return last


def run_fault(trace: Trace, cluster: Cluster, schedule: Schedule) -> str | None:
    """Return why no maximal policy makes this run, or None: every iteration is counted again.

    Parameters
    ----------
    trace, cluster
        The requests, with releases by iteration, and the workers.
    schedule
        Worker and iteration of each admission.
    """
    release = releases(trace, cluster)
    worker, start = schedule.worker, schedule.start_period
    if worker.shape != release.shape or start.shape != release.shape:
        return (
            f"it has {len(worker)} workers and {len(start)} admissions, "
            f"the trace {len(trace)} requests"
        )
    if not len(trace):
        return None
    last = longest_run(trace, cluster)
    for j, (g, k) in enumerate(zip(worker.tolist(), start.tolist(), strict=True)):
        if not 0 <= g < cluster.workers:
            return f"request {j} is admitted by worker {g}, there are {cluster.workers}"
        if not release[j] <= k <= last:
            return f"request {j} is admitted in {k}, outside {release[j]}..{last}"
    for k in np.unique(np.concatenate([release, start, start + trace.decode_tokens])).tolist():
        active = (start <= k) & (k < start + trace.decode_tokens)
        held = np.bincount(worker[active], minlength=cluster.workers)
        if (held > cluster.slots).any():
            g = int((held > cluster.slots).argmax())
            return f"worker {g} holds {held[g]} of {cluster.slots[g]} requests in iteration {k}"
        waits = (release <= k) & (k < start)
        if waits.any() and held.sum() < cluster.total_slots:
            return f"request {int(waits.argmax())} waits beside a free slot in iteration {k}"
    return None


def total_imbalance(trace: Trace, cluster: Cluster, schedule: Schedule) -> int:
    """Return the total imbalance of a run that admits as in `schedule`, in tokens."""
    if not len(trace):
        return 0
    last = int((schedule.start_period + trace.decode_tokens).max())
    loads = np.zeros((cluster.workers, last + 1), np.int64)
    for j, (g, k) in enumerate(
        zip(schedule.worker.tolist(), schedule.start_period.tolist(), strict=True)
    ):
        length = int(trace.decode_tokens[j])
        loads[g, k : k + length] += trace.prompt_tokens[j] + np.arange(length)
    return int((cluster.workers * loads.max(axis=0) - loads.sum(axis=0)).sum())


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
    release = releases(trace, cluster)
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
