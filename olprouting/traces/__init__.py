"""Floor 1, where requests come from: readers, synthetic traces, arrival modes, public catalogue.

Names are loaded when first used, so importing this package is cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from olprouting.traces.arrivals import (
        as_recorded,
        batches,
        poisson,
        poisson_by_period,
        require_arrivals,
        spread_batches,
    )
    from olprouting.traces.catalogue import PUBLIC_TRACES, fetch, resolve, trace_names
    from olprouting.traces.filters import limit_tokens, min_decode_tokens
    from olprouting.traces.profiles import profile_names
    from olprouting.traces.reading import TraceSource, read_trace, read_with_source
    from olprouting.traces.splitting import split_history
    from olprouting.traces.summary import TraceSummary, summarise
    from olprouting.traces.synthetic import from_profile, geometric, ratio
    from olprouting.traces.workload import Workload, load_workload
    from olprouting.traces.writing import write_trace

__all__ = [
    "PUBLIC_TRACES",
    "TraceSource",
    "TraceSummary",
    "Workload",
    "as_recorded",
    "batches",
    "fetch",
    "from_profile",
    "geometric",
    "limit_tokens",
    "load_workload",
    "min_decode_tokens",
    "poisson",
    "poisson_by_period",
    "profile_names",
    "ratio",
    "read_trace",
    "read_with_source",
    "require_arrivals",
    "resolve",
    "split_history",
    "spread_batches",
    "summarise",
    "trace_names",
    "write_trace",
]

_MODULES = {
    "arrivals": (
        "as_recorded",
        "batches",
        "poisson",
        "poisson_by_period",
        "require_arrivals",
        "spread_batches",
    ),
    "catalogue": ("PUBLIC_TRACES", "fetch", "resolve", "trace_names"),
    "filters": ("limit_tokens", "min_decode_tokens"),
    "profiles": ("profile_names",),
    "reading": ("TraceSource", "read_trace", "read_with_source"),
    "splitting": ("split_history",),
    "summary": ("TraceSummary", "summarise"),
    "synthetic": ("from_profile", "geometric", "ratio"),
    "workload": ("Workload", "load_workload"),
    "writing": ("write_trace",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value  # found at once from now on
    return value
