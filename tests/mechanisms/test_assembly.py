"""assemble: from perturbed guesses, with fixed joints, and the error when the loops cannot be closed."""

from __future__ import annotations

from math import acos

import numpy as np
import pytest

import torsor as ts
from tests.mechanisms.states import configurations_at, constrained_system
from torsor import mechanisms

NAMES = ("four_bar", "slider_crank", "five_bar", "pantograph", "peaucellier", "bricard")


@pytest.mark.parametrize("name", NAMES)
def test_assemble_of_a_perturbed_guess_gives_a_closed_configuration_near_it(name):
    system, rng = constrained_system(name), np.random.default_rng(0)
    robot = system.robot
    for _ in range(5):
        off = 0.1 * rng.normal(size=robot.nv)
        q = robot.assemble(robot.integrate(robot.neutral(), off, 1.0), attempts=0)
        assert np.abs(system.residual(q)).max() < 1e-11
        assert np.linalg.norm(q - robot.neutral()) < 3 * np.linalg.norm(off)


def test_fixed_joints_keep_their_values():
    robot = mechanisms.peaucellier()
    q = robot.assemble([0.3, *[0.05] * 6], fixed=["crank"])
    assert q[0] == 0.3
    q = robot.assemble([0.3, *[0.0] * 6], free=[name for name in robot.joints if name != "arm_upper"])
    assert q[robot.joint("arm_upper").q_slice] == 0.0
    assert np.abs(robot.constrained().residual(q)).max() < 1e-11


@pytest.mark.parametrize(
    ("robot", "guess", "loop"),
    [
        (lambda: mechanisms.four_bar(ground=1.0, crank=0.7, coupler=0.4, rocker=0.5), [2.0, 0, 0], "pin"),
        (mechanisms.peaucellier, [2.5, *[0.0] * 6], "corner_upper|corner_lower|pen"),
        (mechanisms.bricard, [-1.2, 0, 0, 0, 0], "hinge6"),
    ],
)
def test_unreachable_crank_angle_is_a_closure_error(robot, guess, loop):
    made = robot()
    with pytest.raises(ts.ClosureError, match=f"with {made.joints[0]} held, '({loop})' has a closure error of"):
        made.assemble(guess, fixed=[made.joints[0]], attempts=5)


def test_four_bar_closes_up_to_the_crank_angle_of_the_law_of_cosines():
    """The largest angle has coupler and rocker in line: (coupler + rocker)² = crank² + ground² − 2 crank ground cos θ."""
    system = mechanisms.four_bar(ground=1.0, crank=0.7, coupler=0.4, rocker=0.5).constrained()
    most = acos((0.7**2 + 1.0**2 - 0.9**2) / (2 * 0.7))
    q = configurations_at(system, "crank", np.linspace(0.0, 0.9999 * most, 20))[-1]
    with pytest.raises(ts.ClosureError, match="'pin' has a closure error"):
        configurations_at(system, "crank", [1.0001 * most], q)


def test_a_branch_is_kept_by_a_near_guess_and_chosen_by_a_far_one():
    """The four-bar can be closed in two ways at each crank angle; the initial guess selects one."""
    robot = mechanisms.four_bar()
    open_, crossed = (robot.assemble([1.0, *rest], fixed=["crank"], attempts=0) for rest in ([-1.0, -0.5], [-3.0, -3.5]))
    assert np.sin(open_[2] + np.arctan2(*_rocker(robot))) > 0 > np.sin(crossed[2] + np.arctan2(*_rocker(robot)))


def _rocker(robot):
    """(y, x) of the end of the rocker in its own frame: twice its centre of mass."""
    com = robot.link("rocker").com
    return com[1], com[0]
