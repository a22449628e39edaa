"""The history from which prices are learned: columns that were once the best to start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from olprouting.errors import InputError
from olprouting.instances.request_curves import (
    Batching,
    default_age_offset,
    first_token_delay,
    parse_batching,
)
from olprouting.prices.columns import Columns, Positions, parse_positions

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]


class History:
    """Columns in order of their periods, in arrays that compiled code takes as they are.

    Which columns to record is `olprouting.prices.pairs_to_record`: the best pair once per period
    (paper), or the best worker once per request (authors' code).

    Parameters
    ----------
    batching, age_offset, positions
        As for `olprouting.prices.make_columns`.
    limit
        Most columns to keep, >= 1; the oldest go first. None keeps all.

    Raises
    ------
    InputError
        If an option is out of range.
    """

    def __init__(
        self,
        *,
        batching: Batching | str = Batching.DECODE,
        age_offset: int | None = None,
        positions: Positions | str = Positions.ABSOLUTE,
        limit: int | None = None,
    ) -> None:
        if limit is not None and limit < 1:
            raise InputError(f"limit = {limit} must be >= 1")
        if age_offset is not None and age_offset < 0:
            raise InputError(f"age_offset = {age_offset} must be >= 0")
        self.batching = parse_batching(batching)
        self.positions = parse_positions(positions)
        self.limit = limit
        self._delay = first_token_delay(batching)
        self._offset = default_age_offset(batching) if age_offset is None else age_offset
        self._begin = self._end = 0
        self._reward = np.empty(_ROOM)
        self._integers = [np.empty(_ROOM, np.int64) for _ in range(5)]

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def columns(self) -> Columns:
        """The columns, oldest first: views that the next `record` may leave behind."""
        rows = slice(self._begin, self._end)
        worker, first, active, tokens, _ = self._integers
        return Columns(self._reward[rows], worker[rows], first[rows], active[rows], tokens[rows])

    @property
    def start_period(self) -> Ints:
        """Period at which each column starts, ascending."""
        return self._integers[4][self._begin : self._end]

    def record(
        self, reward: float, worker: int, start_period: int, prompt_tokens: int, decode_tokens: int
    ) -> None:
        """Append a column.

        Parameters
        ----------
        reward
            r, finite; as it is, before any scaling.
        worker
            g >= 0.
        start_period
            k >= 1, not before the last column's.
        prompt_tokens, decode_tokens
            s >= 0 and the predicted o >= 1.

        Raises
        ------
        InputError
            If a number is out of range.
        """
        if not -np.inf < reward < np.inf:
            raise InputError(f"reward = {reward} must be finite")
        if worker < 0 or start_period < 1 or prompt_tokens < 0 or decode_tokens < 1:
            raise InputError(
                f"worker = {worker}, start_period = {start_period}, prompt_tokens = "
                f"{prompt_tokens}, decode_tokens = {decode_tokens} must be >= 0, 1, 0 and 1"
            )
        if len(self) and start_period < self._integers[4][self._end - 1]:
            raise InputError(f"start_period = {start_period} is before the last column's")
        if self._end == len(self._reward):
            self._make_room()
        row = self._end
        first = start_period - 1 if self.positions is Positions.ABSOLUTE else 0
        active, tokens = decode_tokens + self._delay, prompt_tokens + self._offset
        self._reward[row] = reward
        values = (worker, first, active, tokens, start_period)
        for array, value in zip(self._integers, values, strict=True):
            array[row] = value
        self._end += 1
        if self.limit is not None and len(self) > self.limit:
            self._begin += 1

    def drop_before(self, period: int) -> int:
        """Forget the columns that start before a period; return how many."""
        gone = int(np.searchsorted(self.start_period, period))
        self._begin += gone
        return gone

    def clear(self) -> None:
        """Forget everything."""
        self._begin = self._end

    def _make_room(self) -> None:
        """Move what is kept to the front of arrays with room for as many columns again."""
        room, count = max(_ROOM, 2 * len(self)), len(self)
        rows = slice(self._begin, self._end)
        reward, integers = np.empty(room), [np.empty(room, np.int64) for _ in self._integers]
        reward[:count] = self._reward[rows]
        for larger, array in zip(integers, self._integers, strict=True):
            larger[:count] = array[rows]
        self._reward, self._integers = reward, integers
        self._begin, self._end = 0, count


_ROOM = 1024
