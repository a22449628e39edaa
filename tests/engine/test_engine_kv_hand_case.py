"""Runs under KV limits small enough to write out by hand, every period's KV tokens among them."""

from __future__ import annotations

import numpy as np
import pytest

from olprouting.engine import KvOptions, simulate
from olprouting.errors import InputError
from olprouting.instances import Cluster, StepTime, Trace
from olprouting.policies import FunctionPolicy, PolicyOptions, make_policy

JSQ = make_policy("jsq", 1, PolicyOptions(ties="index"))
SECOND = StepTime(1.0, 0.0)

# One worker of three slots and 16 KV tokens, FCFS. A request of prompt s and age theta holds
# s + theta + 1.           A: s=5, o=6     B: s=4, o=5     C: s=3, o=2
#   period                 A      B      C      KV
#   1                      6      5      4      15
#   2                      7      6      5      18 > 16: C, the newest, goes back: s=4, o=1     13
#   3                      8      7             15    C needs 5, 1 is free
#   4                      9      8             17 > 16: B goes back before C: s=7, o=2          9
#   5                      10                   10    B needs 8, 6 are free; C would fit but waits
#   6                      11                   11    B needs 8, 5 are free; A is done
#   7                             8      5      13    C is done
#   8                             9              9    B is done
KV_TOKENS = [15, 13, 15, 9, 10, 11, 13, 9]


@pytest.fixture(scope="module")
def hand():
    return simulate(
        Trace([5, 4, 3], [6, 5, 2], release_iteration=[1, 1, 1]),
        Cluster([3], kv_tokens=[16], step_time=SECOND),
        JSQ,
        series_every=1,
    )


def test_every_period_holds_the_tokens_written_out(hand) -> None:
    """Load plus one token per active request, after preemption."""
    frame = hand.series_frame()
    assert (frame["load_tokens_0"] + frame["active_requests"]).tolist() == KV_TOKENS
    assert frame["active_requests"].tolist() == [3, 2, 2, 1, 1, 1, 2, 1]
    assert frame["waiting_requests"].tolist() == [0, 1, 1, 2, 2, 2, 0, 0]


def test_preempted_requests_keep_their_first_token_and_are_counted(hand) -> None:
    """Catches a TTFT that starts anew, tokens generated twice, and preemption that hides."""
    assert hand.first_token_iteration.tolist() == [1, 1, 1]
    assert hand.finish_iteration.tolist() == [6, 8, 7]
    assert hand.admission_iteration.tolist() == [1, 7, 7]
    assert hand.preemptions.tolist() == [0, 1, 1]
    kv = hand.metrics.kv
    assert (kv.preemptions, kv.preempted_requests) == (2, 2)
    assert kv.recomputed_tokens == (3 + 1) + (4 + 3)
    assert kv.preempting_step_share == 2 / 8
    assert kv.peak_tokens == (15,)
    assert kv.peak_share == 15 / 16
    assert hand.metrics.decode_tokens == 13


def test_latencies_in_periods(hand) -> None:
    """All start in their period of arrival: TTFT 0; A runs in periods 1..6 and completes at 7."""
    periods = hand.metrics.periods
    assert (periods.ttft.mean, periods.ttft.p99) == (0, 0)
    assert periods.end_to_end.mean == pytest.approx((6 + 8 + 7) / 3)
    assert periods.end_to_end.p50 == 7
    assert periods.tokens_per_period == 13 / 8
    assert periods.requests_per_period == 3 / 8


@pytest.mark.parametrize(("tokens", "mode"), [(20, "tokens"), (32, "blocks"), (26, "reserve")])
def test_what_one_request_is_charged(tokens, mode) -> None:
    """Prompt 16, four tokens: 17, 18, 19, 20 tokens; 17 are two blocks of 16; 16 + 10 reserved."""
    output = 10 if mode == "reserve" else None
    result = simulate(
        Trace([16], [4], release_iteration=[1]),
        Cluster([1], kv_tokens=[40], step_time=SECOND),
        JSQ,
        kv=KvOptions(mode, max_output_tokens=output),
    )
    assert result.metrics.kv.peak_tokens == (tokens,)


def test_a_reservation_holds_from_admission() -> None:
    """Two requests of prompt 5 that reserve 10 do not fit into 29 tokens together, but into 30."""

    def admissions(limit):
        return simulate(
            Trace([5, 5], [2, 2], release_iteration=[1, 1]),
            Cluster([2], kv_tokens=[limit], step_time=SECOND),
            JSQ,
            kv=KvOptions("reserve", max_output_tokens=10),
        ).admission_iteration.tolist()

    assert admissions(30) == [1, 1]
    assert admissions(29) == [1, 3]


def test_mixed_spends_an_iteration_on_prefill() -> None:
    """s=3, o=2: 3, 4 and 5 tokens in iterations 1 to 3; the first token comes in iteration 2."""
    result = simulate(
        Trace([3], [2], release_iteration=[1]),
        Cluster([1], kv_tokens=[5], step_time=SECOND),
        JSQ,
        batching="mixed",
        series_every=1,
    )
    assert result.series_load_tokens[:, 0].tolist() == [3, 4, 5]
    assert result.first_token_iteration.tolist() == [2]
    assert result.finish_s.tolist() == [3.0]
    assert result.metrics.periods.ttft.mean == 1
    assert result.metrics.periods.end_to_end.mean == 3
    assert result.metrics.decode_tokens == 2


def test_mixed_loses_nothing_when_preempted() -> None:
    """s=2, o=3 twice into 7 tokens.

    Iterations: 1: 2+2; 2: 3+3; 3: 4+4 = 8 > 7, the second goes back with one token: s=3, o=2, and
    asks for the 4 it was denied. 4: 5 alone. 5: 3 (prefill), 6: 4, 7: 5.
    """
    result = simulate(
        Trace([2, 2], [3, 3], release_iteration=[1, 1]),
        Cluster([2], kv_tokens=[7], step_time=SECOND),
        JSQ,
        batching="mixed",
        series_every=1,
    )
    assert result.series_load_tokens[:, 0].tolist() == [4, 6, 4, 5, 3, 4, 5]
    assert result.finish_iteration.tolist() == [4, 7]
    assert result.metrics.decode_tokens == 6
    assert result.metrics.kv.recomputed_tokens == 3


def test_a_request_too_large_for_every_worker() -> None:
    """Prompt 10 and 5 tokens reach 15: refused, or turned away and counted."""
    trace = Trace([2, 10, 2], [1, 5, 1], release_iteration=[1, 2, 3])
    cluster = Cluster([1, 1], kv_tokens=[14, 9], step_time=SECOND)
    with pytest.raises(InputError, match=r"request 1 needs up to 15 KV tokens, .* has 14"):
        simulate(trace, cluster, JSQ)
    result = simulate(trace, cluster, JSQ, kv=KvOptions(oversize="reject"))
    numbers = result.metrics
    assert (numbers.arrived, numbers.finished, numbers.rejected, numbers.unfinished) == (3, 2, 1, 0)
    assert not numbers.censored
    assert result.rejected.tolist() == [False, True, False]
    assert result.satisfaction_rate(0) == 2 / 3


def test_a_request_goes_to_the_worker_that_can_hold_it() -> None:
    """It outgrows worker 0 alone, is sent back with all it has, and ends on worker 1.

    s=3, o=6: 4, 5, 6 tokens on worker 0 of 6; the 7 it is denied fit on worker 1 only.
    """
    for batching, finish in (("decode", 6), ("mixed", 8)):
        result = simulate(
            Trace([3], [6], release_iteration=[1]),
            Cluster([1, 1], kv_tokens=[6, 9], step_time=SECOND),
            JSQ,
            batching=batching,
        )
        assert result.preemptions.tolist() == [1]
        assert result.worker.tolist() == [1]
        assert result.metrics.kv.recomputed_tokens == 3 + 3
        # the iteration in which it is sent back is idle
        assert result.metrics.idle_iterations == 1
        assert result.finish_iteration.tolist() == [finish + 1]
        assert result.metrics.decode_tokens == 6


def test_wrong_forecasts_overfill_and_are_put_right() -> None:
    """A planner who trusts forecasts of 1 token admits both; the second has to go back.

    Real lengths are 4: 2 * (4 + age) tokens, 8, 10, 12 > 11 in iteration 3.
    """

    class AlwaysOne:
        name = "one"

        def decode_lengths(self, trace, rng):
            return np.ones(len(trace), np.int64)

    def plan(view, rng):
        room = view.workers.residuals(1)
        assert room.clipped == 0
        first, second = view.waiting_kv_tokens, view.workers.waiting_decode_tokens
        fits = np.cumsum(first + second - 1) <= room.kv_tokens[0, 0]
        slots = min(room.slots[0, 0], fits.sum())
        return [(i, 0) for i in range(slots)]

    result = simulate(
        Trace([3, 3], [4, 4], release_iteration=[1, 1]),
        Cluster([2], kv_tokens=[11], step_time=SECOND),
        FunctionPolicy("planner", plan, maximal=False, needs_residents=True),
        forecast=AlwaysOne(),
    )
    assert result.preemptions.tolist() == [0, 1]
    assert result.metrics.finished == 2


def test_a_policy_that_gives_a_request_to_too_small_a_worker_is_told() -> None:
    """Sending it back and forth would never end."""
    with pytest.raises(InputError, match=r"'f', iteration 1: .* does not fit there even alone"):
        simulate(
            Trace([8], [1], release_iteration=[1]),
            Cluster([1, 1], kv_tokens=[8, 9]),
            FunctionPolicy("f", lambda view, rng: [(0, 0)]),
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "pages"}, "unknown KV mode 'pages'; known: blocks, reserve, tokens"),
        ({"oversize": "ignore"}, "unknown KV oversize 'ignore'"),
        ({"block_tokens": 0}, "block_tokens = 0 must be a whole number >= 1"),
        ({"max_output_tokens": 5}, "max_output_tokens belongs to mode 'reserve', not tokens"),
        ({"age_offset": -1}, "age_offset = -1 must be a whole number >= 0"),
    ],
)
def test_kv_options_out_of_range_are_refused(options, message) -> None:
    """Each would otherwise be ignored or miscount."""
    with pytest.raises(InputError, match=message):
        KvOptions(**options)


@pytest.mark.parametrize("name", ["br0", "brh", "exact"])
def test_policies_that_weigh_loads_alone_are_refused(name) -> None:
    """They would be stopped by limits they do not know."""
    cluster = Cluster([1], kv_tokens=[99])
    policy = make_policy(name, 1, PolicyOptions(horizon=2))
    with pytest.raises(InputError, match="weighs loads and cannot respect KV limits"):
        simulate(Trace([1], [1]), cluster, policy, backlog=1)
    ahead = FunctionPolicy("ahead", lambda view, rng: [], horizon=3)
    with pytest.raises(InputError, match="loads are not projected under KV limits"):
        simulate(Trace([1], [1]), cluster, ahead, backlog=1)
