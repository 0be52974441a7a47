"""integrator="implicit": joint forces that are steep in q or v, linearly implicit in a rollout's step."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.constraints.mechanisms import four_bar
from torsor.actuators import friction
from torsor.errors import UnknownName

MASS, K, D, DT = 0.02, 200.0, 5.0, 1e-2


def slider(mass: float = MASS) -> ts.Robot:
    built = ts.Builder("slider").link("ground").link("cart", mass=mass, inertia=(1e-3, 1e-3, 1e-3))
    return built.joint("slide", "prismatic", "ground", "cart", axis=(1, 0, 0)).build(gravity=(0, 0, 0))


def spring(q, v):
    return [-K * q[0] - D * v[0]]


def test_implicit_step_of_a_linear_law_is_backward_euler():
    """(m + dt d + dt² k) v⁺ = m v − dt k q, q⁺ = q + dt v⁺: stable for any dt; semi-implicit Euler is not here."""
    run = slider().rollout([0.3], [1.0], dt=DT, steps=40, integrator="implicit", controller=spring)
    q, v = 0.3, 1.0
    for k in range(40):
        v = (MASS * v - DT * K * q) / (MASS + DT * D + DT**2 * K)
        q = q + DT * v
        assert run.v[k, 0] == pytest.approx(v, rel=1e-12)
        assert run.q[k, 0] == pytest.approx(q, rel=1e-12)
    assert abs(q) < 1e-6
    explicit = slider().rollout([0.3], [1.0], dt=DT, steps=40, controller=spring)
    assert abs(explicit.q[-1, 0]) > 1e6


def test_implicit_step_of_saturated_friction_does_not_overshoot():
    law = friction.Coulomb(0.6).smooth(0.1)
    robot = slider(1e-3).with_friction({"slide": law})
    run = robot.rollout([0.0], [2.0], dt=1e-2, steps=60, integrator="implicit")
    assert (run.v >= 0).all()
    assert (np.diff(run.v[:, 0]) <= 0).all()
    assert run.v[-1, 0] < 1e-12
    explicit = robot.rollout([0.0], [2.0], dt=1e-2, steps=60)
    assert explicit.v[:, 0].min() < -1.0


def test_implicit_step_has_first_order_and_leaves_smooth_motions_alone():
    arm = ts.robots.two_link().with_friction({"joint1": friction.Coulomb(2.0).smooth(0.3)})
    q, v, tau = [0.3, 0.5], [1.0, -0.5], [1.0, 0.5]
    end = arm.rollout(q, v, np.array(tau), dt=1e-3, steps=200, integrator="rk4", record="last").v[-1]
    errors = [
        np.abs(arm.rollout(q, v, np.array(tau), dt=0.2 / n, steps=n, integrator="implicit", record="last").v[-1] - end).max()
        for n in (100, 200)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1, abs=0.05)
    bare = ts.robots.two_link()
    both = [bare.rollout(q, v, np.array(tau), dt=1e-3, steps=5, integrator=x).q for x in ("implicit", "semi_implicit")]
    assert np.array_equal(*both)


@pytest.mark.parametrize("loop", [False, True])
def test_implicit_rollout_gradient_equals_differences(loop):
    law = friction.Coulomb(2.0).smooth(0.05)
    if loop:
        robot = four_bar().with_friction({"A": law})
        q = robot.assemble([1.0, 0.5, 1.5])
        v = robot.constrained().project_velocity(q, [2.0, 0.0, 0.0])
    else:
        robot, q, v = ts.robots.two_link().with_friction({"joint2": law}), np.array([0.3, 0.5]), np.array([1.0, -0.5])
    rng = np.random.default_rng(1)
    u, du = rng.normal(size=(2, 6, robot.nv))
    run = robot.rollout(q, v, u, dt=1e-2, integrator="implicit", differentiable=True)
    w = rng.normal(size=run.v.shape)

    def loss(s: float) -> float:
        return float((w * robot.rollout(q, v, u + s * du, dt=1e-2, integrator="implicit").v).sum())

    assert np.sum(run.gradient(v=w).controls * du) == pytest.approx((loss(1e-5) - loss(-1e-5)) / 2e-5, rel=1e-6)
    if loop:
        assert run.residual[0] < 1e-9


def test_unknown_integrator_lists_implicit():
    with pytest.raises(UnknownName, match="implicit"):
        slider().rollout([0.0], [0.0], dt=DT, steps=1, integrator="trapezoid")
    with pytest.raises(UnknownName, match="implicit"):
        slider().step([0.0], [0.0], [0.0], DT, "trapezoid")


def test_step_of_a_linear_law_is_backward_euler():
    robot = slider().with_springs({"slide": ts.terms.Spring(K, D)})
    q, v = robot.step([0.3], [1.0], [0.0], DT, "implicit")
    after = (MASS * 1.0 - DT * K * 0.3) / (MASS + DT * D + DT**2 * K)
    assert v[0] == pytest.approx(after, rel=1e-12)
    assert q[0] == pytest.approx(0.3 + DT * after, rel=1e-12)


@pytest.mark.parametrize("loop", [False, True], ids=["tree", "loop"])
def test_step_is_the_step_of_a_rollout_and_has_its_derivative(loop):
    base = four_bar() if loop else ts.robots.two_link()
    robot = base.with_friction({base.model.joint_names[1]: friction.Coulomb(0.5).smooth(0.02)})
    rng = np.random.default_rng(2)
    q, v = robot.neutral(), 0.2 * rng.normal(size=robot.nv)
    if loop:
        q = robot.assemble(q)
        v = robot.constrained().project_velocity(q, v)
    tau, w = rng.normal(size=(2, robot.nv))
    one = robot.step(q, v, tau, DT, "implicit")
    run = robot.rollout(q, v, tau[None], dt=DT, integrator="implicit")
    np.testing.assert_allclose(one[0], run.q[0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(one[1], run.v[0], rtol=0, atol=1e-14)
    du = rng.normal(size=robot.nv)
    by_tau = robot.vjp("step:implicit", by="tau")(q, v, tau, DT, np.zeros(robot.nv), w)
    ends = [robot.step(q, v, tau + s * du, DT, "implicit").v for s in (1e-5, -1e-5)]
    assert by_tau @ du == pytest.approx(w @ (ends[0] - ends[1]) / 2e-5, rel=1e-7)
    if not loop:
        A, B = robot.linearize(q, v, tau, dt=DT, integrator="implicit")
        moved = [robot.step(q, v + s * du, tau, DT, "implicit").v for s in (1e-6, -1e-6)]
        np.testing.assert_allclose(A[robot.nv :, robot.nv :] @ du, (moved[0] - moved[1]) / 2e-6, atol=1e-7)
