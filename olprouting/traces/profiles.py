"""Quantile profiles: what is kept of a real trace so that a similar one can be drawn."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from olprouting.errors import InputError, shown, unknown_name
from olprouting.instances._checks import finite_vector, positive, whole
from olprouting.instances.documents import load_json, naming, read_text, refuse_wrong_fields
from olprouting.parameters import is_real
from olprouting.traces.data_folder import data_folder

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

_ARRIVALS = {"gap_s", "rate_per_s"}
_FIELDS = {
    "about", "source_sha256", "requests", "spearman", "levels", "prompt_tokens", "decode_tokens",
    "arrivals",
}  # fmt: skip


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

    def __post_init__(self) -> None:
        whole("requests", self.requests, 1)
        levels = finite_vector("levels", self.levels, np.size(self.levels))
        if len(levels) < 2 or levels[0] != 0 or levels[-1] != 1 or (np.diff(levels) <= 0).any():
            raise InputError("levels must increase from 0 to 1")
        object.__setattr__(self, "levels", levels)
        for name in ("prompt_tokens", "decode_tokens", "gap_s"):
            if (given := getattr(self, name)) is not None:
                quantiles = finite_vector(name, given, len(levels))
                if quantiles[0] < 0 or (np.diff(quantiles) < 0).any():
                    raise InputError(f"{name} must be >= 0 and not decrease: they are quantiles")
                object.__setattr__(self, name, quantiles)
        if not is_real(self.spearman) or not -1 <= self.spearman <= 1:
            raise InputError(f"spearman = {shown(self.spearman)} must lie in [-1, 1]")
        if (self.gap_s is None) != (self.rate_per_s is None):
            raise InputError("gap_s and rate_per_s belong together")
        if self.gap_s is not None and self.rate_per_s is not None:
            positive("rate_per_s", self.rate_per_s)
            if not self.gap_s.any():
                raise InputError("gap_s must not all be 0")

    @classmethod
    def from_json(cls, text: str, name: str, source: str = "profile") -> Self:
        """Return the profile that a JSON text holds.

        Parameters
        ----------
        text
            An object of all fields but the name; ``arrivals`` holds ``gap_s`` and ``rate_per_s``,
            or is null.
        name
            What it is called.
        source
            Where the text came from, for messages.

        Raises
        ------
        InputError
            If it is no such object, or a value is out of range.
        """
        document = load_json(text, source)
        with naming(source, "profile"):
            refuse_wrong_fields("profile", document, _FIELDS)
            arrivals = document["arrivals"]
            if arrivals is None:
                arrivals = dict.fromkeys(_ARRIVALS)
            refuse_wrong_fields("arrivals", arrivals, _ARRIVALS)
            return cls(
                name=name,
                **{field: document[field] for field in _FIELDS - {"source_sha256", "arrivals"}},
                **arrivals,
            )


def profile_names() -> list[str]:
    """Return the names of the profiles that come with olprouting."""
    return list(_profile_files())


@functools.cache
def _profile_files() -> dict[str, Path]:
    return {path.stem: path for path in sorted((data_folder() / "profiles").glob("*.json"))}


@functools.lru_cache(maxsize=16)
def load_profile(name: str) -> Profile:
    """Return the profile of that name.

    Raises
    ------
    InputError
        If there is none; the message lists those there are.
    """
    files = _profile_files()
    if name not in files:
        raise unknown_name("profile", name, list(files))
    path = files[name]
    return Profile.from_json(read_text(path), name, str(path))
