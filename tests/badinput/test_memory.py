"""Compilation with limited memory raises an error that can be caught; the process does not crash."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import torsor as ts
from torsor.compile import memory

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of the address space are Linux's")

LIMITED = """
import resource, sys
import numpy as np
import torsor as ts
from torsor.compile import Argument, Kernel, record

def chain(x):
    for k in range(1500):
        x = [x[1] * (1 + k), x[0] - x[1]]
    return {"y": x}

def limit(more):
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (now + more if more else resource.RLIM_INFINITY, resource.RLIM_INFINITY))

if sys.argv[1] == "chain":
    kernel, state = Kernel(record(chain, [Argument("x", (2,))])), np.zeros(2)
else:
    robot = ts.robots.humanoid()
    kernel, state = robot.kernel("christoffel_symbols"), robot.neutral()
ts.robots.two_link().mass_matrix(np.zeros(2))  # loads LLVM
for megabytes in map(int, sys.argv[2:]):
    limit(megabytes * 1_000_000)
    try:
        kernel(state)
        print("computed")
    except MemoryError as error:
        print("MemoryError" if sys.argv[1] != "chain" else type(error).__name__)
"""


def outcomes(*arguments: str) -> list[str]:
    environment = {**os.environ, "TORSOR_CACHE": "off"}
    command = [sys.executable, "-c", LIMITED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment, check=False)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr[-2000:])
    return done.stdout.split()


@linux
def test_kernel_too_large_for_the_address_space_is_an_error_until_the_limit_is_raised():
    assert outcomes("chain", "4", "8", "0") == ["OutOfMemory", "OutOfMemory", "computed"]


@linux
@pytest.mark.night
def test_christoffel_symbols_of_a_humanoid_under_any_limit_end_in_an_error_or_a_result():
    found = outcomes("humanoid", *map(str, range(10, 301, 10)))
    assert found[0] == "MemoryError"
    assert found[-1] == "computed"
    assert set(found) == {"MemoryError", "computed"}


def test_require_names_what_is_needed_and_what_is_left(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 50e6)
    memory.require((10_000_000, 4), 10_000_000, "this")
    with pytest.raises(ts.OutOfMemory, match=r"^this takes up to 51 MB of memory, and 50 MB are left; free memory"):
        memory.require((10_000_000, 4), 10_250_000, "this")


@linux
def test_llvm_that_cannot_be_loaded_leaves_numpy():
    code = (
        "import resource, numpy as np, torsor as ts\n"
        "robot = ts.robots.two_link()\n"
        "robot.program('mass_matrix')\n"
        "now = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (now + 60_000_000,) * 2)\n"
        "print(robot.mass_matrix([0.0, 0.0]).tolist())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[[5.0, 2.0], [2.0, 1.0]]\n"
    assert "kernels run in NumPy" in done.stderr
