"""Policies that plan by periods, in the engine: feasible, reproducible, and as argued by hand."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from olprouting.engine import replay_policy, simulate
from olprouting.errors import InputError
from olprouting.forecasts import NoisyOracle
from olprouting.instances import Cluster, SloWeights, StepTime, Trace
from olprouting.policies import (
    BidPriceOptions,
    PeriodOptions,
    PolicyOptions,
    make_policy,
    policy_names,
)
from olprouting.policies.bid_price import BidPricePolicy
from olprouting.policies.period_policy import PastLastPeriodWarning
from olprouting.prices import BidPrices, ClippedRewardsWarning, PriceOptions, exact_prices

POLICIES = ("bid-price", "prices-0", "bid-price-exact", "lp-rounding", "period-integer")
PER_TOKEN = SloWeights(1, 0, 0, 0, 0, 0)
STEP = StepTime(1.0, 0.0)


def planner(name="bid-price", *, ties="random", period=None, **learning):
    period = {"periods": 60} | (period or {})
    return make_policy(
        name,
        2,
        PolicyOptions(
            ties=ties, period=PeriodOptions(**period), bid_price=BidPriceOptions(**learning)
        ),
    )


def trace(requests=24, seed=0):
    rng = np.random.default_rng(seed)
    return Trace(
        rng.integers(1, 30, requests),
        rng.integers(1, 12, requests),
        release_iteration=np.sort(rng.integers(1, 20, requests)),
    )


CLUSTER = Cluster([2, 4], kv_tokens=[50, 90], step_time=STEP)


def test_the_policies_have_names():
    assert set(POLICIES) <= set(policy_names())


@pytest.mark.parametrize("name", POLICIES)
def test_of_two_requests_for_one_slot_the_one_worth_more_starts_first(name):
    """One token is worth 1: 5 tokens beat 2 by any prices of a slot that both would use."""
    two = Trace([1, 1], [2, 5], release_iteration=[1, 1])
    one_slot = Cluster([1], kv_tokens=[100], step_time=STEP)
    run = simulate(two, one_slot, planner(name, period={"weights": PER_TOKEN}), periods=60)
    assert run.admission_iteration[1] == 1
    assert run.metrics.finished == 2 or name.startswith("bid-price")


def test_a_request_that_is_priced_out_waits_though_there_is_room():
    """Three tokens are worth 3. At 0.05 per KV token and period, a prompt of 1 costs
    0.05 (2 + 3 + 4) = 0.45, and one of 50 costs 0.05 (51 + 52 + 53) = 7.8.
    """
    priced = planner(steps=0, period={"weights": PER_TOKEN, "periods": 4})
    priced.prices = BidPrices([2, 2], [100, 100], 4, PriceOptions(reward_normalizer=1.0))
    priced.prices.record(1.0, 0, 1, 1, 1)  # an empty history would make prices 0
    priced.prices.memory[:] = 0.05 * 100  # in units of 1 / (largest capacity)
    cluster = Cluster([2, 2], kv_tokens=[100, 100], step_time=STEP)
    run = simulate(Trace([50, 1], [3, 3], release_iteration=[1, 1]), cluster, priced, periods=1)
    assert run.admission_iteration.tolist() == [-1, 1]


def fixed_prices(memory, **learning):
    """Return the policy with a price of a KV token in each of 9 periods; a token's reward is 1."""
    priced = planner(steps=0, period={"weights": PER_TOKEN, "periods": 9}, **learning)
    priced.prices = BidPrices([1], [100], 9, PriceOptions(reward_normalizer=1.0))
    priced.prices.record(1.0, 0, 1, 1, 1)  # an empty history would make prices 0
    priced.prices.memory[:] = np.array(memory) * 100  # in units of 1 / (largest capacity)
    return priced


# At 0.05 per KV token and period a prompt of 50 with 3 tokens costs 7.8, a prompt of 1 only 0.45.
# A and B arrive in period 1 and C in 2: A is priced out while the price stands. B starts in 1 and
# leaves the slot at the end of 3. C is worth it all the time, but B has the slot until then.
THREE = Trace([50, 1, 1], [3, 3, 3], release_iteration=[1, 1, 2])
ONE = Cluster([1], kv_tokens=[100], step_time=STEP)


@pytest.mark.parametrize(
    ("reject_after", "rejection"), [(None, -1), (1, 2), (2, 3), (4, 5), (8, 9), (9, -1)]
)
def test_a_request_that_stays_priced_out_is_turned_away_in_time(reject_after, rejection):
    """Catches a count that is a period off, and rejection of those who only wait for room."""
    run = simulate(THREE, ONE, fixed_prices([0.05] * 9, reject_after=reject_after))
    assert run.rejection_iteration.tolist() == [rejection, -1, -1]
    assert run.admission_iteration.tolist() == [-1, 1, 4]
    numbers = run.metrics
    assert (numbers.finished, numbers.rejected) == (2, int(rejection > 0))
    assert numbers.arrived == numbers.finished + numbers.rejected + numbers.unfinished


def test_a_request_that_was_worth_it_once_is_never_turned_away():
    """A is worth it in 2 and 3, in which B has the slot, and no more from 4 on."""
    prices = [0.1, 0, 0, 0, *[0.05] * 5]
    run = simulate(THREE, ONE, fixed_prices(prices, reject_after=2))
    assert run.metrics.rejected == 0


def test_a_run_with_rejections_is_replayed():
    """The replay turns the same request away in a period in which no slot is free."""
    run = simulate(THREE, ONE, fixed_prices([0.05] * 9, reject_after=2))
    again = simulate(THREE, ONE, replay_policy(run.to_frame()))
    assert again.metrics == run.metrics
    assert again.rejection_iteration.tolist() == [3, -1, -1]


@pytest.mark.parametrize("name", ["bid-price", "bid-price-exact"])
@pytest.mark.parametrize("residuals", ["true", "open-loop"])
def test_rejections_leave_nobody_uncounted(name, residuals):
    """In a crowd some are turned away; open-loop bookings hold no place for them."""
    period = {"periods": 60, "weights": PER_TOKEN, "residuals": residuals}
    few = Cluster([1, 1], kv_tokens=[50, 50], step_time=STEP)
    run = simulate(
        trace(60), few, planner(name, period=period, reject_after=3, step_size=0.3), periods=60
    )
    numbers = run.metrics
    assert numbers.rejected > 0
    assert numbers.arrived == numbers.finished + numbers.rejected + numbers.unfinished


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("batching", ["decode", "mixed"])
def test_with_true_lengths_nothing_is_ever_overfilled(name, batching):
    """The engine, which shares no code with the policies' planning, never has to preempt."""
    requests = trace()
    run = simulate(requests, CLUSTER, planner(name), periods=60, batching=batching)
    assert run.metrics.kv.preemptions == 0
    assert run.metrics.kv.peak_share <= 1
    assert (run.admission_iteration > 0).sum() >= 12


@pytest.mark.parametrize("name", POLICIES)
def test_admissions_fit_the_real_residents_in_every_period_to_come(name):
    """Counted request by request from what the engine reports, also when forecasts are wrong."""
    checked = 0

    def check(event):
        nonlocal checked
        workers, view = event.view.workers, event.view
        for g in range(len(workers.slots)):
            mine = workers.resident_worker == g
            left, age = workers.resident_remaining[mine], workers.resident_age[mine]
            held = workers.resident_prompt_tokens[mine]
            new = event.position[event.worker == g]
            length, prompt = workers.waiting_decode_tokens[new], view.waiting_prompt_tokens[new]
            last = min(60 - view.iteration + 1, int(length.max(initial=0)))
            for k in range(last):
                stay, start = left > k, length > k
                if not start.any():
                    continue
                tokens = (held + age + k + 1)[stay].sum() + (prompt + k + 1)[start].sum()
                assert stay.sum() + start.sum() <= workers.slots[g]
                assert tokens <= workers.kv_tokens[g]
                checked += 1

    simulate(
        trace(), CLUSTER, planner(name), periods=60, forecast=NoisyOracle(0.5), on_decision=check
    )
    assert checked > 20


@pytest.mark.parametrize("name", POLICIES)
def test_the_same_seed_gives_the_same_run_also_with_a_policy_that_ran_before(name):
    policy = planner(name)
    runs = [
        simulate(trace(), CLUSTER, policy, periods=60, forecast=NoisyOracle(0.3), seed=4)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(runs[0].worker, runs[1].worker)
    np.testing.assert_array_equal(runs[0].admission_iteration, runs[1].admission_iteration)
    assert runs[0].metrics == runs[1].metrics


def test_past_a_fixed_last_period_nobody_is_admitted_and_that_is_said():
    late = trace().replace(release_iteration=np.full(24, 30))
    with pytest.warns(PastLastPeriodWarning, match="receding"):
        run = simulate(late, CLUSTER, planner(period={"periods": 20}), max_idle_iterations=5)
    assert (run.admission_iteration == -1).all()
    assert run.metrics.unfinished == 24


def test_a_receding_horizon_goes_on():
    late = trace().replace(release_iteration=np.full(24, 30))
    receding = planner(period={"periods": 20, "last_period": "receding"}, n_remain="arrivals")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = simulate(late, CLUSTER, receding)
    assert (run.admission_iteration >= 30).sum() >= 12
    assert (receding.prices.history.start_period >= 30).all()


def test_the_history_has_one_column_per_period_or_one_per_request():
    asked = []
    per_period, per_request = planner(record="period"), planner(record="request")
    simulate(trace(), CLUSTER, per_period, periods=60, on_decision=lambda e: asked.append(e.view))
    assert len(per_period.prices.history) == len(asked)
    simulate(trace(), CLUSTER, per_request, periods=60)
    assert len(per_request.prices.history) == 24


def test_a_normalizer_of_1_with_clipping_is_warned_of():
    many = trace(80)
    with pytest.warns(ClippedRewardsWarning, match="clipped"):
        simulate(many, CLUSTER, planner(reward_normalizer=1.0, clip=True), periods=60)


def test_the_automatic_normalizer_clips_nothing():
    automatic = planner()
    simulate(trace(80), CLUSTER, automatic, periods=60)
    assert automatic.prices.clipped == 0


def test_exact_prices_are_the_minimiser_of_the_same_dual():
    policy = planner("bid-price-exact")
    checked = []

    def check(event):
        sample = policy.last.sample
        if sample.columns.size:
            least = exact_prices(sample).value
            batch, memory = policy.prices.true_prices()
            assert value(sample, batch, memory) == pytest.approx(least, rel=1e-6, abs=1e-9)
            checked.append(least)

    simulate(trace(), CLUSTER, policy, periods=60, on_decision=check)
    assert len(checked) > 10
    assert policy.unsolved == 0


def value(sample, batch, memory):
    """f by its definition, column by column."""
    columns = sample.columns
    paid = (batch * sample.slots + memory * sample.kv_tokens).sum() * sample.slot_factor
    margins = []
    for r, g, first, active, tokens in zip(*columns, strict=True):
        at = range(first, min(first + active, sample.width))
        cost = sum(batch[g, i] + memory[g, i] * (tokens + i - first) for i in at)
        margins.append(max(0.0, r - cost))
    return paid + np.mean(margins)


def test_exact_prices_are_renewed_every_so_many_updates(monkeypatch):
    solved = []

    def counting(problem, **options):
        solved.append(problem)
        return exact_prices(problem, **options)

    monkeypatch.setattr("olprouting.policies.bid_price.exact_prices", counting)
    policy = planner("bid-price-exact", exact_every=7)
    simulate(trace(), CLUSTER, policy, periods=60)
    assert len(solved) == -(-len(policy.update_s) // 7) > 1


def test_an_interrupted_solve_for_prices_ends_the_run(monkeypatch):
    """Regression: prices that were not found because of Ctrl-C were taken for a time limit."""

    def interrupted(problem, **options):
        return replace(exact_prices(problem), reason="not converged: interrupted (x)")

    monkeypatch.setattr("olprouting.policies.bid_price.exact_prices", interrupted)
    assert simulate(trace(), CLUSTER, planner("bid-price-exact"), periods=60).interrupted


@pytest.mark.parametrize(
    "learning",
    [
        {"n_remain": "slots"},
        {"n_remain": "arrivals"},
        {"n_remain": "arrivals", "arrivals_per_period": 2.0},
        {"n_remain": "known", "known_starts": 24},
        {"positions": "relative"},
    ],
)
def test_all_ways_to_count_what_remains_run(learning):
    run = simulate(trace(), CLUSTER, planner(**learning), periods=60)
    assert run.metrics.kv.preemptions == 0


def test_known_starts_still_to_come_fall_with_every_start():
    policy = planner(n_remain="known", known_starts=30)
    seen = []
    simulate(
        trace(),
        CLUSTER,
        policy,
        periods=60,
        on_decision=lambda e: seen.append((policy.last.sample.slot_factor, len(e.position))),
    )
    admitted = np.concatenate([[0], np.cumsum([number for _, number in seen])[:-1]])
    np.testing.assert_allclose([factor for factor, _ in seen], 1 / (30 - admitted))


def test_a_rate_that_jumps_drops_old_history():
    release = np.concatenate([np.arange(1, 101, 10), np.repeat(np.arange(101, 121), 4)])
    jump = Trace(np.full(len(release), 3), np.full(len(release), 2), release_iteration=release)
    guarded = planner(guard_window=20, period={"periods": 200})
    simulate(jump, CLUSTER, guarded, periods=200)
    assert len(guarded.shifts) == 1
    assert 101 <= guarded.shifts[0].period <= 122
    assert guarded.prices.history.start_period.min() >= guarded.shifts[0].since


def test_the_independent_clock_has_periods_of_a_given_length():
    timed = trace().replace(release_iteration=None, arrival_s=np.arange(24) * 0.8)
    policy = planner(period={"period_s": 1.0})
    periods = []
    run = simulate(
        timed,
        CLUSTER,
        policy,
        clock="independent",
        on_decision=lambda e: periods.append(
            (policy.last.problem.period, e.view.workers.clock_s, policy.last.problem)
        ),
    )
    assert run.metrics.kv.preemptions == 0
    assert all(number == int(clock_s) + 1 for number, clock_s, _ in periods)
    assert len(policy.update_s) == len({number for number, _, _ in periods})
    assert (run.admission_iteration > 0).sum() >= 12


def test_a_worker_in_the_middle_of_a_step_is_offered_nothing():
    """Steps take 1 s and requests come every 0.3 s: most decisions find busy workers."""
    timed = Trace([1] * 12, [5] * 12, arrival_s=np.arange(12) * 0.3)
    busy = []

    def check(event):
        busy.append((event.view.free_slots == 0).any())
        assert (event.view.free_slots[event.worker] > 0).all()

    run = simulate(
        timed,
        CLUSTER,
        planner(period={"period_s": 1.0}),
        clock="independent",
        on_decision=check,
    )
    assert any(busy)
    assert run.metrics.finished >= 6


@pytest.mark.parametrize("kv", [{"mode": "blocks"}, {"mode": "reserve"}])
def test_blocks_and_reservations_are_not_overfilled(kv):
    from olprouting.engine import KvOptions

    run = simulate(trace(), CLUSTER, planner(), periods=60, kv=KvOptions(**kv))
    assert run.metrics.kv.preemptions == 0
    assert (run.admission_iteration > 0).sum() >= 6


def test_weights_of_0_start_nobody():
    nothing = SloWeights(0, 0, 0, 0, 0, 0)
    run = simulate(trace(), CLUSTER, planner(period={"weights": nothing}), periods=60)
    assert (run.admission_iteration == -1).all()


def test_arrivals_per_period_may_be_a_fraction():
    # a rate below one request per period is the published setting; it is no latency threshold
    assert BidPriceOptions(n_remain="arrivals", arrivals_per_period=0.4).arrivals_per_period == 0.4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (lambda: PeriodOptions(periods=0), "periods = 0"),
        (lambda: PeriodOptions(last_period="sliding"), "known: fixed, receding"),
        (lambda: PeriodOptions(period_s=0.0), "period_s"),
        (lambda: PeriodOptions(t2=0), "t2 = 0 must be a finite number of periods >= 1"),
        (lambda: BidPriceOptions(record="column"), "known: period, request"),
        (lambda: BidPriceOptions(n_remain="all"), "arrivals, known, slots"),
        (lambda: BidPriceOptions(n_remain="known"), "known_starts"),
        (lambda: BidPriceOptions(arrivals_per_period=-0.1), "arrivals_per_period = -0.1"),
        (lambda: BidPriceOptions(exact_every=0), "exact_every = 0"),
        (lambda: BidPriceOptions(guard_window=0), "guard_window = 0"),
        (lambda: planner(steps=-1), "steps = -1"),
        (lambda: planner(batch=0), "batch = 0"),
        (lambda: planner(step_size=0.0), "step_size"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        options()


def test_a_view_without_workers_is_refused_in_words():
    from olprouting.policies import View

    none = np.zeros(0, np.int64)
    view = View(np.zeros((1, 1)), none, none, none, none, 0, 1)
    with pytest.raises(InputError, match="needs_residents"):
        planner().route(view, np.random.default_rng(0))
    assert isinstance(planner(), BidPricePolicy)
