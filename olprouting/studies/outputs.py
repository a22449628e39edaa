"""What a study keeps and reports."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from olprouting.errors import InputError, shown, unknown_name

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Outputs:
    """What a study keeps and reports.

    Parameters
    ----------
    metrics
        Columns of the tables, the first also that of heat maps and performance profiles; empty
        takes the usual ones of the study's kind.
    pareto
        Two metrics whose trade-off is drawn; empty draws none.
    series_every
        Keep every k-th iteration of the first seed's runs, for trajectories; None keeps none.
    confidence
        Level of the intervals over seeds, in (0, 1).

    Raises
    ------
    InputError
        If a value is out of range.
    """

    metrics: tuple[str, ...] = ()
    pareto: tuple[str, ...] = ()
    series_every: int | None = None
    confidence: float = 0.95

    def __post_init__(self) -> None:
        every = self.series_every
        if every is not None and (type(every) is not int or every < 1):
            raise InputError(f"series_every = {shown(every)} must be a whole number >= 1")
        if not isinstance(self.confidence, float) or not 0 < self.confidence < 1:
            raise InputError(f"confidence = {shown(self.confidence)} must lie in (0, 1)")
        for name in ("metrics", "pareto"):
            value = getattr(self, name)
            if not isinstance(value, list | tuple) or not all(isinstance(m, str) for m in value):
                raise InputError(f"{name} = {shown(value)} must be a list of metrics")
            object.__setattr__(self, name, tuple(value))
        if self.pareto and len(set(self.pareto)) != 2:
            raise InputError(f"pareto = {list(self.pareto)} must be two different metrics")

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """Return the outputs that a table of a study file asks for."""
        known = [field.name for field in fields(cls)]
        for name in table:
            if name not in known:
                raise unknown_name("key in [outputs]", name, known)
        return cls(**table)
