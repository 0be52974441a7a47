"""What the tests compute at their points: functions that another process can import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np


def swing(robot, mass, kp, log=None):
    """A tenth of a second of a two-link arm under a spring: where it is, how far from rest it got, its last forces."""
    loaded = robot.with_payload("tip", mass)
    q, v = np.array([0.4, -0.7]), np.zeros(2)
    path = []
    for _ in range(100):
        v = v + 1e-3 * loaded.forward_dynamics(q, v, -kp * q)
        q = loaded.integrate(q, v, 1e-3)
        path.append(q)
    if log is not None:
        with open(log, "a") as stream:
            stream.write(f"{os.getpid()} {mass} {kp}\n")
    return {"path": np.array(path), "worst": float(np.abs(path).max()), "tau": tuple((-kp * q).tolist())}


def inverse(x):
    return 1 / x


def own_process(x):
    return os.getpid()


def held_until_killed(x, folder):
    """The second point says who computes it and waits for its death; whoever has it next finds the word and returns."""
    folder = Path(folder)
    if x == 2 and not (folder / "go").exists():
        (folder / "pid").write_text(str(os.getpid()))
        time.sleep(60)
    return x * x


def deadly(x):
    if x == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def unkeepable(x):
    return {"answer": object()}


def leaves(x):
    raise SystemExit(3)
