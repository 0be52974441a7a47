"""The main job on a bundled UR5, in a readable table: ``python -m torsor.cli.demo``."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import torsor as ts
from torsor.cli.timing import ROUNDS, seconds

#: duration of the fall, printed and shown in the replay page [s]
FALL = 3.0


def main() -> None:
    begun = time.perf_counter()
    robot = ts.robots.ur5()
    print(robot, end="\n\n")
    trajectory(robot)
    matrices(robot)
    fall(robot)
    speed(robot)
    print(f"\nAll of this took {time.perf_counter() - begun:.1f} s, compilation included.")


def trajectory(robot: ts.Robot) -> None:
    """Inverse dynamics of a fifth-order point-to-point motion: the whole trajectory is one call."""
    start, end = np.zeros(6), np.array([1.0, -1.2, 1.5, -0.8, 0.9, 0.5])
    s = np.linspace(0, 1, 5)[:, None]
    q = start + (end - start) * (10 * s**3 - 15 * s**4 + 6 * s**5)
    v = (end - start) * (30 * s**2 - 60 * s**3 + 30 * s**4)
    a = (end - start) * (60 * s - 180 * s**2 + 120 * s**3)
    tau = robot.inverse_dynamics(q, v, a).round(2) + 0.0  # without -0.00
    print("Joint torques along a 1 s motion [N·m]")
    names = [name.removesuffix("_joint") for name in robot.joints]
    print(" t [s]" + "".join(f"  {name}" for name in names))
    for t, row in zip(s[:, 0], tau, strict=True):
        print(f"{t:6.2f}" + "".join(f"{x:{len(name) + 2}.2f}" for x, name in zip(row, names, strict=True)))


def matrices(robot: ts.Robot) -> None:
    """M at a configuration, and forward dynamics undoing inverse dynamics."""
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-1, 1, 6), rng.normal(size=6), rng.normal(size=6)
    with np.printoptions(precision=3, suppress=True, linewidth=120):
        print(f"\nMass matrix at a random configuration [kg·m²]\n{robot.mass_matrix(q)}")
    back = robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a))
    print(f"\nForward dynamics of the torques of a random acceleration: off by {np.abs(back - a).max():.1e} rad/s²")


def fall(robot: ts.Robot, duration: float = FALL, dt: float = 1e-3) -> None:
    """From the zero configuration, without torques (MR Exercise 8.15), by the classical fourth-order Runge–Kutta method."""
    motion = robot.simulate(robot.neutral(), [0.0] * robot.nv, duration, integrator="rk4", dt=dt)
    print(f"\nA fall of {duration:g} s in {motion.info['steps']} Runge–Kutta steps")
    kinetic, error = motion.energies["kinetic"][-1], abs(motion.energy[-1] - motion.energy[0])
    print(f"  kinetic energy at the end {kinetic:.3f} J, total energy off by {error:.1e} J")


def speed(robot: ts.Robot, states: int = 100_000) -> None:
    """Time per evaluation, one call from Python and one call for many states, best of several."""
    rng = np.random.default_rng(1)
    q, v, a = (rng.normal(size=(states, 6)) for _ in range(3))
    gradient = robot.vjp("forward_dynamics")
    jobs: list[tuple[str, Callable[..., Any], tuple[np.ndarray, ...], int]] = [
        ("inverse dynamics", robot.inverse_dynamics, (q, v, a), robot.program("inverse_dynamics").operations),
        ("forward dynamics", robot.forward_dynamics, (q, v, a), robot.program("forward_dynamics").operations),
        ("its gradient", gradient, (q, v, a, a), gradient.operations),
        ("mass matrix", robot.mass_matrix, (q,), robot.program("mass_matrix").operations),
    ]
    many = f"batch of {states:,}"
    print(f"\nTime per evaluation [ns], batches on {ts.threads.count()} threads")
    print(f"{'':24}{'operations':>12}{'one call':>12}{many:>20}")
    for label, method, arrays, operations in jobs:
        one = [x[0].copy() for x in arrays]
        single = min(seconds(partial(method, *one), 2000) for _ in range(ROUNDS))
        result = method(*arrays)
        out = tuple(map(np.empty_like, result)) if isinstance(result, tuple) else np.empty_like(result)
        batch = min(seconds(partial(method, *arrays, out=out), 1) for _ in range(ROUNDS)) / states
        print(f"  {label:22}{operations:12}{single * 1e9:12.0f}{batch * 1e9:20.1f}")


if __name__ == "__main__":
    main()
