"""A whole run of the barrier model in hindsight, from the definitions, in integers.

This is a second opinion on `olprouting.hindsight.imbalance`: nothing here comes from there. A
request of prompt s and decode length o that joins the queue in iteration t and is admitted in
k >= t loads its worker with s + i tokens in iteration k + i, i = 0..o-1. Between, every iteration
admits as many waiting requests as there are free slots. Source: balance paper, section 2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from olprouting.certificates import reading as r
from olprouting.certificates.reading import read, whole_numbers
from olprouting.certificates.verification import DoesNotHoldError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_TOKENS = 500_000
"""Runs of more decode tokens are not added up (seconds)."""


_COLUMNS = ("prompt_tokens", "decode_tokens", "release_iteration", "slots")

IMBALANCE_PROBLEM = r.fields(dict.fromkeys(_COLUMNS, r.list_of(r.whole)))
"""Reads the fields of a problem."""


@dataclass(frozen=True)
class ExactRuns:
    """The data of a run.

    Parameters
    ----------
    prompt, decode, release
        s_i, o_i and t_i; releases do not decrease.
    slots
        B_g.
    """

    prompt: tuple[int, ...]
    decode: tuple[int, ...]
    release: tuple[int, ...]
    slots: tuple[int, ...]

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> ExactRuns:
        """Return the problem in an exact document of schema ``olprouting/hindsight-imbalance/1``.

        Raises
        ------
        InputError
            If a field is missing, unknown, or of another type.
        DoesNotHoldError
            If a number is out of range, or the run too long to be added up.
        """
        return cls.from_fields(read(document, IMBALANCE_PROBLEM, "problem"))

    @classmethod
    def from_fields(cls, given: dict[str, Any]) -> ExactRuns:
        """Return the problem of these fields; see `from_document`."""
        prompt, decode, release, slots = (
            tuple(whole_numbers(f"problem.{name}", given[name], least=1)) for name in _COLUMNS
        )
        if not len(prompt) == len(decode) == len(release) or not slots:
            raise DoesNotHoldError("problem: its columns differ in length, or it has no worker")
        if list(release) != sorted(release):
            raise DoesNotHoldError("problem.release_iteration decreases")
        if sum(decode) > MOST_TOKENS:
            raise DoesNotHoldError(f"problem: {sum(decode)} decode tokens, at most {MOST_TOKENS}")
        return cls(prompt, decode, release, slots)

    @property
    def workers(self) -> int:
        """G."""
        return len(self.slots)

    def total(self, worker: Sequence[int], start: Sequence[int]) -> int:
        """Return the imbalance of a run, added up over its iterations.

        Raises
        ------
        DoesNotHoldError
            If no maximal policy can make it.
        """
        count = len(self.prompt)
        if not len(worker) == len(start) == count:
            raise DoesNotHoldError(f"worker and admission_iteration must be {count} numbers")
        # by iteration and worker: only what is there, as anything may stand in a file
        held: defaultdict[int, Counter[int]] = defaultdict(Counter)
        loads: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for j, (g, k) in enumerate(zip(worker, start, strict=True)):
            if not 0 <= g < self.workers:
                raise DoesNotHoldError(f"worker: request {j} goes to {g}, which does not exist")
            if k < self.release[j]:
                raise DoesNotHoldError(
                    f"admission_iteration: request {j} is admitted in {k}, before its release in "
                    f"{self.release[j]}"
                )
            for age in range(self.decode[j]):
                held[k + age][g] += 1
                loads[k + age][g] += self.prompt[j] + age
        self._check_slots(held, start)
        return sum(self.workers * max(row.values()) - row.total() for row in loads.values())

    def _check_slots(self, held: Mapping[int, Counter[int]], start: Sequence[int]) -> None:
        for k, row in sorted(held.items()):
            for g, number in sorted(row.items()):
                if number > self.slots[g]:
                    raise DoesNotHoldError(
                        f"worker {g} holds {number} of {self.slots[g]} requests in iteration {k}"
                    )
        queue = Counter(self.release)
        queue.subtract(start)
        waiting = 0
        for k, following in pairwise(sorted(queue)):
            waiting += queue[k]
            for moment in range(k, following if waiting else k):
                if moment not in held or held[moment].total() < sum(self.slots):
                    raise DoesNotHoldError(
                        f"a request waits beside a free slot in iteration {moment}"
                    )

    def forced(self) -> int:
        """Return the least imbalance of the iterations whose active requests are forced.

        As long as no more are active than there are slots, whoever is released is admitted at once.
        The fullest worker then has the largest request, and the mean load, at least.
        """
        active: dict[int, list[int]] = {}
        for s, o, t in zip(self.prompt, self.decode, self.release, strict=True):
            for age in range(o):
                active.setdefault(t + age, []).append(s + age)
        total = 0
        for _, loads in sorted(active.items()):
            if len(loads) > sum(self.slots):
                break
            total += self.workers * max(*loads, -(-sum(loads) // self.workers)) - sum(loads)
        return total
