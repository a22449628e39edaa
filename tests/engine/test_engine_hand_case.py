"""A run small enough to write out by hand, and single steps whose numbers can be argued."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.engine import WaitingWindow, simulate
from olprouting.instances import Cluster, PowerModel, StepTime, Trace
from olprouting.policies import PolicyOptions, make_policy

BY_INDEX = PolicyOptions(ties="index")

# Requests:      A  B  C  D  E  F
PROMPTS = [4, 2, 3, 5, 1, 2]
DECODES = [3, 1, 2, 1, 2, 4]

# JSQ, two workers of two slots, all six waiting from the start; a step takes 1 s + 0.1 s a token.
#   iteration   worker 0             worker 1             imbalance     step
#   1           A 4     C 3     = 7  B 2     D 5     = 7  2* 7-14 = 0   1.7 s   ends at 1.7
#   2           A 4+1   C 3+1   = 9  E 1     F 2     = 3  2* 9-12 = 6   1.9 s            3.6
#   3           A 4+2           = 6  E 1+1   F 2+1   = 5  2* 6-11 = 1   1.6 s            5.2
#   4                             0          F 2+2   = 4  2* 4- 4 = 4   1.4 s            6.6
#   5                             0          F 2+3   = 5  2* 5- 5 = 5   1.5 s            8.1
LOADS = [[7, 7], [9, 3], [6, 5], [0, 4], [0, 5]]
IMBALANCE = [0, 6, 1, 4, 5]
STEP_S = [1.7, 1.9, 1.6, 1.4, 1.5]


@pytest.fixture(scope="module")
def hand():
    cluster = Cluster(
        [2, 2], step_time=StepTime(fixed_s=1.0, per_token_s=0.1), power=PowerModel(100, 400, 1.0)
    )
    return simulate(
        Trace(PROMPTS, DECODES),
        cluster,
        make_policy("jsq", 2, BY_INDEX),
        backlog=6,
        series_every=1,
    )


def test_every_iteration_is_as_written_out(hand) -> None:
    """Catches growth, departures or admissions that come an iteration early or late."""
    frame = hand.series_frame()
    assert hand.series_load_tokens.tolist() == LOADS
    assert frame["imbalance_tokens"].tolist() == IMBALANCE
    assert frame["step_s"].tolist() == pytest.approx(STEP_S)
    assert frame["active_requests"].tolist() == [4, 4, 3, 1, 1]
    assert frame["waiting_requests"].tolist() == [2, 0, 0, 0, 0]
    assert frame["admitted_requests"].tolist() == [4, 2, 0, 0, 0]


def test_every_request_is_as_written_out(hand) -> None:
    """Catches a first token at the start of the step, or a finish one step late."""
    assert hand.worker.tolist() == [0, 1, 0, 1, 1, 1]
    assert hand.admission_iteration.tolist() == [1, 1, 1, 1, 2, 2]
    assert hand.first_token_s.tolist() == pytest.approx([1.7, 1.7, 1.7, 1.7, 3.6, 3.6])
    assert hand.finish_s.tolist() == pytest.approx([5.2, 1.7, 3.6, 1.7, 5.2, 8.1])


def test_every_metric_is_as_written_out(hand) -> None:
    """Catches wrong denominators and requests that vanish from a latency."""
    metrics = hand.metrics
    assert metrics.mean_imbalance_tokens == 16 / 5
    assert metrics.mean_imbalance_with_idle_tokens == 16 / 5
    # iteration 1 takes all four slots, iteration 2 admits the last two requests: (0 + 6) / 2
    assert metrics.while_waiting == WaitingWindow(iterations=2, mean_imbalance_tokens=3)
    # A to D are admitted at once, E and F when the first step is over
    assert metrics.waiting_time.mean_s == pytest.approx(2 * 1.7 / 6)
    assert metrics.waiting_time.max_s == pytest.approx(1.7)
    assert metrics.end_to_end.max_s == pytest.approx(8.1)
    idle_shares = [0.1 * i / (2 * s) for i, s in zip(IMBALANCE, STEP_S, strict=True)]
    assert metrics.mean_idle_share == pytest.approx(sum(idle_shares) / 5)
    assert metrics.makespan_s == pytest.approx(8.1)
    assert metrics.decode_tokens == 13
    assert metrics.throughput_tokens_per_s == pytest.approx(13 / 8.1)
    assert metrics.requests_per_s == pytest.approx(6 / 8.1)
    # time per output token: A (5.2-1.7)/2, C (3.6-1.7)/1, E (5.2-3.6)/1, F (8.1-3.6)/3; B and D
    # have a single token and hence none
    assert metrics.single_token_requests == 2
    assert metrics.tpot.mean_s == pytest.approx((1.75 + 1.9 + 1.6 + 1.5) / 4)
    assert metrics.tpot.p50_s == pytest.approx((1.6 + 1.75) / 2)
    assert metrics.tpot.p99_s == pytest.approx(1.75 + 0.97 * (1.9 - 1.75))
    assert metrics.ttft.mean_s == pytest.approx((4 * 1.7 + 2 * 3.6) / 6)
    assert metrics.end_to_end.mean_s == pytest.approx((5.2 + 1.7 + 3.6 + 1.7 + 5.2 + 8.1) / 6)
    # exponent 1: a step draws 2 * 100 W + 300 W * (sum of loads / largest load)
    watts = [200 + 300 * sum(loads) / max(loads) for loads in LOADS]
    assert metrics.energy_j == pytest.approx(sum(w * s for w, s in zip(watts, STEP_S, strict=True)))


def test_no_window_while_requests_wait_where_slots_never_fill() -> None:
    """Six requests in eight slots wait for nobody: a number for that would be made up."""
    run = simulate(
        Trace(PROMPTS, DECODES), Cluster([4, 4]), make_policy("jsq", 2, BY_INDEX), backlog=6
    )
    assert run.metrics.while_waiting is None
    assert "while_waiting_mean_imbalance_tokens" not in run.metrics.to_row()


def test_barrier_waiting_is_the_time_per_token_times_the_imbalance(hand) -> None:
    """Sum over workers of (step - local time) = 0.1 s * I(k), the identity of the model."""
    for loads, step_s, imbalance in zip(
        hand.series_load_tokens, hand.series_frame()["step_s"], IMBALANCE, strict=True
    ):
        waiting_s = sum(step_s - (1.0 + 0.1 * load) for load in loads)
        assert waiting_s == pytest.approx(0.1 * imbalance)


def test_the_energy_of_one_step_with_the_default_power() -> None:
    """Loads 16 and 4: u = 1 and 1/4, 0.25^0.7 = 0.3789, so 400 W and 213.68 W for one second."""
    result = simulate(
        Trace([16, 4], [1, 1]),
        Cluster([1, 1], step_time=StepTime(fixed_s=1.0, per_token_s=0.0)),
        make_policy("round-robin", 2),
        backlog=2,
    )
    assert result.metrics.energy_j == pytest.approx(400 + 213.6787, abs=1e-3)


def test_slots_and_the_shared_part_lengthen_a_step() -> None:
    """10 tokens in one request, 2 in two: 1 + .1*10 + .3 = 2.3 and 1 + .1*2 + .6 = 1.8 local.

    The shared part adds 0.5 s * (12 / 2) mean load = 3 s, in which nobody waits.
    """
    result = simulate(
        Trace([10, 1, 1], [1, 1, 1]),
        Cluster([1, 2], step_time=StepTime(1.0, 0.1, 0.3, 0.5)),
        make_policy("round-robin", 2),
        backlog=3,
    )
    assert result.metrics.makespan_s == pytest.approx(2.3 + 3.0)
    assert result.metrics.mean_idle_share == pytest.approx((2.3 - 1.8) / (2 * 5.3))


def test_the_clock_jumps_over_idle_time() -> None:
    """Arrivals at 2 s and 100 s, steps of 1 s: nothing is simulated in between.

    The second request comes in iteration 2; TTFT counts from release, so that it is one step.
    """
    result = simulate(
        Trace([5, 5], [1, 1], arrival_s=[2.0, 100.0]),
        Cluster([1], step_time=StepTime(1.0, 0.0)),
        make_policy("jsq", 1),
    )
    assert result.release_s.tolist() == [2.0, 100.0]
    assert result.release_iteration.tolist() == [1, 2]
    assert result.finish_s.tolist() == [3.0, 101.0]
    assert result.metrics.makespan_s == 99.0
    assert result.metrics.ttft.mean_s == 1.0
    assert (result.metrics.iterations, result.metrics.idle_iterations) == (2, 0)


def test_a_request_waits_for_the_next_iteration_to_start() -> None:
    """Steps of 1 s from 0: arrivals at 0.2 and at exactly 1.0 both join at 1.0."""
    result = simulate(
        Trace([5, 5, 5], [3, 1, 1], arrival_s=[0.0, 0.2, 1.0]),
        Cluster([3], step_time=StepTime(1.0, 0.0)),
        make_policy("jsq", 1),
    )
    assert result.release_s.tolist() == [0.0, 1.0, 1.0]
    assert result.release_iteration.tolist() == [1, 2, 2]


def test_an_idle_iteration_costs_the_fixed_time() -> None:
    """Releases in iterations 3 and 6, one token each: iterations 1, 2, 4, 5 are idle.

    Each takes the fixed 2 s; a busy step takes 2 + 0.5 * 4 = 4 s. One worker of two is empty:
    imbalance 4 in two busy iterations, hence mean 4, and 8/6 with the four idle ones.
    """
    result = simulate(
        Trace([4, 4], [1, 1], release_iteration=[3, 6]),
        Cluster([1, 1], step_time=StepTime(2.0, 0.5)),
        make_policy("jsq", 2, BY_INDEX),
    )
    assert result.release_s.tolist() == [4.0, 12.0]
    assert result.finish_s.tolist() == [8.0, 16.0]
    metrics = result.metrics
    assert (metrics.iterations, metrics.idle_iterations) == (2, 4)
    assert metrics.mean_imbalance_tokens == 4.0
    assert metrics.mean_imbalance_with_idle_tokens == 8 / 6


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("stop", "finished", "tokens"), [(0, 0, 0), (1, 2, 4), (2, 3, 8), (4, 5, 12), (5, 6, 13)]
)
def test_a_run_that_stops_early_says_so(stop, finished, tokens, plain) -> None:
    """arrived = finished + rejected + unfinished; whoever got the last token has finished.

    Regression: requests that finished in the very last iteration counted as unfinished, and a
    stop at 0 with a series raised an error of NumPy's.
    """
    result = simulate(
        Trace(PROMPTS, DECODES),
        Cluster([2, 2]),
        make_policy("jsq", 2, BY_INDEX),
        backlog=6,
        max_iterations=stop,
        series_every=1,
        on_decision=(lambda made: None) if plain else None,
    )
    metrics = result.metrics
    assert (metrics.arrived, metrics.finished, metrics.rejected) == (6, finished, 0)
    assert metrics.unfinished == 6 - finished
    assert metrics.censored == (finished < 6)
    assert (metrics.iterations, metrics.decode_tokens) == (stop, tokens)
    assert len(result.series_frame()) == stop
    assert np.isnan(result.finish_s).sum() == 6 - finished


def test_nothing_finished_gives_no_latency_rather_than_zero() -> None:
    """A latency of nobody is None; 0 would look like a perfect system."""
    result = simulate(
        Trace([1], [9]), Cluster([1]), make_policy("jsq", 1), backlog=1, max_iterations=3
    )
    assert result.metrics.tpot.p95_s is None
    assert result.metrics.end_to_end.mean_s is None


def test_an_empty_trace_gives_an_empty_run() -> None:
    """Catches minima and means over nothing."""
    empty = np.empty(0, np.int64)
    result = simulate(
        Trace(empty, empty), Cluster([1]), make_policy("brh", 1), backlog=1, series_every=1
    )
    assert result.metrics.arrived == result.metrics.iterations == 0
    assert result.to_frame().empty


def test_a_sparse_series_keeps_every_kth_iteration(hand) -> None:
    """Catches a series that drifts, or that changes what is simulated."""
    sparse = simulate(
        hand.trace,
        hand.cluster,
        make_policy("jsq", 2, BY_INDEX),
        backlog=6,
        series_every=2,
    )
    assert sparse.series_load_tokens.tolist() == LOADS[::2]
    assert sparse.metrics == hand.metrics


def test_a_long_run_keeps_its_whole_series() -> None:
    """Catches rows lost where chunks of the series meet: 10,000 iterations of one request."""
    result = simulate(
        Trace([1], [10_000]), Cluster([1]), make_policy("jsq", 1), backlog=1, series_every=1
    )
    assert result.series_load_tokens[:, 0].tolist() == list(range(1, 10_001))
    assert result.series_frame()["iteration"].tolist() == list(range(1, 10_001))


@pytest.mark.parametrize("plain", [False, True])
def test_the_visible_backlog_is_kept_full(plain) -> None:
    """Ten requests of two tokens, 2 slots, 3 visible: two are released per two iterations."""
    result = simulate(
        Trace([1] * 10, [2] * 10),
        Cluster([2]),
        make_policy("jsq", 1),
        backlog=3,
        on_decision=(lambda made: None) if plain else None,
    )
    assert result.release_iteration.tolist() == [1, 1, 1, 2, 2, 4, 4, 6, 6, 8]
    assert result.admission_iteration.tolist() == [1, 1, 3, 3, 5, 5, 7, 7, 9, 9]
