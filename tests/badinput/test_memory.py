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


MAPPINGS = """
import ctypes
import torsor as ts
from torsor.compile import memory

ts.robots.pendulum().mass_matrix([0.0])  # imports all that is needed
memory._loads_left = 0
system = ctypes.CDLL(None)
system.mmap.restype = ctypes.c_void_p
limit = int(open("/proc/sys/vm/max_map_count").read())
size = 2 * 4096 * limit
first = system.mmap(None, ctypes.c_size_t(size), 0, 0x4022, -1, ctypes.c_long(0))  # private, anonymous, not reserved
pages = [ctypes.c_void_p(first + 8192 * k) for k in range(limit)]
used = next(k for k, page in enumerate(pages) if system.mprotect(page, ctypes.c_size_t(4096), 1))  # until it is refused
for page in pages[used - LEFT : used]:
    system.mprotect(page, ctypes.c_size_t(4096), 0)
try:
    ts.robots.two_link().mass_matrix([0.0, 0.0])
except ts.OutOfMemory as error:
    print(error)
system.munmap(ctypes.c_void_p(first), ctypes.c_size_t(size))
print(ts.robots.two_link().mass_matrix([0.0, 0.0]).tolist())
"""


@linux
@pytest.mark.parametrize("left", [1, 40])
def test_process_with_nearly_all_memory_mappings_gets_an_error_and_goes_on_when_some_are_free(left):
    command = [sys.executable, "-c", MAPPINGS.replace("LEFT", str(left))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    error, result = done.stdout.splitlines()
    assert "memory mappings of the" in error
    assert "delete robots and kernels that are no longer needed" in error
    assert result == "[[5.0, 2.0], [2.0, 1.0]]"


FAR = """
import ctypes
import torsor as ts

ts.robots.pendulum().mass_matrix([0.0])  # imports all that is needed
system = ctypes.CDLL(None)
system.mmap.restype = ctypes.c_void_p

def take(size):
    return system.mmap(None, ctypes.c_size_t(size), 0, 0x4022, -1, ctypes.c_long(0))  # private, anonymous, not reserved

wall = take(3 << 30)  # Linux looks for free memory from above: what is above this wall is used up first
taken = []
for size in (1 << k for k in range(30, 11, -1)):
    while (place := take(size)) > wall:
        taken.append((place, size))
    system.munmap(ctypes.c_void_p(place), ctypes.c_size_t(size))
hole, _ = max(x for x in taken if x[1] >= 1 << 16)
system.munmap(ctypes.c_void_p(hole), ctypes.c_size_t(4096 * PAGES))
arm = ts.robots.two_link(m1=1.0 + PAGES)
print(arm.mass_matrix([0.0, 0.0]).tolist(), arm.mass_matrix([[0.0, 0.0]] * 9)[8].tolist())
"""


@linux
@pytest.mark.parametrize("pages", [1, 2, 3, 5])
def test_kernels_load_where_free_memory_is_in_pieces_more_than_2_gb_apart(pages):
    """As in a process with gigabytes of arrays: a hole for some of a kernel's code and data, and no more room near it."""
    command = [sys.executable, "-c", FAR.replace("PAGES", str(pages))]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=900, env={**os.environ, "TORSOR_CACHE": "off"}, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    M = [[5.0 + pages, 2.0], [2.0, 1.0]]
    assert done.stdout == f"{M} {M}\n"


def test_unreachable_robots_are_collected_before_mappings_run_out(monkeypatch):
    counts = iter([980, 500])  # before and after a collection
    monkeypatch.setattr(memory, "_loads_left", 0)
    monkeypatch.setattr(memory, "_mappings_limit", lambda: 1000)
    monkeypatch.setattr(memory, "_mappings", lambda: next(counts))
    memory.require_mappings()
    assert memory._loads_left == (500 - memory.SPARE) // memory.RECOUNT
    for _ in range(memory._loads_left):  # are not counted: the iterator is at its end
        memory.require_mappings()
    with pytest.raises(StopIteration):
        memory.require_mappings()
