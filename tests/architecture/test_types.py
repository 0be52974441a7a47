"""Types of the public API, checked by ``mypy --strict`` on a user script, at night.  Skipped if mypy is not installed."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from operator import attrgetter
from pathlib import Path

import pytest

import torsor

pytest.importorskip("mypy")

SCRIPT = """
from pathlib import Path
from typing import assert_type

import numpy as np

import torsor as ts

robot = ts.load("arm.urdf", base="fixed", gravity=(0, 0, -9.81))
assert_type(robot, ts.Robot)
q, v, a = robot.neutral(), np.zeros(robot.nv), [0.0] * robot.nv

# dynamics
tau = robot.inverse_dynamics(q, v, a, wrenches={"tool0": [0.0] * 6})
assert_type(tau, np.ndarray)
assert_type(robot.forward_dynamics(q, v, tau), np.ndarray)
assert_type(robot.mass_matrix(q), np.ndarray)
assert_type(robot.jacobian(q, "tool0"), np.ndarray)
assert_type(robot.step(q, v, tau, 1e-3).q, np.ndarray)
assert_type(float(robot.mass), float)
assert_type(robot.with_payload("tool0", 2.0, com=np.zeros(3)), ts.Robot)
assert_type(robot.with_link("tool0", mass=2.0, com=np.zeros(3)), ts.Robot)
assert_type(robot.with_limits("elbow_joint", lower=-1.0), ts.Robot)
assert_type(robot.with_inertial_parameters(robot.inertial_parameters), ts.Robot)
assert_type(robot.lock({"wrist": 0.1}).nv, int)

# motion
result = robot.with_damping(True).simulate(q, v, 1.0, tau, integrator="rk4", dt=1e-3)
assert_type(result, ts.simulate.Result)
assert_type(result.q, np.ndarray)
assert_type(result.replay("motion.html", fps=60.0), ts.replay.ReplayPage)
plain: Path = result.replay("motion.html")
assert_type(robot.rollout(q, v, dt=1e-3, steps=100), ts.simulate.Rollout)
robot.simulate(q, v, 1.0, integratr="rk4")  # type: ignore[call-arg]
robot.view(prot=8080)  # type: ignore[call-arg]
robot.export_c("arm", "inverse_dynamics", fuse=True)  # type: ignore[call-arg]

# more rooms
held = robot.constrained(ts.constraints.point_on_plane("tool0", (0, 0, 1), through=(0, 0, 0.5)))
assert_type(held, ts.constraints.ConstrainedRobot)
assert_type(held.forward_dynamics(q, v, tau).a, np.ndarray)
assert_type(robot.task("tool0").mass_matrix(q), np.ndarray)
assert_type(ts.robots.ur5(), ts.Robot)
assert_type(ts.robots.two_link(m1=2.0), ts.Robot)
ts.robots.two_link(mass=2.0)  # type: ignore[call-arg]
ts.robots.ur6()  # type: ignore[attr-defined]
ts.laod("arm.urdf")  # type: ignore[attr-defined]
ts.constraints.point("tool0")  # type: ignore[attr-defined]
ts.simulate.Results  # type: ignore[attr-defined]
arm = ts.Builder("arm").link("base").link("rod", mass=1.0, com=(0, 0, -0.5)).joint("hinge", "revolute", "base", "rod")
assert_type(arm.build(), ts.Robot)


# any scalar
def double(x: ts.scalar.Scalar) -> ts.scalar.Scalar:
    return 2 * x


for x in (1, 1.0, np.float64(1.0), np.zeros(3), ts.scalar.Dual(1.0, 1.0), ts.scalar.Graph().input(0)):
    double(x)
double("1")  # type: ignore[arg-type]
double(None)  # type: ignore[arg-type]
double([1.0])  # type: ignore[arg-type]
double(ts.spatial.Vec(1, 0, 0))  # type: ignore[arg-type]
assert_type(ts.algorithms.rnea(robot.model, [0.0], [0.0], [0.0]), list[ts.scalar.Scalar])
X, V, F = ts.spatial.Transform.identity(), ts.spatial.Motion.zero(), ts.spatial.Force.zero()
assert_type(X @ V, ts.spatial.Motion)
assert_type(X.T @ F, ts.spatial.Force)
assert_type(V.cross(F), ts.spatial.Force)
"""


@pytest.mark.night
def test_user_script_passes_mypy_strict(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = true\nmypy_path = {Path(torsor.__file__).parents[1]}\n")
    kept = Path(tempfile.gettempdir()) / "torsor-tests-mypy"  # kept between runs, or mypy would analyse NumPy again
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir", str(kept), str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_names_of_the_script_exist_unless_mypy_is_to_report_them():
    """Without mypy, which takes a quarter of a minute when it has no cache."""
    for line in SCRIPT.splitlines():
        for name in re.findall(r"\bts\.([\w.]*\w)", line):
            try:
                attrgetter(name)(torsor)
            except AttributeError:
                assert "ignore[attr-defined]" in line, line
            else:
                assert "ignore[attr-defined]" not in line, line
