"""The protocol of a routing policy, and the built-in policies that implement it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.policies.parameters import PolicyParameters
    from olprouting.policies.view import View

REJECT: Final = -1
"""In place of a worker: turn the request away."""

Pairs = Iterable[tuple[int, int]]
"""(position in the waiting queue, worker) of every request to admit, or REJECT to turn it away."""

RouteFunction = Callable[["View", np.random.Generator], Pairs]


class Policy(Protocol):
    """A routing policy."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    @property
    def horizon(self) -> int:
        """Lookahead H: how far the loads in its views are projected. 0 for most policies."""
        ...

    @property
    def maximal(self) -> bool:
        """Whether it always admits all that slots allow; else at most so many, even none."""
        ...

    @property
    def respects_kv(self) -> bool:
        """Whether it looks at the KV tokens that workers have free."""
        ...

    @property
    def needs_residents(self) -> bool:
        """Whether its views have ``workers``; it is then asked whenever requests wait."""
        ...

    def route(self, view: View, rng: np.random.Generator) -> Pairs:
        """Return the (waiting position, worker) pairs to admit.

        Their number is ``view.admissions`` for a maximal policy, else at most that. A policy that
        is not maximal may also return (waiting position, REJECT); that takes no slot.
        """
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
    maximal
        Whether it always admits all that slots allow; else at most so many, even none.
    needs_residents
        Whether its views have ``workers``; it is then asked whenever requests wait, even if no
        slot is free.
    respects_kv
        Whether it may run under KV limits: what it overfills is preempted.
    """

    name: str
    function: RouteFunction
    horizon: int = 0
    maximal: bool = True
    needs_residents: bool = False
    respects_kv: bool = True

    def route(self, view: View, rng: np.random.Generator) -> Pairs:
        """Return the pairs that the function chooses."""
        return self.function(view, rng)


@dataclass(frozen=True)
class CompiledPolicy:
    """A built-in policy, compiled: it runs inside the compiled loop of the engine.

    Parameters
    ----------
    name
        What reports call it.
    parameters
        The policy and its options.
    memory
        What it remembers from decision to decision, int64, 0 at the start of a run: the next worker
        of round robin, shape (1,); the tokens sent to each worker of sglang, shape (G,).
    """

    name: str
    parameters: PolicyParameters
    memory: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(1, np.int64), compare=False, repr=False
    )

    @property
    def horizon(self) -> int:
        """Lookahead H, from the number of offset weights; 0 for FCFS policies."""
        weights = self.parameters.offset_weights
        return 0 if weights is None else len(weights) - 1

    @property
    def maximal(self) -> bool:
        """True: built-in policies admit all that slots allow."""
        return True

    @property
    def respects_kv(self) -> bool:
        """Whether it looks at the KV tokens that workers have free; others weigh loads alone."""
        return self.parameters.offset_weights is None

    @property
    def needs_residents(self) -> bool:
        """False."""
        return False

    @property
    def needs_kv_limits(self) -> bool:
        """Whether it weighs shares of the KV tokens that workers have."""
        weights = self.parameters.load_weights
        return weights is not None and weights.relative

    def route(self, view: View, rng: np.random.Generator) -> Pairs:
        """Return the pairs that the policy chooses."""
        position, worker = self.route_arrays(view, rng)
        return list(zip(position.tolist(), worker.tolist(), strict=True))

    def route_arrays(
        self, view: View, rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the pairs as two arrays: waiting positions and workers."""
        from olprouting.policies.route_kernels import route_compiled

        position = np.empty(view.admissions, np.int64)
        worker = np.empty(view.admissions, np.int64)
        admitted = 0
        if view.admissions:
            admitted = route_compiled(self.parameters, view, self.memory, rng, position, worker)
        return position[:admitted], worker[:admitted]

    def prepare(self, view: View, rng: np.random.Generator) -> None:
        """Compile the policy for such views, or load its code, so that no timed call has to."""
        from olprouting.compiling import prepare
        from olprouting.policies.route_kernels import route_compiled

        pairs = np.empty(0, np.int64)
        prepare(route_compiled, self.parameters, view, self.memory, rng, pairs, pairs)
