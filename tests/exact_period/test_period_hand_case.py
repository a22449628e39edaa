"""Three requests, two workers, six periods, solved by hand.

Period k = 1 of T = 6. Weights alpha = 2, beta = 1, gamma = 1/2, sigma = 1, zeta1 = 3, zeta2 = 1;
t1 = 5, t2 = 2.

Requests (prompt s, decode o, arrival t), active with decode batching in periods 1..min(o, 6) and
holding s + age + 1 tokens:

    A  s=4 o=3 t=1    periods 1..3   tokens 5 6 7
    B  s=2 o=2 t=0    periods 1..2   tokens 3 4
    C  s=3 o=8 t=-1   periods 1..6   tokens 4 5 6 7 8 9

Rewards alpha min(o, 6) + beta (6 - o)+ + gamma 6 + sigma + zeta1 1{1+o-t < 5} + zeta2 1{1-t < 2}:

    A   6 + 3 + 3 + 1 + 3 + 1 = 17     1+3-1 = 3 < 5,  0 < 2
    B   4 + 4 + 3 + 1 + 3 + 1 = 16     1+2-0 = 3 < 5,  1 < 2
    C  12 + 0 + 3 + 1 + 0 + 0 = 16     1+8+1 = 10,     2 is not below 2

Residuals of periods 1..6:

    worker 0   slots  2 2 2 2 2 2    tokens  8 8 10 10 10 10
    worker 1   slots  1 2 1 1 1 1    tokens  8 8  2  2  2  2

LP. Three rows bind: the tokens of worker 0 in period 2, 6 A0 + 4 B0 + 5 C0 <= 8; the slot of
worker 1 in period 1, A1 + B1 + C1 <= 1; the tokens of worker 1 in period 3, 7 A1 + 6 C1 <= 2. With
B and C admitted in full and C1 = 0:

    A1 = 2/7, B1 = 5/7, B0 = 2/7, C0 = 1, A0 = (8 - 5 - 8/7) / 6 = 13/42
    value = 17 (13/42 + 2/7) + 16 + 16 = 1769/42

Prices. A is not admitted in full, so that y_A = 0. Of the columns that are admitted:

    A0   17 = 6 p           p = 17/6    tokens of worker 0 in period 2
    C0   y_C = 16 - 5 p     y_C = 11/6
    B0   y_B = 16 - 4 p     y_B = 14/3
    B1   16 = q + y_B       q = 34/3    slot of worker 1 in period 1
    A1   17 = q + 7 v       v = 17/21   tokens of worker 1 in period 3

C1 has the margin 16 - q - 6 v = -4/21 < y_C. Dual value 8 p + q + 2 v + y_A + y_B + y_C = 1769/42.
Five columns are basic for five tight rows (three of capacity, and B and C in full): both solutions
are unique.

Whole starts. Worker 1 has no room for A or C in period 3, worker 0 in period 2 for no two requests.
The best is B on worker 1 and A on worker 0, 33.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from period_cases import periods

from olprouting.exact import solve
from olprouting.exact.period import check_period, margins_of, period_columns, value_bound
from olprouting.instances import PeriodProblem, SloWeights
from olprouting.instances.request_curves import active_periods, kv_tokens_at

A, B, C = range(3)
REWARDS = [17, 16, 16]
TOKENS = {A: [5, 6, 7], B: [3, 4], C: [4, 5, 6, 7, 8, 9]}
LP_VALUE = 1769 / 42
LP_STARTS = [[13 / 42, 2 / 7], [2 / 7, 5 / 7], [1, 0]]
OPTION_VALUES = [0, 14 / 3, 11 / 6]
MARGINS = [[0, 0], [14 / 3, 14 / 3], [11 / 6, -4 / 21]]
BATCH = [[0, 0, 0, 0, 0, 0], [34 / 3, 0, 0, 0, 0, 0]]
MEMORY = [[0, 17 / 6, 0, 0, 0, 0], [0, 0, 17 / 21, 0, 0, 0]]
INTEGER_VALUE, INTEGER_STARTS = 33, [[1, 0], [0, 1], [0, 0]]


def hand_case(batching: str = "decode") -> PeriodProblem:
    return PeriodProblem(
        period=1,
        periods=6,
        weights=SloWeights(alpha=2, beta=1, gamma=0.5, sigma=1, zeta1=3, zeta2=1),
        t1=5,
        t2=2,
        slots=[[2, 2, 2, 2, 2, 2], [1, 2, 1, 1, 1, 1]],
        kv_tokens=[[8, 8, 10, 10, 10, 10], [8, 8, 2, 2, 2, 2]],
        prompt_tokens=[4, 2, 3],
        decode_tokens=[3, 2, 8],
        arrival_period=[1, 0, -1],
        batching=batching,
    )


def dense_columns(problem: PeriodProblem) -> np.ndarray:
    """One worker's slots and tokens of each request, shape (J, 2, T-k+1), age by age."""
    mixed = problem.batching == "mixed"
    a = np.zeros((problem.waiting, 2, problem.remaining))
    for j in range(problem.waiting):
        ages = int(problem.decode_tokens[j]) + (1 if mixed else 0)
        for age in range(min(ages, problem.remaining)):
            a[j, 0, age] = 1
            a[j, 1, age] = problem.prompt_tokens[j] + age + (0 if mixed else 1)
    return a


def closed_form(problem: PeriodProblem, batch: np.ndarray, memory: np.ndarray) -> np.ndarray:
    """y_j = (max_g (r_j - a_(j,g)'p))+, written out."""
    prices = np.stack([batch, memory], axis=1)
    cost = np.tensordot(dense_columns(problem), prices, axes=([1, 2], [1, 2]))
    return np.maximum((problem.rewards[:, None] - cost).max(axis=1), 0)


def test_rewards_and_columns() -> None:
    problem = hand_case()
    np.testing.assert_allclose(problem.rewards, REWARDS, rtol=1e-15)
    for j, tokens in TOKENS.items():
        s, o = int(problem.prompt_tokens[j]), int(problem.decode_tokens[j])
        assert problem.active_remaining[j] == len(tokens)
        assert min(active_periods(o, "decode"), 6) == len(tokens)
        assert kv_tokens_at(np.arange(len(tokens)), s, o, "decode").tolist() == tokens


def test_the_matrix_holds_the_columns_on_both_workers() -> None:
    usage = period_columns(hand_case(), reduce_rows=False).usage.toarray()
    assert usage.shape == (2 * 2 * 6, 2 * 3)
    for g in range(2):
        for j, tokens in TOKENS.items():
            column = usage[:, 3 * g + j].reshape(2, 2, 6)
            assert column[g, 0].tolist() == [1] * len(tokens) + [0] * (6 - len(tokens))
            assert column[g, 1].tolist() == tokens + [0] * (6 - len(tokens))
            assert not column[1 - g].any()


@pytest.mark.parametrize("form", ["lp", "dual", "reduced-dual"])
def test_lp_value_prices_and_option_values(form: str) -> None:
    result = solve(hand_case(), formulation=form)
    assert result.bound == pytest.approx(LP_VALUE, abs=1e-6)
    assert result.priced is not None
    np.testing.assert_allclose(result.priced.batch, BATCH, atol=1e-6)
    np.testing.assert_allclose(result.priced.memory, MEMORY, atol=1e-6)
    np.testing.assert_allclose(result.priced.option_values, OPTION_VALUES, atol=1e-6)


def test_lp_starts_are_unique_and_so_are_the_prices() -> None:
    result = solve(hand_case(), formulation="lp")
    assert result.value == pytest.approx(LP_VALUE, abs=1e-6)
    np.testing.assert_allclose(result.x, LP_STARTS, atol=1e-6)
    assert result.priced is not None
    assert result.priced.unique


def test_the_hand_solutions_pass_the_check() -> None:
    problem, batch, memory = hand_case(), np.array(BATCH), np.array(MEMORY)
    np.testing.assert_allclose(margins_of(problem, batch, memory), MARGINS, atol=1e-12)
    np.testing.assert_allclose(closed_form(problem, batch, memory), OPTION_VALUES, atol=1e-12)
    assert value_bound(problem, batch, memory) == pytest.approx(LP_VALUE, rel=1e-12)
    check = check_period(problem, np.array(LP_STARTS), batch, memory)
    assert check.faults == ()
    assert check.gap == pytest.approx(0, abs=1e-12)


def test_integer_optimum() -> None:
    result = solve(hand_case(), formulation="integer")
    assert result.proven
    assert result.value == INTEGER_VALUE
    assert result.x.tolist() == INTEGER_STARTS


def test_the_mixed_batching_shifts_every_term_by_one_period() -> None:
    """A: 2 min(3, 5) + (6 - 4) + 5/2 + 1 + 3 (2+3-1 = 4 < 5) + 1 (2-1 = 1 < 2) = 15.5.

    It is active one period longer, and its tokens start at s: 4 5 6 7.
    """
    problem = hand_case("mixed")
    assert problem.rewards[A] == pytest.approx(6 + 2 + 2.5 + 1 + 3 + 1, rel=1e-15)
    assert problem.active_remaining[A] == 4
    assert kv_tokens_at(np.arange(4), 4, 3, "mixed").tolist() == [4, 5, 6, 7]
    usage = period_columns(problem, reduce_rows=False).usage.toarray()
    column = usage[:, A].reshape(2, 2, 6)
    assert column[0].tolist() == [[1, 1, 1, 1, 0, 0], [4, 5, 6, 7, 0, 0]]


@settings(max_examples=40, deadline=None)
@given(periods())
def test_option_values_are_their_closed_form(problem: PeriodProblem) -> None:
    priced = solve(problem, formulation="lp", test_uniqueness=False).priced
    assert priced is not None
    scale = max(1.0, float(problem.rewards.max(initial=0.0)))
    expected = closed_form(problem, priced.batch, priced.memory)
    np.testing.assert_allclose(priced.option_values, expected, atol=1e-6 * scale)
