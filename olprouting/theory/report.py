"""What the balance paper's theorem says about one setting, and what is exact there."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from olprouting.report import Report, Table
from olprouting.theory.by_workers import bounds_by_workers
from olprouting.theory.stationary import (
    StationaryImbalance,
    certified_ratio,
    stationary_imbalance,
)
from olprouting.theory.supply import SupplyCheck, check_supply
from olprouting.theory.theorem import NOT_CERTIFIED, TheoremConstants, constants

if TYPE_CHECKING:
    import pandas as pd

    from olprouting.report.figures import Draw
    from olprouting.theory.prompt_law import PromptLaw


class Bound(NamedTuple):
    """A mean imbalance or a ratio, and how far it is proven."""

    quantity: str
    value: float | None
    unit: str
    standing: str


@dataclass(frozen=True, kw_only=True, eq=False)
class TheoryReport(Report):
    """The theorem's constants and bounds, and the exact mean imbalance of FCFS policies.

    Attributes
    ----------
    prompt_law
        The law of prompts.
    constants
        Of the theorem.
    exact
        What FCFS policies have in the long run.
    supply
        Whether enough requests arrive; None if nobody said how many do.
    settings, interrupted, failures
        See `Report`.
    """

    stem = "theory"
    schema = "olprouting/theory/1"
    title = "The balance theorem"

    prompt_law: PromptLaw
    constants: TheoremConstants
    exact: StationaryImbalance
    supply: SupplyCheck | None

    @classmethod
    def of(
        cls,
        law: PromptLaw,
        p: float,
        workers: int,
        slots: int,
        arrivals_per_iteration: float | None = None,
    ) -> TheoryReport:
        """Return what is known of one setting.

        Parameters
        ----------
        law
            Law of the prompts.
        p
            Completion probability per iteration, in (0, 1].
        workers, slots
            G and B, each >= 1.
        arrivals_per_iteration
            Requests in the long run, >= 0, to check the supply condition; None checks nothing.

        Raises
        ------
        InputError
            If an argument is out of range.
        """
        found = constants(law, p, workers, slots)
        arrivals = arrivals_per_iteration
        return cls(
            prompt_law=law,
            constants=found,
            supply=None if arrivals is None else check_supply(found, arrivals),
            exact=stationary_imbalance(law, p, workers, slots),
            settings={"prompt_law": law.name, "p": p, "workers": workers, "slots": slots},
        )

    @property
    def law(self) -> str:
        """Name of the law of prompts."""
        return self.prompt_law.name

    @cached_property
    def curve(self) -> pd.DataFrame:
        """The same for other numbers of workers: see `bounds_by_workers`."""
        c = self.constants
        return bounds_by_workers(self.prompt_law, c.p, c.workers, c.slots)

    @property
    def ratio(self) -> float | None:
        """See `certified_ratio`."""
        return certified_ratio(self.constants, self.exact)

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """The bounds, and how far each is proven."""
        c, exact, ratio, supply = self.constants, self.exact, self.ratio, self.supply
        proved = _standing(
            "certified", c.supply_requests_per_iteration, None if supply is None else supply.holds
        )
        full = _standing(
            "exact",
            c.saturating_requests_per_iteration,
            None if supply is None else supply.saturates,
        )
        doubtful = NOT_CERTIFIED
        if supply is not None and not supply.holds:
            doubtful = "does not apply: supply"
        return (
            Bound("FCFS policies, exact", exact.imbalance_tokens, "tokens", full),
            Bound("FCFS / (G sigma sqrt(B log G))", exact.normalised, "", full),
            Bound("IO_0, upper bound", c.io0_upper_bound_tokens, "tokens", proved),
            Bound("FCFS / IO_0, at least", ratio, "", proved),
            Bound("FCFS, theorem's lower bound", c.fcfs_lower_bound_tokens, "tokens", doubtful),
            Bound(f"FCFS / IO_0, theorem ({c.ratio_case})", c.ratio_lower_bound, "", doubtful),
        )

    def heading(self) -> str:
        """Return what was asked."""
        c = self.constants
        return f"{self.law}, p = {c.p:g}, G = {c.workers}, B = {c.slots}"

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return one row per bound, and one per number of workers."""
        import pandas as pd

        return {
            "theory": pd.DataFrame(self.bounds, columns=Bound._fields),
            "by_workers": self.curve,
        }

    def figures(self) -> dict[str, Draw]:
        """Return the bounds against the number of workers."""
        from olprouting.plots.theory import plot_bounds

        c = self.constants
        title = f"{self.law}, p = {c.p:g}, B = {c.slots}"
        return {"bounds": lambda: plot_bounds(self.curve, c.workers, title=title)}

    def captions(self) -> dict[str, str]:
        """Return what the figure shows."""
        return {
            "bounds": "Mean imbalance in the long run against the number of workers; the vertical "
            "line is the setting asked for."
        }

    def results(self) -> dict[str, Any]:
        """Return constants and bounds as plain JSON types."""
        return {
            "prompt_law": self.law,
            "constants": self.constants.to_row(),
            "stationary_imbalance": self.exact.to_row(),
            "certified_ratio": self.ratio,
            "standing": {bound.quantity: bound.standing for bound in self.bounds},
            "supply": None if self.supply is None else _row(self.supply),
        }

    def to_document(self) -> dict[str, Any]:
        """Return the results alone: they hold what was asked."""
        return self.results()

    def tables(self) -> tuple[Table, ...]:
        """Return constants and bounds."""
        c = self.constants
        rows: list[tuple[str, float | None, str]] = [
            ("s", c.largest_prompt_tokens, "tokens"),
            ("n = G B", c.total_slots, "slots"),
            ("sigma^2", c.sigma2_tokens2, "tokens^2"),
            ("mu_2", c.mu2_tokens2, "tokens^2"),
            ("theta_0", c.theta0_per_token, "1/token"),
            ("V", c.V_tokens2, "tokens^2"),
            ("tau", c.tau_per_token, "1/token"),
            ("kappa", c.kappa_per_slot, "1/slot"),
            ("eps", c.eps_tokens, "tokens"),
            ("rho", c.rho, ""),
            ("n p", c.saturating_requests_per_iteration, "requests/iteration"),
            ("n p / rho", c.supply_requests_per_iteration, "requests/iteration"),
        ]
        names, values, units = zip(*rows, strict=True)
        quantities, found, of, standing = zip(*self.bounds, strict=True)
        return (
            Table(
                f"constants of the theorem for {self.law}",
                {"constant": names},
                {"value": [_text(value) for value in values], "unit": units},
                "arXiv 2601.17855, section 4 and EC.1",
                detail=True,
            ),
            Table(
                "mean imbalance in the long run",
                {"quantity": quantities},
                {"value": [_text(value) for value in found], "unit": of, "standing": standing},
                f"error of the exact value: at most {self.exact.error_tokens:.1e} tokens",
            ),
        )

    def findings(self) -> tuple[str, ...]:
        """Return how far FCFS policies are from balancing, and whether enough requests arrive."""
        exact, ratio = self.exact.imbalance_tokens, self.ratio
        upper = self.constants.io0_upper_bound_tokens
        found = f"In the long run every FCFS policy has a mean imbalance of {exact:,.0f} tokens"
        if ratio is None or upper is None:
            found += "; no bound of IO_0 follows in this setting."
        else:
            found += f", IO_0 at most {upper:,.0f}"
            if self.supply is None:
                needed = self.constants.supply_requests_per_iteration
                found += f" if more than {needed:.4g} requests arrive per iteration"
            found += (
                f": FCFS has at least {ratio:.3g} times as much."
                if ratio > 1
                else "; so the bound does not tell them apart in this setting."
            )
        return (found,) if self.supply is None else (found, self.supply.message())


def _standing(word: str, needed: float | None, holds: bool | None) -> str:
    if needed is None:
        return "does not apply: rho = 0"
    if holds is None:
        return f"{word} if A(k)/k > {needed:.5g}"
    return word if holds else "does not apply: supply"


def _row(supply: SupplyCheck) -> dict[str, Any]:
    return asdict(supply) | {
        "saturates": supply.saturates,
        "holds": supply.holds,
        "message": supply.message(),
    }


def _text(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"
