"""Features of requests: what had completed before their admission, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learned_cases import plain_features, random_trace

from olprouting.forecasts.learned.nominal_clock import features_of, nothing_completed
from olprouting.forecasts.learned.recent_kernels import features_into, note_completion
from olprouting.instances import Trace


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 60),
    st.integers(0, 10**6),
    st.sampled_from([0.3, 1.0, 7.25, 40.0]),
    st.integers(1, 12),
    st.sampled_from([0.05, 0.5, 1.0]),
)
def test_features_are_those_of_their_definition(requests, seed, spacing, window, weight) -> None:
    """Catches wrong order of completions, a ring that forgets too much, a wrong average."""
    trace = random_trace(requests, seed, mean=30)
    rows = features_of(trace, spacing, nothing_completed(window, weight))
    np.testing.assert_allclose(rows, plain_features(trace, spacing, window, weight), rtol=1e-5)


def test_features_do_not_look_ahead() -> None:
    """Catches features that know a request's own length, or anything of later requests."""
    trace = random_trace(300, 1)
    rows = features_of(trace, 0.7, nothing_completed(16, 0.1))
    for i in (0, 1, 100, 299):
        decode = trace.decode_tokens.copy()
        decode[i:] = np.random.default_rng(i).integers(1, 10**6, 300 - i)
        prompt = trace.prompt_tokens.copy()
        prompt[i + 1 :] = 7
        changed = features_of(Trace(prompt, decode), 0.7, nothing_completed(16, 0.1))
        np.testing.assert_array_equal(rows[: i + 1], changed[: i + 1])


def test_a_request_that_completes_at_an_admission_is_known_there_and_not_before() -> None:
    """Hand case: admitted at iterations 0, 5, 10; the first one needs 5 or 6 iterations."""
    for decode, known in ((5, 5.0), (6, 0.0)):
        trace = Trace([100, 200, 300], [decode, 50, 50])
        rows = features_of(trace, 5.0, nothing_completed(4, 0.5))
        assert rows[1].tolist() == [200, 0, known, 100 if known else 0, 0, known, 0]
        assert rows[2][2] == decode


def test_the_state_goes_on_where_a_trace_ended() -> None:
    """The state after a trace is that of noting its completions by hand: same code in the loop."""
    trace = random_trace(40, 3)
    after = nothing_completed(8, 0.2)
    features_of(trace, 1.0, after)
    by_hand = nothing_completed(8, 0.2)
    for request in np.argsort(np.arange(40) + trace.decode_tokens, kind="stable"):
        note_completion(by_hand, trace.prompt_tokens[request], trace.decode_tokens[request])
    for name in ("prompt_tokens", "decode_tokens", "ewma_decode_tokens", "completions"):
        np.testing.assert_array_equal(getattr(after, name), getattr(by_hand, name))
    row = np.empty(7, np.float32)
    features_into(after, 77, row)
    assert row[0] == 77
    assert row[5] == pytest.approx(after.decode_tokens.mean())
