"""Stack use of kernels and scans is bounded: large results and many live values, in threads with a small stack."""

from __future__ import annotations

import dataclasses
import functools
import threading

import numpy as np
import pytest

from torsor.compile import Argument, Kernel, Scan, forms, kernel, record, workspace
from torsor.compile.llvm import native

#: stack of a thread [bytes]; the default is 8 MB on Linux, 128 kB with musl.  An overflow kills the test run
SMALL = 256 * 1024


def in_small_thread(function):
    """The function's result, computed by a thread whose stack is small."""
    result = []
    before = threading.stack_size(SMALL)
    try:
        thread = threading.Thread(target=lambda: result.append(function()))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return result[0]


@pytest.fixture(params=[1, 2, 4, 8])
def lanes(request, monkeypatch):
    """Kernels for 1, 2, 4 and 8 lanes of float64; LLVM splits vectors that are wider than those of this machine."""
    host = dataclasses.replace(native.host(), width=request.param)
    monkeypatch.setattr(native, "host", lambda: host)
    return request.param


def large(size):
    """A row of ``size`` numbers, of which every 5000th and the next ones depend on the input."""

    def f(x):
        products = [x[0] * x[k] for k in range(4)]
        return {"y": [products[k % 4] if k % 5000 < 11 else 0.25 for k in range(size)]}

    return record(f, [Argument("x", (4,))])


def expected(x, size):
    y = np.full((len(x), size), 0.25, x.dtype)
    k = np.arange(size)
    k = k[k % 5000 < 11]
    y[:, k] = x[:, :1] * x[:, k % 4]
    return y


NIGHT = pytest.mark.night
large_at = functools.cache(large)


@pytest.mark.parametrize(
    ("size", "short", "dtype"),
    [
        (40_000, True, np.float64),
        (40_000, True, np.float32),
        *(pytest.param(1_000_000, short, dtype, marks=NIGHT) for short in (True, False) for dtype in (np.float64, np.float32)),
    ],
)
def test_large_results_need_little_stack(size, short, dtype, lanes, monkeypatch):
    """Rows written directly and past the caches; short programs and float32 have twice as many lanes."""
    monkeypatch.setattr(forms, "SHORT", 800 if short else 0)
    k = Kernel(large_at(size), dtype=dtype)
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(dtype)
    y = expected(x, size)
    k(x)  # compile first: LLVM needs stack too
    for limit in (kernel.CACHES, 0):  # 0: every result is written past the caches
        monkeypatch.setattr(kernel, "CACHES", limit)
        np.testing.assert_array_equal(in_small_thread(lambda: k(x)), y)
    k(x[0])
    np.testing.assert_array_equal(in_small_thread(lambda: k(x[0])), y[0])


def record_live_values(n):
    """n values that are all computed before the first of them is read."""

    def f(x):
        made = [x[0] * (k + 1.0) + x[1] for k in range(n)]
        total = 0
        for value in made:
            total = total * 0.5 + value * value
        return {"y": [total]}

    return record(f, [Argument("x", (2,))])


def test_drivers_keep_at_most_32_kilobytes_on_the_stack():
    for count in (1, 1000, 1_000_000):
        arrays = workspace.Arrays()
        arrays.add("%lanes", "ptr", 3, 8)
        arrays.add("%scratch", "<8 x double>", count, 64)
        assert ("alloca" in arrays.text()) == (count * 64 < 32_000)
        assert arrays.size == (64 + 64 * count if count * 64 > 32_000 else 0)


@pytest.mark.parametrize("batch", [(), (9,)])
def test_kernel_in_a_buffer_gives_the_same_bits_as_on_the_stack(batch, monkeypatch):
    program, x = record_live_values(400), np.random.default_rng(1).normal(size=(*batch, 2))
    on_stack = Kernel(program)(x)
    monkeypatch.setattr(workspace, "STACK", 0)
    for limit in (kernel.SHARED, 0):  # memory that all calls share, or that each allocates
        monkeypatch.setattr(kernel, "SHARED", limit)
        k = Kernel(program)
        for y in (k(x), k(x)):
            assert y.tobytes() == on_stack.tobytes()
    assert k._library("batch" if batch else "one").read(workspace.WORK) > 200 * 8  # bytes: lanes may be one


@pytest.mark.parametrize("batch", [(), (9,)])
def test_scan_in_a_buffer_gives_the_same_bits_as_on_the_stack(batch, monkeypatch):
    step = record(lambda x, u: {"next": [v * 0.3 + u[0] for v in x]}, [Argument("x", (20,)), Argument("u", (1,))])
    rng = np.random.default_rng(2)
    values = rng.normal(size=(*batch, 20)), rng.normal(size=(*batch, 5, 1))

    def run():
        return Scan(step, carry={"x": "next"}, each=[], last=["next"])(*values)

    on_stack = run()
    monkeypatch.setattr(workspace, "STACK", 0)
    assert run().tobytes() == on_stack.tobytes()


def test_a_buffer_that_cannot_be_allocated_raises_memory_error(monkeypatch):
    x = np.zeros((2, 2))
    monkeypatch.setattr(workspace, "STACK", 0)
    monkeypatch.setattr(kernel, "SHARED", 0)
    k = Kernel(record_live_values(3))
    library = k._library("batch")
    monkeypatch.setattr(library, "read", lambda place: 1 << 60)
    with pytest.raises(MemoryError):
        k(x)
