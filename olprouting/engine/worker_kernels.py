"""What happens on workers: residents, their completions, KV tokens and steps, compiled.

**Residents.** Every worker counts its own iterations. A request admitted at its iteration b is
active for prefill and decode steps up to b + prefill + decode - 1. The calendar of a worker is a
wheel: the list at slot (last iteration modulo its length) holds the requests that complete then,
or whole turns of the wheel later. Both lists are linked in both directions, for preemption takes
requests out before their time.

**KV tokens.** Before a step that would overflow, the newest residents go back to the queue
(bid-price paper, section 2).

**Steps.** With the barrier clock all workers run their step together, as long as the slowest
needs. With the independent clock each runs its own, and the clock goes on to the next end of a
step, or to an arrival if some worker could take it; under dispatch on arrival to every arrival.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.compiling import Floats, Ints, compiled, kernel
from olprouting.engine.lookahead_kernels import see_off
from olprouting.engine.queue_kernels import put_first, waiting_requests
from olprouting.engine.state import BY_TIME

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.engine.state import Settings, State, WorkerQueues

    Records = npt.NDArray[np.void]


@kernel
def last_iteration(resident: Any, prefill_steps: int) -> int:
    """Return the own iteration of its worker in which a resident generates its last token."""
    return int(resident.began + prefill_steps + resident.decode - 1)


@kernel
def enlist(
    requests: Records, workers: Records, calendar: Ints, prefill_steps: int, request: int
) -> None:
    """Make an admitted request the newest resident of its worker and note when it completes."""
    resident = requests[request]
    worker = workers[resident.worker]
    resident.older = worker.newest
    resident.newer = -1
    if worker.newest >= 0:
        requests[worker.newest].newer = request
    worker.newest = request
    slot = last_iteration(resident, prefill_steps) % calendar.shape[1]
    following = calendar[resident.worker, slot]
    resident.complete_next = following
    resident.complete_previous = -1
    if following >= 0:
        requests[following].complete_previous = request
    calendar[resident.worker, slot] = request


@kernel
def delist(
    requests: Records, workers: Records, calendar: Ints, prefill_steps: int, request: int
) -> None:
    """Take a request off its worker and out of the calendar."""
    resident = requests[request]
    if resident.older >= 0:
        requests[resident.older].newer = resident.newer
    if resident.newer >= 0:
        requests[resident.newer].older = resident.older
    else:
        workers[resident.worker].newest = resident.older
    following = resident.complete_next
    if following >= 0:
        requests[following].complete_previous = resident.complete_previous
    if resident.complete_previous >= 0:
        requests[resident.complete_previous].complete_next = following
    else:
        slot = last_iteration(resident, prefill_steps) % calendar.shape[1]
        calendar[resident.worker, slot] = following


@compiled
def list_residents(requests: Records, workers: Records) -> Ints:
    """Return the resident requests: worker by worker, in each the earliest admission first."""
    active = 0
    for g in range(len(workers)):
        active += workers[g].active
    residents = np.empty(active, np.int64)
    end = 0
    for g in range(len(workers)):
        end += workers[g].active
        place = end
        request = workers[g].newest
        while request >= 0:
            place -= 1
            residents[place] = request
            request = requests[request].older
    return residents


@compiled
def project_truth(
    requests: Records,
    workers: Records,
    iteration: int,
    prefill_steps: int,
    horizon: int,
) -> Floats:
    """Return the loads that residents will hold at offsets 0..H, shape (G, H+1)."""
    load = np.zeros((len(workers), horizon + 1))
    for g in range(len(workers)):
        request = workers[g].newest
        while request >= 0:
            resident = requests[request]
            workload = resident.prompt + iteration - resident.admission
            steps_left = prefill_steps + resident.decode - (iteration - resident.admission)
            for offset in range(min(steps_left, horizon + 1)):
                load[g, offset] += workload + offset
            request = resident.older
    return load


@kernel
def kv_held(settings: Settings, request: Any, age: int) -> int:
    """Return the KV tokens that the request of this record is charged at `age`."""
    tokens = max(request.prompt + age + settings.age_offset, request.reserved)
    return int(
        (tokens + settings.block_tokens - 1) // settings.block_tokens * settings.block_tokens
    )


@kernel
def kv_use(settings: Settings, requests: Records, workers: Records, g: int) -> int:
    """Return the KV tokens that the residents of worker g are charged."""
    worker = workers[g]
    if settings.kv_counts_tokens:
        return int(worker.load + worker.active * settings.age_offset)
    total = 0
    place = worker.newest
    while place >= 0:
        resident = requests[place]
        total += kv_held(settings, resident, worker.own_iteration - resident.began)
        place = resident.older
    return total


@kernel
def observe_kv(settings: Settings, state: State) -> None:
    """Note the KV tokens that are free on every worker; none where it is too full already."""
    requests, workers = state.requests, state.workers
    for g in range(len(workers)):
        state.kv_free[g] = max(0, workers[g].kv_limit - kv_use(settings, requests, workers, g))


@kernel
def preempt(settings: Settings, state: State) -> None:
    """Send back the newest residents of workers about to run a step that would overflow.

    Who was admitted first ends up nearest to the head of the queue, within a worker; the workers
    are gone through in order.
    """
    now = state.now[0]
    requests, workers = state.requests, state.workers
    before_all = now.preemptions
    for g in range(len(workers)):
        worker = workers[g]
        if worker.ends_s < np.inf:
            continue
        before = now.preemptions
        use = kv_use(settings, requests, workers, g)
        while use > worker.kv_limit:
            send_back(settings, state, state.queues, g)
            use = kv_use(settings, requests, workers, g)
        worker.kv_peak = max(worker.kv_peak, use)
        if not settings.barrier and now.preemptions > before:
            now.preempting_steps += 1
    if settings.barrier and now.preemptions > before_all:
        now.preempting_steps += 1


@kernel
def send_back(settings: Settings, state: State, queues: WorkerQueues | None, g: int) -> None:
    """Put the newest resident of worker g at the head of its queue, with what it has generated.

    It waits for as many KV tokens as it was denied: where a prefill step comes first, asking for
    its footprint alone could bring it back to the same lack of room for ever.
    """
    now = state.now[0]
    worker = state.workers[g]
    place = worker.newest
    request = state.requests[place]
    age = worker.own_iteration - request.began
    held = kv_held(settings, request, age)
    generated = max(0, age - settings.prefill_steps)
    delist(state.requests, state.workers, state.calendar, settings.prefill_steps, place)
    worker.load -= request.prompt + age
    worker.active -= 1
    worker.free += 1
    now.active -= 1
    request.prompt += generated
    request.decode -= generated
    request.forecast = max(1 + settings.prefill_steps, request.forecast - generated)
    request.worker = -1
    request.admission = -1
    request.preempted += 1
    now.preemptions += 1
    now.stalled = -1  # should the coming iteration be idle, no policy has chosen to wait
    if age > 0:  # else it has not run a step
        now.recomputed_tokens += request.prompt
    if queues is None:
        now.head -= 1  # there is room: it once was taken from the queue
        state.queue[now.head] = place
        state.queue_prompt[now.head] = request.prompt
        state.queue_kv[now.head] = held
    else:
        put_first(state, queues, place, g, held)


@kernel
def pass_idle(settings: Settings, state: State) -> None:
    """Let the time of an empty worker's step pass: nothing is active and nothing was admitted."""
    now = state.now[0]
    now.idle_iterations += 1
    now.stalled += 1
    until_s = now.clock_s + settings.fixed_s
    if (
        not settings.barrier
        and settings.release_mode == BY_TIME
        and now.released < len(state.requests)
    ):
        until_s = min(until_s, state.requests[now.released].arrival_s)
    now.clock_s = until_s


@kernel
def local_time(settings: Settings, worker: Any) -> float:
    """Return how long the worker of this record needs for its step, in seconds."""
    return float(
        settings.fixed_s + settings.per_token_s * worker.load + settings.per_slot_s * worker.active
    )


@kernel
def run_barrier_step(settings: Settings, state: State, admitted: int) -> None:
    """Let every active request run a step, and account for it."""
    now = state.now[0]
    workers = state.workers
    count = len(workers)
    heaviest = 0
    total = 0
    slowest_s = 0.0
    local_sum_s = 0.0
    free = 0
    for g in range(count):
        free += workers[g].free
        heaviest = max(heaviest, workers[g].load)
        total += workers[g].load
        local_s = local_time(settings, workers[g])
        slowest_s = max(slowest_s, local_s)
        local_sum_s += local_s
    step_s = slowest_s + settings.shared_per_token_s * total / count
    power_w = 0.0
    for g in range(count):
        share = workers[g].load / heaviest
        power_w += (
            settings.idle_w + (settings.peak_w - settings.idle_w) * share**settings.power_exponent
        )
    imbalance = count * heaviest - total
    if now.busy_iterations % settings.series_every == 0:
        record(state, admitted, step_s, float(imbalance))
    if now.waiting_from < 0 and (free == 0 or waiting_requests(state, state.queues) > 0):
        now.waiting_from = now.busy_iterations
        now.tokens_before_waiting = now.imbalance_tokens
    now.imbalance_tokens += imbalance
    now.idle_share += (count * slowest_s - local_sum_s) / (count * step_s)
    now.energy_j += power_w * step_s
    now.busy_iterations += 1
    if admitted > 0:
        now.admitting_until = now.busy_iterations
        now.tokens_until_admitted = now.imbalance_tokens
    now.clock_s += step_s
    for g in range(count):
        workers[g].ends_s = now.clock_s
    finish_steps(settings, state)


@kernel
def run_to_next_event(settings: Settings, state: State, admitted: int) -> None:
    """Start a step on every worker that has requests and runs none; go on to the next event."""
    now = state.now[0]
    workers = state.workers
    next_s = np.inf
    some_idle = False
    for g in range(len(workers)):
        worker = workers[g]
        if worker.ends_s == np.inf:
            if worker.active > 0:
                worker.ends_s = now.clock_s + local_time(settings, worker)
            else:
                some_idle = True
        next_s = min(next_s, worker.ends_s)
    if state.queues is not None:
        some_idle = True  # every arrival is dispatched at once
    if some_idle and settings.release_mode == BY_TIME and now.released < len(state.requests):
        next_s = min(next_s, state.requests[now.released].arrival_s)
    if now.busy_iterations % settings.series_every == 0:
        record(state, admitted, next_s - now.clock_s, np.nan)
    now.busy_iterations += 1
    now.clock_s = next_s
    finish_steps(settings, state)


@kernel
def finish_steps(settings: Settings, state: State) -> None:
    """End the steps that end now: tokens come, completed requests leave, the others grow."""
    now = state.now[0]
    requests, workers, calendar = state.requests, state.workers, state.calendar
    for g in range(len(workers)):
        worker = workers[g]
        if worker.ends_s > now.clock_s:
            continue
        own = worker.own_iteration
        now.decode_tokens += worker.active
        place = worker.newest
        while place >= 0 and requests[place].began >= own - settings.prefill_steps:
            newcomer = requests[place]
            if newcomer.began > own - settings.prefill_steps:
                now.decode_tokens -= 1  # this was its prefill
            elif newcomer.first_token < 0:  # a preempted request keeps its first
                newcomer.first_token = now.iteration
                newcomer.first_token_s = now.clock_s
            place = newcomer.older
        place = calendar[g, own % calendar.shape[1]]
        while place >= 0:
            request = requests[place]
            following = request.complete_next
            if last_iteration(request, settings.prefill_steps) == own:
                delist(requests, workers, calendar, settings.prefill_steps, place)
                worker.load -= request.prompt + own - request.began
                worker.active -= 1
                worker.free += 1
                request.finish = now.iteration
                request.finish_s = now.clock_s
                now.active -= 1
                now.finished += 1
                see_off(settings, state, state.lookahead, place)
            place = following
        worker.load += worker.active
        worker.own_iteration += 1
        worker.ends_s = np.inf


@kernel
def record(state: State, admitted: int, step_s: float, imbalance: float) -> None:
    """Add a row to the series (columns as in SERIES_COLUMNS)."""
    now = state.now[0]
    heaviest = 0
    total = 0
    for g in range(len(state.workers)):
        state.series_load[now.series_rows, g] = state.workers[g].load
        heaviest = max(heaviest, state.workers[g].load)
        total += state.workers[g].load
    row = state.series[now.series_rows]
    row[0] = now.iteration
    row[1] = now.clock_s
    row[2] = step_s
    row[3] = imbalance
    row[4] = heaviest
    row[5] = total / len(state.workers)
    row[6] = now.active
    row[7] = waiting_requests(state, state.queues)
    row[8] = admitted
    now.series_rows += 1
