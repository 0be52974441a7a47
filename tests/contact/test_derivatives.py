"""Derivatives of steps with impulses: against central differences of converged steps, where stick, slip and open stay."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.contact import bodies
from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.at import Inputs
from torsor.algorithms.equation.step import advance
from torsor.algorithms.impulses import Budget, ImpulseSolver, solve_impulses
from torsor.model.friction import Coulomb

DT = 1e-3


def converged_step(robot: ts.Robot, q, v, tau, x=(), integrator="semi_implicit"):
    """A step over floats whose impulses are solved to rounding: that of the default budget is not smooth below its residual."""
    by_body = any(term.kind == "contact" and len(term.frames) > 4 for term in robot.model.terms)
    budget = Budget(1, 0, 3000) if by_body else Budget(60, 4, 0, True)
    solver = ImpulseSolver(lambda p, guess, _: solve_impulses(p, guess, budget))
    given = [list(map(float, y)) for y in (q, v, x)]
    after = advance(
        EquationOfMotion(robot.model), *given[:2], lambda *_: list(map(float, tau)), DT, Inputs(x=given[2] or None), integrator,
        impulses=solver,
    )  # fmt: skip
    return np.array(after.q), np.array(after.v)


def check(robot: ts.Robot, q, v, tau, x=None, integrator="semi_implicit", tolerance=1e-6):
    """Each column of A and B of ``linearize``, relative to the largest entry of its block."""
    A, B = robot.linearize(q, v, tau, dt=DT, integrator=integrator, **({} if x is None else {"x": x}))
    n, h = robot.nv, 1e-6
    start, _ = converged_step(robot, q, v, tau, x if x is not None else (), integrator)

    def column(dq, dv, du):
        ends = []
        for side in (1, -1):
            state = robot.integrate(q, dq, side * h), v + side * h * dv, tau + side * h * du
            ends.append(converged_step(robot, *state, x if x is not None else (), integrator))
        (qa, va), (qb, vb) = ends
        return np.concatenate([robot.difference(start, qa) - robot.difference(start, qb), va - vb]) / (2 * h)

    zero = np.zeros(n)
    for got, expected in (
        (A[:, :n], [column(e, zero, zero) for e in np.eye(n)]),
        (A[:, n:], [column(zero, e, zero) for e in np.eye(n)]),
        (B, [column(zero, zero, e) for e in np.eye(n)]),
    ):
        expected = np.array(expected).T
        assert abs(got - expected).max() <= tolerance * max(1, abs(expected).max())


def after(robot: ts.Robot, q, v, steps=40, controller=None):
    """A state on the way, and the forces of its contacts."""
    run = robot.rollout(q, np.asarray(v, float), dt=DT, steps=steps, controller=controller)
    return run.q[-1], run.v[-1], None if run.x is None else run.x[-1]


@pytest.mark.parametrize(("v", "steps"), [([0, 0, 0, 1.0, 0.2, 0], 40), ([0, 5.0, 0, 0.5, 0, 0], 100), ([0] * 6, 10)])
def test_ball_that_slides_rolls_or_rests(v, steps):
    ball = bodies.ball(friction=0.3)
    q, v, x = after(ball, bodies.at_height(ball, 0.1), v, steps)
    check(ball, q, v, np.zeros(6), x)


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_box_on_redundant_corners(speed):
    box = bodies.box(friction=0.5)
    q, v, x = after(box, bodies.at_height(box, 0.1), [0, 0, 0, speed, 0.1 * speed, 0])
    check(box, q, v, np.zeros(6), x)


@pytest.mark.parametrize("friction", [0.8, 0.15], ids=["sticks", "slips"])
def test_quadruped(friction):
    quadruped = ts.robots.quadruped()
    feet = [ts.contacts.sphere(f, 0.016) for f in quadruped.frames if f.endswith("FOOT")]
    robot = quadruped.with_contacts(feet, ts.contacts.plane(), friction=friction)
    q = np.concatenate([[0, 0, 0.235, 0, 0, 0, 1], np.tile([0, 0.8, -1.6], 4)])
    q[2] -= robot.contact_gap(q).min()
    rest = q[7:].tolist()

    def servo(q, v):
        return [0] * 6 + [5 * (r - a) - 0.1 * b for r, a, b in zip(rest, q[7:], v[6:], strict=True)]

    q, v, x = after(robot, q, [0, 0, 0, 0.5, 0.2, 0, *[0] * 12], 150, servo)
    for integrator in ("semi_implicit", "implicit"):
        check(robot, q, v, np.array(servo(q, v)), x, integrator)


def test_joints_with_dry_friction_and_stops():
    arm = ts.robots.ur5()
    robot = arm.with_friction(dict.fromkeys(arm.joints, Coulomb(5.0))).with_stops(0.3)
    q = np.array([0, -1, 1, 0, 0.5, arm.upper[5] - 1e-5])
    check(robot, q, np.array([1.0, 0, -1, 0.2, 0, 0.5]), np.array([1.0, 20, 3, 2, 0, 0]))


def test_joints_of_a_loop_with_dry_friction():
    linkage = ts.mechanisms.four_bar()
    q = np.asarray(linkage.constrained().assemble(linkage.neutral()))
    robot = linkage.with_friction({"crank": Coulomb(0.1)})
    A, B = robot.linearize(q, np.zeros(3), np.array([1.0, 0, 0]), dt=DT)
    h = 1e-6
    for k in range(3):
        ends = [robot.step(q, np.zeros(3), np.array([1.0, 0, 0]) + side * h * np.eye(3)[k], DT)[1] for side in (1, -1)]
        np.testing.assert_allclose(B[3:, k], (ends[0] - ends[1]) / (2 * h), atol=1e-8)
    assert np.isfinite(A).all()


def test_gradient_of_a_bounce_by_its_height_is_minus_the_restitution():
    """∂z_T/∂z₀ = −e: the time of an impact within its step has a derivative (google/brax#317)."""
    ball = bodies.ball(friction=0.3, restitution=0.5).with_gravity((0, 0, 0))
    q = np.stack([bodies.at_height(ball, z) for z in 0.3 + np.linspace(0, 0.04, 11)])
    run = ball.rollout(q, np.array([0, 0, 0, 0, 0, -4.0]), dt=0.01, steps=20, differentiable=True)
    weights = np.zeros((11, 20, 6))
    weights[:, -1, 5] = 1
    np.testing.assert_allclose(run.gradient(q=weights).q0[:, 5], -0.5, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gradient_of_a_rollout_is_that_of_its_numbers(dtype):
    """A body on three points is pushed along the ground, sticks and slides: the gradient by the pushes against differences."""
    box = bodies.body("box", 1.0, [0.01, 0.01, 0.01])
    feet = [ts.contacts.point("box", (0.1 * np.cos(a), 0.1 * np.sin(a), -0.1)) for a in (0, 2, 4)]
    box = box.with_contacts(feet, ts.contacts.plane(), friction=0.3)
    q, T = bodies.at_height(box, 0.1), 30
    push = np.zeros((T, 6))
    push[:, 3] = np.linspace(2.0, 6.0, T)  # 2.9 N would move it

    def end(u):
        return box.rollout(q, np.zeros(6), u, dt=DT, dtype=dtype).v[-1, 3]

    run = box.rollout(q, np.zeros(6), push, dt=DT, differentiable=True, dtype=dtype)
    weights = np.zeros((T, 6))
    weights[-1, 3] = 1
    found = run.gradient(v=weights).controls
    h = 1e-5 if dtype == "float64" else 1e-2
    for k in (2, 20, 29):
        e = np.zeros((T, 6))
        e[k, 3] = h
        expected = (end(push + e) - end(push - e)) / (2 * h)
        assert abs(found[k, 3] - expected) < (1e-6 if dtype == "float64" else 1e-4)
    assert abs(found[2, 3]) < 1e-6  # it sticks then


def test_gradient_by_varied_friction():
    """v after T of sliding is v₀ − μ g T: −g T by μ."""
    from torsor.simulate import per_robot

    box = bodies.box(friction=0.3)
    q, T = bodies.at_height(box, 0.1), 50
    run = box.rollout(
        np.tile(q, (2, 1)), np.array([0, 0, 0, 2.0, 0, 0]), dt=DT, steps=T, differentiable=True,
        vary={"contact friction": {"contact": per_robot(np.array([0.2, 0.4]))}},
    )  # fmt: skip
    weights = np.zeros((2, T, 6))
    weights[:, -1, 3] = 1
    found = run.gradient(v=weights).vary["contact friction"]["contact"]
    np.testing.assert_allclose(found, -bodies.G * T * DT, rtol=1e-6)
