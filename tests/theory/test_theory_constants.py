"""Constants and bounds of the theorem: against summation, hand arithmetic and refused inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from olprouting.errors import InputError
from olprouting.theory import PromptLaw, check_supply, constants, read_prompt_law
from olprouting.theory.theorem import exponential_moment


@pytest.mark.parametrize("p", [0.9, 0.5, 0.1, 0.005])
@pytest.mark.parametrize("s", [1, 7, 2000])
def test_V_in_closed_form_is_the_sum_that_defines_it(p, s):
    q = 1 - p
    theta = min(1 / (s + 1), -math.log(q) / 2)
    # Terms decay like r^a with r = q e^theta <= sqrt(q); 40 digits are beyond the last term.
    last = int(200 / -math.log(math.sqrt(q))) + 10
    terms = (p * q**a * (s + 1 + a) ** 2 * math.exp(theta * (s + 1 + a)) for a in range(last))
    assert exponential_moment(s, p, theta) == pytest.approx(p * q * math.fsum(terms), rel=1e-10)


def test_constants_by_hand():
    # S uniform on {1, 3}, p = 1/2, G = 2, B = 3: Var S = 1, q/p^2 = 2, (s + 1/p)^2 = 25.
    c = constants([0.5, 0.0, 0.5], 0.5, 2, 3)
    assert (c.largest_prompt_tokens, c.total_slots, c.rho) == (3, 6, 0.5)
    assert c.sigma2_tokens2 == pytest.approx(3)
    assert c.mu2_tokens2 == pytest.approx(27)
    assert c.theta0_per_token == pytest.approx(0.25)
    assert c.tau_per_token == pytest.approx(0.25 / c.V_tokens2)
    assert c.kappa_per_slot == pytest.approx(c.tau_per_token / 8)
    assert c.eps_tokens == pytest.approx(math.sqrt(8 * 6 * 0.25 * 27))  # the min is 1
    assert c.io0_upper_bound_tokens == pytest.approx((3 + 18) / 0.5)
    assert c.fcfs_lower_bound_tokens == pytest.approx(2 * math.sqrt(3 * 3 * math.log(2)) / 1024)
    assert c.ratio_case == "eps > s"
    assert c.ratio_lower_bound == pytest.approx(
        c.fcfs_lower_bound_tokens / c.io0_upper_bound_tokens
    )
    assert c.supply_requests_per_iteration == pytest.approx(6 * 0.5 / 0.5)


def test_the_ratio_bound_has_its_published_form_where_eps_is_at_most_s():
    c = constants(2, 0.9, 4, 10**6)
    assert c.ratio_case == "eps <= s"
    published = 0.9 * math.sqrt(c.sigma2_tokens2) / (2048 * 2) * 4 / 3
    assert c.ratio_lower_bound == pytest.approx(published * math.sqrt(10**6 * math.log(4)))


def test_a_degenerate_law_has_constants_but_no_bound_of_io0():
    c = constants(PromptLaw([7], [1.0]), 0.5, 2, 3)
    assert c.rho == 0
    assert c.sigma2_tokens2 == pytest.approx(2)
    assert c.io0_upper_bound_tokens is None
    assert c.ratio_lower_bound is None
    assert c.supply_requests_per_iteration is None
    supply = check_supply(c, 1e9)
    assert supply.saturates
    assert not supply.holds
    assert "do not apply" in supply.message()


def test_one_worker_has_no_imbalance_and_no_ratio():
    c = constants(5, 0.5, 1, 3)
    assert c.io0_upper_bound_tokens == 0
    assert c.fcfs_lower_bound_tokens == 0
    assert c.ratio_lower_bound is None


def test_supply_needs_more_than_the_threshold():
    c = constants([0.5, 0.5], 0.5, 2, 2)  # n p = 2, n p / rho = 4
    exactly, more = check_supply(c, 4.0), check_supply(c, 4.001)
    assert (exactly.holds, exactly.saturates) == (False, True)
    assert "do not apply" in exactly.message()
    assert "more than n p / rho = 4 are needed" in exactly.message()
    assert more.holds
    assert not check_supply(c, 2.0).saturates


def test_a_sequence_is_one_period_of_a_pattern():
    c = constants([0.5, 0.5], 0.5, 2, 2)
    assert check_supply(c, [0, 0, 15]).holds  # mean 5
    assert not check_supply(c, np.array([12, 0, 0])).holds  # mean 4


@pytest.mark.parametrize(
    ("law", "p", "workers", "slots", "message"),
    [
        (5, 0.0, 2, 2, "p = 0 must lie strictly between 0 and 1"),
        (5, 1.0, 2, 2, "p = 1 must lie strictly between 0 and 1"),
        (5, -0.1, 2, 2, "strictly between 0 and 1"),
        (5, math.nan, 2, 2, "strictly between 0 and 1"),
        (5, 0.5, 0, 2, "workers = 0 must be an integer >= 1"),
        (5, 0.5, 2, 0, "slots = 0 must be an integer >= 1"),
        (0, 0.5, 2, 2, "expected 1 <= smallest <= largest"),
        (10**12, 0.5, 2, 2, "expected at most 2\\^25 sizes"),
        ([0.5, 0.4], 0.5, 2, 2, "sum to 0.9; they must sum to 1"),
        ([1.5, -0.5], 0.5, 2, 2, r"probability\[1\] = -0.5 must be >= 0"),
        ([math.nan, 1], 0.5, 2, 2, r"probability\[0\] = nan must be finite"),
        ([], 0.5, 2, 2, "at least one number"),
    ],
)
def test_bad_parameters_are_named(law, p, workers, slots, message):
    with pytest.raises(InputError, match=message):
        constants(law, p, workers, slots)


@pytest.mark.parametrize(
    ("sizes", "weights", "message"),
    [
        ([-3, 1], [0.5, 0.5], r"size_tokens\[0\] = -3 must be a whole number >= 1"),
        ([1, 2.5], [0.5, 0.5], r"size_tokens\[1\] = 2.5 must be a whole number >= 1"),
        ([1, 1], [0.5, 0.5], "size 1 stands twice"),
        ([1], [0.5, 0.5], "1 sizes but 2 probabilities"),
        (["a"], [1.0], "size_tokens must hold numbers"),
    ],
)
def test_bad_laws_are_named(sizes, weights, message):
    with pytest.raises(InputError, match=message):
        PromptLaw(sizes, weights)


@pytest.mark.parametrize("rate", [-1.0, math.nan, math.inf, [], [1, -2]])
def test_bad_arrivals_are_refused(rate):
    with pytest.raises(InputError, match="arrivals per iteration"):
        check_supply(constants(5, 0.5, 2, 2), rate)


def test_laws_are_read_from_texts_and_files(tmp_path):
    uniform = read_prompt_law("uniform:3:6")
    assert uniform.size_tokens.tolist() == [3, 4, 5, 6]
    table = tmp_path / "law.csv"
    table.write_text("size,probability\n9,0.25\n2,0.75\n5,0\n")
    law = read_prompt_law(str(table))
    assert law.size_tokens.tolist() == [2, 9]
    assert law.probability.tolist() == [0.75, 0.25]
    assert law.largest_tokens == 9
    trace = tmp_path / "trace.csv"
    trace.write_text("arrival_s,prompt_tokens,decode_tokens\n0,4,1\n1,4,2\n2,8,3\n3,4,3\n")
    drawn = read_prompt_law(f"trace:{trace}")
    assert (drawn.size_tokens.tolist(), drawn.probability.tolist()) == ([4, 8], [0.75, 0.25])


@pytest.mark.parametrize("text", ["uniform:1", "uniform:a:b", "uniform:-1:5", "nonsense", ""])
def test_texts_that_name_no_law_are_refused(text):
    with pytest.raises(InputError, match="expected uniform:SMALLEST:LARGEST"):
        read_prompt_law(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,1\n", "must name columns size and probability"),
        ("size,probability\n1,x\n", "row 2, column probability: 'x' is not a number"),
        ("size,probability\n1\n", "row 2, column probability: None is not a number"),
        ("size,probability\n1,0.5\n", "law.csv: the probabilities sum to 0.5"),
        ("size,probability\n", "at least one number"),
    ],
)
def test_bad_tables_are_named(tmp_path, content, message):
    table = tmp_path / "law.csv"
    table.write_text(content)
    with pytest.raises(InputError, match=message):
        read_prompt_law(str(table))


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv: cannot read the law"):
        read_prompt_law(str(tmp_path / "none.csv"))
