"""Progress: a word now and then on a pipe, one passing bar on a terminal, and never silence."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from child_processes import LIMIT_S, python

SLOW = """
import time
from olprouting.cli import progress

progress.SILENCE_S = 0.4
with progress.never_silent(), progress.progress_bar() as advance:
    for done in range(3):
        advance(f"run jsq: load {done}", done, 3)
        time.sleep(0.6)
print("result")
"""


def test_nothing_is_silent_for_long_on_a_pipe():
    """Catches a stage of an hour during which a log stands still, and one of a thousand lines."""
    done = python(SLOW)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert 2 <= len(lines) <= 5
    for line in lines:
        assert re.fullmatch(r"still at run jsq: load \d: \d of 3, \d+ s", line)
    assert done.stdout == "result\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
def test_a_terminal_gets_one_bar_that_vanishes():
    """Catches bars that pile up above the result, and the result in the wrong stream."""
    import pty

    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", SLOW],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    shown = b""
    try:
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the child has closed its end
                break
            if not piece:
                break
            shown += piece
        stdout, _ = child.communicate(timeout=LIMIT_S)
    finally:
        child.kill()
        os.close(ours)
    assert stdout == b"result\n"
    text = shown.decode()
    assert "run jsq: load 2" in text
    assert re.search(r"\d s", text)
    after_the_last_bar = re.sub(r"\x1b\[[\d;?]*[A-Za-z]|\r", "", text.rpartition("\x1b[2K")[2])
    assert not after_the_last_bar.strip()
