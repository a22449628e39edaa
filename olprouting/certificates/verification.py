"""What checking a file found: a verdict, or the reason why the file does not hold."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from olprouting.instances.documents import aligned


class DoesNotHoldError(Exception):
    """A claim of a file is wrong; the message is one line that says which."""


class TooLongError(Exception):
    """A search took more steps than a check may take."""


class Verdict(StrEnum):
    """How far the claims of a file were proven again."""

    OPTIMAL = "optimal, proven again"
    """Value and bound were recomputed exactly, and are equal."""
    WITHIN_TOLERANCE = "optimal within the tolerance, proven again"
    """Value and bound were recomputed exactly, and differ by no more than the stated tolerance."""
    BOUNDED = "value and bound, proven again"
    """Both were recomputed exactly; a gap is left, as the file says."""
    VALUE_ONLY = "value, proven again; the bound rests on the solver's own proof"
    """The value was recomputed; the bound needs a proof that is not in the file."""
    NOTHING = "nothing to prove: the file has neither a solution nor a proven bound"


@dataclass(frozen=True)
class Verification:
    """A file that holds.

    Parameters
    ----------
    kind
        What was checked.
    verdict
        How far.
    value, bound
        As recomputed, written as exact numbers; None where the file has none.
    gap
        Their difference, exact, or None.
    proof
        What proves the bound, in words.
    not_checked
        Fields that claim something of the instance which could be neither proven nor refuted: a
        bound that rests on the solver, and what follows from it.
    about_the_run
        Fields that nothing in the file can prove and no value or bound depends on: names, times,
        versions, why the solver stopped short of an optimum.
    """

    kind: str
    verdict: Verdict
    value: str | None
    bound: str | None
    gap: str | None
    proof: str
    not_checked: tuple[str, ...]
    about_the_run: tuple[str, ...]

    def summary(self) -> str:
        """Return a few aligned lines for people; long fractions also as decimals."""
        rows = {
            "holds": self.kind,
            "verdict": self.verdict,
            "value": _readable(self.value),
            "bound": _readable(self.bound),
            "gap": _readable(self.gap),
            "proof": self.proof,
            "not_checked": ", ".join(self.not_checked) or None,
            "about_the_run": ", ".join(self.about_the_run),
        }
        return aligned(rows)

    def to_document(self) -> dict[str, Any]:
        """Return the finding as plain JSON types."""
        return {**asdict(self), "verdict": self.verdict.name.lower(), "holds": True}


def _readable(exact: str | None) -> str | None:
    if exact is None or "/" not in exact:
        return exact
    from fractions import Fraction

    return f"{float(Fraction(exact)):.15g} (a fraction)"
