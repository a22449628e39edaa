"""The exact minimiser of the sample-average dual, with proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from olprouting.errors import InputError
from olprouting.exact.options import DEFAULT_SOLVER, SolveOptions
from olprouting.exact.period.check_period import TOLERANCE
from olprouting.exact.period.scaling import power_of_two

if TYPE_CHECKING:
    import numpy.typing as npt

    from olprouting.exact.period.cvxpy_solver import Program
    from olprouting.instances import StopReason

    Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SaaResult:
    """Prices that minimise f(p) = d'p + mean (r - a'p)+ over p >= 0.

    Parameters
    ----------
    stop_reason
        Why the solver stopped.
    price
        p, shape (m,), or None.
    value
        f(p) over the whole history, recomputed, or None.
    bound
        Proven lower bound on f, or None.
    wall_s, build_s
        Seconds spent solving, and building the model before that.
    message
        The solver's own word, and what the recheck found.
    """

    stop_reason: StopReason
    price: Floats | None
    value: float | None
    bound: float | None
    wall_s: float
    build_s: float
    message: str


def solve_saa(
    scarcity: npt.ArrayLike,
    rewards: npt.ArrayLike,
    usage: npt.ArrayLike | sp.sparray,
    *,
    solver: str = DEFAULT_SOLVER,
    options: SolveOptions | None = None,
) -> SaaResult:
    """Minimise the sample-average dual exactly, as an LP (bid-price paper, equation 6).

    Parameters
    ----------
    scarcity
        d >= 0, shape (m,).
    rewards
        r of the history columns, shape (N,).
    usage
        a >= 0, history by resources, shape (N, m), dense or sparse.
    solver
        Any LP solver of CVXPY, by its name or as ``"cvxpy:<name>"``.
    options
        How to solve.

    Returns
    -------
    SaaResult
        The prices, f there, and a bound from the solver's multipliers made feasible. If the two
        differ, no price is returned and the stop reason is ``error``.

    Raises
    ------
    InputError
        If shapes do not fit, a number is negative or not finite, or the solver is unknown.
    """
    from olprouting.exact.period import cvxpy_solver
    from olprouting.instances import StopReason
    from olprouting.models import saa_dual

    d, r = np.asarray(scarcity, np.float64), np.asarray(rewards, np.float64)
    a: sp.csr_array = sp.csr_array(usage)  # type: ignore[arg-type]
    _check(d, r, a)
    unit = power_of_two(a.max(axis=0).toarray().ravel() if len(r) else np.zeros(len(d)))
    reward_unit = power_of_two(np.abs(r).max(initial=0.0))[0]

    def build() -> Program:
        scaled = sp.csr_array(a / unit[None, :])
        model = saa_dual.build(d / unit, r / reward_unit, scaled)
        return cvxpy_solver.Program(model.problem, model.at_least_margin, model.price)

    name = cvxpy_solver.solver_name(solver.removeprefix("cvxpy:"))
    outcome = cvxpy_solver.run_program(build, name, options or SolveOptions())
    stop, message, times = outcome.stop_reason, outcome.message, (outcome.wall_s, outcome.build_s)
    if outcome.price is None:
        return SaaResult(stop, None, None, None, *times, message)
    price = np.maximum(outcome.price, 0) * reward_unit / unit
    value = saa_dual.value(price, d, r, a)
    bound = 0.0 if outcome.solution is None else _lower_bound(outcome.solution, d, r, a)
    if value - bound > TOLERANCE * max(abs(value), float(r.max(initial=0.0))):
        message = f"{message}; the recheck failed: f(p) = {value!r}, its bound is {bound!r}"
        return SaaResult(StopReason.ERROR, None, None, bound, *times, message)
    closed = StopReason.OPTIMAL if value == bound else StopReason.OPTIMAL_WITHIN_GAP
    return SaaResult(closed, price, value, bound, *times, message)


def _check(d: Floats, r: Floats, a: sp.csr_array) -> None:
    if d.ndim != 1 or r.ndim != 1 or a.shape != (len(r), len(d)):
        raise InputError(
            f"usage must be history by resources, {r.shape} by {d.shape}; got {a.shape}"
        )
    for name, array, least in (("scarcity", d, 0.0), ("rewards", r, -np.inf), ("usage", a.data, 0)):
        if not np.isfinite(array).all() or (array < least).any():
            raise InputError(f"{name} must be finite" + (" and >= 0" if least == 0 else ""))


def _lower_bound(share: Floats, d: Floats, r: Floats, a: sp.csr_array) -> float:
    """Return mean r z for z made feasible: 0 <= z <= 1, mean a z <= d (weak duality)."""
    uses_nothing_left = a[:, np.flatnonzero(d == 0)].sum(axis=1) > 0
    z = np.where(uses_nothing_left | (r < 0), 0.0, np.clip(share, 0, 1))
    use = a.T @ z / len(r)
    excess = np.divide(use, d, out=np.zeros_like(use), where=d > 0).max(initial=1.0)
    return float(r @ z / len(r) / (excess if excess > 1 + 1e-12 else 1.0))
