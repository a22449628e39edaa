"""What a first run costs, and a second: processor seconds of whole commands.

    python tests/benchmarks/first_run.py                       all commands of this checkout
    python tests/benchmarks/first_run.py --against ../before   another checkout, run in turn
    python tests/benchmarks/first_run.py --only solve          commands whose name contains this

"cold" is the first run with an empty cache of compiled kernels, "warm" the median of `RUNS` later
ones; both are processor time of the process and its children, imports included, since other work
on the machine would show in seconds of the clock. Works where Python has ``resource``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

ROOT: Final = Path(__file__).resolve().parents[2]
RUNS: Final = 3
LIMIT_S: Final = 900

COMMANDS: Final = {
    "import olprouting": ["-c", "import olprouting"],
    "--help": ["-m", "olprouting", "--help"],
    "solve e2": ["-m", "olprouting", "solve", str(ROOT / "data/examples/e2.json")],
    "simulate jsq": ["-m", "olprouting", "simulate", "--policy", "jsq"],
    "simulate brh": ["-m", "olprouting", "simulate", "--policy", "brh"],
    "doctor": ["-m", "olprouting", "doctor"],
    "gaps": ["-m", "olprouting", "gaps"],
    "prices": ["-m", "olprouting", "prices"],
    "hindsight": ["-m", "olprouting", "hindsight"],
}

JSQ_RUN: Final = """
import json, time
import numpy as np
from olprouting.engine import simulate
from olprouting.instances import Cluster
from olprouting.policies import make_policy
from olprouting.traces import from_profile
trace = from_profile("azure-2023-conv-like", 8000, np.random.default_rng(1))
def run():
    began = time.process_time()
    simulate(trace, Cluster.homogeneous(8, 72), make_policy("jsq", 8), backlog=32)
    return 1e3 * (time.process_time() - began)
run()
print(json.dumps(min(run() for _ in range(20))))
"""


def seconds(checkout: Path, arguments: list[str], cache: str) -> float:
    """Return the processor seconds of one run of this checkout's code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(checkout, arguments, cache)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(checkout: Path, arguments: list[str], cache: str) -> str:
    """Run Python on this checkout; return what it prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout), "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_S,
    )
    return done.stdout


def measure(checkouts: list[Path], only: str) -> Table:
    """Return the table of all commands whose name contains `only`."""
    table = Table("command", *(f"{one.name} {kind}" for one in checkouts for kind in KINDS))
    for name, arguments in COMMANDS.items():
        if only in name:
            figures = []
            for checkout in checkouts:
                with tempfile.TemporaryDirectory() as cache:
                    cold, *warm = (seconds(checkout, arguments, cache) for _ in range(1 + RUNS))
                figures += [f"{cold:.2f}", f"{statistics.median(warm):.2f}"]
            table.add_row(name, *figures)
    if only in "a run of 8,000 requests":
        figures = []
        for checkout in checkouts:
            with tempfile.TemporaryDirectory() as cache:
                figures += ["", f"{json.loads(run(checkout, ['-c', JSQ_RUN], cache)):.2f} ms"]
        table.add_row("a run of 8,000 requests, jsq", *figures)
    return table


KINDS: Final = ("cold", "warm")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, action="append", default=[])
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    table = measure([*(one.resolve() for one in given.against), ROOT], given.only)
    table.caption = "processor seconds"
    Console().print(table)


if __name__ == "__main__":
    main()
