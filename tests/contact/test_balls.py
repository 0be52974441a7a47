"""A box on balls that roll between it and the ground, against its analytic acceleration: 25 balls, 150 N at 45°."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.at import Inputs
from torsor.algorithms.equation.step import step

from . import bodies

G = bodies.G
RADIUS, GAP, DT = 0.1, 0.3, 1e-3
#: of the analytic solution, with 10 kg of the box and 150 N on 25 balls of 1 kg [m/s²]
ACCELERATION = 8.0


def box_on_balls(side: int, friction: float):
    """A box on side² balls of 1 kg, its configuration, and the push at 45° between x and y; per ball always the same.

    Rolling balls move with half of the box's acceleration a.  With forces f above and f' below, f + f' = m a/2 and
    (f − f') r = (2/5) m r² · a/2r: f = (7/20) m a and f' = (3/20) m a.  So a = F/(M + n (7/20) m) = 150/18.75 = 8 m/s².
    They roll where μ M g/n > (7/20) m a, that is μ > 0.714.  F acts so far below the centre of the box that it and the n f at
    the lower face have no moment: then all balls carry the same.
    """
    n, m, thick = side**2, 1.0, 0.2
    M, F = 10.0 * n / 25, 150.0 * n / 25
    b = ts.Builder("box on balls").link("ground").link("box", mass=M, inertia=[M] * 3)
    b.joint("box free", "floating", parent="ground", child="box")
    for k in range(n):
        b.link(f"ball{k}", mass=m, inertia=[0.4 * m * RADIUS**2] * 3)
        b.joint(f"ball{k} free", "floating", parent="ground", child=f"ball{k}")
    balls = [ts.contacts.sphere(f"ball{k}", radius=RADIUS) for k in range(n)]
    lid = ts.contacts.box((2 * side * GAP, 2 * side * GAP, thick), frame="box")
    robot = b.build().with_contacts(balls, ts.contacts.plane(), friction=friction, name="ground")
    robot = robot.with_contacts(balls, lid, friction=friction, name="box")
    q = robot.neutral().reshape(-1, 7)
    q[0, 2], q[1:, 2] = 2 * RADIUS + thick / 2, RADIUS
    places = (np.arange(side) - (side - 1) / 2) * GAP
    q[1:, 0], q[1:, 1] = (x.ravel() for x in np.meshgrid(places, places))
    along = np.array([1, 1, 0]) / np.sqrt(2)
    height = -thick / 2 * n * 0.35 * m * ACCELERATION / F
    push = np.concatenate([np.cross([0, 0, height], F * along), F * along])
    return robot, q.ravel(), push


def assert_rolls(v, t: float, relative: float):
    """The box has a t along the push, and does not turn; the balls turn with a t/2r about the axis across it."""
    along, across = np.array([1, 1, 0]) / np.sqrt(2), np.array([-1, 1, 0]) / np.sqrt(2)
    box, balls = v[0], v[1:]
    speed = ACCELERATION * t
    assert abs(box[3:] - speed * along).max() < relative * speed
    assert abs(box[:3]).max() < relative * speed / RADIUS
    assert abs(balls[:, :3] - speed / (2 * RADIUS) * across).max() < relative * speed / RADIUS


@pytest.mark.parametrize("friction", [
    3.0,
    0.8,
])  # fmt: skip
def test_box_on_four_balls_has_the_acceleration_of_rolling(friction):
    robot, q, push = box_on_balls(2, friction)
    run = robot.rollout(q, np.zeros(robot.nv), dt=DT, steps=50, wrenches={"box": push})
    assert_rolls(run.v[-1].reshape(-1, 6), run.t[-1], 1e-6)


@pytest.mark.night
@pytest.mark.parametrize("friction", [0.8, 3.0])
def test_box_on_25_balls_has_the_acceleration_of_rolling(friction):
    """156 degrees of freedom and 50 contacts: five steps over floats, as their kernel would be long to compile."""
    robot, q, push = box_on_balls(5, friction)
    e, q, v = EquationOfMotion(robot.model), q.tolist(), [0.0] * robot.nv
    x, given = [0.0] * len(robot.state_names), {"box": push.tolist()}
    for _ in range(5):
        q, v, x = step(e, q, v, [0.0] * robot.nv, DT, x, inputs=Inputs(wrenches=given))
    assert_rolls(np.reshape(v, (-1, 6)), 5 * DT, 1e-6)
    carried = np.array(x[2:75:3])  # the forces of "ground" are first
    np.testing.assert_allclose(carried.sum(), 35 * G, rtol=1e-6)
    np.testing.assert_allclose(carried, 35 * G / 25, rtol=0.01)
