"""What solving one period gave: why the solver stopped, what it has, and the prices."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from olprouting.errors import InputError, shown
from olprouting.instances._checks import frozen, number_array, real, text_field, whole
from olprouting.instances.documents import aligned, load_document, naming, refuse_wrong_fields
from olprouting.instances.gap import absolute_gap, relative_gap
from olprouting.instances.solve_result import StopReason

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Floats = npt.NDArray[np.float64]

SCHEMA = "olprouting/period-result/1"

_DERIVED = ("status", "relative_gap")

PROOF_RELATIVE = 1e-6
"""A relative gap this small proves the optimum for practical purposes. Bounds allow for the
tolerances of solvers that work in doubles, so that few gaps close exactly; `PeriodResult.status`
tells whether this one did."""


class NoPricesError(InputError):
    """The program that was solved has no prices, and no others were asked for."""


@dataclass(frozen=True, eq=False)
class PeriodPrices:
    """Prices of a period's resources: gain in value per extra unit, >= 0.

    Parameters
    ----------
    batch
        Of one slot, per device and remaining period, shape (G, T-k+1).
    memory
        Of one KV token, likewise.
    option_values
        y_j, a request's best margin over the devices, or 0; shape (J,).
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


@dataclass(frozen=True, eq=False)
class PeriodResult:
    """Outcome of solving one period (maximisation).

    Parameters
    ----------
    solver, form
        What was solved, by whom; form is ``"lp"``, ``"integer"``, ``"dual"`` or
        ``"reduced-dual"``.
    period
        k, the first remaining period.
    stop_reason
        Why the solver stopped.
    value
        Reward of `x`, recomputed, or None. Never the solver's own number.
    bound
        Upper bound on the value, recomputed from prices where there are any, or None.
    x
        Share of each request started on each device, shape (J, G), or None without a solution. It
        has been rechecked by code that shares nothing with the solver.
    priced
        The prices, or None; `prices` says why there are none.
    oversize
        Indices of the requests that do not fit whole on any device.
    clipped
        How many residual capacities were negative and became 0.
    rows, rows_in_full
        Capacity rows that the solver saw, and those of the program as written.
    wall_s, build_s
        Seconds spent solving, and building the model before that.
    limit_s
        The time limit in force, seconds, or None.
    threads, seed
        The solver's thread count and seed.
    message
        The solver's own word for how it ended, and what the recheck found.
    """

    solver: str
    form: str
    period: int
    stop_reason: StopReason
    value: float | None
    bound: float | None
    x: Floats | None
    priced: PeriodPrices | None
    oversize: tuple[int, ...]
    clipped: int
    rows: int
    rows_in_full: int
    wall_s: float
    build_s: float
    limit_s: float | None = None
    threads: int = 1
    seed: int = 0
    message: str = ""

    def __post_init__(self) -> None:
        if self.x is not None:
            object.__setattr__(self, "x", frozen(np.asarray(self.x, np.float64)))

    @property
    def has_solution(self) -> bool:
        """Whether there is an x."""
        return self.x is not None

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
        if self.form == "integer":
            raise NoPricesError(
                "an integer program has no prices: solve with prices='lp-relaxation' (LP "
                "relaxation) or prices='fixed-integers' (fixed integers)"
            )
        raise NoPricesError(f"there are no prices: {self.status} ({self.message})")

    @property
    def status(self) -> str:
        """The stop reason, except that a limit without a solution is ``limit_no_solution``."""
        limits = (StopReason.TIME_LIMIT, StopReason.NODE_LIMIT, StopReason.OTHER_LIMIT)
        if self.stop_reason in limits and self.x is None:
            return "limit_no_solution"
        return str(self.stop_reason)

    @property
    def absolute_gap(self) -> float | None:
        """Bound minus value, or None if either is missing."""
        return absolute_gap(self.value, self.bound, maximise=True)

    @property
    def relative_gap(self) -> float | None:
        """Absolute gap over the value, or None if either is missing."""
        return relative_gap(self.value, self.bound, maximise=True)

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
            "started": None if self.x is None else round(float(self.x.sum()), 6),
            "oversize": list(self.oversize) or None,
            "clipped": self.clipped or None,
            "prices_from": "none" if priced is None else priced.source,
            "note": None if priced is None or priced.unique else "prices may not be unique",
            "rows": f"{self.rows} of {self.rows_in_full}",
            "wall_s": round(self.wall_s, 6),
            "build_s": round(self.build_s, 6),
            "solver": f"{self.solver} ({self.form})",
            "message": self.message or None,
        }
        always = {"value", "bound", "relative_gap", "started"}
        shown = {name: v for name, v in rows.items() if v is not None or name in always}
        return aligned(shown)

    def to_document(self) -> dict[str, Any]:
        """Return the result as plain JSON types."""
        fields = asdict(self)
        fields["stop_reason"] = str(self.stop_reason)
        fields["x"] = None if self.x is None else self.x.tolist()
        fields["oversize"] = list(self.oversize)
        if self.priced is not None:
            fields["priced"] = {
                name: value.tolist() if isinstance(value, np.ndarray) else value
                for name, value in asdict(self.priced).items()
            }
        derived = {"status": self.status, "relative_gap": self.relative_gap}
        return {"schema": SCHEMA, **fields, **derived}

    def to_json(self) -> str:
        """Return the result in the versioned JSON format ``olprouting/period-result/1``."""
        return json.dumps(self.to_document())

    @classmethod
    def from_json(cls, text: str, source: str = "result") -> PeriodResult:
        """Return the result that `text` holds.

        Raises
        ------
        InputError
            If the text is not a document of schema ``olprouting/period-result/1``.
        """
        document = load_document(text, source, SCHEMA)
        with naming(source, SCHEMA):
            refuse_wrong_fields(
                "result", document, set(cls.__dataclass_fields__) | {"schema"}, _DERIVED
            )
            fields = {name: document[name] for name in cls.__dataclass_fields__}
            for name in ("solver", "form", "message"):
                text_field(name, fields[name])
            for name in ("value", "bound", "limit_s"):
                real(name, fields[name], none_allowed=True)
            for name in ("wall_s", "build_s"):
                real(name, fields[name])
            for name in ("period", "clipped", "rows", "rows_in_full", "threads", "seed"):
                whole(name, fields[name], 0)
            fields["stop_reason"] = StopReason(fields["stop_reason"])
            fields["oversize"] = tuple(whole("oversize", j, 0) for j in fields["oversize"])
            if fields["priced"] is not None:
                fields["priced"] = _prices(fields["priced"])
            if fields["x"] == []:  # no requests: JSON does not tell the number of devices
                fields["x"] = np.zeros((0, len(fields["priced"].batch) if fields["priced"] else 0))
            elif fields["x"] is not None:
                fields["x"] = number_array("x", fields["x"], at_least=-np.inf, ndim=2)
            return cls(**fields)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per request and device with a share > 0: request, device, share."""
        import pandas as pd

        x = np.zeros((0, 0)) if self.x is None else self.x
        request, device = np.nonzero(x)
        return pd.DataFrame({"request": request, "device": device, "share": x[request, device]})

    def price_frame(self) -> pd.DataFrame:
        """Return one row per device and remaining period: device, period, batch, memory.

        Raises
        ------
        NoPricesError
            If there are no prices.
        """
        import pandas as pd

        prices = self.prices
        device, offset = np.indices(prices.batch.shape)
        return pd.DataFrame(
            {
                "device": device.ravel(),
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
