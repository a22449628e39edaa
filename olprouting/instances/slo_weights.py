"""How much each service-level objective counts in the reward of starting a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Self

from olprouting.errors import InputError, shown, unknown_name
from olprouting.parameters import is_real


@dataclass(frozen=True)
class SloWeights:
    """Weights of the reward's six terms, all >= 0 (bid-price paper, section 3.1).

    Parameters
    ----------
    alpha
        Per token generated within the periods.
    beta
        Per period saved until the last token.
    gamma
        Per period saved until the first token.
    sigma
        Per request admitted.
    zeta1
        For an end-to-end latency below t1.
    zeta2
        For a time to first token below t2.

    Raises
    ------
    InputError
        If a weight is negative or not a finite number.
    """

    alpha: float
    beta: float
    gamma: float
    sigma: float
    zeta1: float
    zeta2: float

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not is_real(value) or value < 0:
                raise InputError(
                    f"weight {field.name} = {shown(value)} must be a finite number >= 0"
                )
            object.__setattr__(self, field.name, float(value))

    def replace(self, **changes: float) -> Self:
        """Return a copy with some weights changed, checked again."""
        return replace(self, **changes)

    def to_document(self) -> dict[str, float]:
        """Return the weights by name."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Return the weights of a JSON object that names each of the six.

        Raises
        ------
        InputError
            If a weight is missing, unknown or out of range.
        """
        names = [field.name for field in fields(cls)]
        if not isinstance(document, Mapping) or set(document) != set(names):
            found = sorted(document) if isinstance(document, Mapping) else document
            raise InputError(
                f"weights must be an object of {', '.join(names)}; found {shown(found)}"
            )
        return cls(**document)

    @classmethod
    def preset(cls, name: str) -> SloWeights:
        """Return a published weight set by its name in `WEIGHT_SETS`.

        Raises
        ------
        InputError
            If no set has this name.
        """
        if name not in WEIGHT_SETS:
            raise unknown_name("weight set", name, WEIGHT_SETS)
        return WEIGHT_SETS[name]

    @classmethod
    def parse(cls, text: str) -> SloWeights:
        """Return the weights that a text stands for.

        Parameters
        ----------
        text
            A name in `WEIGHT_SETS`, or six numbers with commas between them: alpha, beta, gamma,
            sigma, zeta1, zeta2; fractions such as ``1/400`` will do.

        Raises
        ------
        InputError
            If there is no such set, or the numbers are not six, finite and >= 0.
        """
        parts = [part.strip() for part in text.split(",")]
        if len(parts) == 1:
            return cls.preset(text)
        names = [field.name for field in fields(cls)]
        if len(parts) != len(names):
            raise InputError(f"expected six numbers ({','.join(names)}), got {len(parts)}")
        try:
            return cls(*(float(Fraction(part)) for part in parts))
        except InputError:
            raise
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            raise InputError(error) from None


WEIGHT_SETS: Mapping[str, SloWeights] = MappingProxyType(
    {
        "tail-latency": SloWeights(1 / 135, 1 / 400, 1 / 400, 1, 1, 1),
        "requests": SloWeights(1 / 27, 1 / 2048, 1 / 2048, 5, 1, 1),
        "latency-only": SloWeights(0, 1, 1, 0, 0, 0),
        "tail-only": SloWeights(0, 0, 0, 0, 1, 1),
        "latency": SloWeights(1 / 135, 1, 1, 1, 1 / 400, 1 / 400),
        "throughput": SloWeights(1, 1 / 400, 1 / 400, 1, 1 / 400, 1 / 400),
        "throughput-only": SloWeights(1, 0, 0, 1, 0, 0),
    }
)
"""The weight sets of the bid-price paper's experiments, in its order (our names)."""
