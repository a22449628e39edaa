"""What a report on gaps says in words: findings, warnings, and what to run next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from olprouting.gaps.policy_gaps import difference
from olprouting.intervals import Interval
from olprouting.options import OWN_PATH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from olprouting.gaps.policy_gaps import PolicyGaps
    from olprouting.gaps.report import GapReport
    from olprouting.gaps.runs import PolicyRun

FEW_CHOICES: Final = 20
"""With fewer decisions that leave a choice, policies are hardly compared at all."""


def program_of(window: int) -> str:
    """Return a program in words."""
    if not window:
        return "judged by the coming iteration alone (H = 0)"
    return f"judged by the coming {window} iterations too (H = {window})"


class GapFindings:
    """Reads a report.

    Parameters
    ----------
    report
        The report.
    """

    def __init__(self, report: GapReport) -> None:
        self._report = report
        self._runs = {run.policy: run for run in report.runs}

    @property
    def ranked(self) -> list[PolicyRun]:
        """The runs whose slots fill, the best while requests wait first."""
        bound = [run for run in self._report.runs if run.binds]
        return sorted(bound, key=lambda run: run.mean().estimate)

    @property
    def best(self) -> PolicyRun | None:
        """The run that balances best while requests wait; None where slots never fill."""
        return self.ranked[0] if self.ranked and not self.all_equal else None

    @property
    def tied(self) -> list[PolicyRun]:
        """The runs that cannot be told apart from the best."""
        best = self.best
        return [run for run in self.ranked[1:] if best and not run.above(best).excludes_zero]

    @property
    def all_equal(self) -> bool:
        """Whether several policies do the very same."""
        runs = self._report.runs
        outcomes = {
            (run.numbers.waiting_imbalance_tokens, run.numbers.imbalance_tokens) for run in runs
        }
        return len(runs) > 1 and len(outcomes) == 1

    def sentences(self) -> tuple[str, ...]:
        """Return one to three findings."""
        if self.best is None:
            return ()
        return (
            self._who_balances_best(self.best),
            *self._how_far_from_optimal(self.best),
            *self._what_lookahead_brings(),
        )

    def _who_balances_best(self, best: PolicyRun) -> str:
        said = (
            f"While requests wait, {best.policy} balances best: mean imbalance "
            f"{_tokens(best.mean())}"
        )
        others, tied = self.ranked[1:], self.tied
        if not others:
            return f"{said}."
        if not best.mean().is_known:
            return f"{said}; whether by chance, one run does not tell."
        jsq = self._runs.get("jsq")
        if jsq is not None and jsq.binds and jsq not in (best, *tied):
            times = jsq.mean().estimate / (best.mean().estimate or 1.0)
            said += (
                f"; jsq leaves {times:.1f} times that, {_tokens(jsq.above(best))} more. "
                f"{self._what_it_costs(best, jsq)}"
            )
        else:
            said += "."
        if tied:
            return f"{said} {_listed([run.policy for run in tied])} cannot be told apart from it."
        return f"{said} Its lead over every other policy is more than chance."

    def _what_it_costs(self, best: PolicyRun, jsq: PolicyRun) -> str:
        mean, p99 = (best.mean(f"wait_{what}_s").estimate for what in ("mean", "p99"))
        return (
            f"Under it requests wait {mean:.3g} s for a slot on average, "
            f"{_beside(best.above(jsq, 'wait_mean_s'))}; the slowest 1% {p99:.3g} s or longer, "
            f"{_beside(best.above(jsq, 'wait_p99_s'))}."
        )

    def _how_far_from_optimal(self, best: PolicyRun) -> Iterator[str]:
        window = min(self._report.windows, default=0)
        entry = self._entry(best.policy, window)
        if entry is None:
            return
        said = (
            f"A decision of {best.policy}, {program_of(window)}, leaves {_tokens(entry.found)} "
            f"above the best found, which leaves {entry.best_mean_tokens:,.0f}"
        )
        if entry.share_captured is None:
            said += "; jsq is optimal at all of them"
        elif best.policy != "jsq":
            said += (
                f"; jsq leaves {entry.jsq_mean_tokens:,.0f} above that, of which {best.policy} "
                f"avoids {entry.captured.text('.0%')}"
            )
        yield f"{said}. {self._unproven(entry)}"

    def _unproven(self, entry: PolicyGaps) -> str:
        records = self._report.records_of(entry.policy, entry.horizon)
        where = [str(record.iteration) for record in records if not record.proven]
        if not where:
            return f"All {entry.sampled} optima are proven."
        named = f"{', '.join(where[:5])}{', ...' if len(where) > 5 else ''}"
        more = entry.unproven_mean_tokens
        tokens = f"{more:,.0f} tokens" if more >= 1.5 else "a token"
        return (
            f"{len(where)} of {entry.sampled} optima are unproven (iteration {named}): every "
            f"policy may lose up to {tokens} a decision more, in mean, and their order stays."
        )

    def _what_lookahead_brings(self) -> Iterator[str]:
        window = max(self._report.windows, default=0)
        if "br0" not in self._runs or "brh" not in self._runs or not window:
            return
        ahead, myopic = self._entry("brh", window), self._entry("br0", window)
        if ahead is None or myopic is None or self._report.settings["states"] == OWN_PATH:
            return
        of = self._report.records_of
        less = difference(of("brh", window), of("br0", window))
        if ahead.share_captured is None:
            return
        said = (
            f"Lookahead, {program_of(window)}: brh avoids {ahead.captured.text('.0%')} of jsq's "
            f"excess, br0 {myopic.captured.text('.0%')}"
        )
        if less.excludes_zero:
            which = "less" if less.estimate < 0 else "more"
            said += (
                f"; a decision of brh leaves {which}, by {_tokens(_positive(less))}, which is more "
                "than chance"
            )
        else:
            said += "; what their decisions leave cannot be told apart"
        yield f"{said}. {self._lookahead_in_runs()}{self._unproven(ahead)}"

    def _lookahead_in_runs(self) -> str:
        """Say what lookahead brings over whole runs, whose decisions follow from earlier ones."""
        ahead, myopic = self._runs["brh"], self._runs["br0"]
        if not (ahead.binds and myopic.binds):
            return ""
        more = ahead.above(myopic)
        if not more.excludes_zero:
            return "Nor can their runs, while requests wait. "
        which = "more" if more.estimate > 0 else "less"
        return (
            f"In its runs, while requests wait, brh leaves {_tokens(_positive(more))} {which} than "
            "br0. "
        )

    def _entry(self, policy: str, window: int) -> PolicyGaps | None:
        for entry in self._report.policies:
            if (entry.policy, entry.horizon) == (policy, window):
                return entry
        return None

    def warnings(self) -> tuple[str, ...]:
        """Return why numbers may say nothing."""
        return tuple(self._warnings())

    def _warnings(self) -> Iterator[str]:
        runs, asked = self._report.runs, self._report.settings
        if self.all_equal:
            yield (
                "nothing binds: all policies do the same; take fewer slots, more requests or a "
                "higher rate"
            )
        unfilled = [run.policy for run in runs if not run.binds]
        if unfilled and not self.all_equal:
            yield (
                f"the slots never fill under {_listed(unfilled)}, so that no request waits "
                "for one; take fewer slots, more requests or a higher rate"
            )
        judged_paths = [
            name for name in self._report.choices if asked["states"] in (OWN_PATH, name)
        ]
        for name in judged_paths:
            if (choices := self._report.choices[name]) < FEW_CHOICES:
                yield (
                    f"only {choices} decisions of {name}'s run left a choice: too few to compare "
                    "policies by; take fewer slots or more requests"
                )
        for run in runs:
            if run.never_admitted:
                yield (
                    f"{run.policy}: {run.never_admitted} of {asked['requests']} requests were "
                    "never admitted; waiting times leave them out"
                )

    def advice(self) -> tuple[str, ...]:
        """Return what to run next."""
        return tuple(self._advice())

    def _advice(self) -> Iterator[str]:
        asked = self._report.settings
        yield "next: --details shows the gaps by program, the solver's part of them, and all times"
        if self._report.runs and asked["replications"] < 1:
            yield "next: --replications 10 tells differences between runs from chance"
        elif self.tied:
            yield "next: more --replications or --requests may tell apart policies that are close"
        elif any(entry.share_proven < 1 for entry in self._report.policies):
            yield f"next: a --time-limit above {asked['time_limit_s']:g} s may prove more optima"
        elif asked["states"] != OWN_PATH:
            path = asked["states"]
            yield f"next: --states own judges each policy on its own path, not on {path}'s"


def _tokens(interval: Interval) -> str:
    return interval.text(",.0f").replace(" (", " tokens (", 1)


def _beside(more: Interval) -> str:
    """Say how much more it is than under JSQ, in seconds."""
    if not more.excludes_zero:
        return "which cannot be told apart from jsq"
    which = "more" if more.estimate > 0 else "less"
    return f"{_positive(more).text('.2g')} s {which} than under jsq"


def _positive(difference: Interval) -> Interval:
    """Return a difference that excludes 0 without its sign."""
    low, high = sorted((abs(difference.low), abs(difference.high)))
    return Interval(abs(difference.estimate), low, high)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
