"""The arrays that matrix-based solvers get are the model's, term by term."""

from __future__ import annotations

import numpy as np
import pytest
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

import olprouting as olp
from olprouting.exact.formulations import FORMULATIONS
from olprouting.exact.matrix import compile_model
from olprouting.exact.period import period_columns
from olprouting.models import period_integer


def check_against_pyomo(model) -> None:
    """Compare with Pyomo's own standard form, in which every row has one side only."""
    ours, theirs = compile_model(model), LinearStandardFormCompiler().write(model, mixed_form=True)
    kinds = np.array([row.bound_type for row in theirs.rows])
    assert [id(column) for column in ours.columns] == [id(column) for column in theirs.columns]
    assert [ours.column_of[id(column)] for column in ours.columns] == list(range(len(ours.columns)))
    assert [id(row) for row in ours.constraints] == [id(row.constraint) for row in theirs.rows]
    np.testing.assert_array_equal(ours.cost, theirs.c.toarray().ravel())
    assert ours.offset == theirs.c_offset[0]
    np.testing.assert_array_equal(ours.starts, theirs.A.indptr)
    np.testing.assert_array_equal(ours.rows, theirs.A.indices)
    np.testing.assert_array_equal(ours.coefficients, theirs.A.data)
    np.testing.assert_array_equal(ours.row_lower, np.where(kinds <= 0, theirs.rhs, -np.inf))
    np.testing.assert_array_equal(ours.row_upper, np.where(kinds >= 0, theirs.rhs, np.inf))


@pytest.mark.parametrize("formulation", ["size-class", "assignment"])
@pytest.mark.parametrize("name", ["e2", "trap-g6", "azure-g8-p32-c8-h80-y0.86"])
def test_decisions_as_pyomo_writes_them(name: str, formulation: str) -> None:
    """Catches a lost term, constant or bound, and columns in another order than their names."""
    check_against_pyomo(FORMULATIONS[formulation](olp.load_instance(name)).pyomo_model())


@pytest.mark.parametrize("name", ["e3", "period-tail-only"])
def test_periods_as_pyomo_writes_them(name: str) -> None:
    """A maximum, some of whose rewards are 0: catches a sign that is not turned."""
    columns = period_columns(olp.load_instance(name))
    check_against_pyomo(period_integer.build(*columns.arrays))
