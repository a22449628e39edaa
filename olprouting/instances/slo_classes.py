"""Classes of requests whose service-level objectives count differently."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from olprouting.errors import InputError, shown, unknown_name
from olprouting.instances.slo_weights import SloWeights
from olprouting.parameters import is_real

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.instances.trace import Trace

    Names = npt.NDArray[np.str_]

_NEXT_CLASS = re.compile(r",(?=[^,:]+:)")


@dataclass(frozen=True)
class SloClasses:
    """Classes of requests, each with weights of its own: one user's answer may be worth two.

    A request is in one class, by name; its reward has the weights of that class.

    Parameters
    ----------
    names
        Names of the classes, all different, without comma and colon.
    weights
        The weights of each.
    shares
        With which probability a request is of each class, > 0, adding up to 1; None where requests
        come with their classes.

    Raises
    ------
    InputError
        If there is no class, a name stands twice, or a share is out of range.
    """

    names: tuple[str, ...]
    weights: tuple[SloWeights, ...]
    shares: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for field in ("names", "weights", "shares"):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, tuple(getattr(self, field)))
        if not self.names or len(set(self.names)) < len(self.names):
            raise InputError(f"classes {', '.join(self.names)}: each needs a name of its own")
        for name in self.names:
            if not isinstance(name, str) or name.strip() != name or not name or {*name} & {*",:"}:
                raise InputError(f"class {shown(name)}: a name is text without comma and colon")
        if len(self.weights) != len(self.names):
            raise InputError(f"{len(self.names)} classes, but {len(self.weights)} sets of weights")
        for one in self.weights:
            if not isinstance(one, SloWeights):
                raise InputError(f"weights of a class: {shown(one)} must be SloWeights")
        if self.shares is not None:
            self._check_shares(self.shares)

    def _check_shares(self, shares: tuple[float, ...]) -> None:
        if len(shares) != len(self.names):
            raise InputError("either every class has a share of the requests, or none")
        for name, share in zip(self.names, shares, strict=True):
            if not is_real(share) or not 0 < share <= 1:
                raise InputError(f"class {name}: share = {shown(share)} must be in (0, 1]")
        if not math.isclose(sum(shares), 1, abs_tol=1e-9):
            raise InputError(f"the shares of the classes add up to {sum(shares):g}, not to 1")

    @classmethod
    def parse(cls, text: str) -> SloClasses:
        """Return the classes that a text stands for.

        Parameters
        ----------
        text
            ``NAME:SHARE:WEIGHTS`` or, for traces that name the class of each request,
            ``NAME:WEIGHTS``, with commas between classes; weights as for `SloWeights.parse`.

        Raises
        ------
        InputError
            If it stands for none.
        """
        names, shares, weights = [], [], []
        for part in _NEXT_CLASS.split(text):
            words = [word.strip() for word in part.split(":")]
            if len(words) not in (2, 3):
                raise InputError(f"expected NAME:SHARE:WEIGHTS or NAME:WEIGHTS, got {shown(part)}")
            name, *share, given = words
            names.append(name)
            weights.append(SloWeights.parse(given))
            try:
                shares += [float(one) for one in share]
            except ValueError:
                raise InputError(f"class {name}: share {shown(share[0])} is no number") from None
        return cls(tuple(names), tuple(weights), tuple(shares) or None)

    def to_document(self) -> dict[str, dict[str, float]]:
        """Return the weights of each class, by name."""
        return {n: w.to_document() for n, w in zip(self.names, self.weights, strict=True)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Return the classes of a JSON object that holds the weights of each.

        Raises
        ------
        InputError
            If weights are missing, unknown or out of range.
        """
        return cls(tuple(document), tuple(map(SloWeights.from_document, document.values())))

    def assigned(self, trace: Trace, seed: int) -> Trace:
        """Return a trace whose requests all have one of these classes.

        Parameters
        ----------
        trace
            With its own classes if there are no shares, without if there are.
        seed
            Draws the classes.

        Raises
        ------
        InputError
            If the trace has classes and shares are given, has none and none are given, or has one
            that is unknown.
        """
        if trace.slo_class is not None:
            if self.shares is not None:
                raise InputError(
                    f"{trace.name} names the class of each request (slo_class): give no shares, "
                    "only NAME:WEIGHTS"
                )
            self.check(trace.slo_class, len(trace))
            return trace
        if self.shares is None:
            raise InputError(
                f"{trace.name} has no column slo_class: give shares, NAME:SHARE:WEIGHTS"
            )
        drawn = np.random.default_rng([seed, 3]).choice(
            len(self.names), len(trace), p=np.array(self.shares) / sum(self.shares)
        )
        return trace.replace(slo_class=np.array(self.names)[drawn])

    def check(self, slo_class: Any, count: int) -> Names:
        """Return the classes of `count` requests, of which each must be one of these.

        Raises
        ------
        InputError
            If one is not, or there are fewer or more.
        """
        if slo_class is None or len(slo_class) != count:
            found = 0 if slo_class is None else len(slo_class)
            raise InputError(f"slo_class has {found} entries for {count} requests")
        checked = np.array(slo_class, dtype=np.str_).reshape(count)
        for name in np.unique(checked).tolist():
            if name not in self.names:
                raise unknown_name("class", name, self.names)
        checked.flags.writeable = False
        return checked


Weights = SloWeights | SloClasses
"""The weights of all requests, or of each class of them."""


def weights_from_document(document: Any) -> Weights:
    """Return the weights of a JSON object: six numbers by name, or those of each class.

    Raises
    ------
    InputError
        If a weight is missing, unknown or out of range.
    """
    if isinstance(document, Mapping) and any(isinstance(v, Mapping) for v in document.values()):
        return SloClasses.from_document(document)
    return SloWeights.from_document(document)


def check_weights(weights: Any, slo_class: Any, count: int) -> Names | None:
    """Return the classes of `count` requests, None where all have the same weights.

    Raises
    ------
    InputError
        If the weights are none, or requests have classes where weights have not, or the reverse.
    """
    if isinstance(weights, SloClasses):
        return weights.check(slo_class, count)
    if not isinstance(weights, SloWeights):
        raise InputError(f"weights = {shown(weights)} must be SloWeights or SloClasses")
    if slo_class is not None:
        raise InputError("slo_class: the weights know no classes; give SloClasses")
    return None


def by_class(
    weights: Weights, slo_class: Names | None, count: int
) -> Iterator[tuple[SloWeights, npt.NDArray[np.bool_]]]:
    """Yield weights, and which of `count` requests have them, shape (count,).

    Raises
    ------
    InputError
        If requests have no classes where weights have.
    """
    if isinstance(weights, SloWeights):
        yield weights, np.ones(count, np.bool_)
        return
    if slo_class is None:
        raise InputError("slo_class: weights are those of classes, but requests have none")
    for name, own in zip(weights.names, weights.weights, strict=True):
        yield own, slo_class == name


def weight_rows(weights: Weights, slo_class: Names | None, count: int) -> npt.NDArray[np.float64]:
    """Return the six weights of each request, shape (count, 6)."""
    rows = np.empty((count, len(SloWeights.__dataclass_fields__)))
    for own, chosen in by_class(weights, slo_class, count):
        rows[chosen] = list(own.to_document().values())
    return rows
