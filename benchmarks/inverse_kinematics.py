"""``python -m benchmarks.inverse_kinematics PYTHON [ARM ...]``: against Robotics Toolbox's ``ik_LM``, alternating processes.

All on one core.  PYTHON is of an environment of its own, in which ``pip install roboticstoolbox-python`` was run.  Both sides
read the same URDF files of twelve arms (:mod:`benchmarks.arms`), and get the same poses of configurations within the limits.
Other joints of a robot stay where they are; ik_LM gets the chain of the arm alone.  A pose counts as solved if torsor's forward
kinematics finds it within 1e-6 m and rad and all joints within their limits, whoever found it.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import torsor as ts
from benchmarks.arms import ARMS, arm_of, bare_urdf, configurations_of, moving_joints

#: poses of the batch, those solved one by one, rounds, and how far a followed pose moves [rad a joint]
POSES, SINGLE, ROUNDS, MOVED = 10_000, 300, 5, 0.01
TOLERANCE = 1.001e-6

PEER = """
import json, sys, time
import numpy as np
import roboticstoolbox as rtb
urdf, first, frame, poses, found = sys.argv[1:]
parts = list(rtb.ERobot.URDF(urdf).ets(start=first, end=frame))
for k, joint in enumerate(x for x in parts if x.isjoint):
    joint.jindex = k  # of the arm alone
ets = rtb.ETS(parts)
T = np.load(poses)
start = time.perf_counter()
solutions = [ets.ik_LM(X, tol=1e-13) for X in T]
seconds = time.perf_counter() - start
np.save(found, np.array([np.ravel(s.q)[: ets.n] for s in solutions]))
print(json.dumps(seconds / len(T)))
"""


def seconds_of(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def solved(robot: ts.Robot, frame: str, q: np.ndarray, T: np.ndarray) -> float:
    """The share of poses that are met within the limits."""
    X = robot.pose(q, frame)
    R = np.swapaxes(X[:, :3, :3], 1, 2) @ T[:, :3, :3]
    angle = np.linalg.norm(R - np.swapaxes(R, 1, 2), axis=(1, 2)) / np.sqrt(8)  # the sine
    length = np.linalg.norm(X[:, :3, 3] - T[:, :3, 3], axis=1)
    upright = np.trace(R, axis1=1, axis2=2) > 0
    good = (length <= TOLERANCE) & (angle <= TOLERANCE) & upright & robot.within_limits(q, 1e-9)
    return float(good.mean())


def compare(name: str, python: str) -> dict[str, float]:
    """Times a pose [µs], the best of rounds in which the processes alternate, and shares of poses that are solved."""
    robot, frame, joints = arm_of(name)
    q = configurations_of(robot, joints, POSES, 11)
    names = joints or moving_joints(robot, frame)
    columns, first = np.concatenate([np.r_[robot.joint(x).q_slice] for x in names]), robot.joint(names[0])
    T, near = robot.pose(q, frame), q[:SINGLE].copy()
    near[:, columns] += MOVED
    near = robot.clip(near)
    solve = functools.partial(robot.inverse_kinematics, joints=joints)
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, ts.threads(1):
        poses, found = Path(folder, "poses.npy"), Path(folder, "found.npy")
        np.save(poses, np.linalg.inv(robot.pose(q[:SINGLE], first.parent)) @ T[:SINGLE])
        urdf = Path(folder, "robot.urdf")
        urdf.write_text(bare_urdf(name, robot))
        for _ in range(ROUNDS):
            arguments = [python, "-W", "ignore", "-c", PEER, str(urdf), first.child, frame, str(poses), str(found)]
            peer = float(json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout))
            batch = solve(T, frame)
            times = {
                "peer": peer,
                "batch": seconds_of(lambda: solve(T, frame)) / POSES,
                "one": seconds_of(lambda: [solve(X, frame) for X in T[:SINGLE]]) / SINGLE,
                "followed": seconds_of(lambda: [solve(X, frame, x) for X, x in zip(T, near, strict=False)]) / SINGLE,
            }
            best = {key: min(1e6 * x, best.get(key, np.inf)) for key, x in times.items()}
        theirs = np.load(found)
    own = q[:SINGLE].copy()
    own[:, columns] = theirs
    shares = {"solved": solved(robot, frame, batch.q, T), "peer_solved": solved(robot, frame, own, T[:SINGLE])}
    return best | shares | {"attempts": float(batch.attempts.mean())}


def main() -> None:
    """One line per robot."""
    if len(sys.argv) < 2:
        sys.exit(str(__doc__).partition(":")[0] + ", PYTHON with roboticstoolbox-python")
    os.sched_setaffinity(0, {0})
    for name in sys.argv[2:] or ARMS:
        x = compare(name, sys.argv[1])
        print(f"{name}: ik_LM {x['peer']:.0f} µs, {100 * x['peer_solved']:.1f} % solved; torsor:")
        print(f"  {x['attempts']:.2f} attempts a pose, {100 * x['solved']:.2f} % solved")
        for key, goal in (("batch", 20), ("one", 3), ("followed", 0)):
            print(f"  {key}: {x[key]:.2f} µs, {x['peer'] / x[key]:.1f} times as fast" + f" (goal {goal})" * bool(goal))


if __name__ == "__main__":
    main()
