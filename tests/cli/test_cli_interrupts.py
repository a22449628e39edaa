"""Ctrl-C ends every command with code 130, at whatever moment it comes: real processes."""

from __future__ import annotations

import pytest
from child_processes import needs_sigint, python

pytestmark = needs_sigint

AT_IMPORT = """
import os, signal, sys

moment = sys.argv.pop(1)

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == moment and self in sys.meta_path:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from olprouting.__main__ import main
main()
"""

SMALL = ("--requests", "20", "--kv-tokens", "9000", "--periods", "100", "--sample", "1")


@pytest.mark.parametrize(
    ("moment", "command"),
    [
        ("typer", ["doctor"]),
        ("olprouting.cli.traces", ["traces", "list"]),
        ("numba", ["simulate", "--requests", "20"]),
        ("olprouting.theory", ["theory"]),
        ("olprouting.price_report.study", ["prices", *SMALL]),
        ("olprouting.engine.simulate", ["gaps"]),
        ("pandas._libs.missing", ["prices", *SMALL]),
    ],
)
def test_an_interrupt_during_an_import_is_code_130_without_a_traceback(moment, command):
    """Regression: code 1 and an AttributeError of half of pandas, which was needed to report."""
    done = python(AT_IMPORT, moment, *command)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_while_a_kernel_is_called_stays_a_keyboard_interrupt():
    """Regression: a SystemError or a segmentation fault."""
    code = """
import signal
import numpy as np
from numba import njit
from olprouting.cli.interrupts import exit_on_interrupt

@njit
def kernel(rng, values):
    return rng.random(), values + 1

rng, values = np.random.default_rng(0), np.arange(3)
kernel(rng, values)
with exit_on_interrupt():
    signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGINT))
    caught = 0
    while caught < 10:
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-5 + 1e-4 * np.random.random())
            while True:
                kernel(rng, values)
        except KeyboardInterrupt:
            caught += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(caught)
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "10"


def test_an_interrupt_while_an_object_is_deleted_is_not_lost():
    """Regression: a traceback of llvmlite's on stderr, and the command went on."""
    code = """
import os, signal
from olprouting.cli.interrupts import exit_on_interrupt

class Deleted:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(10))

with exit_on_interrupt():
    one = Deleted()
    del one
    while True:
        sum(range(10))
"""
    done = python(code)
    assert done.returncode == 130, done.stderr
    assert done.stderr == "olprouting: interrupted\n"


def test_an_interrupt_while_a_weak_reference_dies_is_not_lost():
    """Catches a callback of the standard library's in which the interrupt is printed and lost."""
    code = """
import os, signal, weakref
from olprouting.cli.interrupts import exit_on_interrupt

class Key:
    armed = False

    def __hash__(self):
        if Key.armed:
            Key.armed = False
            os.kill(os.getpid(), signal.SIGINT)
            sum(range(10))
        return 1

class Value:
    pass

with exit_on_interrupt():
    value = Value()
    known = weakref.WeakValueDictionary({Key(): value})
    Key.armed = True
    del value
    while True:
        sum(range(10))
"""
    done = python(code)
    assert done.returncode == 130, done.stderr
    assert done.stderr == "olprouting: interrupted\n"


def test_an_error_after_an_interrupt_is_still_an_interrupt_and_others_are_errors():
    code = """
import os, signal, sys
from olprouting.cli.interrupts import exit_on_interrupt

with exit_on_interrupt():
    try:
        if len(sys.argv) > 1:
            os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        pass
    raise ValueError("on the way out")
"""
    interrupted, failed = python(code, "kill"), python(code)
    assert interrupted.returncode == 130
    assert interrupted.stderr == "olprouting: interrupted (ValueError: on the way out)\n"
    assert failed.returncode == 1
    assert "Traceback" in failed.stderr


def test_an_interrupt_waits_until_llvmlite_is_left():
    """Catches half an object of LLVM's: "Exception ignored in" on stderr when it is deleted."""
    code = """
import os, signal
from olprouting.cli.interrupts import exit_on_interrupt

llvmlite = {"__name__": "llvmlite.binding.ffi", "os": os, "signal": signal}
exec('''
def make():
    os.kill(os.getpid(), signal.SIGINT)
    sum(range(10))
    print("whole")
''', llvmlite)
with exit_on_interrupt():
    llvmlite["make"]()
    while True:
        sum(range(10))
"""
    done = python(code)
    assert done.returncode == 130, done.stderr
    assert done.stdout == "whole\n"
    assert done.stderr == "olprouting: interrupted\n"
