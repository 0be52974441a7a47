"""Functions of the user inside terms are keyed by what they record: equal ones share kernels, also on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import torsor as ts
from torsor.kernels.digest import digest
from torsor.scalar import sin, tanh

ROOT = Path(__file__).parents[2]


def drive(k: float) -> ts.actuators.Drive:
    motor = ts.actuators.Motor(torque_constant=0.05, resistance=0.5, friction=lambda w: k * tanh(w))
    return ts.actuators.Drive(motor, ts.actuators.Gearbox(10))


def plane(k: float) -> object:
    return ts.constraints.prescribed(ts.constraints.point_on_plane("tip", (1, 0, 0), through=(1, 0, 0)), lambda t: [k * sin(t)])


ATTACH = {
    "spring": lambda robot, k: robot.with_springs({"joint1": lambda q, rate: -k * q * q * q}),
    "field": lambda robot, k: robot.with_forces({"tip": ts.forces.field(lambda p, v: [-k * v[0], 0, k * p[1]])}),
    "drive": lambda robot, k: robot.with_drives({"joint2": drive(k)}, command="voltage"),
    "driven row": lambda robot, k: robot.with_constraints(plane(k)),
    "base motion": lambda robot, k: robot.with_base_motion(lambda t: [0, k * sin(t), 0]),
}


@pytest.mark.parametrize("kind", ATTACH)
def test_equal_functions_make_equal_robots_with_one_digest(kind):
    a, b, c = (ATTACH[kind](ts.robots.two_link(), k) for k in (2.0, 2.0, 3.0))
    assert a == b != c
    assert digest(a.model) == digest(b.model) != digest(c.model)
    assert digest(a.model) is not None


SCRIPT = """
import sys
import torsor.kernels.kernels as kernels
from tests.kernels.test_functions_of_terms import ATTACH
import torsor as ts

robot = ATTACH[sys.argv[1]](ts.robots.two_link(), 2.0)
if sys.argv[2] == "found":
    def refuse(*args, **options):
        raise AssertionError("it is recorded again")
    kernels.record_shortest = refuse
time = {"time": 0.5} if robot.model.depends_on_time else {}
q, v, u = [0.3, 0.4], [0.5, 0.6], [0.1, 0.2]
print(robot.joint_forces(u, q, v), robot.forward_dynamics(q, v, u, **time))
"""


@pytest.mark.parametrize("kind", ATTACH)
def test_another_process_finds_the_kernel_of_an_equal_function_on_disk(kind, tmp_path):
    tmp_path.chmod(0o700)
    env = os.environ | {"TORSOR_CACHE": str(tmp_path), "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    printed = []
    for word in ("made", "found"):
        run = subprocess.run([sys.executable, "-c", SCRIPT, kind, word], env=env, capture_output=True, text=True, timeout=120)
        assert run.returncode == 0, run.stderr
        printed.append(run.stdout)
    assert printed[0] == printed[1]
