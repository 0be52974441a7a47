"""``python -m benchmarks.time_optimal``: against toppra over Pinocchio, alternating in one process, on one core.

Both sides get the same spline and limits.  Compared are the coefficients of the limits of joint force, the motion on one grid,
and ``time_optimal``, which chooses its grid.  Durations are checked first.  ``pip install toppra pin``, the extras motion and
pinocchio.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

import torsor as ts
from torsor.mechanics.trajectories.limit_rows import PathLimits, as_bounds
from torsor.mechanics.trajectories.reachability import controllable, fastest, intervals

ROBOTS = ("ur5", "panda")
#: points of the grid, rounds, largest speed of the joints [rad/s, m/s]
POINTS, ROUNDS, SPEED = 200, 30, 3.0


class Through:
    """A spline through five random configurations."""

    def __init__(self, robot: ts.Robot, seed: int):
        points = robot.neutral() + 0.7 * np.random.default_rng(seed).normal(size=(5, robot.nq))
        self.robot, self.points, self.breaks = robot, points, np.linspace(0, 1, 5)
        self.spline = CubicSpline(self.breaks, points)

    def __call__(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.spline(s), self.spline(s, 1), self.spline(s, 2)


class Evaluated:
    """A path of toppra that has been evaluated: to compare coefficients alone."""

    def __init__(self, values: tuple[np.ndarray, np.ndarray, np.ndarray]):
        self.values, self.dof = values, values[0].shape[1]
        self.eval, self.evald, self.evaldd = ((lambda s, x=x: x) for x in values)

    def __call__(self, s: np.ndarray, order: int = 0) -> np.ndarray:
        return self.values[order]


def best_times(calls: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The shortest time of each call [ms], in alternation."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], 1e3 * (time.perf_counter() - start))
    return best


def duration(s: np.ndarray, speed: np.ndarray) -> float:
    return float((2 * np.diff(s) / (speed[1:] + speed[:-1])).sum())


def compare(name: str) -> tuple[dict[str, float], dict[str, float]]:
    """Times [ms] and durations [s]."""
    import pinocchio
    import toppra

    robot = getattr(ts.robots, name)()
    path, s = Through(robot, 0), np.linspace(0, 1, POINTS)
    weight = np.abs(robot.gravity_force(path(s)[0])).max(axis=0)
    effort, speed = 1.3 * weight + 2, np.full(robot.nv, SPEED)
    bounds = {"effort": effort, "velocity": speed, "acceleration": np.full(robot.nv, np.inf)}
    limits = PathLimits(robot, path, {kind: as_bounds(kind, x, x) for kind, x in bounds.items()})

    model = ts.to_pinocchio(robot)
    data = model.createData()

    def torques(interpolate: bool) -> Any:
        return toppra.constraint.JointTorqueConstraint(
            lambda q, v, a: pinocchio.rnea(model, data, q, v, a), np.column_stack([-effort, effort]), np.zeros(robot.nv),
            discretization_scheme=toppra.constraint.DiscretizationType(int(interpolate)),
        )  # fmt: skip

    def plug(interpolate: bool) -> Any:
        return ts.bridges.toppra_constraint(robot, effort, interpolate=interpolate)

    velocities = toppra.constraint.JointVelocityConstraint(np.column_stack([-speed, speed]))
    spline = toppra.SplineInterpolator(path.breaks, path.points, bc_type="not-a-knot")

    def theirs(constraint: object) -> np.ndarray:
        found = toppra.algorithm.TOPPRA([velocities, constraint], spline, gridpoints=s, solver_wrapper="seidel")
        return found.compute_parameterization(0, 0)[1]

    def ours() -> np.ndarray:
        rows = limits(s)
        rows = rows.over(rows.scale)
        cells = intervals(rows.take(slice(None, -1)), rows.take(slice(1, None)), np.diff(s), np.zeros(POINTS, bool))
        return np.sqrt(fastest(cells, *controllable(cells, 0.0), 0.0))

    def whole() -> ts.trajectories.TimeOptimalTrajectory:
        return ts.trajectories.time_optimal(robot, path, effort_limit=effort, velocity_limit=speed)

    durations = {"toppra": duration(s, theirs(torques(True))), "torsor": duration(s, ours()), "refined": whole().duration}
    np.testing.assert_allclose(durations["torsor"], durations["toppra"], rtol=1e-4)
    known, loop, batch = Evaluated(path(s)), torques(False), plug(False)
    calls = {
        "coefficients, toppra's loop": lambda: loop.compute_constraint_params(known, s),
        "coefficients, one batch": lambda: batch.compute_constraint_params(known, s),
        "toppra": lambda: theirs(torques(True)),
        "toppra with the plug": lambda: theirs(plug(True)),
        "torsor on the same grid": ours,
        "time_optimal": whole,
    }
    with ts.threads(1):
        return best_times(calls), durations | {"points": len(whole().scaling.s)}  # type: ignore[attr-defined]


def main() -> None:
    """One block of lines per robot."""
    os.sched_setaffinity(0, {0})
    for name in ROBOTS:
        times, durations = compare(name)
        print(f"{name}: durations on {POINTS} points: toppra {durations['toppra']:.5f} s, torsor {durations['torsor']:.5f} s; "
              f"{durations['refined']:.5f} s on {durations['points']} points of its own")  # fmt: skip
        for call, x in times.items():
            peer = times["coefficients, toppra's loop" if "coefficients" in call else "toppra"]
            print(f"  {call}: {x:.3f} ms, {peer / x:.1f} times as fast")


if __name__ == "__main__":
    main()
