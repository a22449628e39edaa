"""A period of the batch/KV model, its rewards and rows, from the definitions in exact arithmetic.

This is a second opinion on `olprouting.exact.period`, and on the curves and rewards of
`olprouting.instances`: nothing here comes from there. A request of prompt s and decode length o
that starts now is active for o periods (o + 1 with PD-mixing) and holds s + theta + offset tokens
at age theta. Source: bid-price paper, section 3.1 and appendix A.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from olprouting.certificates import reading as r
from olprouting.certificates.reading import Number, read
from olprouting.certificates.reward import RewardTerms, weights_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    Table = Sequence[Sequence[Number]]


@dataclass(frozen=True)
class ExactPeriod:
    """The data of the per-period program as exact numbers.

    Parameters
    ----------
    first
        k, the present period.
    slots, kv_tokens
        Residuals by worker and remaining period, >= 0.
    rewards
        r_j.
    active
        In how many of the remaining periods each request is active.
    held
        KV tokens at age 0; one more with each period.
    clipped
        How many residuals were negative and count as 0.
    """

    first: int
    slots: tuple[tuple[int, ...], ...]
    kv_tokens: tuple[tuple[int, ...], ...]
    rewards: tuple[Fraction, ...]
    active: tuple[int, ...]
    held: tuple[int, ...]
    clipped: int

    @classmethod
    def from_document(cls, document: dict[str, Any], source: str = "period") -> ExactPeriod:
        """Return the problem of an exact document of schema ``olprouting/period/1``.

        Raises
        ------
        InputError
            If a field is missing, unknown, or of another type.
        """
        return read(document, PERIOD, source)

    @property
    def workers(self) -> int:
        """G."""
        return len(self.slots)

    @property
    def remaining(self) -> int:
        """T - k + 1."""
        return len(self.slots[0])

    def use(self, x: Table) -> tuple[list[list[Number]], list[list[Number]]]:
        """Return slots and KV tokens used by shares x[j][g], by worker and remaining period."""
        slots, tokens = [], []
        for g in range(self.workers):
            # both are polynomials in the age, which change only where a request ends
            admitted = [0] * (self.remaining + 1)
            intercept: list[Number] = list(admitted)
            number: list[Number] = list(admitted)
            for j, row in enumerate(x):
                if row[g]:
                    number[0] += row[g]
                    number[self.active[j]] -= row[g]
                    intercept[0] += row[g] * self.held[j]
                    intercept[self.active[j]] -= row[g] * self.held[j]
            present = list(accumulate(number))[:-1]
            held = list(accumulate(intercept))[:-1]
            slots.append(present)
            tokens.append(
                [h + age * n for age, (h, n) in enumerate(zip(held, present, strict=True))]
            )
        return slots, tokens

    def value(self, x: Table) -> Fraction:
        """Return the reward of x."""
        rewards = zip(self.rewards, x, strict=True)
        return sum((reward * sum(row) for reward, row in rewards), Fraction(0))

    def margins(self, batch: Table, memory: Table) -> list[list[Fraction]]:
        """Return r_j - a_(j,g)'p by request and worker."""
        sums = [self._running(batch[g], memory[g]) for g in range(self.workers)]
        return [
            [
                reward - (slot[last - 1] + held * token[last - 1] + aged[last - 1])
                for slot, token, aged in sums
            ]
            for reward, last, held in zip(self.rewards, self.active, self.held, strict=True)
        ]

    def option_values(self, batch: Table, memory: Table) -> list[Fraction]:
        """Return y_j = (max_g r_j - a_(j,g)'p)+."""
        return [max(max(row), Fraction(0)) for row in self.margins(batch, memory)]

    def fits_whole(self, request: int) -> bool:
        """Whether a request fits whole on some worker, alone."""
        held = self.held[request]
        ages = range(self.active[request])
        return any(
            all(slots[age] >= 1 and tokens[age] >= held + age for age in ages)
            for slots, tokens in zip(self.slots, self.kv_tokens, strict=True)
        )

    def most_share(self, request: int) -> Fraction:
        """Return the largest share of a request, up to 1, that fits on the workers, alone."""
        needs = [self.held[request] + age for age in range(self.active[request])]
        shares = Fraction(0)
        for slots, tokens in zip(self.slots, self.kv_tokens, strict=True):
            room = (Fraction(t, need) for t, need in zip(tokens, needs, strict=False) if need)
            shares += min([Fraction(1), *room, *map(Fraction, slots[: len(needs)])])
        return min(Fraction(1), shares)

    @cached_property
    def whole_rewards(self) -> bool:
        """Whether every reward is a whole number."""
        return all(reward.denominator == 1 for reward in self.rewards)

    def only(self, kept: Sequence[int]) -> ExactPeriod:
        """Return the problem of some of its requests."""
        return replace(
            self,
            rewards=tuple(self.rewards[j] for j in kept),
            active=tuple(self.active[j] for j in kept),
            held=tuple(self.held[j] for j in kept),
        )

    def dual_value(self, batch: Table, memory: Table) -> Fraction:
        """Return b'p + sum_j y_j(p): no start is worth more in all, whatever the prices >= 0."""
        paid = Fraction(0)
        for prices, capacity in ((batch, self.slots), (memory, self.kv_tokens)):
            for row, left in zip(prices, capacity, strict=True):
                paid += sum((p * c for p, c in zip(row, left, strict=True) if p), Fraction(0))
        return paid + sum(self.option_values(batch, memory), Fraction(0))

    @staticmethod
    def _running(
        batch: Sequence[Number], memory: Sequence[Number]
    ) -> tuple[list[Number], list[Number], list[Number]]:
        aged = [age * price for age, price in enumerate(memory)]
        return list(accumulate(batch)), list(accumulate(memory)), list(accumulate(aged))


def _period(given: dict[str, Any]) -> ExactPeriod:
    k, T = given["period"], given["periods"]
    workers, requests = given["workers"], given["requests"]
    inclusive = given.get("inclusive", False)
    terms = RewardTerms.of(T, given["batching"], given["t1"], given["t2"], inclusive=inclusive)
    weights = weights_of(given["weights"], [one.get("slo_class") for one in requests])
    offset = given.get("age_offset", 1 - terms.delay)
    slots, kv_tokens = (
        tuple(tuple(max(one, 0) for one in worker[name]) for worker in workers)
        for name in ("slots", "kv_tokens")
    )
    residuals = [one for worker in workers for row in worker.values() for one in row]
    return ExactPeriod(
        k,
        slots,
        kv_tokens,
        tuple(
            terms.reward(own, r["decode_tokens"], r["arrival_period"], k)
            for own, r in zip(weights, requests, strict=True)
        ),
        tuple(min(r["decode_tokens"] + terms.delay, T - k + 1) for r in requests),
        tuple(r["prompt_tokens"] + offset for r in requests),
        given.get("clipped", 0) + sum(one < 0 for one in residuals),
    )


_DEVICE = r.fields(dict.fromkeys(("slots", "kv_tokens"), r.list_of(r.whole)))
_REQUEST = r.fields(
    dict.fromkeys(("prompt_tokens", "decode_tokens", "arrival_period"), r.whole),
    {"slo_class": r.text},
)

PERIOD = r.made(
    _period,
    r.fields(
        {
            "schema": r.text,
            "period": r.whole,
            "periods": r.whole,
            "batching": r.KERNEL,
            "weights": r.CLASS_WEIGHTS,
            "t1": r.number,
            "t2": r.number,
            "workers": r.list_of(_DEVICE),
            "requests": r.list_of(_REQUEST),
        },
        {"inclusive": r.flag, "age_offset": r.whole, "clipped": r.whole},
    ),
)
"""Reads a document of schema ``olprouting/period/1``."""
