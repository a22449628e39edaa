"""The exact stationary imbalance: against enumeration, other precisions and its own error bound."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from olprouting.errors import InputError
from olprouting.theory import (
    PromptLaw,
    certified_ratio,
    constants,
    stationary_imbalance,
    worker_load_law,
)


def enumerate_imbalance(law: dict[int, Fraction], p: Fraction, G: int, B: int, oldest: int):
    """Sum over all states of G B slots, in exact fractions; ages above `oldest` are cut off."""
    slot = {}
    for (size, weight), age in itertools.product(law.items(), range(oldest + 1)):
        slot[size + age] = slot.get(size + age, 0) + weight * p * (1 - p) ** age
    load = {0: Fraction(1)}
    for _ in range(B):
        total: dict[int, Fraction] = {}
        for (x, a), (y, b) in itertools.product(load.items(), slot.items()):
            total[x + y] = total.get(x + y, 0) + a * b
        load = total
    mean = Fraction(0)
    for state in itertools.product(load.items(), repeat=G):
        probability = Fraction(1)
        for _, weight in state:
            probability *= weight
        loads = [z for z, _ in state]
        mean += probability * (G * max(loads) - sum(loads))
    return float(mean)


@pytest.mark.parametrize(
    ("law", "p", "G", "B", "oldest"),
    [
        ({1: Fraction(1)}, Fraction(1, 2), 2, 1, 60),
        ({1: Fraction(1, 4), 3: Fraction(3, 4)}, Fraction(1, 2), 2, 1, 60),
        ({2: Fraction(1, 2), 9: Fraction(1, 2)}, Fraction(4, 5), 3, 1, 22),
        ({1: Fraction(1, 3), 4: Fraction(2, 3)}, Fraction(4, 5), 2, 2, 22),
        ({1: Fraction(1, 3), 4: Fraction(2, 3)}, Fraction(9, 10), 3, 2, 13),
    ],
)
def test_it_is_the_mean_over_all_states(law, p, G, B, oldest):
    found = stationary_imbalance(
        PromptLaw(list(law), [float(w) for w in law.values()]), float(p), G, B
    )
    # The enumeration cuts off mass n q^(oldest + 1) < 1e-12, times an imbalance of some dozens.
    assert found.imbalance_tokens == pytest.approx(
        enumerate_imbalance(law, p, G, B, oldest), abs=1e-9
    )


def test_two_geometric_workers_by_hand():
    # S constant: the imbalance of two slots is E|A - A'| = 2 q / (p (1 + q)) for geometric ages.
    p = 1 / 200
    found = stationary_imbalance(PromptLaw([50], [1.0]), p, 2, 1)
    assert found.imbalance_tokens == pytest.approx(2 * (1 - p) / (p * (2 - p)), rel=1e-12)


@pytest.mark.parametrize(
    ("law", "p", "slots"), [(20, 0.1, 1), (20, 0.1, 64), ([0.1, 0.0, 0.9], 0.7, 5), (300, 0.01, 16)]
)
def test_the_load_law_has_its_mean_and_variance(law, p, slots):
    found = worker_load_law(law, p, slots)
    loads, weights = found.load_tokens, found.probability
    assert weights.sum() == pytest.approx(1, abs=1e-11)
    assert weights @ loads == pytest.approx(found.mean_tokens, rel=1e-9)
    spread = weights @ (loads - found.mean_tokens) ** 2
    assert spread == pytest.approx(found.variance_tokens2, rel=1e-6)


@pytest.mark.parametrize(("s", "p", "slots"), [(5, 0.3, 1), (5, 0.3, 8), (30, 0.1, 5)])
def test_the_load_law_is_the_convolution_of_slots(s, p, slots):
    ages = p * (1 - p) ** np.arange(600)
    slot = np.convolve(np.r_[0, np.full(s, 1 / s)], ages)
    load = np.ones(1)
    for _ in range(slots):
        load = np.convolve(load, slot)
    found = worker_load_law(s, p, slots)
    by_convolution = np.cumsum(load)[found.load_tokens]
    off = np.abs(found.cumulative - by_convolution).max()
    assert off <= found.window.mass + found.rounding + 1e-13  # 1e-13: of the convolution


def test_it_grows_with_workers_and_with_slots():
    by_workers = [stationary_imbalance(30, 0.05, G, 8).imbalance_tokens for G in (1, 2, 3, 8, 64)]
    assert by_workers[0] == 0
    assert (np.diff(by_workers) > 0).all()
    # By Jensen: another slot of equal mean on every worker cannot lower the mean of the maximum.
    by_slots = [stationary_imbalance(30, 0.05, 8, B).imbalance_tokens for B in (1, 2, 3, 8, 64)]
    assert (np.diff(by_slots) > 0).all()


def test_one_worker_is_never_imbalanced():
    found = stationary_imbalance(10, 0.5, 1, 4)
    assert (found.imbalance_tokens, found.error_tokens, found.normalised) == (0, 0, None)


@pytest.mark.parametrize("tail_mass", [0.1, 1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize(
    ("law", "p", "G", "B"),
    [(2000, 0.005, 64, 256), (20, 0.1, 4, 8), (PromptLaw([3], [1]), 0.5, 2, 1)],
)
def test_refining_the_truncation_moves_it_by_less_than_the_bound(law, p, G, B, tail_mass):
    coarse = stationary_imbalance(law, p, G, B, tail_mass=tail_mass)
    fine = stationary_imbalance(law, p, G, B, tail_mass=1e-30)
    off = abs(coarse.imbalance_tokens - fine.imbalance_tokens)
    assert off <= coarse.error_tokens + fine.error_tokens
    assert fine.truncation_error_tokens < 1e-12 * fine.imbalance_tokens


def test_the_rounding_bound_covers_a_run_in_extended_precision():
    # The same sums with long doubles, whose rounding is 2000 times smaller where they have 64 bits.
    from scipy import fft

    s, p, G, B = 200, 0.02, 16, 32
    law = worker_load_law(s, p, B)
    size = law.window.size
    wide = np.longdouble
    prompts = np.zeros(size, wide)
    prompts[1 : s + 1] = 1 / wide(s)
    angle = np.arange(size // 2 + 1, dtype=wide) * (2 * np.arccos(wide(-1)) / size)
    ages = p / (p + 2 * (1 - wide(p)) * np.sin(angle / 2) ** 2 + 1j * (1 - wide(p)) * np.sin(angle))
    load = np.roll(fft.irfft((fft.rfft(prompts) * ages) ** B, size), -(law.window.first % size))
    cumulative = np.cumsum(load)
    assert np.abs(law.cumulative - cumulative).max() <= law.rounding
    mean = B * (wide(s + 1) / 2 + (1 - wide(p)) / p)
    exact = G * (law.window.first - mean + (1 - cumulative**G).sum())
    found = stationary_imbalance(s, p, G, B)
    assert abs(found.imbalance_tokens - float(exact)) <= found.error_tokens


def test_a_large_setting_is_computed_to_nine_digits():
    found = stationary_imbalance(2000, 1 / 200, 64, 256)
    assert found.error_tokens < 1e-7 * found.imbalance_tokens
    assert 1 / 1024 < found.normalised < 2**0.5


def test_many_slots_approach_the_maximum_of_normal_loads():
    # E max of two normals is 1/sqrt(pi): imbalance 2 sigma sqrt(B) / sqrt(pi). The skewness of the
    # sum is at most 2/sqrt(B), and for two workers enters in its square only.
    found = stationary_imbalance(100, 0.05, 2, 1024)
    normal = 2 * found.load_deviation_tokens / np.pi**0.5
    assert found.imbalance_tokens == pytest.approx(normal, rel=1e-2)


def test_the_certified_ratio_is_the_exact_value_over_the_upper_bound():
    c = constants(20, 0.1, 4, 8)
    found = stationary_imbalance(20, 0.1, 4, 8)
    ratio = certified_ratio(c, found)
    assert ratio == pytest.approx(found.imbalance_tokens / c.io0_upper_bound_tokens)
    assert ratio > c.ratio_lower_bound
    alone = stationary_imbalance(20, 0.1, 1, 8)
    assert certified_ratio(constants(20, 0.1, 1, 8), alone) is None
    equal = PromptLaw([4], [1.0])
    assert (
        certified_ratio(constants(equal, 0.1, 2, 8), stationary_imbalance(equal, 0.1, 2, 8)) is None
    )


@pytest.mark.parametrize("p", [1e-5, 1 - 1e-9, 1 - 2.0**-53])
def test_extreme_p_stays_finite(p):
    found = stationary_imbalance(3, p, 3, 2)
    assert 0 < found.imbalance_tokens < 10 / p
    assert found.error_tokens < 1e-5 * found.imbalance_tokens


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((5, 1.0, 2, 2), {}, "p = 1 must lie strictly between 0 and 1"),
        ((5, 0.5, 0, 2), {}, "workers = 0 must be an integer >= 1"),
        ((5, 0.5, 2, 2), {"tail_mass": 0.0}, r"tail_mass = 0 must be in \(0, 0.1\]"),
        ((5, 0.5, 2, 2), {"tail_mass": 0.5}, "tail_mass = 0.5"),
        ((5, 1e-9, 2, 2), {}, "use fewer slots, a larger p, or coarser prompt sizes"),
    ],
)
def test_bad_parameters_are_named(arguments, options, message):
    with pytest.raises(InputError, match=message):
        stationary_imbalance(*arguments, **options)
