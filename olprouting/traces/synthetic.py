"""Synthetic traces: the paper's geometric lengths, prompt:decode mixes, draws from profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError, shown
from olprouting.instances._checks import require_memory
from olprouting.instances.trace import Trace
from olprouting.traces.profiles import Profile, load_profile

if TYPE_CHECKING:
    import numpy.typing as npt


def geometric(
    requests: int,
    p: float,
    prompt_law: int | npt.ArrayLike,
    rng: np.random.Generator,
) -> Trace:
    """Draw the model of the balance paper's theory: bounded prompts, geometric decodes.

    Parameters
    ----------
    requests
        How many, >= 1.
    p
        Parameter of the decode law Geometric(p) on {1, 2, ...}, in (0, 1]; its mean is 1/p.
    prompt_law
        Law of the prompt length: a whole number s for uniform on {1..s}, or the probabilities of
        1, 2, ..., s, which sum to 1.
    rng
        Source of the draws.

    Returns
    -------
    Trace
        Requests without arrivals; choose those with `poisson` or `batches`.

    References
    ----------
    arXiv 2601.17855, section 4: S ~ F on {1..s}, O ~ Geometric(p), independent.
    """
    _check_requests(requests)
    if not 0 < p <= 1:
        raise InputError(f"p = {p} must be in (0, 1]")
    probabilities = _prompt_probabilities(prompt_law)
    prompt = rng.choice(len(probabilities), size=requests, p=probabilities) + 1
    return Trace(prompt, rng.geometric(p, size=requests), name=f"geometric(p={p:g})")


def ratio(
    requests: int,
    prompt_parts: float,
    decode_parts: float,
    mean_total_tokens: float,
    rng: np.random.Generator,
) -> Trace:
    """Draw a prompt:decode mix, such as 1:4 or 4:1, with geometric lengths.

    Parameters
    ----------
    requests
        How many, >= 1.
    prompt_parts, decode_parts
        The mix: mean prompt length : mean decode length.
    mean_total_tokens
        Mean of prompt + decode; each part of it must be at least 1 token.
    rng
        Source of the draws. Both lengths are geometric on {1, 2, ...} and independent.

    Returns
    -------
    Trace
        Requests without arrivals.
    """
    _check_requests(requests)
    if not (prompt_parts > 0 and decode_parts > 0):
        raise InputError(f"both parts of the ratio {prompt_parts}:{decode_parts} must be > 0")
    means = np.array([prompt_parts, decode_parts]) * (
        mean_total_tokens / (prompt_parts + decode_parts)
    )
    if not (np.isfinite(means).all() and means.min() >= 1):
        raise InputError(
            f"mean_total_tokens = {mean_total_tokens} gives means of {means[0]:g} and "
            f"{means[1]:g} tokens; both must be >= 1"
        )
    prompt, decode = (rng.geometric(1 / mean, size=requests) for mean in means)
    return Trace(prompt, decode, name=f"ratio({prompt_parts:g}:{decode_parts:g})")


def from_profile(name: str, requests: int, rng: np.random.Generator) -> Trace:
    """Draw requests like those of a real trace, from its quantile profile.

    Lengths follow the profile's quantiles, interpolated linearly, and are coupled by a Gaussian
    copula with the source's rank correlation. Gaps between arrivals are drawn independently from
    their quantiles and scaled to the mean rate, so slow swings of the rate are not reproduced.

    Parameters
    ----------
    name
        One of `profile_names()`.
    requests
        How many, >= 1.
    rng
        Source of the draws.

    Returns
    -------
    Trace
        Requests, with arrivals (the first at 0) if the source has any.
    """
    _check_requests(requests)
    profile = load_profile(name)
    prompt_rank, decode_rank = _coupled_ranks(profile.spearman, requests, rng)
    return Trace(
        prompt_tokens=_lengths(prompt_rank, profile.levels, profile.prompt_tokens),
        decode_tokens=_lengths(decode_rank, profile.levels, profile.decode_tokens),
        arrival_s=_arrivals(profile, requests, rng),
        name=name,
        notices=(f"synthetic: {requests} requests drawn from the profile {name}",),
    )


def _check_requests(requests: int) -> None:
    if requests < 1:
        raise InputError(f"requests = {requests} must be >= 1")
    require_memory(f"requests = {shown(requests)}", 80 * requests)  # ten columns while drawing


def _prompt_probabilities(prompt_law: int | npt.ArrayLike) -> npt.NDArray[np.float64]:
    if isinstance(prompt_law, int | np.integer):
        if prompt_law < 1:
            raise InputError(f"prompt_law = {prompt_law} must be a largest length >= 1")
        require_memory(f"prompt_law = {shown(prompt_law)}", 16 * int(prompt_law))
        return np.full(int(prompt_law), 1 / int(prompt_law))
    probabilities = np.asarray(prompt_law, dtype=np.float64)
    if (
        probabilities.ndim != 1
        or not (probabilities >= 0).all()
        or abs(probabilities.sum() - 1) > 1e-9
    ):
        raise InputError("prompt_law must be probabilities >= 0 of 1, 2, ... that sum to 1")
    return probabilities


def _coupled_ranks(
    spearman: float, requests: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Draw pairs of uniform ranks, shape (2, requests), with the given Spearman correlation."""
    from scipy.special import ndtr

    # For a Gaussian copula, Pearson r of the normals = 2 sin(pi rho_S / 6).
    r = 2 * np.sin(np.pi * spearman / 6)
    first, second = rng.standard_normal((2, requests))
    return np.asarray(ndtr([first, r * first + np.sqrt(1 - r * r) * second]))


def _lengths(
    ranks: npt.NDArray[np.float64],
    levels: npt.NDArray[np.float64],
    quantiles: npt.NDArray[np.float64],
) -> npt.NDArray[np.int64]:
    return np.maximum(1, np.rint(np.interp(ranks, levels, quantiles))).astype(np.int64)


def _arrivals(
    profile: Profile, requests: int, rng: np.random.Generator
) -> npt.NDArray[np.float64] | None:
    if profile.gap_s is None or profile.rate_per_s is None:
        return None
    gaps_s = np.interp(rng.random(requests), profile.levels, profile.gap_s)
    gaps_s[0] = 0
    # Interpolating between the last quantiles overstates a heavy tail; scaling restores the rate.
    mean_gap_s = np.trapezoid(profile.gap_s, profile.levels)
    return np.asarray(np.cumsum(gaps_s) / (mean_gap_s * profile.rate_per_s))
