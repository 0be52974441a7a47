"""A pool of forked children: libraries are imported once, before the fork; each child imports torsor anew."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

FORK = multiprocessing.get_context("fork")

#: what the tests import beside torsor; a library that is missing is imported by the tests that need it, or skips them
LIBRARIES = (
    "pytest", "hypothesis", "hypothesis.extra.numpy", "numpy.testing", "scipy.linalg", "scipy.sparse.linalg", "scipy.integrate",
    "sympy", "mpmath", "pinocchio", "mujoco", "modern_robotics", "lxml.etree", "llvmlite.binding", "matplotlib.pyplot", "yaml",
)  # fmt: skip


def preload() -> None:
    for name in LIBRARIES:
        try:
            __import__(name)
        except ImportError:
            continue


class Running(NamedTuple):
    job: Any
    process: Any
    deadline: float


def results(jobs: Iterable[Any], work: Callable[[Any], Any], workers: int, limit: float) -> Iterator[tuple[Any, Any]]:
    """(job, work(job)), each in a child of its own, as they end; None where the child died or passed the limit [s]."""
    waiting, running = iter(jobs), {}
    exhausted = False
    while True:
        while not exhausted and len(running) < workers:
            try:
                job = next(waiting)
            except StopIteration:
                exhausted = True
                break
            ours, theirs = FORK.Pipe(duplex=False)
            process = FORK.Process(target=_child, args=(work, job, theirs))
            process.start()
            theirs.close()
            running[ours] = Running(job, process, time.monotonic() + limit)
        if not running:
            return
        ready = wait(list(running), timeout=max(0.0, min(r.deadline for r in running.values()) - time.monotonic()))
        late = [c for c, r in running.items() if c not in ready and time.monotonic() > r.deadline]
        for connection in [*ready, *late]:
            job, process, _ = running.pop(connection)  # type: ignore[call-overload]
            try:
                found = connection.recv() if connection in ready else None  # type: ignore[union-attr]
            except EOFError:
                found = None
            process.kill()
            process.join()
            connection.close()  # type: ignore[union-attr]
            yield job, found


def _child(work: Callable[[Any], Any], job: Any, answer: Connection) -> None:
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    answer.send(work(job))
    answer.close()
    os._exit(0)  # no clean-up of what was inherited
