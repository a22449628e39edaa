"""Compiled search over all runs that a maximal policy can make, for the least sum of peaks.

Requests are placed one after another, in the order of time: a level of the search is a placement.
Where all that wait can be admitted, the next of them goes to any worker with a free slot; else the
first free slot gets any of them. Of runs that differ only in equal requests, in the order within a
worker's batch, or in workers that were empty, one is tried.

The sum of the loads of a whole run is a constant W, so that the total imbalance is G S - W with S
the sum of the peaks. What is placed so far has peaks that no further placement lowers; and the
iterations that are over have an imbalance I that is final, so that S >= (W + I) / G. A branch
whose S cannot be below the best one is not entered.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from olprouting.compiling import Ints, compiled


class Requests(NamedTuple):
    """What is given: requests in the order of release, and workers.

    Attributes
    ----------
    prompt, decode, release
        s_i, o_i and t_i, shape (N,).
    work
        Sum of its loads over the iterations of a request, shape (N,).
    slots
        B_g, shape (G,).
    """

    prompt: Ints
    decode: Ints
    release: Ints
    work: Ints
    slots: Ints


class Branch(NamedTuple):
    """The placements so far.

    Attributes
    ----------
    depth
        Their number d, shape (1,); -1 after the search.
    placed
        The request of each, shape (N,).
    worker, start
        By request, -1 where it is not placed, shape (N,).
    load, peak
        Of the iterations, by what is placed, shapes (G, K) and (K,).
    """

    depth: Ints
    placed: Ints
    worker: Ints
    start: Ints
    load: Ints
    peak: Ints


class Open(NamedTuple):
    """What is still to be tried at every level: the next placements.

    Attributes
    ----------
    iteration, past, peaks, size
        When it is made, I up to then, S before it, and how many are left, shape (N,).
    request, worker, rise, rank
        Which, what each adds to S, and in which order they are tried, shape (N, max(N, G)).
    """

    iteration: Ints
    past: Ints
    peaks: Ints
    size: Ints
    request: Ints
    worker: Ints
    rise: Ints
    rank: Ints


class Best(NamedTuple):
    """The best run: its S, shape (1,), and its worker and admission of each request, (N,)."""

    peaks: Ints
    worker: Ints
    start: Ints


@compiled
def search(given: Requests, branch: Branch, left: Open, best: Best, steps: int) -> bool:
    """Go on for so many steps; return whether all is done. Begin with `open_level`."""
    count = len(given.prompt)
    for _ in range(steps):
        depth = branch.depth[0]
        pick, bound = -1, least_peaks(given, left, depth)
        for c in range(left.size[depth]):
            peaks = max(bound, left.peaks[depth] + left.rise[depth, c])
            better = pick < 0 or left.rank[depth, c] < left.rank[depth, pick]
            if peaks < best.peaks[0] and better:
                pick = c
        if pick < 0:
            branch.depth[0] = depth - 1
            if depth == 0:
                return True
            lift(given, branch, branch.placed[depth - 1])
            continue
        request, worker = left.request[depth, pick], left.worker[depth, pick]
        peaks = left.peaks[depth] + left.rise[depth, pick]
        last = left.size[depth] - 1
        left.size[depth] = last
        for column in (left.request, left.worker, left.rise, left.rank):
            column[depth, pick] = column[depth, last]
        place(given, branch, request, worker, left.iteration[depth])
        if depth + 1 == count:
            best.peaks[0] = peaks
            best.worker[:] = branch.worker
            best.start[:] = branch.start
            lift(given, branch, request)
            continue
        branch.placed[depth] = request
        branch.depth[0] = depth + 1
        left.peaks[depth + 1] = peaks
        open_level(given, branch, left)
    return False


@compiled
def least_peaks(given: Requests, left: Open, depth: int) -> int:
    """Return what S is at least below this level, by what is over."""
    whole = given.work.sum() + left.past[depth]
    return int(-(-whole // len(given.slots)))


@compiled
def least_open(given: Requests, branch: Branch, left: Open, best: Best) -> int:
    """Return what S is at least in any run, whether tried or not."""
    least = best.peaks[0]
    for depth in range(branch.depth[0] + 1):
        bound = least_peaks(given, left, depth)
        for c in range(left.size[depth]):
            least = min(least, max(bound, left.peaks[depth] + left.rise[depth, c]))
    return int(least)


@compiled
def place(given: Requests, branch: Branch, request: int, worker: int, start: int) -> None:
    """Admit a request."""
    branch.worker[request], branch.start[request] = worker, start
    for age in range(given.decode[request]):
        k = start + age
        branch.load[worker, k] += given.prompt[request] + age
        branch.peak[k] = max(branch.peak[k], branch.load[worker, k])


@compiled
def lift(given: Requests, branch: Branch, request: int) -> None:
    """Take a placement back."""
    worker, start = branch.worker[request], branch.start[request]
    branch.worker[request], branch.start[request] = -1, -1
    for age in range(given.decode[request]):
        k = start + age
        branch.load[worker, k] -= given.prompt[request] + age
        branch.peak[k] = branch.load[:, k].max()


@compiled
def open_level(given: Requests, branch: Branch, left: Open) -> None:
    """List the next placements, at the first iteration with a free slot and a waiting request."""
    depth, workers = branch.depth[0], len(given.slots)
    begin = left.iteration[depth - 1] if depth else given.release[0]
    past = left.past[depth - 1] if depth else 0
    free = np.empty(workers, np.int64)
    k, waiting = next_free(given, branch, begin, free)
    for over in range(begin, k):
        past += workers * branch.peak[over] - branch.load[:, over].sum()
    left.iteration[depth], left.past[depth], left.size[depth] = k, past, 0
    if waiting <= free.sum():
        request = 0
        while branch.worker[request] >= 0:
            request += 1
        for worker in range(workers):
            if free[worker] and not _has_empty_twin(given, free, worker):
                add(given, branch, left, request, worker)
        return
    worker = 0
    while free[worker] == 0:
        worker += 1
    after, beyond = _last_of_batch(given, branch, free, worker, k), 0
    for request in range(len(given.prompt) - 1, after, -1):
        if branch.worker[request] < 0 and given.release[request] <= k:
            beyond += 1  # this one and those behind it, of which the free slots must be filled
            if beyond >= free[worker] and not _has_waiting_twin(given, branch, request):
                add(given, branch, left, request, worker)


@compiled
def next_free(given: Requests, branch: Branch, k: int, free: Ints) -> tuple[int, int]:
    """Return the first iteration from k on with a free slot for a waiting request; how many wait.

    `free` is filled with the free slots, shape (G,).
    """
    never = np.iinfo(np.int64).max
    while True:
        waiting, released, ended = 0, never, never
        free[:] = given.slots
        for i in range(len(given.prompt)):
            if branch.worker[i] < 0:
                if given.release[i] <= k:
                    waiting += 1
                else:
                    released = min(released, given.release[i])
            elif branch.start[i] + given.decode[i] > k:
                free[branch.worker[i]] -= 1
                ended = min(ended, branch.start[i] + given.decode[i])
        if waiting and free.sum():
            return k, waiting
        k = ended if waiting else released


@compiled
def add(given: Requests, branch: Branch, left: Open, request: int, worker: int) -> None:
    """List a placement; first those after which the active requests alone are in best balance."""
    depth = branch.depth[0]
    k, c, rise = left.iteration[depth], left.size[depth], 0
    for age in range(given.decode[request]):
        load = branch.load[worker, k + age] + given.prompt[request] + age
        rise += max(0, load - branch.peak[k + age])
    left.request[depth, c], left.worker[depth, c], left.rise[depth, c] = request, worker, rise
    left.rank[depth, c] = len(given.slots) * rise - given.work[request]
    left.size[depth] = c + 1


@compiled
def _has_empty_twin(given: Requests, free: Ints, worker: int) -> bool:
    """Whether a worker is empty like one before it, with as many slots."""
    slots = given.slots[worker]
    for other in range(worker):
        if slots == free[worker] == free[other] == given.slots[other]:
            return True
    return False


@compiled
def _has_waiting_twin(given: Requests, branch: Branch, request: int) -> bool:
    """Whether an equal request before this one waits."""
    for i in range(request):
        equal = given.prompt[i] == given.prompt[request]
        if equal and given.decode[i] == given.decode[request] and branch.worker[i] < 0:
            return True
    return False


@compiled
def _last_of_batch(given: Requests, branch: Branch, free: Ints, worker: int, k: int) -> int:
    """Return the request behind which the next for this worker stands: batches are in order.

    So are the first requests of workers that were empty and have equally many slots.
    """
    own, first, batch = -1, -1, 0
    for i in range(len(given.prompt) - 1, -1, -1):
        if branch.worker[i] >= 0 and branch.start[i] == k:
            if branch.worker[i] == worker:
                own = max(own, i)
            elif branch.worker[i] == worker - 1:
                first, batch = i, batch + 1
    slots = given.slots[worker]
    fresh = own < 0 and worker > 0 and free[worker] == slots
    return first if fresh and batch == slots == given.slots[worker - 1] else own
