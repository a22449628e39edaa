"""Classes of requests: an id is an identity only, whatever it is written as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from olprouting.traces._values import LARGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

NUMBERED = "ids of classes are no whole numbers up to 2^53: numbered as they first appear"
ALONE = "without an id: each is a class of its own"


def together(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the ids of several files; numbers of one are texts where another's are."""
    if any(isinstance(each, str) for ids in parts if ids.dtype == object for each in ids):
        parts = [
            np.array([None if each is None else str(each) for each in ids], dtype=object)
            for ids in parts
        ]
    return np.concatenate(parts)


def numbered(ids: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], bool, int]:
    """Return ids as int64, equal where they are equal and nowhere else.

    Parameters
    ----------
    ids
        Whole numbers and texts; None where a request has no id.

    Returns
    -------
    keys
        The numbers themselves if all are whole numbers that Trace takes, else their places in the
        order of first appearance; then, above all of these, one for each request without an id.
    renamed
        Whether they are such places.
    unknown
        Requests without an id.
    """
    import pandas as pd

    if ids.dtype != object:
        return ids, False, 0
    # Text and number are told apart: "1" and 1 are two ids.
    codes, distinct = pd.factorize(ids)
    unknown = codes == -1
    alone = int(unknown.sum())
    fits = all(type(each) is int and abs(each) <= LARGEST - alone for each in distinct)
    values = np.array(distinct, dtype=np.int64) if fits else np.arange(len(distinct))
    keys = np.empty(len(ids), dtype=np.int64)
    keys[~unknown] = values[codes[~unknown]]
    keys[unknown] = values.max(initial=-1) + 1 + np.arange(alone)
    return keys, not fits, alone
