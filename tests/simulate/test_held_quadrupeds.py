"""A thousand quadrupeds on held feet with joint friction in one rollout, and the gradient of it, by differences."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.actuators import friction
from torsor.simulate import per_robot

N, T, DT = 1000, 20, 1e-3
BENT = {"HAA": 0.1, "HFE": 0.8, "KFE": -1.6}


@pytest.fixture(scope="module")
def standing():
    """The robot, and states of N of them: pushed, feet at rest."""
    dog = ts.robots.quadruped()
    legs = [name for name in dog.joints if name != "floating_base"]
    q = dog.neutral()
    for name in legs:
        q[dog.joint(name).q_slice] = BENT[name[-3:]]
    feet = [ts.constraints.point_at(f, dog.pose(q, f)[:3, 3]) for f in dog.frames if f.endswith("_FOOT")]
    robot = dog.with_friction(dict.fromkeys(legs, friction.Coulomb(0.3).smooth(0.1))).with_constraints(*feet)
    pushes = np.random.default_rng(0).normal(scale=0.3, size=(N, robot.nv))
    return robot, legs, np.tile(q, (N, 1)), robot.constrained().project_velocity(q, pushes)


@pytest.mark.night
def test_gradient_of_a_thousand_quadrupeds_on_held_feet_equals_differences(standing):
    robot, legs, q, v = standing
    rng = np.random.default_rng(1)
    u = np.concatenate([np.zeros((N, T, 6)), rng.normal(size=(N, T, 12))], axis=-1)
    rub = {name: per_robot(rng.uniform(0.5, 1.5, N)) for name in legs}

    def run(v, u, rub, **more):
        return robot.rollout(q, v, u, dt=DT, vary={"friction": rub}, **more)

    once = run(v, u, rub, differentiable=True)
    assert once.q.shape == (N, T, robot.nq)
    assert once.residual[:, 0].max() < 1e-9
    for foot in (name for name in robot.frames if name.endswith("_FOOT")):
        np.testing.assert_allclose(robot.pose(once.q[:, -1], foot)[:, :3, 3], robot.pose(q, foot)[:, :3, 3], atol=1e-9)
    w = rng.normal(size=once.v.shape)
    g = once.gradient(v=w)
    du = rng.normal(size=u.shape)
    dv = robot.constrained().project_velocity(q, rng.normal(size=v.shape))  # along the rows
    d_rub = {name: rng.normal(size=N) for name in legs}

    def losses(h):
        moved = {name: per_robot(x.values + h * d_rub[name]) for name, x in rub.items()}
        return np.sum(w * run(v + h * dv, u + h * du, moved).v, axis=(1, 2))

    h = 1e-5
    expected = (losses(h) - losses(-h)) / (2 * h)  # of each robot
    by_friction = sum(g.vary["friction"][name] * d_rub[name] for name in legs)
    found = np.sum(g.v0 * dv, axis=1) + np.sum(g.controls * du, axis=(1, 2)) + by_friction
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.night
def test_one_of_many_quadrupeds_has_the_bits_of_one_alone(standing):
    robot, _, q, v = standing
    many = robot.rollout(q, v, dt=DT, steps=T, record="last")
    for k in (0, 501, N - 1):
        alone = robot.rollout(q[k], v[k], dt=DT, steps=T, record="last")
        np.testing.assert_array_equal(many.q[k], alone.q)
        np.testing.assert_array_equal(many.v[k], alone.v)
