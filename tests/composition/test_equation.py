"""The equation composed by hand against other derivations of its parts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.composition.case import DT, STEPS, case_of
from tests.composition.features import BEAM, FEATURES, bend
from tests.tolerance import assert_close


@pytest.mark.parametrize("more", [(), ("floating base",)])
def test_moving_base_turns_and_moves_as_its_pose_does(more):
    e = case_of([FEATURES[name] for name in ("base motion", *more)]).equation
    at = lambda t: e.pose(e.tree.neutral(), "base", t)  # noqa: E731
    h, t = 1e-3, 0.3
    rate = (8 * (at(t + h) - at(t - h)) - (at(t + 2 * h) - at(t - 2 * h))) / (12 * h)
    V = np.linalg.inv(at(t)) @ rate
    assert_close([V[2, 1], V[0, 2], V[1, 0], *V[:3, 3]], e.given(e.tree.neutral(), t)[:6], relative=1e-9)


def test_moving_base_without_acceleration_and_tilt_changes_nothing():
    """A base at constant velocity is an inertial frame."""
    plain, moved = case_of([]), case_of([FEATURES["base motion"]])
    moved.equation.embedding = moved.equation.embedding._replace(
        q=lambda q, t: np.array([0.3 * t, 0.1, -0.2 * t, 0, 0, 0, 1, *q]),
        v=lambda q, v, t: np.array([0, 0, 0, 0.3, 0, -0.2, *v]),
    )
    ends = [x.equation.run(x.start, x.command, DT, STEPS)[-1] for x in (plain, moved)]
    assert_close(ends[1].v, ends[0].v, relative=1e-10)


def test_bent_arm_moves_as_the_robot_with_the_same_beam():
    """Against the recursions over shared coordinates of torsor.flexible, whose quadrature has other points."""
    case = case_of([])
    bend(case)
    s = case.instant
    arm = case.equation.tree.with_beams({"upper": BEAM})
    a = arm.forward_dynamics(*s[:2], case.commands)
    assert_close(case.equation.forward(s, case.commands), a, relative=1e-9)
