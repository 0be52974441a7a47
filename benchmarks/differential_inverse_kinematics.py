"""``python -m benchmarks.differential_inverse_kinematics PYTHON``: against pink, alternating processes on one core.

PYTHON is the interpreter of an environment of its own, in which ``pip install pin-pink daqp quadprog`` was run.  Both sides
read the same URDF file, get the same states and twists, and limit positions and velocities.  Of pink's solvers the faster one
counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import torsor as ts
from benchmarks.arms import arm_of, bare_urdf
from benchmarks.inverse_kinematics import ROUNDS, seconds_of
from torsor.mechanics.inverse_kinematics import VelocityResult

ROBOTS = ("ur5", "panda")
#: states of the batch, those solved one by one, the step [s], and the sizes of twists, slow ones and fast ones [m/s, rad/s]
STATES, SINGLE, DT, SPEEDS = 10_000, 300, 0.005, {"within the limits": 0.02, "beyond them": 5.0}

PEER = """
import json, sys, time
import numpy as np
import pinocchio as pin
from pink import Configuration, solve_ik
from pink.tasks import FrameTask
urdf, frame, states, dt = sys.argv[1:]
model = pin.buildModelFromUrdf(urdf)
q, V = (np.load(states)[name] for name in ("q", "V"))
q = np.hstack([q, np.zeros((len(q), model.nq - q.shape[1]))])
task, best, dt = FrameTask(frame, position_cost=1.0, orientation_cost=0.3), {}, float(dt)
configuration = Configuration(model, model.createData(), q[0])
for solver in ("daqp", "quadprog"):
    start = time.perf_counter()
    for x, twist in zip(q, V):
        configuration.update(x)
        T = configuration.get_transform_frame_to_world(frame)
        R = T.rotation.T
        task.set_target(T * pin.exp6(np.concatenate([R @ twist[3:], R @ twist[:3]]) * dt))
        solve_ik(configuration, [task], dt, solver=solver, damping=1e-6, safety_break=False)
    best[solver] = (time.perf_counter() - start) / len(q)
print(json.dumps(min(best.values())))
"""


def resolve(robot: ts.Robot, q: np.ndarray, targets: dict[str, np.ndarray]) -> VelocityResult:
    return robot.differential_inverse_kinematics(q, targets, DT)


def compare(name: str, speed: float, python: str) -> dict[str, float]:
    """Times of a state [µs], the best of rounds in which the processes alternate, and the share of states slowed down."""
    (robot, frame, _), rng = arm_of(name), np.random.default_rng(11)
    q, V = robot.random_configuration(rng, STATES), speed * rng.normal(size=(STATES, 6))
    best: dict[str, float] = {}
    one = list(zip(q[:SINGLE], V[:SINGLE], strict=True))
    with tempfile.TemporaryDirectory() as folder, ts.threads(1):
        states, urdf = Path(folder, "states.npz"), Path(folder, "robot.urdf")
        np.savez(states, q=q[:SINGLE], V=V[:SINGLE])
        urdf.write_text(bare_urdf(name, robot))
        for _ in range(ROUNDS):
            arguments = [python, "-W", "ignore", "-c", PEER, str(urdf), frame, str(states), str(DT)]
            peer = float(json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout))
            found = resolve(robot, q, {frame: V})
            assert found.success.all()
            times = {
                "peer": peer,
                "batch": seconds_of(lambda: resolve(robot, q, {frame: V})) / STATES,
                "one": seconds_of(lambda: [resolve(robot, x, {frame: y}) for x, y in one]) / SINGLE,
            }
            best = {key: min(1e6 * x, best.get(key, np.inf)) for key, x in times.items()}
    return best | {"slowed": float((found.scale < 1).mean())}


def main() -> None:
    """One line per robot and size of the twists."""
    if len(sys.argv) != 2:
        sys.exit(str(__doc__).partition(":")[0] + ", PYTHON with pin-pink")
    os.sched_setaffinity(0, {0})
    for name in ROBOTS:
        for kind, speed in SPEEDS.items():
            x = compare(name, speed, sys.argv[1])
            print(f"{name}, twists {kind} ({100 * x['slowed']:.0f} % slowed down): pink {x['peer']:.0f} µs; torsor:")
            for key in ("batch", "one"):
                print(f"  {key}: {x[key]:.2f} µs, {x['peer'] / x[key]:.1f} times as fast" + " (goal 50)" * (key == "batch"))


if __name__ == "__main__":
    main()
