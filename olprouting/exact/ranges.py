"""Least and greatest values of linear functions over one polyhedron, by HiGHS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    import scipy.sparse as sp

    Floats = npt.NDArray[np.float64]

DIFFERENT = 1e-6
"""Relative difference between the least and the greatest value that shows a second point."""


class RangeFinder:
    """The polyhedron {z >= 0 : lower <= matrix z <= upper}, of which linear functions are asked.

    Parameters
    ----------
    matrix
        Shape (m, n).
    lower, upper
        Ends of its rows, perhaps infinite, shape (m,).
    """

    def __init__(self, matrix: sp.csr_array, lower: Floats, upper: Floats) -> None:
        import highspy

        from olprouting.exact.highs import new_highs, run_alone

        self._status = highspy.HighsModelStatus
        self._sense = highspy.ObjSense
        self._size = matrix.shape[1]
        self._run = run_alone
        columns = matrix.tocsc()
        nothing, infinity = np.zeros(self._size), np.full(self._size, np.inf)
        self._solver = new_highs(verbose=False)
        self._solver.passModel(
            self._size,
            matrix.shape[0],
            columns.nnz,
            int(highspy.MatrixFormat.kColwise),
            int(self._sense.kMinimize),
            0.0,
            nothing,
            nothing,
            infinity,
            lower,
            upper,
            columns.indptr.astype(np.int32),
            columns.indices.astype(np.int32),
            columns.data,
            np.zeros(self._size, np.int32),
        )
        self._run(self._solver)
        self._is_filled = self._solver.getModelStatus() == self._status.kOptimal

    def of(self, direction: Floats) -> tuple[float, float]:
        """Return the least and the greatest value of ``direction @ z``, infinite without a limit.

        Parameters
        ----------
        direction
            Shape (n,).

        Returns
        -------
        tuple of float
            Equal, if they differ by less than solvers tell apart; NaN where that was not settled.
        """
        if not self._is_filled:
            return np.nan, np.nan
        low, high = (self._end(direction, sense) for sense in ("kMinimize", "kMaximize"))
        if np.isfinite([low, high]).all() and high - low <= DIFFERENT * max(1.0, abs(high)):
            return low, low
        return low, high

    def is_constant(self, direction: Floats) -> bool | None:
        """Whether a function has one value on the polyhedron; None where that was not settled."""
        low, high = self.of(direction)
        return None if np.isnan(low) or np.isnan(high) else low == high

    def _end(self, direction: Floats, sense: str) -> float:
        self._solver.changeColsCost(
            self._size, np.arange(self._size, dtype=np.int32), np.asarray(direction, np.float64)
        )
        self._solver.changeObjectiveSense(getattr(self._sense, sense))
        self._run(self._solver)
        status = self._solver.getModelStatus()
        if status == self._status.kOptimal:
            return float(self._solver.getInfo().objective_function_value)
        if status in (self._status.kUnbounded, self._status.kUnboundedOrInfeasible):
            return np.inf if sense == "kMaximize" else -np.inf  # there is a point: it is filled
        return np.nan
