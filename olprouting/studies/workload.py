"""The trace of a study, read once per process if it is what the study began with."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from olprouting.errors import InputError
from olprouting.studies.hashing import file_sha256
from olprouting.traces import load_workload, resolve
from olprouting.traces.catalogue import locate

if TYPE_CHECKING:
    from olprouting.instances import SloClasses, Trace
    from olprouting.options import WorkloadOptions
    from olprouting.traces import Workload


@functools.lru_cache(maxsize=8)
def workload_of(
    options: WorkloadOptions,
    seed: int,
    sha256: str | None,
    period_s: float | None,
    classes: SloClasses | None = None,
) -> Workload:
    """Return the requests of one seed, and those before them.

    Parameters
    ----------
    options
        Which requests.
    seed
        Draws requests, rows and arrivals.
    sha256
        What their file must have; None where there is none.
    period_s
        Length of a period in seconds, for arrivals by period with the independent clock.
    classes
        What requests are of, if not of what their file says.

    Raises
    ------
    InputError
        If the file cannot be read or has changed, or arrival times are missing.
    """

    def read(source: str, columns: str | None) -> Trace:
        return _whole_file(source, columns, sha256)

    return load_workload(options, seed, period_s, read, classes)


@functools.lru_cache(maxsize=2)
def _whole_file(source: str, columns: str | None, sha256: str | None) -> Trace:
    if sha256 is not None and file_sha256(locate(source)) != sha256:
        raise InputError(f"{locate(source)} is not the trace this study began with")
    return resolve(source, columns=columns)
