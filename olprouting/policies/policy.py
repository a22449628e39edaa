"""The protocol of a routing rule, and the built-in rules that implement it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.policies.rules import RuleParameters
    from olprouting.policies.view import View

Pairs = Iterable[tuple[int, int]]
"""(position in the waiting queue, worker) of every request to admit."""

RouteFunction = Callable[["View", np.random.Generator], Pairs]


class Policy(Protocol):
    """A routing rule."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    @property
    def horizon(self) -> int:
        """Lookahead H: how far the loads in its views are projected. 0 for most rules."""
        ...

    def route(self, view: View, rng: np.random.Generator) -> Pairs:
        """Return the (waiting position, worker) pairs to admit: exactly ``view.admissions``."""
        ...


@dataclass(frozen=True)
class FunctionPolicy:
    """A plain Python function as a policy.

    Parameters
    ----------
    name
        What reports call it.
    function
        ``function(view, rng)`` returning (waiting position, worker) pairs.
    horizon
        Lookahead H of the views it gets.
    """

    name: str
    function: RouteFunction
    horizon: int = 0

    def route(self, view: View, rng: np.random.Generator) -> Pairs:
        """Return the pairs that the function chooses."""
        return self.function(view, rng)


@dataclass(frozen=True)
class CompiledPolicy:
    """A built-in rule, compiled: it runs inside the compiled loop of the engine.

    Parameters
    ----------
    name
        What reports call it.
    parameters
        The rule and its options.
    pointer
        Round-robin memory, shape (1,); a new run starts it at 0.
    """

    name: str
    parameters: RuleParameters
    pointer: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(1, np.int64), compare=False, repr=False
    )

    @property
    def horizon(self) -> int:
        """Lookahead H, from the number of offset weights."""
        return len(self.parameters.offset_weights) - 1

    def route(self, view: View, rng: np.random.Generator) -> Pairs:
        """Return the pairs that the rule chooses."""
        position, worker = self.route_arrays(view, rng)
        return list(zip(position.tolist(), worker.tolist(), strict=True))

    def route_arrays(
        self, view: View, rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the pairs as two arrays, shape (U,): waiting positions and workers."""
        from olprouting.policies.route_kernels import route_compiled

        position = np.empty(view.admissions, np.int64)
        worker = np.empty(view.admissions, np.int64)
        if view.admissions:
            route_compiled(self.parameters, view, self.pointer, rng, position, worker)
        return position, worker
