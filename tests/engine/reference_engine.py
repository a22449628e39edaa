"""The barrier model as slow, obvious Python: the referee of the compiled engine.

Written from the model's definition alone and shares no code with the engine: requests are dicts,
every quantity is recomputed from them in every iteration, and nothing is kept incrementally.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from olprouting.policies import View


@dataclass
class Run:
    """What the referee saw: requests, one row per busy iteration, the views, the metrics."""

    requests: list[dict]
    steps: list[dict] = field(default_factory=list)
    views: list[View] = field(default_factory=list)
    metrics: dict = field(default_factory=dict)


def noisy_lengths(decode_tokens, spread, rng):
    """True length times Uniform(1 - spread, 1 + spread), rounded half up, at least 1."""
    return [
        max(1, math.floor(o * rng.uniform(1 - spread, 1 + spread) + 0.5)) for o in decode_tokens
    ]


def run_reference(
    trace,
    cluster,
    route,
    *,
    backlog=None,
    horizon=0,
    spread=None,
    outlook=None,
    projection="cutoff",
    refresh="iteration",
    signal_delay=0,
    seed=0,
    max_iterations=None,
):
    """Run `route` (a function of view and generator) through the model.

    `spread` is the noise of the length forecast, None for the oracle. Instead of it `outlook`
    forecasts by age: outlook(row, age, now, then) is c, projected rounded up ("cutoff"), and the
    list of P(r > h) for h = 0..H ("expected"). What is known is (rows completed, {row: age}
    running) now, and then, when it was renewed last before the request's admission.
    """
    rng = np.random.default_rng(seed)
    decode = trace.decode_tokens.tolist()
    forecast = decode if spread is None else noisy_lengths(decode, spread, rng)
    run = Run(
        [
            {
                "row": row,
                "prompt": prompt,
                "decode": decode[row],
                "forecast": forecast[row],
                "worker": -1,
                "admission": -1,
                "release": -1,
                "release_s": math.nan,
                "first_s": math.nan,
                "finish_s": math.nan,
                "generated": 0,
            }
            for row, prompt in enumerate(trace.prompt_tokens.tolist())
        ]
    )
    workers = range(cluster.workers)
    coming = list(run.requests)
    waiting: list[dict] = []
    active: list[dict] = []
    history: list[tuple[list[int], list[int]]] = []
    k, clock_s, idle_iterations, issued, known = 0, 0.0, 0, None, None
    period = horizon if refresh == "horizon" and horizon else 1

    while coming or waiting or active:
        if len(run.steps) == max_iterations:
            break
        k += 1
        nothing_to_do = not active and not waiting
        if backlog is not None:
            while coming and len(waiting) < backlog:
                waiting.append(release(coming, k, clock_s))
        elif trace.release_iteration is not None:
            while nothing_to_do and trace.release_iteration[coming[0]["row"]] > k:
                k += 1
                idle_iterations += 1
                clock_s += cluster.step_time.fixed_s
                issued = None
            while coming and trace.release_iteration[coming[0]["row"]] <= k:
                waiting.append(release(coming, k, clock_s))
        else:
            if nothing_to_do:
                clock_s = max(clock_s, trace.arrival_s[coming[0]["row"]])
            while coming and trace.arrival_s[coming[0]["row"]] <= clock_s:
                waiting.append(release(coming, k, clock_s))

        if issued is None or k - issued >= period:
            issued = k
            if outlook is not None and horizon:
                running = {r["row"]: k - r["admission"] for r in active}
                done = [r["row"] for r in run.requests if r["generated"] == r["decode"]]
                known = (done, running)
                for r in active:
                    r["outlook"] = outlook(r["row"], running[r["row"]], known, r["known"])
        window = horizon - (k - issued)
        loads = [sum(workload(r, k) for r in active if r["worker"] == g) for g in workers]
        counts = [sum(r["worker"] == g for r in active) for g in workers]
        history.append((loads, counts))
        free = [int(cluster.slots[g]) - counts[g] for g in workers]
        admissions = min(len(waiting), sum(free))
        projected = [
            [
                sum(
                    (workload(r, k) + h) * presence(r, h, k, issued, horizon, projection)
                    for r in active
                    if r["worker"] == g
                )
                for h in range(window + 1)
            ]
            for g in workers
        ]
        if signal_delay:
            old = len(history) - 1 - signal_delay
            loads, counts = history[old] if old >= 0 else ([0] * len(loads), [0] * len(loads))
            projected = [[load] for load in loads]
        if admissions:
            view = View(
                np.array(projected, dtype=np.float64),
                np.array(counts),
                np.array(free),
                np.array([r["prompt"] for r in waiting]),
                np.array([r["row"] for r in waiting]),
                admissions,
                k,
            )
            run.views.append(view)
            pairs = [(waiting[i], g) for i, g in route(view, rng)]
            for request, g in pairs:
                request["worker"], request["admission"] = int(g), k
                request["admission_s"] = clock_s
                request["known"] = known
                waiting.remove(request)
                active.append(request)

        loads = [sum(workload(r, k) for r in active if r["worker"] == g) for g in workers]
        counts = [sum(r["worker"] == g for r in active) for g in workers]
        step = step_of(cluster, loads, counts)
        step |= {
            "iteration": k,
            "start_s": clock_s,
            "loads": loads,
            "active": len(active),
            "waiting": len(waiting),
            "admitted": admissions,
            "free": int(sum(cluster.slots)) - len(active),
        }
        run.steps.append(step)
        clock_s += step["step_s"]
        for request in active:
            request["generated"] += 1
            if request["generated"] == 1:
                request["first_s"] = clock_s
            if request["generated"] == request["decode"]:
                request["finish_s"] = clock_s
        active = [r for r in active if r["generated"] < r["decode"]]

    run.metrics = metrics_of(run, idle_iterations, clock_s)
    return run


def release(coming, k, clock_s):
    request = coming.pop(0)
    request["release"], request["release_s"] = k, clock_s
    return request


def workload(request, k):
    """W_i(k) = s_i + (k - x_i)."""
    return request["prompt"] + k - request["admission"]


def presence(request, h, k, issued, horizon, projection):
    """How far the forecast issued at iteration `issued` has the request active at k + h."""
    if request["admission"] >= issued or h == 0:  # admitted since: outlasts the window
        return 1
    if "outlook" in request:
        (c, law), elapsed = request["outlook"], k - issued
        if projection == "expected":
            return law[elapsed + h]
        return elapsed + h < math.ceil(c - 1e-9)
    age = issued - request["admission"]
    cutoff = min(max(1, request["forecast"] - age), horizon + 1) - (k - issued)
    return h < cutoff  # past its cutoff it counts at h = 0 only


def step_of(cluster, loads, counts):
    times, power, G = cluster.step_time, cluster.power, len(loads)
    local = [
        times.fixed_s + times.per_token_s * load + times.per_slot_s * count
        for load, count in zip(loads, counts, strict=True)
    ]
    step_s = max(local) + times.shared_per_token_s * sum(loads) / G
    waiting_s = sum(max(local) - one for one in local)
    watts = sum(
        power.idle_w + (power.peak_w - power.idle_w) * (load / max(loads)) ** power.exponent
        for load in loads
    )
    return {
        "imbalance": G * max(loads) - sum(loads),
        "step_s": step_s,
        "waiting_s": waiting_s,
        "idle_share": waiting_s / (G * step_s),
        "energy_j": watts * step_s,
    }


def metrics_of(run, idle_iterations, clock_s):
    done = [r for r in run.requests if not math.isnan(r["finish_s"])]
    released = [r["release_s"] for r in run.requests if r["release"] > 0]
    busy = len(run.steps)
    makespan_s = clock_s - min(released, default=0.0)
    tokens = sum(r["generated"] for r in run.requests)
    imbalance = sum(step["imbalance"] for step in run.steps)
    row = {
        "arrived": len(run.requests),
        "finished": len(done),
        "rejected": 0,
        "unfinished": len(run.requests) - len(done),
        "censored": len(done) < len(run.requests),
        "iterations": busy,
        "idle_iterations": idle_iterations,
        "mean_imbalance_tokens": imbalance / busy if busy else 0.0,
        "mean_imbalance_with_idle_tokens": (
            imbalance / (busy + idle_iterations) if busy + idle_iterations else 0.0
        ),
        "mean_idle_share": sum(s["idle_share"] for s in run.steps) / busy if busy else 0.0,
        "makespan_s": makespan_s,
        "decode_tokens": tokens,
        "throughput_tokens_per_s": tokens / makespan_s if makespan_s else 0.0,
        "requests_per_s": len(done) / makespan_s if makespan_s else 0.0,
        "single_token_requests": sum(r["decode"] == 1 for r in done),
        "energy_j": sum(s["energy_j"] for s in run.steps),
    }
    full = [n for n, step in enumerate(run.steps) if step["free"] == 0]
    admitting = [n for n, step in enumerate(run.steps) if step["admitted"]]
    if full and admitting[-1] >= full[0]:  # from the first full step to the last admission
        window = [step["imbalance"] for step in run.steps[full[0] : admitting[-1] + 1]]
        row["while_waiting_iterations"] = len(window)
        row["while_waiting_mean_imbalance_tokens"] = sum(window) / len(window)
    latencies = {
        "waiting_time": [
            r["admission_s"] - r["release_s"] for r in run.requests if "admission_s" in r
        ],
        "tpot": [
            (r["finish_s"] - r["first_s"]) / (r["decode"] - 1) for r in done if r["decode"] > 1
        ],
        "ttft": [r["first_s"] - r["release_s"] for r in done],
        "end_to_end": [r["finish_s"] - r["release_s"] for r in done],
    }
    for name, values in latencies.items():
        row[f"{name}_mean_s"] = sum(values) / len(values) if values else None
        for percent in (50, 95, 99):
            row[f"{name}_p{percent}_s"] = quantile(values, percent / 100)
        row[f"{name}_max_s"] = max(values, default=None)
    return row


def quantile(values, level):
    """Linear interpolation between the ranks around (n - 1) * level."""
    if not values:
        return None
    ordered = sorted(values)
    place = (len(ordered) - 1) * level
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
