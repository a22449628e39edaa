"""What is said of a routing policy that fails in the middle of a run."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from olprouting.errors import InputError, PolicyError, said

if TYPE_CHECKING:
    from olprouting.policies import Policy


def policy_failure(
    policy: Policy, error: BaseException, decision: int, iteration: int
) -> PolicyError:
    """Return the error for a policy that raised.

    Parameters
    ----------
    policy
        The policy.
    error
        What it raised.
    decision, iteration
        When: the number of its decision, and of the run's iteration, both from 1.
    """
    when = f"decision {decision} (iteration {iteration})"
    if isinstance(error, InputError):  # ours: it says all that there is to say
        return PolicyError(f"policy {policy.name!r} failed at {when}: {error}")
    place = traceback.extract_tb(error.__traceback__)[-1]
    return PolicyError(
        f"policy {policy.name!r} raised at {when}: {said(error)} "
        f"({Path(place.filename).name}, line {place.lineno})"
    )
