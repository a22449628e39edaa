"""The same seed gives the same bytes in every process, with or without the compile cache."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import olprouting
from olprouting.compiling import source_stamp, sources
from olprouting.engine import simulate
from olprouting.forecasts import NoisyOracle
from olprouting.instances import Cluster, PowerModel, StepTime
from olprouting.policies import PolicyOptions, make_policy
from olprouting.traces import from_profile

PACKAGE = Path(olprouting.__file__).parent
POLICIES = ("random", "power-of-two", "jsq", "br0", "brh")


def digest() -> str:
    """Hash of everything that five seeded runs leave behind."""
    trace = from_profile("azure-2023-conv-like", 300, np.random.default_rng(1))
    digest = hashlib.sha256()
    for name in POLICIES:
        result = simulate(
            trace,
            Cluster.homogeneous(3, 6),
            make_policy(name, 3, PolicyOptions(horizon=10)),
            backlog=16,
            forecast=NoisyOracle(),
            refresh="horizon",
            seed=7,
            series_every=1,
        )
        digest.update(result.to_frame().to_csv().encode())
        digest.update(result.series_frame().to_csv().encode())
        digest.update(json.dumps(result.metrics.to_row()).encode())
    return digest.hexdigest()


def python(code: str, **environment: str) -> str:
    """Run code in a new process; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_same_seed_gives_the_same_bytes_in_other_processes() -> None:
    """Catches unseeded draws, sets in hash order, and reads of memory that nobody wrote.

    Regression: BR-H read past the end of its margins when its window had shrunk.
    """
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
        "from test_engine_determinism import digest; print(digest())"
    )
    assert python(code, PYTHONHASHSEED="1") == digest()  # here the hash seed is random


CALL_ONE_KERNEL = """
import numpy as np
from olprouting.policies.fcfs_kernels import next_free
next_free(np.ones(2, np.int64), np.zeros(1, np.int64))
print(sum(next_free.stats.cache_hits.values()) == 1)
"""


def test_the_compile_cache_can_be_switched_off(tmp_path) -> None:
    """Catches files written where the user asked for none."""
    code = CALL_ONE_KERNEL
    assert python(code, NUMBA_CACHE_DIR=str(tmp_path), OLPROUTING_COMPILE_CACHE="0") == "False"
    assert not list(tmp_path.rglob("*.nb*"))
    python(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert list(tmp_path.rglob("*.nbi"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limits of file sizes")
def test_a_full_disk_under_the_cache_costs_no_result(tmp_path) -> None:
    """Catches a run that ends because its machine code cannot be kept."""
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))\n"
    code = full + CALL_ONE_KERNEL
    assert python(code, NUMBA_CACHE_DIR=str(tmp_path)) == "False"
    assert not list(tmp_path.rglob("*.nbc"))


def test_editing_what_kernels_are_made_of_invalidates_the_cache(tmp_path) -> None:
    """Stale machine code of a kernel whose callee was edited gives wrong results in silence.

    A copy of the package is run, run again, and after every edit: in the kernel file, in the
    constants that it freezes, in the types of its arguments. What is run after an edit is cached.
    Also fails if a new Numba no longer has the private attributes that carry the stamp.
    """
    copy = tmp_path / "copy" / "olprouting"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        f"import sys; sys.path.insert(0, {str(copy.parent)!r})\n"
        + CALL_ONE_KERNEL
        + f"import olprouting; assert olprouting.__file__.startswith({str(copy)!r})"
    )
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert python(code, **cache) == "False"
    assert python(code, **cache) == "True"
    for edited in ("fcfs_kernels.py", "parameters.py", "view.py"):
        with (copy / "policies" / edited).open("a") as file:
            file.write("# edited\n")
        assert python(code, **cache) == "False", edited
    assert python(code, **cache) == "True"


@pytest.mark.parametrize("name", ["br0", "brh"])
def test_whole_numbers_for_seconds_watts_and_penalties_compile_nothing_more(name) -> None:
    """Catches half a minute of compilation for each field in which a caller writes 1 for 1.0."""
    trace = from_profile("azure-2023-conv-like", 20, np.random.default_rng(1))

    def run(one, fixed_s, idle_w, beta) -> None:
        steps = StepTime(fixed_s, one, one, one)
        cluster = Cluster([2, 2], step_time=steps, power=PowerModel(idle_w, 2 * idle_w, one))
        policy = make_policy(name, 2, PolicyOptions(horizon=3, beta=beta))
        simulate(trace, cluster, policy, backlog=4)

    from olprouting.engine.iteration_kernels import run_iterations

    run(1.0, 2.0, 50.0, 3.0)
    known = list(run_iterations.signatures)
    run(1, 2, 50, 3)
    assert run_iterations.signatures == known


def test_a_kernel_depends_on_all_that_its_file_imports_and_on_no_more() -> None:
    """Catches stale code after an edit two files away, and recompilation for plain Python."""
    names = {path.name for path in sources(PACKAGE / "engine" / "iteration_kernels.py")}
    files = {"iteration_kernels.py", "score_kernels.py", "parameters.py", "state.py", "view.py"}
    assert files <= names
    assert "simulate.py" not in names


def test_every_kernel_carries_the_stamp() -> None:
    """Catches a kernel that is compiled past the decorator, or Numba renaming its attributes."""
    from olprouting.engine.iteration_kernels import advance, commit, observe, run_iterations
    from olprouting.policies.route_kernels import route_compiled

    for kernel in (advance, observe, commit, run_iterations, route_compiled):
        file, stamp = kernel._cache._cache_file, source_stamp(kernel.py_func)
        assert file._source_stamp == stamp
        assert stamp in file._version  # what is pickled after it may name classes that are no more
