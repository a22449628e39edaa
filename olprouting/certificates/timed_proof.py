"""A proof of a decision's optimum within a time limit, which Ctrl-C may end too."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from olprouting.certificates.prove_decision import NO_PROOF, proofs

if TYPE_CHECKING:
    from olprouting.certificates.decision_value import Pairs
    from olprouting.certificates.prove_decision import Proof
    from olprouting.instances import Decision

_POLL_S = 0.05


class TimedProof:
    """The search for a proof, in a thread that is left to itself when its time is over.

    A long linear program sees neither clock nor signals of Python; the thread that waits does.

    Parameters
    ----------
    decision
        The decision.
    pairs
        Its best known assignment, or None.

    Attributes
    ----------
    strongest
        The strongest proof so far, as of `prove_decision`.
    """

    def __init__(self, decision: Decision, pairs: Pairs | None) -> None:
        self.strongest: Proof = NO_PROOF
        self._decision = decision
        self._pairs = pairs
        self._error: Exception | None = None

    def search(self, time_limit_s: float | None) -> None:
        """Search until a proof reaches the value, nothing is left to try, or time is over."""
        end_s = None if time_limit_s is None else time.monotonic() + time_limit_s
        thread = threading.Thread(target=self._search, daemon=True)
        thread.start()
        while thread.is_alive() and (end_s is None or time.monotonic() < end_s):
            thread.join(_POLL_S)
        if self._error is not None:
            raise self._error

    def _search(self) -> None:
        try:
            for proof in proofs(self._decision, self._pairs):
                self.strongest = proof
        except Exception as error:  # handed to the caller's thread
            self._error = error
