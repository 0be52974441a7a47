"""The child of a process forked while other threads compile can compute."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import torsor

SCRIPT = """
import os, signal, sys, threading, time, warnings
import numpy as np
import torsor as ts
from torsor.compile import Argument, Kernel, record

warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 advises against fork beside threads
arm = ts.robots.two_link()
expected = ts.robots.two_link().mass_matrix(np.zeros(2))
shared = [Kernel(record(lambda x: {"y": [x[0] * k + x[1]]}, [Argument("x", (2,))])) for k in range(1000)]
done, failures = threading.Event(), 0

def compile_all():
    for kernel in shared:
        if done.is_set():
            return
        kernel([1.0, 2.0])

def child():
    for kernel in shared[:12]:  # some of which are being compiled by the other threads
        kernel([1.0, 2.0])
    assert shared[10]([1.0, 2.0])[0] == 12
    assert shared[-1](np.ones((50_000, 2))).shape == (50_000, 1)  # in threads of its own
    assert (ts.robots.two_link().mass_matrix(np.zeros(2)) == expected).all()
    assert (arm.mass_matrix(np.zeros((3, 2))) == expected).all()

ts.threads(2)
threads = [threading.Thread(target=compile_all, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
for k in range(int(sys.argv[1])):
    time.sleep(0.003 * (k % 5))
    pid = os.fork()
    if not pid:
        signal.alarm(60)  # a child that hangs dies of it
        try:
            child()
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    failures += os.waitpid(pid, 0)[1] != 0
done.set()
print("failures:", failures)
"""

RECORDING = """
import os, signal, threading, time, warnings
from torsor.support.locks import cached_property

warnings.simplefilter("ignore", DeprecationWarning)
begun = threading.Event()

class Slow:
    @cached_property
    def value(self):
        begun.set()
        time.sleep(0.5)
        return 7

slow = Slow()
thread = threading.Thread(target=lambda: slow.value)
thread.start()
begun.wait()
pid = os.fork()
if not pid:
    signal.alarm(30)  # a child that hangs dies of it
    os._exit(0 if slow.value == 7 and Slow().value == 7 else 1)
print(os.waitpid(pid, 0)[1])
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_child_forked_while_a_thread_computes_a_cached_property_computes_it_again():
    """A thread that records holds the locks of properties: in Python 3.11, those of functools stay closed in the child."""
    done = subprocess.run([sys.executable, "-c", RECORDING], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr[-2000:]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_child_forked_while_threads_compile_computes():
    environment = {**os.environ, "TORSOR_CACHE": "off"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "4"], capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    assert (done.returncode, done.stdout) == (0, "failures: 0\n"), done.stderr[-2000:]


def test_every_lock_is_made_by_new_lock():
    made = re.compile(
        r"\b(threading\.)?(R?Lock|Condition|Semaphore)\(\)|functools import .*cached_property|functools\.cached_p"
    )
    package = Path(torsor.__file__).parent
    found = [p.name for p in package.rglob("*.py") if made.search(p.read_text(encoding="utf-8"))]
    assert found == ["locks.py"]
