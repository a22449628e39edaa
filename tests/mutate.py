"""A short mutation run: small faults are put into source files, and tests must notice.

Not a test, and not run by CI: ``python tests/mutate.py --help``. Each fault is made in a copy of
the tree, and the tests named in `TESTS` for its file run there, with a time limit. What survives is
printed as a diff. Compiled kernels (``*_kernels.py``) are left out: each fault would take minutes
to compile. Fault, place and order follow from ``--seed``.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent

_CERTIFICATES = "tests/certificates/test_"
_GENERAL = (f"{_CERTIFICATES}tampering.py", f"{_CERTIFICATES}forgeries.py")

TESTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    *(
        (f"olprouting/certificates/{name}", (f"{_CERTIFICATES}{test}.py", *_GENERAL))
        for name, test in (
            ("period_search", "second_opinion"),
            ("hindsight", "certificates_of_hindsight"),
            ("verify_hindsight", "certificates_of_hindsight"),
            ("imbalance", "certificates_of_imbalance"),
            ("verify_imbalance", "certificates_of_imbalance"),
            ("period", "certificates_of_periods"),
            ("verify_period", "certificates_of_periods"),
            ("document", "certificates_of_hindsight"),
            ("many", "certificates_of_gaps"),
            ("decision_search", "certificates_by_search"),
            ("find_search", "certificates_by_search"),
            ("decision_descent", "second_opinion"),
            ("second_opinion", "second_opinion"),
        )
    ),
    ("olprouting/certificates/", (f"{_CERTIFICATES}certificates_of_decisions.py", *_GENERAL)),
    (
        "olprouting/exact/check.py",
        ("tests/exact/test_exact_check.py", "tests/exact/test_exact_check_limits.py"),
    ),
    (
        "olprouting/exact/",
        tuple(
            f"tests/exact/test_exact_{name}.py"
            for name in ("contradictions", "scales", "gap", "warm_start", "options", "cli")
        ),
    ),
    ("olprouting/prices/", ("tests/prices",)),
    ("olprouting/engine/", ("tests/engine",)),
)
"""Which tests run for a fault in a file: those of the first beginning that fits its path."""

LEFT_OUT = {
    ".git",
    ".venv",
    "results",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
}

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    ["numpy", "pandas", "scipy.optimize", "numba", "highspy", "ortools.sat.python.cp_model",
     "pyomo.environ", "cvxpy", "matplotlib.pyplot", "hypothesis", "pytest", "typer"]
)  # fmt: skip

LIMIT_FACTOR, LIMIT_S = 5, 60.0
"""A fault may make its tests take so many times as long, and so many seconds more."""


class _Swap(ast.NodeTransformer):
    """Make every possible fault, or only the one with a number."""

    comparisons = {  # noqa: RUF012 (read only)
        ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
        ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
        ast.In: ast.NotIn, ast.NotIn: ast.In,
    }  # fmt: skip
    sums = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add}  # noqa: RUF012 (read only)

    def __init__(self, number: int | None = None) -> None:
        self.wanted, self.count = number, 0

    def _now(self) -> bool:
        self.count += 1
        return self.count - 1 == self.wanted

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        for place, operator in enumerate(node.ops):
            if type(operator) in self.comparisons and self._now():
                node.ops[place] = self.comparisons[type(operator)]()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) in self.sums and not _is_text(node) and self._now():
            node.op = self.sums[type(node.op)]()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if self._now():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not | ast.USub) and self._now():
            return node.operand
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) is int and self._now():
            return ast.Constant(node.value + 1)
        if type(node.value) is bool and self._now():
            return ast.Constant(not node.value)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return node
        if self._now():
            node.test = ast.Constant(value=False)
            return node
        self.generic_visit(node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Constant):
            return node  # a docstring
        if isinstance(node.value, ast.Call) and self._now():
            return ast.Pass()
        self.generic_visit(node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if self._now():
            return ast.Pass()
        self.generic_visit(node)
        return node

    # what says nothing at run time is left alone
    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(isinstance(s, ast.JoinedStr) or _is_string(s) for s in sides)


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def faults(source: str) -> Iterator[str]:
    """Yield the source with one fault, for every fault."""
    tree = ast.parse(source)
    finder = _Swap()
    finder.visit(copy.deepcopy(tree))
    for number in range(finder.count):
        changed = _Swap(number).visit(copy.deepcopy(tree))
        yield ast.unparse(ast.fix_missing_locations(changed)) + "\n"


def tests_of(path: str) -> tuple[str, ...]:
    """Return the tests that run for a fault in a file."""
    for beginning, tests in TESTS:
        if path.startswith(beginning):
            return tests
    raise SystemExit(f"{path}: TESTS in {__file__} names no tests for it")


def files_of(names: list[str]) -> list[str]:
    """Return the Python files, without kernels, that files and folders name."""
    found: list[Path] = []
    for name in names:
        path = ROOT / name
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    chosen = [p.relative_to(ROOT).as_posix() for p in found if not p.stem.endswith("_kernels")]
    return list(dict.fromkeys(chosen))


def passes(tree: Path, tests: tuple[str, ...], limit_s: float) -> bool | None:
    """Whether tests pass in a copy of the tree, or None after the time limit."""
    # forked from a process that has the large libraries loaded, which would take most of the time
    run = PROCESSES.Process(target=_run, args=(str(tree), tests))
    run.start()
    run.join(limit_s)
    if run.exitcode is not None:
        return run.exitcode == 0
    os.killpg(run.pid or 0, signal.SIGKILL)
    run.join()
    return None


def _run(tree: str, tests: tuple[str, ...]) -> None:
    os.setsid()
    os.chdir(tree)
    os.environ |= {"PYTHONPATH": tree, "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, tree)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    import pytest

    sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests]))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", help="files or folders, from the root of the tree")
    parser.add_argument("--mutants", type=int, default=50, help="faults in all (default 50)")
    parser.add_argument("--seed", type=int, default=0, help="of the choice (default 0)")
    arguments = parser.parse_args()
    every = {path: (ROOT / path).read_text(encoding="utf-8") for path in files_of(arguments.files)}
    pool = [(path, fault) for path, source in every.items() for fault in faults(source)]
    chosen = random.Random(arguments.seed).sample(pool, min(arguments.mutants, len(pool)))
    say(f"{len(pool)} faults possible in {len(every)} files, {len(chosen)} made")
    outcome: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=lambda _, names: LEFT_OUT.intersection(names))
        limits: dict[tuple[str, ...], float] = {}
        for number, (path, fault) in enumerate(sorted(chosen), start=1):
            tests = tests_of(path)
            if tests not in limits:
                began = time.monotonic()
                if not passes(tree, tests, 3600):
                    raise SystemExit(f"without a fault, these do not pass: {' '.join(tests)}")
                limits[tests] = LIMIT_FACTOR * (time.monotonic() - began) + LIMIT_S
            (tree / path).write_text(fault, encoding="utf-8")
            passed = passes(tree, tests, limits[tests])
            (tree / path).write_text(every[path], encoding="utf-8")
            said = {True: "survived", False: "killed", None: "timed out"}[passed]
            outcome[said] += 1
            say(f"{number:>4}  {said}  {path}")
            if passed:
                before = ast.unparse(ast.parse(every[path])).splitlines()
                lines = difflib.unified_diff(before, fault.splitlines(), lineterm="", n=2)
                say("\n".join(list(lines)[2:]))
    say(", ".join(f"{number} {said}" for said, number in sorted(outcome.items())))


if __name__ == "__main__":
    main()
