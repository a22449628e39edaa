"""The command line, run within the tests' own process: kernels and imports are there already."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from olprouting.cli.app import main


def olprouting(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run ``olprouting`` with `arguments` to its end, as a pipe would see it."""
    command = ["olprouting", *map(str, arguments)]
    stdout, stderr, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
        mock.patch.object(sys, "argv", command),
        mock.patch.dict(os.environ),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return subprocess.CompletedProcess(command, code, stdout.getvalue(), stderr.getvalue())
