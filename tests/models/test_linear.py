"""Assembled sums are the sums that the models are written with."""

from __future__ import annotations

import numpy as np
import pytest

import olprouting as olp
from olprouting.exact.formulations import FORMULATIONS
from olprouting.exact.matrix import compile_model
from olprouting.exact.period import period_columns
from olprouting.models import (
    hindsight_imbalance,
    imbalance_assignment,
    imbalance_size_class,
    period_integer,
)

ARRAYS = ("cost", "row_lower", "row_upper", "starts", "rows", "coefficients")


def decision(formulation: str):
    return FORMULATIONS[formulation](olp.load_instance("azure-g3-p5-c8-h8-y0.5-frozen"))


def period():
    return period_integer.build(*period_columns(olp.load_instance("period-tiny-requests")).arrays)


def run():
    sizes, lengths, release = np.array([3, 4, 5, 2]), np.array([2, 3, 1, 2]), np.array([1, 1, 2, 3])
    return hindsight_imbalance.build(sizes, lengths, release, np.array([1, 2]), 9)


def plain_dot(coefficients, variables):
    return sum(a * x for a, x in zip(np.asarray(coefficients).tolist(), variables, strict=True))


def plain_rows(matrix, variables):
    rows = [np.flatnonzero(row) for row in matrix.toarray()]
    return [
        sum(float(matrix[i, j]) * variables[j] for j in used) if len(used) else None
        for i, used in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("module", "build"),
    [
        (imbalance_assignment, lambda: decision("assignment").pyomo_model()),
        (imbalance_size_class, lambda: decision("size-class").pyomo_model()),
        (period_integer, period),
        (hindsight_imbalance, run),
    ],
    ids=lambda value: getattr(value, "__name__", "").rpartition(".")[2],
)
def test_assembled_sums_give_the_matrix_of_plain_ones(module, build, monkeypatch) -> None:
    """Catches a coefficient beside another variable than its own."""
    model = build()
    assembled = compile_model(model)
    plain = {"dot": plain_dot, "total": sum, "rows_times": plain_rows}
    for name in plain.keys() & vars(module).keys():
        monkeypatch.setattr(module, name, plain[name])
    other = build()  # a variable does not keep its model alive
    textbook = compile_model(other)
    assert [x.name for x in assembled.columns] == [x.name for x in textbook.columns]
    assert [row.name for row in assembled.constraints] == [row.name for row in textbook.constraints]
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(assembled, name), getattr(textbook, name))
    assert assembled.offset == textbook.offset
