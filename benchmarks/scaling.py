"""Two threads against one."""

from __future__ import annotations

from typing import Any

import numpy as np

import torsor as ts
from benchmarks.clock import two_cores
from benchmarks.robots import Case
from benchmarks.states import random_states
from benchmarks.timing import Effort, time_interleaved


def two_threads(case: Case, effort: Effort) -> dict[str, Any]:
    """Speed-up of batched inverse dynamics, one and two threads in turn, results compared to the bit."""
    robot, count = case.robot, effort.large
    q, v, a = random_states(robot, count)
    out = np.empty((count, robot.nv))
    names = {"robot": robot, "q": q, "v": v, "a": a, "out": out, "threads": ts.threads}
    statements = [f"with threads({n}): robot.inverse_dynamics(q, v, a, out=out)" for n in (1, 2)]
    with ts.threads(1):
        one = robot.inverse_dynamics(q, v, a)
    with ts.threads(2):
        two = robot.inverse_dynamics(q, v, a)
    possible = two_cores()
    t1, t2 = time_interleaved(statements, names, effort)
    return {
        "robot": case.name,
        "states": count,
        "one_ns": t1 / count * 1e9,
        "two_ns": t2 / count * 1e9,
        "speed_up": t1 / t2,
        "same_bits": one.tobytes() == two.tobytes(),
        "possible": possible,  # what two threads without memory or locks gain at the same moment
    }
