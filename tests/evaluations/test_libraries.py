"""Loaded machine code: shared by equal kernels, kept while in use, unloaded afterwards."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import torsor as ts
from torsor.compile import Argument, Kernel, record


def kernel(factor: float) -> Kernel:
    return Kernel(record(lambda x: {"y": [x[0] * factor, x[0] + x[1]]}, [Argument("x", (2,))]))


def test_equal_kernels_share_a_library_until_none_uses_it():
    one, other, different = kernel(3.25), kernel(3.25), kernel(3.5)
    library = one._library("batch")
    assert other._library("batch") is library
    assert different._library("batch") is not library
    alive = weakref.ref(library)
    del one, library
    assert alive() is not None
    del other
    gc.collect()
    assert alive() is None


def test_built_in_function_reaches_the_batch_code_that_a_dropped_kernel_loaded():
    first, second = kernel(4.25), kernel(4.25)
    function = second.__call__
    for k in (first, second):
        k(np.ones((3, 2)))  # both share the batch code
    del first, second
    gc.collect()
    for k in range(30):
        kernel(5.0 + k)(np.ones((3, 2)))  # reuses the freed memory
    np.testing.assert_array_equal(function(np.ones((5, 2))), np.full((5, 2), [4.25, 2.0]))


def test_libraries_loaded_and_dropped_in_threads_give_correct_results():
    wrong: list[float] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(25):
            factor = float(rng.integers(1, 5))
            if kernel(factor)(np.ones((4, 2)))[3, 0] != factor:
                wrong.append(factor)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


GROWTH = """
import gc, sys
import numpy as np
import torsor as ts

def resident():
    # bytes that are the process's own: the system takes pages of LLVM's file away and brings them back as it likes
    with open("/proc/self/status") as file:
        return 1024 * int(next(line.split()[1] for line in file if line.startswith("RssAnon")))

def use(k):
    robot = ts.Builder("arm").link("base").link("a", mass=1 + k, com=(0.5, 0, 0)).joint("j", "revolute", "base", "a").build()
    robot.gravity_force([0.1])

different, count = sys.argv[1] == "different", int(sys.argv[2])
step = 2.0**-20 if different else 0.0
sizes = []
for part in range(6):
    for k in range(count):
        use(1 + (part * count + k) * step)
    gc.collect()
    sizes.append(resident())
print(*sizes)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
@pytest.mark.parametrize(
    ("which", "count"),
    [
        ("equal", 50),
        pytest.param("equal", 2000, marks=pytest.mark.night),
        pytest.param("different", 200, marks=pytest.mark.night),
    ],
)
def test_robots_made_called_and_dropped_take_no_memory(which, count):
    out = subprocess.run([sys.executable, "-c", GROWTH, which, str(count)], capture_output=True, text=True, check=True)
    sizes = [int(size) for size in out.stdout.split()]
    growth = sorted(after - before for before, after in itertools.pairwise(sizes))
    # a leak grows in every part; LLVM and the allocator may grow in some
    assert growth[1] <= 250_000


def test_robot_dropped_unloads_its_libraries():
    robot = ts.robots.two_link(m1=1.7320508)
    for shape in ((2,), (3, 2)):
        robot.gravity_force(np.zeros(shape))
    alive = [weakref.ref(x) for k in robot.kernels._kernels.values() for x in k._libraries.values()]
    assert len(alive) == 2
    del robot
    gc.collect()
    assert [x() for x in alive] == [None, None]
