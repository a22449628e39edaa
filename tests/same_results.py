"""Whether another checkout gives the same results as this one, times aside.

    python tests/same_results.py ../before

Runs the commands below on the data in the repository, in both checkouts, and prints every figure
that differs; exit code 1 if one does. The schedule that ``hindsight`` shows is improved until a
time limit, so that its value may differ between two runs of one checkout: its bound may not.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parents[1]
LIMIT_S: Final = 1200

COMMANDS: Final = {
    "gaps": ["gaps", "--json"],
    "prices": ["prices", "--json"],
    "hindsight": ["hindsight", "--json"],
    "simulate": ["simulate", "--policy", "brh", "--json"],
    "solve": ["solve", "data/examples/e2.json", "--solver", "highs", "--json"],
}
STUDIES: Final = ("beta_gamma", "slo_weights")

TIME: Final = re.compile(r"(_p\d\d_s|wall_s|proof_s|run_s|build_s|solve_s|dispatch_s)$")
BY_LIMIT: Final = {"hindsight/value", "hindsight/gap"}


def run(checkout: Path, arguments: list[str]) -> str:
    """Return what a command of that checkout prints."""
    done = subprocess.run(
        [sys.executable, "-m", "olprouting", *arguments],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_S,
    )
    return done.stdout


def study(checkout: Path, name: str) -> Any:
    """Return the cells of a study in its small form."""
    with tempfile.TemporaryDirectory() as folder:
        run(checkout, ["study", "run", f"experiments/{name}.toml", "--reduced", "--out", folder])
        cells = pd.concat([pd.read_parquet(one) for one in sorted(Path(folder).rglob("*.parquet"))])
    columns = [one for one in cells.columns if not TIME.search(one)]
    return json.loads(cells[sorted(columns)].sort_values(sorted(columns)).to_json(orient="records"))


def differences(ours: Any, theirs: Any, place: str) -> Iterator[str]:
    """Yield the places at which two documents differ, but for times."""
    if TIME.search(place) or place in BY_LIMIT:
        return
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            yield from differences(ours.get(key), theirs.get(key), f"{place}/{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(one, other, f"{place}/{index}")
    elif ours != theirs:
        yield f"{place}: {ours!r}, there {theirs!r}"


def main() -> None:
    """Compare all commands and studies."""
    other = Path(sys.argv[1]).resolve()
    found = 0
    for name, arguments in COMMANDS.items():
        found += report(name, *(json.loads(run(one, arguments)) for one in (ROOT, other)))
    for name in STUDIES:
        found += report(f"study {name}", study(ROOT, name), study(other, name))
    sys.exit(1 if found else 0)


def report(name: str, ours: Any, theirs: Any) -> int:
    """Print what differs; return how much."""
    found = list(differences(ours, theirs, name))
    print(f"{name}: {len(found) or 'nothing'} differs", *found, sep="\n  ")
    return len(found)


if __name__ == "__main__":
    main()
