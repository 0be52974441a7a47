"""A program for test_interrupts: calls interrupted by SIGINT at random times; prints the observations as JSON.

``python interrupting.py COUNT``.  Guard arrays are made right after each interrupt, with the sizes that the interrupted
call used, so that they reuse the memory it freed: a thread that still writes there is detected, and a thread that uses memory
returned to the system crashes.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import statistics
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

import torsor as ts
from torsor.compile import Argument, Kernel, Scan, record

#: number of states in a batch
N = 1_000_000
#: size of an interrupted call
FULL = 100
#: an interrupt comes within this time of the start of a call [s]
SOON = 0.04


class Line:
    """A straight path of the UR5's joints."""

    breaks, end = np.array([0.0, 1.0]), np.array([1.0, -1.0, 1.0, 0.5, 0.2, 0.1])

    def __call__(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return s[:, None] * self.end, np.tile(self.end, (len(s), 1)), np.zeros((len(s), 6))


def calls() -> dict[str, Callable[[int], object]]:
    """Functions of a size: ``FULL`` takes longer than ``SOON``; size 1 is enough to compile the kernels.

    Short float32 arguments are converted, so that a call allocates and frees inputs.
    """
    arm, pendulum = ts.robots.ur5(), ts.robots.two_link()
    Q = np.random.default_rng(0).normal(size=(N, 6))
    force = np.ones(6, np.float32)
    numpy_only = Kernel(pendulum.program("forward_dynamics"))
    numpy_only._libraries = {"one": None, "batch": None}  # as if LLVM were missing
    step = record(lambda x, y: {"x": x[0] * 0.5 + y[0]}, [Argument("x", ()), Argument("y", ())])
    outward = Scan(step, gather={"x": "x"})
    parent, inputs = np.arange(-1, 4 * N - 1), np.ones(4 * N)

    def batch(threads: int, rows: int) -> object:
        with ts.threads(threads):
            return arm.forward_dynamics(Q[:rows], Q[:rows], force)

    def rollout(threads: int, robots: int, steps: int) -> object:
        q = np.zeros((robots, 2), np.float32)
        with ts.threads(threads):
            return pendulum.rollout(q, q, dt=1e-4, steps=steps, record=steps // 10)

    gradient_of, wide = arm.vjp("forward_dynamics"), np.zeros((N, 12))[:, ::2]
    weights = np.ones((2000, 100, 2))
    run = pendulum.rollout(weights[:, 0], weights[:, 0], 0 * weights, dt=1e-4, differentiable=True)

    def first(rows: np.ndarray, size: int) -> np.ndarray:
        return rows[: len(rows) // FULL * size]

    poses, twists = arm.pose(Q[: N // 5], "tool0"), 3 * Q[: N // 5]
    far = poses[: N // 500] * [*[[1, 1, 1, 9]] * 3, [1, 1, 1, 1]]

    made: dict[str, Callable[[int], object]] = {
        "batch, 3 threads": lambda size: batch(3, N // FULL * size),
        "batch, 1 thread": lambda size: batch(1, N // FULL * size),
        "rollout of many robots": lambda size: rollout(3, 4000, 40 * size),
        "rollout of some robots": lambda size: rollout(3, 24, 10_000 * size),
        "rollout of one robot": lambda size: rollout(1, 1, 100_000 * size),
        "derivatives": lambda size: arm.forward_dynamics_derivatives(first(Q, size)[::4], first(Q, size)[::4], force),
        "gradient of a product": lambda size: gradient_of(*[first(Q, size)] * 4),
        "gradient of a rollout": lambda size: [run.gradient(q=weights) for _ in range(size // 20 + 1)],
        "more memory than operations": lambda size: [arm.interpolate(first(Q, size), first(Q, size), 0.5) for _ in range(3)],
        "numbers that are not adjacent": lambda size: [arm.integrate(first(wide, size), first(wide, size)) for _ in range(3)],
        "scan": lambda size: outward(np.zeros(4), inputs[: 4 * N // FULL * size], index=parent[: 4 * N // FULL * size]),
        "inverse kinematics": lambda size: arm.inverse_kinematics(first(poses, size), "tool0"),
        "inverse kinematics out of reach": lambda size: arm.inverse_kinematics(first(far, size), "tool0"),
        "velocities within limits": lambda size: arm.differential_inverse_kinematics(
            first(Q[: N // 5], size), {"tool0": first(twists, size)}, 0.01
        ),
        "fastest motion": lambda size: [ts.trajectories.time_optimal(arm, Line()) for _ in range(size // 4 + 1)],
        "NumPy": lambda size: numpy_only(*[Q[: N // FULL * size, :2]] * 3),
    }
    if importlib.util.find_spec("dask"):
        import dask.array as da

        D = da.from_array(Q, chunks=(N // 4, 6))
        made["Dask"] = lambda size: arm.forward_dynamics(*[D[: N // FULL * size]] * 2, force).compute(scheduler="threads")
    return made


def time_interrupt(call: Callable[[int], object], delay: float) -> tuple[float, float]:
    """Seconds from signal to exception: wall clock, and processor time, which does not depend on other processes."""
    sent = [(0.0, 0.0)]

    def send() -> None:
        time.sleep(delay)
        sent[0] = now()
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    try:
        sender.start()
        call(FULL)
        while True:  # the call ended before the signal
            time.sleep(1)
    except KeyboardInterrupt:
        answered = now()
    sender.join()
    return answered[0] - sent[0][0], answered[1] - sent[0][1]


def now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def slowness() -> float:
    """Wall clock time divided by processor time of this process: 1 on an idle machine."""
    wall, own = time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < 0.05:
        pass
    return 0.05 / max(1e-3, time.process_time() - own)


def main(count: int) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    named = calls()
    for call in named.values():
        call(1)
    rng = random.Random(0)
    late: dict[str, list[tuple[float, float]]] = {name: [] for name in named}
    foreign, slow = 0, [slowness()]
    guards: list[np.ndarray] = []
    for k in range(count):
        name = list(named)[k % len(named)]
        late[name].append(time_interrupt(named[name], rng.uniform(0, SOON)))
        foreign += sum(int((g != 7.0).sum()) for g in guards)
        guards = [np.full(N * 6, 7.0), np.full(24 * 10 * 2, 7.0), np.full(4_000_000, 7.0)]
        if k % 16 == 0:
            slow.append(slowness())
    foreign += sum(int((g != 7.0).sum()) for g in guards)
    clock, processor = ({name: statistics.median(x[k] for x in xs) for name, xs in late.items()} for k in (0, 1))
    seen = {"foreign": foreign, "slowness": max(slow), "count": sum(map(len, late.values()))}
    print(json.dumps({**seen, "clock": clock, "processor": processor}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
