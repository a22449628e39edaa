"""Dispatch on arrival as slow, obvious Python: the referee of both clocks with queues of its own.

`waiting` holds the requests of this iteration until they are sent; `queues` what each worker has.
"""

from __future__ import annotations

import numpy as np
from reference_clocks import Referee

from olprouting.policies import View


class ArrivalReferee(Referee):
    """One run in which every request goes to the queue of one worker when it is released."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.queues = [[] for _ in self.workers]

    def oversize(self, request):
        if self.limit is None:
            return False
        return self.charged(request, request["decode"] + self.prefill - 1) > min(self.limit)

    def decide(self):
        if self.waiting:
            view = self.view()
            self.out.views.append(view)
            for i, g in self.route(view, self.rng):
                self.queues[g].append(self.waiting[i])
                self.waiting[i]["worker"] = int(g)
            self.waiting = []
        for g in self.workers:
            if self.ends_s[g] is None:
                self.start(g)

    def view(self):
        queued = [len(queue) for queue in self.queues]
        prompts = [sum(r["prompt"] + r["before"] for r in queue) for queue in self.queues]
        view = View(
            np.array([[self.load(g) + prompts[g]] for g in self.workers], dtype=np.float64),
            np.array([len(self.residents[g]) + queued[g] for g in self.workers]),
            np.array([len(self.waiting)] * len(self.workers)),
            np.array([r["prompt"] for r in self.waiting]),
            np.array([r["row"] for r in self.waiting]),
            len(self.waiting),
            self.k,
            queued_requests=np.array(queued),
            queued_tokens=np.array(prompts),
        )
        if self.limit is None:
            return view
        free = [max(0, self.limit[g] - self.used(g)) for g in self.workers]
        asks = [r["asks"] for r in self.waiting]
        return view._replace(kv_free_tokens=np.array(free), waiting_kv_tokens=np.array(asks))

    def start(self, g):
        room = None if self.limit is None else self.limit[g] - self.used(g)
        while self.queues[g] and len(self.residents[g]) < self.cluster.slots[g]:
            if room is not None:
                room -= self.queues[g][0]["asks"]
                if room < 0:
                    return
            request = self.queues[g].pop(0)
            request |= {"admission": self.k, "age": 0}
            self.residents[g].append(request)

    def somebody_waits(self):
        return bool(self.waiting) or any(self.queues)

    def queue_of(self, g):
        return self.queues[g]

    def make_room(self):
        super().make_room()
        for g, queue in enumerate(self.queues):
            for request in queue:
                request["worker"] = g

    def wakes_at_arrivals(self):
        return True
