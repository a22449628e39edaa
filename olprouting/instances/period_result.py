"""What solving one period gave: starts, what they are worth, and the prices."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from olprouting.errors import InputError, shown
from olprouting.instances._checks import frozen, number_array, text_field, whole
from olprouting.instances.documents import aligned, refuse_wrong_fields
from olprouting.instances.result import Result, Sense

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]

PROOF_RELATIVE = 1e-6
"""A relative gap this small proves the optimum for practical purposes. Bounds allow for the
tolerances of solvers that work in doubles, so that few gaps close exactly; `Result.status` tells
whether this one did."""


class NoPricesError(InputError):
    """The program that was solved has no prices, and no others were asked for."""


@dataclass(frozen=True, eq=False)
class PeriodPrices:
    """Prices of a period's resources: gain in value per extra unit, >= 0.

    Parameters
    ----------
    batch
        Of one slot, per worker and remaining period, shape (G, T-k+1).
    memory
        Of one KV token, likewise.
    option_values
        y_j, a request's best margin over the workers, or 0; shape (J,).
    source
        The program whose prices they are: ``"lp"``, ``"dual"``, ``"reduced-dual"``, or of an
        integer program ``"lp-relaxation"`` or ``"fixed-integers"``.
    unique
        Whether no other prices are optimal too; None where that was not tested or not settled.
    """

    batch: Floats
    memory: Floats
    option_values: Floats
    source: str
    unique: bool | None

    def __post_init__(self) -> None:
        for name in ("batch", "memory", "option_values"):
            object.__setattr__(self, name, frozen(np.asarray(getattr(self, name), np.float64)))


@dataclass(frozen=True, kw_only=True, eq=False)
class PeriodResult(Result[Floats]):
    """What solving one period gave: a maximisation of reward.

    The formulation is ``"lp"``, ``"integer"``, ``"dual"`` or ``"reduced-dual"``; the bound is
    recomputed from prices where there are any.

    Parameters
    ----------
    period
        k, the first remaining period.
    priced
        The prices, or None; `prices` says why there are none.
    oversize
        Indices of the requests that do not fit whole on any worker.
    clipped
        How many residual capacities were negative and became 0.
    rows, rows_in_full
        Capacity rows that the solver saw, and those of the program as written.
    """

    sense = Sense.MAXIMISE
    schema = "olprouting/period-result/1"
    document_names: ClassVar[dict[str, str]] = {"formulation": "form", "solution": "x"}
    derived = ("status", "relative_gap")

    period: int
    priced: PeriodPrices | None
    oversize: tuple[int, ...]
    clipped: int
    rows: int
    rows_in_full: int

    def __post_init__(self) -> None:
        if self.solution is not None:
            object.__setattr__(self, "solution", frozen(np.asarray(self.solution, np.float64)))

    @property
    def x(self) -> Floats | None:
        """The solution: the share of each request admitted on each worker, shape (J, G)."""
        return self.solution

    @property
    def has_prices(self) -> bool:
        """Whether there are prices."""
        return self.priced is not None

    @property
    def prices(self) -> PeriodPrices:
        """The prices.

        Raises
        ------
        NoPricesError
            If there are none; the message says what to ask for.
        """
        if self.priced is None:
            self._refuse_prices()
        return self.priced

    def _refuse_prices(self) -> NoReturn:
        if self.formulation == "integer":
            raise NoPricesError(
                "an integer program has no prices: solve with prices='lp-relaxation' (LP "
                "relaxation) or prices='fixed-integers' (fixed integers)"
            )
        raise NoPricesError(f"there are no prices: {self.status} ({self.message})")

    @property
    def proven(self) -> bool:
        """Whether value and bound agree to `PROOF_RELATIVE`."""
        gap = self.relative_gap
        return gap is not None and gap <= PROOF_RELATIVE

    def summary(self) -> str:
        """Return a few aligned lines for people."""
        priced = self.priced
        rows = {
            "status": self.status,
            "value": self.value,
            "bound": self.bound,
            "relative_gap": self.relative_gap,
            "admitted": None if self.x is None else round(float(self.x.sum()), 6),
            "oversize": list(self.oversize) or None,
            "clipped": self.clipped or None,
            "prices_from": "none" if priced is None else priced.source,
            "note": None if priced is None or priced.unique else "prices may not be unique",
            "rows": f"{self.rows} of {self.rows_in_full}",
            "wall_s": round(self.wall_s, 6),
            "build_s": round(self.build_s, 6),
            "solver": f"{self.solver} ({self.formulation})",
            "message": self.message or None,
        }
        always = {"value", "bound", "relative_gap", "admitted"}
        return aligned({name: v for name, v in rows.items() if v is not None or name in always})

    def to_document(self) -> dict[str, Any]:
        """Return the result as plain JSON types."""
        document = super().to_document()
        document["x"] = None if self.x is None else self.x.tolist()
        document["oversize"] = list(self.oversize)
        if self.priced is not None:
            document["priced"] = {
                name: value.tolist() if isinstance(value, np.ndarray) else value
                for name, value in asdict(self.priced).items()
            }
        return document

    @classmethod
    def _read(cls, given: dict[str, Any]) -> dict[str, Any]:
        for name in ("period", "clipped", "rows", "rows_in_full"):
            whole(name, given[name], 0)
        priced = None if given["priced"] is None else _prices(given["priced"])
        x = given["solution"]
        if x == []:  # no requests: JSON does not tell the number of workers
            x = np.zeros((0, len(priced.batch) if priced else 0))
        elif x is not None:
            x = number_array("x", x, at_least=-np.inf, ndim=2)
        oversize = tuple(whole("oversize", j, 0) for j in given["oversize"])
        return {"solution": x, "priced": priced, "oversize": oversize}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per request and worker with a share > 0: request, worker, share."""
        import pandas as pd

        x = np.zeros((0, 0)) if self.x is None else self.x
        request, worker = np.nonzero(x)
        return pd.DataFrame({"request": request, "worker": worker, "share": x[request, worker]})

    def price_frame(self) -> pd.DataFrame:
        """Return one row per worker and remaining period: worker, period, batch, memory.

        Raises
        ------
        NoPricesError
            If there are no prices.
        """
        import pandas as pd

        prices = self.prices
        worker, offset = np.indices(prices.batch.shape)
        return pd.DataFrame(
            {
                "worker": worker.ravel(),
                "period": offset.ravel() + self.period,
                "batch": prices.batch.ravel(),
                "memory": prices.memory.ravel(),
            }
        )


def _prices(document: Any) -> PeriodPrices:
    refuse_wrong_fields("priced", document, set(PeriodPrices.__dataclass_fields__))
    columns = {
        name: number_array(name, document[name], at_least=-np.inf, ndim=ndim).astype(np.float64)
        for name, ndim in (("batch", 2), ("memory", 2), ("option_values", 1))
    }
    if document["unique"] is not None and not isinstance(document["unique"], bool):
        raise InputError(f"unique = {shown(document['unique'])} must be true, false or null")
    return PeriodPrices(
        **columns, source=text_field("source", document["source"]), unique=document["unique"]
    )
