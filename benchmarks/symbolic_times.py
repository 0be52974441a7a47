"""``python -m benchmarks.symbolic_times``: seconds from a robot to its typeset equations, M, c, g, Γ and a Jacobian."""

from __future__ import annotations

import time

import torsor as ts

#: robot → limit [s] (issue 3): what a reader waits for
LIMITS = {"two_link": 1, "rp_arm": 1, "scara": 5, "planar_3r": 5, "stanford_arm": 30, "ur5": 30, "panda": 30}


def planar_3r() -> ts.Robot:
    """Three links in a plane."""
    b = ts.Builder("planar_3r").link("base")
    for k in (1, 2, 3):
        b.link(f"link{k}", mass=1.0, com=(0.5, 0, 0), inertia=(0, 0, 0.1))
        parent, xyz = ("base", (0, 0, 0)) if k == 1 else (f"link{k - 1}", (1.0, 0, 0))
        b.joint(f"joint{k}", "revolute", parent, f"link{k}", xyz=xyz)
    return b.build(gravity=(0, -9.81, 0))


def seconds(robot: ts.Robot, rounds: int = 3) -> float:
    """The best of several; the first one also imports SymPy."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        form = robot.symbolic()
        form.latex("M", "c", "g", "Gamma")
        form.quantity("J", robot.frames[-1]).latex()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """One line a robot, with its limit."""
    for name, limit in LIMITS.items():
        robot = planar_3r() if name == "planar_3r" else getattr(ts.robots, name)()
        took = seconds(robot)
        print(f"{name:<14}{took:8.2f} s   limit {limit:>2} s: {'met' if took <= limit else 'MISSED'}", flush=True)


if __name__ == "__main__":
    main()
