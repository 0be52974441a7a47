"""A gripper that holds a kilogram by friction, against its closed form: it slips from 2 μ F = m g on."""

from __future__ import annotations

import numpy as np
import pytest

from . import bodies

G = bodies.G
MU = 0.5
CORNERS = [(y, z) for y in (-0.015, 0.015) for z in (-0.015, 0.015)]
SOFT = {"stiffness": 1e5, "damping": 100.0}


def hold(pads, load: float, seconds: float, **contact):
    """The motion of the cube while both fingers press with F = load · m g/2μ."""
    robot = bodies.gripper(pads, friction=MU, **contact)
    u = np.zeros(robot.nv)
    u[:2] = load * G / (2 * MU)
    steps = round(seconds / 1e-3)
    return robot.rollout(robot.neutral(), np.zeros(robot.nv), u, dt=1e-3, steps=steps, record=min(steps, 100))


def assert_stays(run, creep: float):
    """The cube ends within ``creep`` [m] of where it was after the first 0.1 s."""
    cube = run.q[:, 2:5]
    assert abs(cube[-1] - cube[0]).max() < creep
    assert abs(cube[0]).max() < 1e-4  # soft pads give way a little at the start
    assert abs(run.v[-1]).max() < 1e-6


def test_gripper_with_one_hard_pad_per_finger_holds_a_kilogram_for_a_minute():
    """2 μ F = 1.05 m g.  It creeps by the regularisation of G alone, ε tr(G)/3 λ ≈ 3e-11 m/s."""
    assert_stays(hold([(0, 0)], 1.05, 60), creep=1e-8)


def test_gripper_with_soft_pads_holds_a_kilogram_for_a_minute():
    """Four spheres per finger, each a spring: their loads are determinate, and the cube neither slips nor turns."""
    run = hold(CORNERS, 1.05, 60, **SOFT)
    assert_stays(run, creep=1e-8)
    squeezed = 1.05 * G / (2 * MU) / (4 * SOFT["stiffness"])  # F/4k
    np.testing.assert_allclose(run.q[-1, :2], squeezed, rtol=1e-4)


def test_gripper_with_four_hard_pads_per_finger_holds_a_kilogram():
    """1.5 times the force that is needed, but rigid contact leaves open how four pads share it: it has to be shared evenly.

    All on one pad per finger is a solution too, in which the cube swings about the line through these two pads.
    """
    assert_stays(hold(CORNERS, 1.5, 1), creep=1e-6)


@pytest.mark.parametrize(("pads", "contact"), [([(0, 0)], {}), (CORNERS, SOFT)], ids=["hard", "soft"])
def test_cube_slips_out_of_a_gripper_that_presses_too_little(pads, contact):
    """2 μ F = 0.95 m g: the cube falls with 0.05 g."""
    run = hold(pads, 0.95, 0.2, **contact)
    assert abs(run.v[-1, 7] + 0.05 * G * 0.2) < 2e-4  # of 0.0981 m/s; soft pads need a few steps until they press
