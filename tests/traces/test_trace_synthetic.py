"""Synthetic traces: laws, mixes, profiles, seeds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import spearmanr

from olprouting.errors import InputError
from olprouting.traces import from_profile, geometric, profile_names, ratio
from olprouting.traces.data_folder import data_folder
from olprouting.traces.profiles import Profile, load_profile

MANY = 50_000


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_geometric_lengths_have_the_moments_of_the_paper() -> None:
    """O on {1, 2, ...}: mean 1/p = 20, variance q/p^2 = 380. A law on {0, 1, ...} has mean 19."""
    trace = geometric(MANY, 0.05, 100, rng())
    assert trace.decode_tokens.min() == 1
    assert abs(trace.decode_tokens.mean() - 20) < 4 * np.sqrt(380 / MANY)
    assert (trace.prompt_tokens.min(), trace.prompt_tokens.max()) == (1, 100)
    # Uniform on {1..100}: mean 50.5, variance (100^2 - 1)/12.
    assert abs(trace.prompt_tokens.mean() - 50.5) < 4 * np.sqrt(9999 / 12 / MANY)


def test_a_given_prompt_law_is_followed() -> None:
    """Length 2 has probability 0; length 1 is the first entry, not length 0."""
    prompt = geometric(MANY, 0.5, [0.25, 0, 0.75], rng()).prompt_tokens
    assert set(prompt.tolist()) == {1, 3}
    assert abs((prompt == 3).mean() - 0.75) < 0.01


@pytest.mark.parametrize(
    ("parts", "means"), [((1, 4), (200, 800)), ((4, 1), (800, 200)), ((1, 1), (500, 500))]
)
def test_a_mix_has_its_ratio_and_its_total(parts, means) -> None:
    trace = ratio(MANY, *parts, 1000, rng())
    # Geometric: standard deviation below the mean, so 2% is over 4 standard errors.
    np.testing.assert_allclose(
        [trace.prompt_tokens.mean(), trace.decode_tokens.mean()], means, rtol=0.02
    )


@pytest.mark.parametrize(
    "draw",
    [
        lambda: geometric(0, 0.5, 5, rng()),
        lambda: geometric(1, 0, 5, rng()),
        lambda: geometric(1, 0.5, 0, rng()),
        lambda: geometric(1, 0.5, [0.5, 0.4], rng()),
        lambda: geometric(1, 0.5, [1.5, -0.5], rng()),
        lambda: ratio(1, 1, 4, 4, rng()),
        lambda: ratio(1, 0, 4, 100, rng()),
        lambda: ratio(1, 1, 4, float("inf"), rng()),
        lambda: from_profile("azure", 5, rng()),
        lambda: from_profile("burstgpt-like", 0, rng()),
    ],
)
def test_senseless_laws_are_refused(draw) -> None:
    with pytest.raises(InputError):
        draw()


def test_the_same_seed_gives_the_same_requests() -> None:
    for draw in (
        lambda r: geometric(100, 0.1, 50, r),
        lambda r: ratio(100, 1, 4, 1000, r),
        lambda r: from_profile("azure-2023-conv-like", 100, r),
    ):
        first, again, other = draw(rng(7)), draw(rng(7)), draw(rng(8))
        np.testing.assert_array_equal(first.prompt_tokens, again.prompt_tokens)
        np.testing.assert_array_equal(first.decode_tokens, again.decode_tokens)
        assert not np.array_equal(first.prompt_tokens, other.prompt_tokens)


def test_the_profiles_are_those_the_documentation_names() -> None:
    assert profile_names() == ["azure-2023-conv-like", "burstgpt-like", "mooncake-conv-like"]


@pytest.mark.parametrize("name", ["azure-2023-conv-like", "burstgpt-like", "mooncake-conv-like"])
def test_a_drawn_trace_has_the_quantiles_correlation_and_rate_of_its_profile(name) -> None:
    """Catches swapped columns, a copula with the wrong correlation, and a rate off by the tail."""
    profile = load_profile(name)
    trace = from_profile(name, MANY, rng())
    for column in ("prompt_tokens", "decode_tokens"):
        for level in (0.1, 0.5, 0.9):
            wanted = np.interp(
                [level - 0.01, level + 0.01], profile.levels, getattr(profile, column)
            )
            drawn = np.quantile(getattr(trace, column), level)
            assert np.floor(wanted[0]) <= drawn <= np.ceil(wanted[1])
    drawn_rank = spearmanr(trace.prompt_tokens, trace.decode_tokens)[0]
    assert abs(drawn_rank - profile.spearman) < 0.03
    if profile.rate_per_s is None:
        assert trace.arrival_s is None
    else:
        assert trace.arrival_s[0] == 0
        # Mooncake's gaps are mostly 0: the mean of 400,000 has a standard error of 0.5%. Without
        # scaling, interpolation alone is 3% off.
        last_s = from_profile(name, 400_000, rng()).arrival_s[-1]
        assert 399_999 / last_s == pytest.approx(profile.rate_per_s, rel=0.02)


def test_profiles_are_those_of_the_real_traces(shared_data) -> None:
    """Catches a profile made from another file: the median length must be the source's."""
    from olprouting.traces import read_trace

    for name, file in (
        ("azure-2023-conv-like", "azure_2023_conv.csv"),
        ("mooncake-conv-like", "mooncake_conversation.jsonl"),
        ("burstgpt-like", "burstgpt_sample_8000.json"),
    ):
        profile, trace = load_profile(name), read_trace(shared_data / file)
        assert profile.requests == len(trace)
        middle = profile.levels.tolist().index(0.5)
        assert profile.prompt_tokens[middle] == np.median(trace.prompt_tokens)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": [0.0, 1.0]}, "prompt_tokens must have 2 entries"),
        ({"levels": [0.0, 0.5]}, "levels must increase from 0 to 1"),
        ({"levels": 3}, "levels must increase from 0 to 1"),
        ({"levels": None}, "levels must hold numbers, got None"),
        ({"prompt_tokens": [[1]]}, "prompt_tokens must have"),
        ({"decode_tokens": [-1.0]}, "decode_tokens must have"),
        ({"spearman": 1.5}, r"spearman = 1.5 must lie in \[-1, 1\]"),
        ({"spearman": True}, r"spearman = True must lie in"),
        ({"requests": 0}, "requests = 0 must be an integer >= 1"),
        ({"arrivals": {"gap_s": None, "rate_per_s": 1.0}}, "gap_s and rate_per_s belong together"),
        ({"arrivals": {"gap_s": None}}, "arrivals lacks rate_per_s"),
        ({"arrivals": []}, "arrivals must be an object"),
        ({"surplus": 1}, r"profile has unknown field\(s\) surplus"),
    ],
)
def test_a_profile_that_is_none_is_refused_with_its_file(change, message) -> None:
    """Catches a damaged installation that draws other requests than the profile's."""
    path = data_folder() / "profiles" / "azure-2023-conv-like.json"
    document = json.loads(path.read_text())
    assert Profile.from_json(json.dumps(document), "azure").requests == document["requests"]
    with pytest.raises(InputError, match=f"^q.json: {message}"):
        Profile.from_json(json.dumps(document | change), "azure", "q.json")


@pytest.mark.parametrize("requests", [10**12, 10**400])
def test_more_requests_than_memory_holds_are_refused_at_once(requests) -> None:
    """Catches an allocation that ends the process, or takes all of the machine."""
    for draw in (
        lambda: from_profile("burstgpt-like", requests, rng()),
        lambda: geometric(requests, 0.5, 10, rng()),
        lambda: ratio(requests, 1, 4, 500, rng()),
        lambda: geometric(5, 0.5, requests, rng()),
    ):
        with pytest.raises(InputError, match=r"= 1000+(\.\.\.0+)?: would need .* GB of memory"):
            draw()
