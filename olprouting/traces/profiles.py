"""Quantile profiles: what is kept of a real trace so that a similar one can be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import unknown_name
from olprouting.instances.documents import load_json, read_text
from olprouting.traces.data_folder import data_folder

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Profile:
    """Summary statistics of a trace.

    Parameters
    ----------
    name
        What it is called.
    about
        What it was made from, in one sentence.
    requests
        Requests in the source.
    levels
        Probabilities of the quantiles below, increasing from 0 to 1, shape (L,).
    prompt_tokens, decode_tokens
        Quantiles of the lengths, shape (L,).
    spearman
        Rank correlation of prompt and decode lengths, in [-1, 1].
    gap_s
        Quantiles of the times between arrivals, shape (L,); None if the source has no arrivals.
    rate_per_s
        Mean arrival rate; None if the source has no arrivals.
    """

    name: str
    about: str
    requests: int
    levels: npt.NDArray[np.float64]
    prompt_tokens: npt.NDArray[np.float64]
    decode_tokens: npt.NDArray[np.float64]
    spearman: float
    gap_s: npt.NDArray[np.float64] | None
    rate_per_s: float | None


def profile_names() -> list[str]:
    """Return the names of the profiles that come with olprouting."""
    return sorted(path.stem for path in (data_folder() / "profiles").glob("*.json"))


def load_profile(name: str) -> Profile:
    """Return the profile of that name.

    Raises
    ------
    InputError
        If there is none; the message lists those there are.
    """
    known = profile_names()
    if name not in known:
        raise unknown_name("profile", name, known)
    path = data_folder() / "profiles" / f"{name}.json"
    fields = load_json(read_text(path), str(path))
    arrivals = fields["arrivals"] or {"gap_s": None, "rate_per_s": None}
    gap_s = arrivals["gap_s"]
    return Profile(
        name=name,
        about=fields["about"],
        requests=fields["requests"],
        levels=np.array(fields["levels"]),
        prompt_tokens=np.array(fields["prompt_tokens"], dtype=np.float64),
        decode_tokens=np.array(fields["decode_tokens"], dtype=np.float64),
        spearman=fields["spearman"],
        gap_s=None if gap_s is None else np.array(gap_s),
        rate_per_s=arrivals["rate_per_s"],
    )
