"""Ctrl-C and errors in the middle of threaded work: no crash, no writes afterwards, a quick response."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from torsor.compile import Argument, Kernel, Scan, arrays, record, threads
from torsor.compile.interpret import STATES
from torsor.compile.threads import LARGEST_PIECE, LONGEST_PIECE, run_in_threads

posix = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals")


@posix
@pytest.mark.parametrize("count", [34, pytest.param(500, marks=pytest.mark.night)])
def test_interrupts_at_random_times_stop_all_threads_within_a_fifth_of_a_second(count):
    script = Path(__file__).parent / "interrupting.py"
    done = subprocess.run([sys.executable, str(script), str(count)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"crashed: {done.returncode}, {done.stderr[-2000:]}"
    seen = json.loads(done.stdout)
    assert seen["count"] == count
    assert seen["foreign"] == 0
    assert max(seen["processor"].values()) <= 0.2, seen
    assert max(seen["clock"].values()) <= 0.2 or seen["slowness"] > 1.2, seen  # only required on an idle machine


class Interrupt(Exception):
    """Raised by the signal handler of a test."""


@pytest.fixture
def interrupts_after():
    """A function that schedules Interrupt in the main thread after the given times [s]."""

    def start(*delays: float) -> None:
        left = list(np.diff([0, *delays]))

        def handler(*_: object) -> None:
            signal.setitimer(signal.ITIMER_REAL, left.pop(0) if left else 0)
            raise Interrupt

        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, left.pop(0))

    before = signal.getsignal(signal.SIGALRM)
    yield start
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


class Work:
    """Pieces of work that take 0.15 s in every thread except the main one; counts running pieces."""

    def __init__(self, in_main: type[BaseException] | None = None, elsewhere: type[BaseException] | None = None):
        self.in_main, self.elsewhere, self.inside, self.begun = in_main, elsewhere, 0, 0

    def __call__(self, start: int, end: int, stop: object) -> int:
        self.begun += 1
        main = threading.current_thread() is threading.main_thread()
        if main and self.in_main is not None:
            while not self.inside:
                time.sleep(0.001)
            raise self.in_main
        if main:
            time.sleep(0.01)
            return -1
        self.inside += 1
        try:
            time.sleep(0.15)
            if self.elsewhere:
                raise self.elsewhere
        finally:
            self.inside -= 1
        return -1


def test_spread_waits_for_other_threads_when_a_piece_raises():
    work = Work(in_main=ZeroDivisionError)
    with threads(2), pytest.raises(ZeroDivisionError):
        run_in_threads(work, 1000, LONGEST_PIECE // 10, 1)
    assert work.inside == 0
    begun = work.begun
    time.sleep(0.05)
    assert work.begun == begun


def test_spread_raises_the_error_of_another_thread_and_stops():
    work = Work(elsewhere=ZeroDivisionError)
    with threads(2), pytest.raises(ZeroDivisionError):
        run_in_threads(work, 10_000, LONGEST_PIECE // 10, 1)
    assert work.inside == 0
    assert work.begun < 1000


@posix
def test_spread_waits_for_other_threads_however_often_it_is_interrupted(interrupts_after):
    work = Work(in_main=ZeroDivisionError)
    interrupts_after(0.05, 0.08, 0.1)
    with threads(2), pytest.raises((ZeroDivisionError, Interrupt)):
        run_in_threads(work, 1000, LONGEST_PIECE // 10, 1)
    assert work.inside == 0


def test_pieces_of_any_size_give_the_same_bits(monkeypatch):
    step = record(lambda x, y: {"x": [x[0] * 0.9 + y[0]]}, [Argument("x", (1,)), Argument("y", (1,))])
    scan = Scan(step, carry={"x": "x"})
    kernel = Kernel(step)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3000, 1)), rng.normal(size=(3000, 5, 1))
    whole = kernel(x, x), scan(x, y), scan(x[0], y[0])
    # a scan's main thread then waits for the others
    monkeypatch.setattr(sys.modules[run_in_threads.__module__], "LONGEST_PIECE", 10)
    with threads(3):
        for before, now in zip(whole, (kernel(x, x), scan(x, y), scan(x[0], y[0])), strict=True):
            np.testing.assert_array_equal(before, now)


def test_pieces_that_read_and_write_many_numbers_are_short():
    """Operations alone do not bound the time of a piece: 40 million of them may move a gigabyte."""
    lengths = []

    def work(start, end, stop):
        lengths.append(end - start)
        return -1

    run_in_threads(work, rows := 1_000_000, operations=1, align=1, numbers=100)
    assert sum(lengths) == rows
    assert max(lengths) <= LARGEST_PIECE // 100


@pytest.mark.parametrize("shape", [(64,), (64, 3), (3, 64), (2, 2, 40), (1, 1, 64), (0, 3)])
def test_arguments_copied_in_pieces_are_the_same(shape, monkeypatch):
    monkeypatch.setattr(arrays, "PIECE", 10)
    whole = np.arange(2.0 * np.prod(shape)).reshape(*shape[:-1], 2 * shape[-1])
    for given in (whole[..., ::2], whole[..., ::-2].astype(np.float32)):
        found = arrays.copy_in_pieces(given, np.dtype(float))
        assert found.flags.c_contiguous
        assert not np.shares_memory(found, given)
        np.testing.assert_array_equal(found, given)


def test_batches_of_any_strides_give_the_same_bits_when_copied_in_pieces(monkeypatch):
    kernel = Kernel(record(lambda x, y: {"z": [x[0] * y[0], x[1] - y[1]]}, [Argument("x", (2,)), Argument("y", (2,))]))
    x, y = np.random.default_rng(0).normal(size=(2, 6, 50, 4))
    cases = [(x[..., ::2], y[..., ::2]), (x[:, :1, :2], y[..., :2]), (x.swapaxes(0, 1)[..., :2], y.swapaxes(0, 1)[..., 1:3])]
    whole = [kernel(*case) for case in cases]
    monkeypatch.setattr(arrays, "PIECE", 16)
    for case, before in zip(cases, whole, strict=True):
        np.testing.assert_array_equal(kernel(*case), before)


def test_numpy_fallback_computes_long_batches_in_pieces(monkeypatch):
    program = record(lambda x, k: {"y": [x[0] * k[0], x[1]], "z": x[0] - k[0]}, [Argument("x", (2,)), Argument("k", ())])
    kernel = Kernel(program)
    kernel._libraries = {"one": None, "batch": None}
    x = np.random.default_rng(0).normal(size=(STATES // 1000 + 3, 1001, 2))
    y, z = kernel(x, 3.0)
    np.testing.assert_array_equal(y, x * [3.0, 1.0])
    np.testing.assert_array_equal(z, x[..., 0] - 3.0)
