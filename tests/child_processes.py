"""Child processes of tests: they hear Ctrl-C however the tests were started, and have a limit."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import pytest

LIMIT_S = 300
"""After which a child hangs: no measure of what it should take."""

COMMAND_LINE = "from olprouting.__main__ import main\nmain()\n"
"""The code of ``python -m olprouting``."""

LISTEN = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""A shell's background jobs ignore SIGINT and hand that on; this takes it back."""

needs_sigint = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")


def python(code: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `code` to its end."""
    command = [sys.executable, "-c", LISTEN + code, *arguments]
    captured = {"capture_output": True, "text": True, "timeout": LIMIT_S, "check": False}
    return subprocess.run(command, **captured | options)


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Return what `process` prints until it ends; it does not outlive the limit."""
    try:
        return process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()


def wait_for_word(process: subprocess.Popen[str], word: str) -> None:
    """Read what `process` says on stderr up to the line with `word`: it has come that far."""
    watch = threading.Timer(LIMIT_S, process.kill)
    watch.start()
    said = []
    for line in process.stderr or ():
        said.append(line)
        if word in line:
            break
    else:
        process.kill()
        pytest.fail(f"it never said {word!r}, but {''.join(said)}")
    watch.cancel()


def start(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Start `code`."""
    command = [sys.executable, "-c", LISTEN + code, *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **pipes | options)
