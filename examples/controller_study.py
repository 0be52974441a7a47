"""Study of PD gains for a two-link arm with different loads, on several processes; it can be interrupted and resumed.

Each point is a robot of its own, with its own compiled kernel; inside a point, 100 arms start from 100 places at once.
Call it with the address of a Dask scheduler, ``tcp://...:8786``, and the same study runs there.
"""

import sys

import numpy as np

import torsor as ts
from torsor.simulate import pd


def settle(robot, load, kp, kd):
    """Root mean square error of 100 arms after one second [rad], and the largest torque [N·m]."""
    arm = robot.with_payload("tip", mass=load)
    start = np.random.default_rng(0).uniform(-0.5, 0.5, size=(100, 2))
    spring = ts.Controller(pd(arm), parameters={"target": np.zeros(2), "kp": kp, "kd": kd})
    run = arm.rollout(start, np.zeros(2), dt=1e-3, steps=1000, controller=spring)
    torque = np.abs(kp * run.q + kd * run.v).max()
    return {"error": float(np.sqrt(np.mean(run.q[:, -1] ** 2))), "torque": float(torque)}


if __name__ == "__main__":
    workers = sys.argv[1] if len(sys.argv) > 1 else 2
    grid = {"load": [0.0, 0.5, 1.0], "kp": [300.0, 1000.0], "kd": [30.0, 60.0]}
    study = ts.sweep(ts.robots.two_link(), grid, settle, workers=workers, results="controller_study")

    for outcome in study:  # as they finish, those of an earlier run first
        print(outcome.point, outcome.value or outcome.failure)

    worst = study.array("error").max(axis=0)  # over the loads
    i, j = np.unravel_index(worst.argmin(), worst.shape)
    print(f"best: kp = {grid['kp'][i]:g}, kd = {grid['kd'][j]:g}, error at most {worst[i, j]:.4f} rad")
