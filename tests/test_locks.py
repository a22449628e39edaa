"""One writer at a time: the second is refused, a dead one bars nobody, nothing is left behind."""

from __future__ import annotations

import subprocess
import sys

import pytest

from olprouting.errors import InputError
from olprouting.locks import only_writer

HOLD = """
import sys, time
from pathlib import Path
from olprouting.locks import only_writer

with only_writer(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(100)
"""


@pytest.mark.parametrize("name", ["", "result.json"])
def test_a_second_writer_is_refused_while_the_first_is_there(tmp_path, name) -> None:
    """Catches a lock that nobody meets, or that outlives its block; a folder's and a file's."""
    target = tmp_path / name
    with (
        only_writer(target),
        pytest.raises(InputError, match="another command is writing there"),
        only_writer(target),
    ):
        pass
    with only_writer(target), only_writer(tmp_path / "another.json"):
        pass
    assert not list(tmp_path.iterdir())


def test_the_lock_of_a_process_that_was_killed_bars_nobody(tmp_path) -> None:
    """Catches locks that are files: the one left behind would have to be removed by hand."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError), only_writer(tmp_path):
            pass
        holder.kill()
        holder.wait(timeout=60)
    with only_writer(tmp_path):
        pass
