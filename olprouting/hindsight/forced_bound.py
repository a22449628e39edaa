"""What every maximal policy must leave of imbalance: a bound that needs no solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olprouting.hindsight.imbalance_run import releases

if TYPE_CHECKING:
    from olprouting.instances import Cluster, Trace

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
