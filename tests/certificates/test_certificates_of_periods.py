"""A saved period is checked by code of its own: starts, prices, and the gap between them."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from forgeries import restated
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from olprouting.certificates import DoesNotHoldError, Verdict, certificate, verify
from olprouting.certificates.period_value import ExactPeriod
from olprouting.certificates.reading import read_exact
from olprouting.exact import solve
from olprouting.exact.period import margins_of, used
from olprouting.instances import WEIGHT_SETS, PeriodProblem, SloWeights

E3 = {
    "period": 1, "periods": 1, "t1": 5, "t2": 5, "slots": [[10]], "kv_tokens": [[48]],
    "prompt_tokens": [5] * 20 + [3] * 20, "decode_tokens": [3] * 40,
    "arrival_period": [1] * 20 + [-10] * 20,
}  # fmt: skip


def random_period(seed: int, *, batching: str = "decode", waiting: int = 6) -> PeriodProblem:
    rng = np.random.default_rng(seed)
    workers, remaining = int(rng.integers(1, 4)), int(rng.integers(1, 12))
    names = list(WEIGHT_SETS)
    return PeriodProblem(
        period=3,
        periods=2 + remaining,
        weights=WEIGHT_SETS[names[seed % len(names)]],
        t1=float(rng.integers(1, 15)),
        t2=2.5,
        slots=rng.integers(0, 5, (workers, remaining)),
        kv_tokens=rng.integers(0, 160, (workers, remaining)),
        prompt_tokens=rng.integers(0, 60, waiting),
        decode_tokens=rng.integers(1, 14, waiting),
        arrival_period=rng.integers(-3, 4, waiting),
        batching=batching,
        inclusive=bool(seed % 2),
        age_offset=[None, 0, 2][seed % 3],
    )


@st.composite
def periods(draw: st.DrawFn) -> PeriodProblem:
    batching = draw(st.sampled_from(["decode", "mixed"]))
    seed, waiting = draw(st.integers(0, 2**20)), draw(st.integers(0, 6))
    return random_period(seed, batching=batching, waiting=waiting)


def exactly(problem: PeriodProblem) -> ExactPeriod:
    return ExactPeriod.from_document(read_exact(problem.to_json(), "period"))


@settings(max_examples=150, deadline=None)
@given(periods())
def test_definitions_written_twice_agree(problem) -> None:
    """Catches a curve, reward or price sum that one of the two readings has wrong."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, (problem.waiting, problem.workers))
    batch, memory = rng.integers(0, 4, (2, problem.workers, problem.remaining))
    period = exactly(problem)
    assert [float(r) for r in period.rewards] == pytest.approx(problem.rewards.tolist(), rel=1e-12)
    slots, tokens = used(problem, x)
    assert period.use(x.tolist()) == (slots.tolist(), tokens.tolist())
    margins = margins_of(problem, batch.astype(float), memory.astype(float))
    best = np.maximum(margins.max(axis=1, initial=-np.inf), 0)
    values = period.option_values(batch.tolist(), memory.tolist())
    assert [float(v) for v in values] == pytest.approx(best.tolist(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("form", ["lp", "dual"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
@given(problem=periods())
def test_an_optimum_is_proven_again(problem, form) -> None:
    """Equal values of x and of prices, in exact arithmetic, up to the rounding of doubles."""
    result = solve(problem, formulation=form, test_uniqueness=False)
    finding = verify(json.dumps(certificate(problem, result)))
    assert finding.verdict in (Verdict.OPTIMAL, Verdict.WITHIN_TOLERANCE)


def test_four_units_of_a_double_apart_is_rounding_however_it_is_written() -> None:
    """Regression: value and bound of this dual are just so far apart, their decimals a bit more."""
    weights = SloWeights(1 / 27, 1 / 2048, 1 / 2048, 5, 1, 1)
    problem = PeriodProblem(
        period=3, periods=9, weights=weights, t1=12, t2=2.5, age_offset=2,
        slots=[[1, 4, 0, 1, 1, 0, 0], [1, 4, 3, 3, 1, 0, 2]],
        kv_tokens=[[20, 115, 73, 110, 25, 142, 133], [114, 79, 9, 98, 148, 144, 34]],
        prompt_tokens=[38, 22, 48, 6], decode_tokens=[9, 12, 4, 9], arrival_period=[3, -3, -2, 0],
    )  # fmt: skip
    result = replace(
        solve(problem, formulation="dual"), value=1.0649476662660255, bound=1.0649476662660264
    )
    finding = verify(json.dumps(certificate(problem, result)))
    assert finding.verdict is Verdict.WITHIN_TOLERANCE


def test_e3_by_every_form() -> None:
    """Value 44; the integer program has no prices of its own, and its starts are tried."""
    e3 = PeriodProblem(weights=SloWeights(0, 0, 0, 4, 0, 1), **E3)
    said = {}
    for form, prices in (
        ("lp", None), ("dual", None), ("reduced-dual", None), ("integer", None),
        ("integer", "lp-relaxation"), ("integer", "fixed-integers"),
    ):  # fmt: skip
        result = solve(e3, formulation=form, prices=prices)
        finding = verify(json.dumps(certificate(e3, result)))
        said[form, prices] = finding.verdict
        # the dual's x comes from row duals and has their rounding
        assert finding.value is None or float(Fraction(finding.value)) == pytest.approx(44)
        if finding.verdict is Verdict.WITHIN_TOLERANCE:
            said[form, prices] = Verdict.OPTIMAL
    assert said == {
        ("lp", None): Verdict.OPTIMAL,
        ("dual", None): Verdict.OPTIMAL,
        ("reduced-dual", None): Verdict.BOUNDED,
        ("integer", None): Verdict.OPTIMAL,
        ("integer", "lp-relaxation"): Verdict.OPTIMAL,
        ("integer", "fixed-integers"): Verdict.OPTIMAL,
    }


def test_an_infeasible_start_is_named() -> None:
    """One start more than fits, with a value that is right for it."""
    problem = random_period(14)
    saved = certificate(problem, solve(problem))
    period = exactly(problem)
    x = [[1.0] + [0.0] * (problem.workers - 1)] * problem.waiting
    saved["result"].update(x=x, value=float(period.value([[1] + [0] * (problem.workers - 1)] * 6)))
    with pytest.raises(DoesNotHoldError, match=r"x: worker 0 uses .* in period"):
        verify(json.dumps(saved))


def test_negative_residuals_count_as_none() -> None:
    """A worker fuller than was predicted: the problem clips, and so must the check."""
    problem = random_period(5).replace(slots=-np.ones((1, 4), int), kv_tokens=np.ones((1, 4), int),
        periods=6)  # fmt: skip
    finding = verify(json.dumps(certificate(problem, solve(problem))))
    assert Fraction(finding.value) == 0


def one_worker(weights: SloWeights, sizes: list[tuple[int, int]]) -> PeriodProblem:
    """Three periods, one slot, 50 tokens, and requests of these prompts and decode lengths."""
    prompt, decode = zip(*sizes, strict=True)
    return PeriodProblem(
        period=1, periods=3, weights=weights, t1=2, t2=1, slots=[[1] * 3], kv_tokens=[[50] * 3],
        prompt_tokens=prompt, decode_tokens=decode, arrival_period=[1] * len(sizes),
    )  # fmt: skip


@pytest.mark.parametrize("form", ["integer", "lp"])
@pytest.mark.parametrize("priced", [False, True])
def test_a_request_that_cannot_start_makes_no_claim_free(form, priced) -> None:
    """Regression: one reward of 1e12, of a request that fits nowhere, was the scale of all."""
    problem = one_worker(SloWeights(1, 0, 0, 0, 1e12, 0), [(100, 1), (10, 3), (10, 2)])
    result = solve(problem, formulation=form, prices="lp-relaxation" if form == "integer" else None)
    saved = certificate(problem, result)
    verify(json.dumps(saved))
    forged = restated(saved, x=[[0.0]] * 3, value=500.0, bound=500.0, stop_reason="optimal")
    if priced:
        prices = {"batch": [[3.0, 0.0, 0.0]], "memory": [[0.0] * 3], "option_values": [0.0] * 3}
        forged["result"]["priced"] |= prices
    else:
        forged["result"]["priced"] = None
    with pytest.raises(DoesNotHoldError):
        verify(json.dumps(forged))
    if form == "lp":  # x is worth 0, but the prices prove 3
        with pytest.raises(DoesNotHoldError, match="bound"):
            verify(json.dumps(restated(forged, value=0.0, stop_reason="time_limit")))


def test_whole_starts_of_whole_rewards_have_no_tolerance() -> None:
    """Regression: 1000000002 passed for the optimum of 1000000003, by a relative 1e-9."""
    problem = one_worker(SloWeights(1, 0, 0, 1e9, 0, 0), [(10, 3), (10, 2)])
    saved = certificate(problem, solve(problem, formulation="integer"))
    assert verify(json.dumps(saved)).value == "1000000003"
    less = float(1e9 + 2)
    forged = restated(saved, x=[[0.0], [1.0]], value=less, bound=less, stop_reason="optimal")
    with pytest.raises(DoesNotHoldError, match=r"bound: .* starts worth 1000000003\.0 exist"):
        verify(json.dumps(forged))
    with pytest.raises(DoesNotHoldError, match="value: it is 1000000003"):
        verify(json.dumps(restated(saved, value=less, stop_reason="time_limit")))


def test_a_bound_of_nothing_but_rounding_is_verified() -> None:
    """Rewards of 2 that prices take back to 4e-16, where no request fits: not a false claim."""
    problem = PeriodProblem(
        period=3,
        periods=10,
        weights=SloWeights(0.007407407407407408, 0.0025, 0.0025, 1.0, 1.0, 1.0),
        t1=12.0,
        t2=2.5,
        slots=[[2, 0, 4, 1, 0, 2, 2, 4], [0, 1, 2, 4, 3, 0, 0, 0], [3, 1, 3, 3, 0, 2, 3, 4]],
        kv_tokens=[
            [12, 35, 14, 22, 78, 23, 113, 145],
            [0, 69, 20, 30, 13, 54, 93, 137],
            [59, 18, 81, 138, 110, 127, 35, 32],
        ],
        prompt_tokens=[23, 4, 27],
        decode_tokens=[13, 6, 9],
        arrival_period=[0, -2, 2],
        inclusive=True,
        age_offset=0,
    )
    result = solve(problem, solver="highs", formulation="dual")
    verify(json.dumps(certificate(problem, result)))


def test_a_bound_that_rounding_puts_below_its_prices_is_verified() -> None:
    """Regression: nothing fits, and rewards of 9 are taken back to 2.7e-15, exactly 2.8e-15."""
    problem = PeriodProblem(
        period=3, periods=10, weights=SloWeights(1, 0, 0, 1, 0, 0), t1=5, t2=2.5, age_offset=2,
        slots=[[4, 4, 2, 1, 3, 1, 0, 2]], kv_tokens=[[0, 1, 15, 114, 80, 100, 113, 47]],
        prompt_tokens=[50, 27, 1, 37, 34], decode_tokens=[4, 8, 8, 7, 10],
        arrival_period=[1, 3, -2, 3, 2],
    )  # fmt: skip
    result = solve(problem, solver="highs", formulation="dual")
    verdict = verify(json.dumps(certificate(problem, result))).verdict
    assert verdict in (Verdict.OPTIMAL, Verdict.WITHIN_TOLERANCE)
