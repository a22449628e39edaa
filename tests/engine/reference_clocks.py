"""Both clocks, KV limits and preemption as slow, obvious Python: a second referee.

Written from the model's definition and shares no code with the engine. A request is a dict that
knows its original prompt and how many tokens it has generated in all; loads, KV tokens and free
slots are recomputed from the requests whenever they are needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from reference_engine import noisy_lengths, quantile, step_of

from olprouting.policies import View


@dataclass
class ClockRun:
    """What the referee saw: requests, views, KV tokens of every step, metrics."""

    requests: list[dict]
    views: list[View] = field(default_factory=list)
    kv_steps: list[tuple[int, int, int]] = field(default_factory=list)
    """(iteration, worker, KV tokens) of every step that a worker ran."""
    metrics: dict = field(default_factory=dict)


class Referee:
    """One run; `run` returns what happened."""

    def __init__(
        self,
        trace,
        cluster,
        route,
        *,
        clock="barrier",
        batching="decode",
        mode="tokens",
        block_tokens=16,
        max_output_tokens=None,
        age_offset=None,
        backlog=None,
        in_flight=None,
        periods=None,
        max_idle_iterations=10_000,
        spread=None,
        seed=0,
    ):
        self.trace, self.cluster, self.route = trace, cluster, route
        self.barrier, self.prefill = clock == "barrier", int(batching == "mixed")
        self.mode, self.block_tokens = mode, block_tokens
        self.offset = 1 - self.prefill if age_offset is None else age_offset
        self.backlog, self.in_flight = backlog, in_flight
        self.periods, self.max_idle = periods, max_idle_iterations
        self.rng = np.random.default_rng(seed)
        decode = trace.decode_tokens.tolist()
        forecast = decode if spread is None else noisy_lengths(decode, spread, self.rng)
        self.requests = [
            {
                "row": row,
                "prompt": prompt,
                "decode": decode[row],
                "reserve": prompt + (max_output_tokens or forecast[row]),
                "generated": 0,
                "before": 0,  # generated before its latest admission
                "age": 0,
                "asks": None,
                "worker": -1,
                "admission": -1,
                "release": -1,
                "release_s": math.nan,
                "first": -1,
                "first_s": math.nan,
                "finish": -1,
                "finish_s": math.nan,
                "preemptions": 0,
            }
            for row, prompt in enumerate(trace.prompt_tokens.tolist())
        ]
        self.workers = range(cluster.workers)
        self.limit = None if cluster.kv_tokens is None else cluster.kv_tokens.tolist()
        self.coming = list(self.requests)
        self.waiting: list[dict] = []
        self.residents = [[] for _ in self.workers]  # in order of admission
        self.ends_s: list[float | None] = [None for _ in self.workers]
        self.k, self.clock_s, self.idle, self.stalled = 0, 0.0, 0, 0
        self.rejected = self.busy = self.steps = self.preempting = self.recomputed = 0
        self.imbalance, self.energy_j, self.idle_share = 0, 0.0, 0.0

    # --- sizes -------------------------------------------------------------------------------

    def charged(self, request, age):
        tokens = request["prompt"] + request["before"] + age + self.offset
        if self.mode == "reserve":
            return max(tokens, request["reserve"])
        if self.mode == "blocks":
            return math.ceil(tokens / self.block_tokens) * self.block_tokens
        return tokens

    def oversize(self, request):
        if self.limit is None:
            return False
        last_age = request["decode"] + self.prefill - 1
        return self.charged(request, last_age) > max(self.limit)

    def used(self, g):
        return sum(self.charged(r, r["age"]) for r in self.residents[g])

    def load(self, g):
        return sum(r["prompt"] + r["before"] + r["age"] for r in self.residents[g])

    # --- the run -----------------------------------------------------------------------------

    def run(self):
        self.out = ClockRun(self.requests)
        while self.periods is None or self.k < self.periods:
            self.k += 1
            self.releases()
            nobody = not any(self.residents)
            if self.k > (self.periods or math.inf) or (
                nobody and (not self.somebody_waits() or self.stalled >= self.max_idle)
            ):
                break
            self.decide()
            if self.limit is not None:
                self.make_room()
            if not any(self.residents):
                self.pass_idle()
            elif self.barrier:
                self.barrier_step()
            else:
                self.next_event()
        self.out.metrics = self.metrics()
        return self.out

    def releases(self):
        while True:
            before = len(self.coming)
            stuck = not any(self.residents) and (
                not self.somebody_waits() or self.stalled >= self.max_idle
            )
            if self.backlog is not None:
                while self.coming and len(self.waiting) < self.backlog:
                    self.release()
            elif self.in_flight is not None:
                while self.coming and self.there() < self.in_flight:
                    self.release()
            elif self.trace.release_iteration is not None:
                due = self.trace.release_iteration
                while (
                    stuck
                    and self.coming
                    and due[self.coming[0]["row"]] > self.k
                    and self.k <= (self.periods or math.inf)
                ):
                    self.k += 1
                    self.idle += 1
                    self.clock_s += self.cluster.step_time.fixed_s
                now = min(self.k, self.periods or math.inf)
                while self.coming and due[self.coming[0]["row"]] <= now:
                    self.release()
            else:
                due = self.trace.arrival_s
                if stuck and self.coming:
                    self.clock_s = max(self.clock_s, due[self.coming[0]["row"]])
                while self.coming and due[self.coming[0]["row"]] <= self.clock_s:
                    self.release()
            if len(self.coming) == before:
                return

    def release(self):
        request = self.coming.pop(0)
        request["release"], request["release_s"] = self.k, self.clock_s
        if self.oversize(request):
            self.rejected += 1
            return
        request["asks"] = self.charged(request, 0)
        self.waiting.append(request)
        self.stalled = 0

    def somebody_waits(self):
        return bool(self.waiting)

    def there(self):
        """Requests released, neither finished nor rejected."""
        released = len(self.requests) - len(self.coming)
        return released - self.rejected - sum(r["finish"] > 0 for r in self.requests)

    @property
    def by_time(self):
        given = self.backlog, self.in_flight, self.trace.release_iteration
        return all(release is None for release in given)

    def decide(self):
        free = [
            0 if self.ends_s[g] is not None else int(self.cluster.slots[g]) - len(self.residents[g])
            for g in self.workers
        ]
        admissions = min(len(self.waiting), sum(free))
        view = View(
            np.array([[self.load(g)] for g in self.workers], dtype=np.float64),
            np.array([len(self.residents[g]) for g in self.workers]),
            np.array(free),
            np.array([r["prompt"] + r["before"] for r in self.waiting]),
            np.array([r["row"] for r in self.waiting]),
            admissions,
            self.k,
        )
        if self.limit is not None:
            view = view._replace(
                kv_free_tokens=np.array(
                    [max(0, self.limit[g] - self.used(g)) for g in self.workers]
                ),
                waiting_kv_tokens=np.array([r["asks"] for r in self.waiting], dtype=np.int64),
            )
        if not admissions:
            return
        self.out.views.append(view)
        chosen = [(self.waiting[i], g) for i, g in self.route(view, self.rng)]
        for request, g in chosen:
            self.waiting.remove(request)
            request |= {"worker": int(g), "admission": self.k, "age": 0}
            self.residents[g].append(request)

    def make_room(self):
        any_worker = False
        for g in self.workers:
            if self.ends_s[g] is not None:
                continue
            sent_back = False
            while self.used(g) > self.limit[g]:
                request = self.residents[g].pop()
                if request["age"] > 0:
                    self.recomputed += request["prompt"] + request["generated"]
                request["asks"] = self.charged(request, request["age"])
                request |= {"before": request["generated"], "worker": -1, "admission": -1}
                request["preemptions"] += 1
                self.queue_of(g).insert(0, request)
                self.stalled = -1  # an idle iteration after this is nobody's choice
                sent_back = any_worker = True
            self.preempting += sent_back and not self.barrier
        self.preempting += any_worker and self.barrier

    def queue_of(self, g):
        """Where a request preempted on worker g goes."""
        return self.waiting

    def pass_idle(self):
        self.idle += 1
        self.stalled += 1
        until_s = self.clock_s + self.cluster.step_time.fixed_s
        if not self.barrier and self.by_time:
            until_s = min([until_s] + [self.trace.arrival_s[r["row"]] for r in self.coming[:1]])
        self.clock_s = until_s

    def barrier_step(self):
        self.stalled = 0
        counts = [len(self.residents[g]) for g in self.workers]
        step = step_of(self.cluster, [self.load(g) for g in self.workers], counts)
        self.imbalance += step["imbalance"]
        self.energy_j += step["energy_j"]
        self.idle_share += step["idle_share"]
        self.busy += 1
        self.clock_s += step["step_s"]
        for g in self.workers:
            self.finish_step(g)

    def next_event(self):
        self.stalled = 0
        times = self.cluster.step_time
        for g in self.workers:
            if self.ends_s[g] is None and self.residents[g]:
                self.ends_s[g] = self.clock_s + (
                    times.fixed_s
                    + times.per_token_s * self.load(g)
                    + times.per_slot_s * len(self.residents[g])
                )
        events = [end for end in self.ends_s if end is not None]
        if self.by_time and self.coming and self.wakes_at_arrivals():
            events.append(self.trace.arrival_s[self.coming[0]["row"]])
        self.clock_s = min(events)
        for g in self.workers:
            if self.ends_s[g] == self.clock_s:
                self.steps += 1
                self.finish_step(g)

    def wakes_at_arrivals(self):
        return None in self.ends_s

    def finish_step(self, g):
        self.ends_s[g] = None
        self.out.kv_steps.append((self.k, g, self.used(g)))
        for request in list(self.residents[g]):
            if request["age"] >= self.prefill:
                request["generated"] += 1
                if request["generated"] == 1:
                    request["first"], request["first_s"] = self.k, self.clock_s
            request["age"] += 1
            if request["generated"] == request["decode"]:
                request["finish"], request["finish_s"] = self.k, self.clock_s
                self.residents[g].remove(request)

    def metrics(self):
        done = [r for r in self.requests if r["finish"] > 0]
        iterations = self.busy if self.barrier else self.steps
        tokens = sum(r["generated"] for r in self.requests)
        row = {
            "arrived": len(self.requests),
            "finished": len(done),
            "rejected": self.rejected,
            "unfinished": len(self.requests) - len(done) - self.rejected,
            "iterations": iterations,
            "idle_iterations": self.idle,
            "decode_tokens": tokens,
        }
        row["censored"] = row["unfinished"] > 0
        released_s = [r["release_s"] for r in self.requests if r["release"] > 0]
        row["makespan_s"] = self.clock_s - min(released_s, default=0.0)
        if self.limit is not None:
            kv = {"preemptions": sum(r["preemptions"] for r in self.requests)}
            kv["preempted_requests"] = sum(r["preemptions"] > 0 for r in self.requests)
            kv["recomputed_tokens"] = self.recomputed
            kv["preempting_step_share"] = self.preempting / iterations if iterations else 0.0
            peaks = [
                max([u for _, h, u in self.out.kv_steps if h == g] + [0]) for g in self.workers
            ]
            for g in self.workers:
                kv[f"peak_tokens_{g}"] = peaks[g]
            kv["peak_share"] = max(p / m for p, m in zip(peaks, self.limit, strict=True))
            row |= {f"kv_{name}": value for name, value in kv.items()}
        barrier = dict.fromkeys(("mean_imbalance_tokens", "mean_idle_share", "energy_j"))
        if self.barrier:
            barrier = {
                "mean_imbalance_tokens": self.imbalance / self.busy if self.busy else 0.0,
                "mean_idle_share": self.idle_share / self.busy if self.busy else 0.0,
                "energy_j": self.energy_j,
            }
            periods = self.busy + self.idle
            row["periods_tokens_per_period"] = tokens / periods if periods else 0.0
            row["periods_requests_per_period"] = len(done) / periods if periods else 0.0
            latencies = {
                "ttft": [r["first"] - r["release"] for r in self.requests if r["first"] > 0],
                "end_to_end": [r["finish"] + 1 - r["release"] for r in done],
            }
            for name, values in latencies.items():
                row[f"periods_{name}_mean"] = sum(values) / len(values) if values else None
                for percent in (50, 95, 99):
                    row[f"periods_{name}_p{percent}"] = quantile(values, percent / 100)
        return row | barrier
