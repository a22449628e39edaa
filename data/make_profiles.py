"""Make the quantile profiles in data/profiles from public traces.

Only summary statistics are kept, never rows. Run from the repository:

    python data/make_profiles.py --azure-2023-conv FILE --mooncake-conv FILE --burstgpt FILE
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from olprouting.traces.reading import read_with_source

PROFILES = Path(__file__).parent / "profiles"

# Percentiles, and a finer tail: the largest requests are what balance is about.
LEVELS = [*np.round(np.arange(0, 1, 0.01), 2).tolist(), 0.995, 0.998, 0.999, 0.9999, 1.0]


def main() -> None:
    """Write one profile per trace given."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for source in ("azure-2023-conv", "mooncake-conv", "burstgpt"):
        arguments.add_argument(f"--{source}", type=Path, required=True, metavar="FILE")
    for source, path in vars(arguments.parse_args()).items():
        name = f"{source.replace('_', '-')}-like"
        (PROFILES / f"{name}.json").write_text(
            json.dumps(profile(path), indent=1) + "\n", encoding="utf-8"
        )


def profile(path: Path) -> dict[str, Any]:
    """Return the summary statistics of one trace."""
    trace, source = read_with_source(path)
    return {
        "about": f"quantiles of {len(trace)} requests, read as {source.format}",
        "source_sha256": source.sha256,
        "requests": len(trace),
        "spearman": round(float(spearmanr(trace.prompt_tokens, trace.decode_tokens)[0]), 4),
        "levels": LEVELS,
        "prompt_tokens": quantiles(trace.prompt_tokens, 1),
        "decode_tokens": quantiles(trace.decode_tokens, 1),
        "arrivals": None if trace.arrival_s is None else arrivals(trace.arrival_s),
    }


def arrivals(arrival_s: Any) -> dict[str, Any]:
    """Return mean rate and quantiles of the gaps between arrivals."""
    rate = (len(arrival_s) - 1) / float(arrival_s[-1] - arrival_s[0])
    return {"rate_per_s": round(rate, 5), "gap_s": quantiles(np.diff(arrival_s), 6)}


def quantiles(values: Any, digits: int) -> list[float]:
    """Return the quantiles at LEVELS, rounded."""
    return [round(float(q), digits) for q in np.quantile(values, LEVELS)]


if __name__ == "__main__":
    main()
