"""Compiled features of a request: its prompt, and what has completed just before its admission.

One implementation serves training, offline answers and the running engine.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from olprouting.compiling import Floats, Ints, compiled, kernel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Singles = npt.NDArray[np.float32]

FEATURES: Final = (
    "prompt_tokens",
    "age_tokens",
    "ewma_decode_tokens",
    "mean_prompt_tokens",
    "std_prompt_tokens",
    "mean_decode_tokens",
    "std_decode_tokens",
)
"""Columns of a feature row; all but the age are frozen when a request is admitted."""

PROMPT: Final = 0
AGE: Final = 1


class Recent(NamedTuple):
    """The last W completed requests, as a ring, and a moving average over all of them.

    Attributes
    ----------
    prompt_tokens, decode_tokens
        Shape (W,); completion number n stands at place n modulo W.
    ewma_decode_tokens
        Exponentially weighted moving average of decode lengths, shape (1,); the first completion
        starts it.
    completions
        How many completed so far, shape (1,).
    ewma_weight
        Weight of the newest length, in (0, 1].
    """

    prompt_tokens: Ints
    decode_tokens: Ints
    ewma_decode_tokens: Floats
    completions: Ints
    ewma_weight: float


@compiled
def note_completion(recent: Recent, prompt: int, decode: int) -> None:
    """Record a completed request."""
    place = recent.completions[0] % len(recent.prompt_tokens)
    recent.prompt_tokens[place] = prompt
    recent.decode_tokens[place] = decode
    weight = recent.ewma_weight if recent.completions[0] > 0 else 1.0
    recent.ewma_decode_tokens[0] += weight * (decode - recent.ewma_decode_tokens[0])
    recent.completions[0] += 1


@compiled
def features_into(recent: Recent, prompt: int, row: Singles) -> None:
    """Write the features of a request admitted now, at age 0, to `row`, shape (7,).

    Before anything has completed, all that describes completions is 0.
    """
    row[PROMPT] = prompt
    row[AGE] = 0
    row[2] = recent.ewma_decode_tokens[0]
    known = min(recent.completions[0], len(recent.prompt_tokens))
    row[3], row[4] = mean_and_deviation(recent.prompt_tokens, known)
    row[5], row[6] = mean_and_deviation(recent.decode_tokens, known)


@kernel
def mean_and_deviation(tokens: Ints, known: int) -> tuple[float, float]:
    """Return mean and standard deviation of the first `known`; summed anew, so nothing drifts."""
    total = 0.0
    for place in range(known):
        total += tokens[place]
    mean = total / max(known, 1)
    squares = 0.0
    for place in range(known):
        squares += (tokens[place] - mean) ** 2
    return mean, math.sqrt(squares / max(known, 1))


@compiled
def features_along(
    prompt: Ints, decode: Ints, admission: Ints, by_finish: Ints, recent: Recent, rows: Singles
) -> None:
    """Write the features of every request to `rows`, shape (N, 7), and record all completions.

    Parameters
    ----------
    prompt, decode
        Shape (N,).
    admission
        Iterations of admission, nondecreasing, shape (N,). A request is complete at
        ``admission + decode``; whoever is admitted then knows it.
    by_finish
        Requests in the order of completion, shape (N,).
    recent
        What had completed before; afterwards it holds all.
    rows
        What to fill.
    """
    done = 0
    for request in range(len(prompt)):
        while done < len(prompt):
            other = by_finish[done]
            if admission[other] + decode[other] > admission[request]:
                break
            note_completion(recent, prompt[other], decode[other])
            done += 1
        features_into(recent, prompt[request], rows[request])
    for place in range(done, len(prompt)):
        note_completion(recent, prompt[by_finish[place]], decode[by_finish[place]])
