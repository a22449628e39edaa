"""Small studies, and a routing policy whose cells can be slow, broken or deadly."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SMALL = """
kind = "simulate"
policies = ["jsq", "br0"]
seeds = [3, 4]

[trace]
source = "azure-2023-conv-like"
requests = 40

[cluster]
workers = 2
slots = 4

[grid]
r_max = [2, 4, 8]
"""

CLIPPED = """
kind = "prices"
policies = ["bid-price", "jsq"]
seeds = [0]

[trace]
source = "azure-2023-conv-like"
requests = 15
arrivals = "poisson-by-period"
rate = 0.1

[cluster]
workers = 2
slots = 3
kv_tokens = 12000

[options]
periods = 20
sample = 2
reward_normalizer = 0.5
clip = true
"""

POLICIES = """
import os
import signal
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def fill(view, rng):
    free = np.repeat(np.arange(len(view.free_slots)), view.free_slots)
    return enumerate(free[: view.admissions])


def logged(view, rng):
    '''Note the start of every run, and take a while.'''
    if view.iteration == 1:
        with (HERE / "starts.log").open("a") as log:
            log.write(f"{view.waiting_prompt_tokens[0]}\\n")
        time.sleep(0.1)
    return fill(view, rng)


def breaks(view, rng):
    if len(view.free_slots) == 3:
        raise ZeroDivisionError("three workers are too many")
    return fill(view, rng)


def kills(view, rng):
    if len(view.free_slots) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return fill(view, rng)


def kills_once(view, rng):
    '''Kill the process that runs it, the first time that anybody gets here.'''
    try:
        (HERE / "killed").touch(exist_ok=False)
    except FileExistsError:
        return fill(view, rng)
    os.kill(os.getpid(), signal.SIGKILL)
"""

POLICY_STUDY = """
kind = "simulate"
policies = ["policies.py:{policy}"]
seeds = {seeds}

[trace]
source = "ratio:1:1:20"
requests = 6

[cluster]
slots = 6

[grid]
workers = {workers}
"""


def write(path: Path, text: str) -> Path:
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def tables(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all final tables but the wall-clock times."""
    files = sorted((folder / "tables").iterdir())
    return {file.name: file.read_bytes() for file in files if file.stem != "timing"}
