"""Springs at joints and between frames, tendons and force fields, against closed forms, Lagrange's equations and energies."""

from __future__ import annotations

import pickle
from inspect import signature

import numpy as np
import pytest
import sympy

import torsor as ts
from tests.tolerance import assert_close
from torsor.errors import ArgumentError, TorsorError
from torsor.kernels.digest import digest
from torsor.scalar import maximum
from torsor.terms import Damping, Effort, FixedTendon, Spring, SpringBetween, Term, curve

STATE = np.array([0.3, -0.7]), np.array([1.1, -0.4]), np.array([0.2, 0.5])


def sliders(m=2.0, gravity=(0.0, 0.0, 0.0)) -> ts.Robot:
    """Two masses on one rail, x₁ and x₂ from the origin."""
    b = ts.Builder("two masses")
    b.link("rail")
    for name in ("first", "second"):
        b.link(name, mass=m, com=(0, 0, 0), inertia=(0.1, 0.1, 0.1))
        b.joint(f"x_{name}", "prismatic", "rail", name, axis=(1, 0, 0))
    return b.build(gravity=gravity)


def term_force(robot: ts.Robot, q, v, kind: str = "spring") -> np.ndarray:
    """The joint force of the terms of one kind."""
    still = np.zeros(robot.nv)
    return robot.without_terms(kind).inverse_dynamics(q, v, still) - robot.inverse_dynamics(q, v, still)


# -- closed forms --------------------------------------------------------------------------------------------------------


def test_spring_between_two_masses_pulls_both_with_equal_force():
    robot = sliders().with_springs({("first", "second"): Spring(50.0, 3.0, rest=0.4, preload=-2.0)})
    q, v = np.array([0.1, 0.9]), np.array([0.2, -0.5])
    f = 50.0 * (0.4 - 0.8) - 3.0 * (-0.7) - 2.0
    assert_close(term_force(robot, q, v), [-f, f])
    assert_close(term_force(robot, q[::-1], v[::-1]), [f, -f])  # the length is a distance
    assert_close(robot.energies(q, v)["spring first–second"], 0.5 * 50 * 0.4**2 - 2.0 * -0.8)


def test_two_masses_on_a_spring_vibrate_at_the_frequency_of_the_textbook():
    robot = sliders(m=2.0).with_springs({("first", "second"): Spring(50.0, rest=0.4)})
    frequencies, shapes = robot.modes([0.1, 0.5])
    assert_close(frequencies**2, [0.0, 50.0 * 2 / 2.0])
    assert_close(np.abs(shapes[:, 1]), np.full(2, 0.5))
    x, T = 0.1, 2 * np.pi / np.sqrt(50.0)
    end = robot.simulate([-x, 0.4 + x], [0.0, 0.0], T, dt=T / 200, integrator="rk4")
    np.testing.assert_allclose(end.q[-1], [-x, 0.4 + x], atol=1e-6)


def test_spring_of_zero_length_where_its_frames_coincide_has_no_force():
    robot = sliders().with_springs({("first", "second"): Spring(50.0)})
    assert_close(term_force(robot, [0.2, 0.2], [0.0, 0.0]), [0.0, 0.0], relative=1e-12, floor=1)
    K = robot.inverse_dynamics_derivatives([0.2, 0.2], [0.0, 0.0], [0.0, 0.0]).q
    assert_close(K, [[50.0, -50.0], [-50.0, 50.0]])


def test_spring_over_a_frame_on_the_way_is_as_long_as_its_path():
    robot = sliders().with_springs({("first", "rail", "second"): Spring(50.0, rest=0.1)})
    assert_close(term_force(robot, [-0.3, 0.2], [0.0, 0.0]), [20.0, -20.0])
    assert_close(term_force(robot, [0.3, 0.2], [0.0, 0.0]), [-20.0, -20.0])


def test_tendon_pulls_joints_by_their_coefficients_and_is_slack_in_its_range():
    robot = ts.robots.two_link().with_terms(FixedTendon({"joint1": 0.1, "joint2": -0.2}, Spring(50.0, 2.0, rest=(-0.02, 0.05))))
    for q, stretch in (([0.5, -0.5], 0.05 - 0.15), ([0.0, 0.1], 0.0), ([-0.5, 0.5], -0.02 + 0.15)):
        v = np.array([0.3, 0.7])
        f = 50 * stretch - 2.0 * (0.1 * 0.3 - 0.2 * 0.7)
        assert_close(term_force(robot, q, v), [0.1 * f, -0.2 * f])
        assert_close(robot.energies(q, v)["tendon joint1–joint2"], 25 * stretch**2)


def test_spring_and_tendon_of_a_mimic_joint_count_with_its_multiplier():
    robot = ts.robots.two_link().with_mimic("joint2", "joint1", multiplier=-2.0, offset=0.3)
    own = robot.with_terms(ts.terms.JointSpring("joint2", Spring(7.0)))
    assert_close(term_force(own, [0.4], [0.0]), [-2.0 * -7.0 * (-0.8 + 0.3)])
    both = robot.with_terms(FixedTendon({"joint1": 1.0, "joint2": 3.0}, Spring(7.0)))
    assert_close(term_force(both, [0.4], [0.0]), [-5.0 * -7.0 * (0.4 + 3 * (-0.8 + 0.3))])


def test_spring_between_frames_satisfies_lagranges_equations():
    """τ = d/dt ∂L/∂v − ∂L/∂q by SymPy, with the potential of a spring from the tip to a point of the world."""
    robot = ts.robots.two_link().with_frame("wall", "base", xyz=(0.5, 0.8, 0.0))
    robot = robot.with_springs({("tip", "wall"): Spring(30.0, rest=0.6)})
    q1, q2 = sympy.symbols("q1 q2")
    tip = robot.without_terms("spring")
    x, y = (sympy.cos(q1) + sympy.cos(q1 + q2), sympy.sin(q1) + sympy.sin(q1 + q2))
    np.testing.assert_allclose(
        tip.pose([0.3, 0.4], "tip")[:2, 3], [float(e.subs({q1: 0.3, q2: 0.4})) for e in (x, y)], atol=1e-12
    )
    L = sympy.sqrt((x - 0.5) ** 2 + (y - 0.8) ** 2)
    V = 15 * (L - sympy.Rational(6, 10)) ** 2
    gradient = sympy.lambdify((q1, q2), [sympy.diff(V, q) for q in (q1, q2)])
    for q in ((0.3, 0.4), (-1.0, 2.0), (2.0, -0.5)):
        assert_close(-term_force(robot, q, [0.3, -0.2]), gradient(*q), condition=10)


# -- fields and curves ---------------------------------------------------------------------------------------------------


def test_field_acts_at_the_frame_along_the_axes_of_the_world():
    swirl = ts.forces.field(lambda p, v: [-3 * p[1] - 0.2 * v[0], 2 * p[0], 0.5 * v[1]])
    robot = ts.robots.ur5().with_forces({"tool0": swirl})
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=6), rng.normal(size=6)
    J, p = robot.jacobian(q, "tool0", "world")[3:], robot.pose(q, "tool0")[:3, 3]
    w = J @ v
    f = [-3 * p[1] - 0.2 * w[0], 2 * p[0], 0.5 * w[1]]
    assert_close(term_force(robot, q, v, "field"), J.T @ f, condition=10)


def test_field_with_a_moment_is_a_wrench():
    robot = ts.robots.ur5().with_forces({"tool0": ts.forces.field(lambda p: [0.1, p[0], -0.3, 1.0, 2.0, 3.0])})
    q = np.linspace(-0.5, 0.9, 6)
    W = np.array([0.1, robot.pose(q, "tool0")[0, 3], -0.3, 1.0, 2.0, 3.0])
    assert_close(term_force(robot, q, np.zeros(6), "field"), robot.jacobian(q, "tool0", "world").T @ W, condition=10)


def test_curve_acts_on_joints_lengths_and_tendons_alike():
    cable = curve(lambda L, rate: -90.0 * maximum(L - 0.5, 0.0) - 2 * rate, lambda L: 45.0 * maximum(L - 0.5, 0.0) ** 2)
    linear = Spring(90.0, 2.0, rest=0.5)
    for attach in (
        lambda law: ts.robots.two_link().with_springs({("tip", "world"): law}),
        lambda law: ts.robots.two_link().with_springs({"joint1": law}),
        lambda law: ts.robots.two_link().with_terms(FixedTendon({"joint1": 2.0}, law)),
    ):
        a, b = attach(cable), attach(linear)
        q, v = [0.8, 0.3], [0.4, 0.5]  # stretched: both are equal
        assert_close(a.forward_dynamics(q, v, [0, 0]), b.forward_dynamics(q, v, [0, 0]), condition=10)
        assert_close(list(a.energies(q, v).values())[2], list(b.energies(q, v).values())[2])


def test_equal_functions_are_equal_share_kernels_and_pickle():
    def made(k):
        field = ts.forces.field(lambda p, v: [-k * v[0], 0, k * p[1]])
        return ts.robots.two_link().with_forces({"tip": field}).with_springs({"joint1": lambda L, rate: -k * L * L * L})

    a, b, c = made(2.0), made(2.0), made(3.0)
    assert a == b != c
    assert hash(a) == hash(b)
    assert digest(a.model) == digest(b.model) != digest(c.model)
    assert digest(a.model) is not None
    assert pickle.loads(pickle.dumps(a)) == a


def test_functions_that_change_between_calls_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ArgumentError, match="random numbers, a clock or a counter"):
        ts.forces.field(lambda p: [rng.normal(), 0, 0])
    with pytest.raises(ArgumentError, match=r"functions of torsor\.scalar"):
        ts.forces.field(lambda p: [np.sin(float(p[0])), 0, 0])


# -- motion --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def composed() -> ts.Robot:
    robot = ts.robots.two_link().with_springs(
        {"joint1": Spring(5.0, 0.3, rest=0.2), ("tip", "world"): Spring(10.0, 0.5, rest=1.2)}
    )
    robot = robot.with_terms(FixedTendon({"joint1": 0.3, "joint2": -0.2}, Spring(50.0, 1.0))).with_damping({"joint2": 0.1})
    return robot.with_forces({"tip": ts.forces.field(lambda p, v: [-0.5 * v[0], 0.3 * p[0], 0])})


def test_forward_dynamics_inverts_inverse_dynamics(composed):
    q, v, tau = STATE
    assert_close(composed.inverse_dynamics(q, v, composed.forward_dynamics(q, v, tau)), tau, condition=10)


def test_derivatives_equal_differences(composed):
    q, v, tau = STATE
    found, h = composed.forward_dynamics_derivatives(q, v, tau), 1e-6
    for block, k in ((found.q, 0), (found.v, 1)):
        for n in range(2):
            up, down = [list(STATE) for _ in range(2)]
            up[k], down[k] = up[k] + h * np.eye(2)[n], down[k] - h * np.eye(2)[n]
            difference = (composed.forward_dynamics(*up) - composed.forward_dynamics(*down)) / (2 * h)
            np.testing.assert_allclose(block[:, n], difference, rtol=1e-7, atol=1e-7)


def test_audit_of_springs_dampers_and_fields_closes_at_the_order_of_the_integrator(composed):
    q, v, _ = STATE
    worst = [composed.simulate(q, v, 0.8, dt=dt, integrator="rk4").audit().worst for dt in (4e-3, 2e-3)]
    assert worst[1] < 1e-7
    assert 10 < worst[0] / worst[1] < 25
    assert composed.simulate(q, v, 0.8, integrator="dop853").audit().worst < 1e-6


def test_audit_counts_the_work_of_a_curve_without_energy_and_energies_refuse_it():
    robot = ts.robots.two_link().with_springs({("tip", "world"): lambda L, rate: -20.0 * L * L * L - 0.3 * rate})
    run = robot.simulate([0.3, -0.7], [0.5, 0.2], 0.5, dt=1e-3, integrator="rk4")
    assert run.audit().worst < 1e-8
    assert abs(run.audit().work[-1]) > 1e-3
    with pytest.raises(ArgumentError, match=r"spring tip–world.*stored="):
        robot.energies(*STATE[:2])


def test_term_of_ones_own_does_work_that_the_audit_counts():
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Push(Term):
        """A constant joint force."""

        joint: str
        push: float
        name: str = "push"
        places = ("joint",)

        def force(self, at):
            return Effort({at.body_of(self.joint): [self.push]})

    robot = ts.robots.two_link().with_terms(Push("joint2", 1.5))
    run = robot.simulate([0.3, -0.7], [0.0, 0.0], 0.3, dt=1e-3, integrator="rk4")
    assert_close(run.audit().work[-1], 1.5 * (run.q[-1, 1] - run.q[0, 1]), relative=1e-9, floor=1)
    assert run.audit().worst < 1e-9


@pytest.mark.parametrize("make", [
    lambda r: Spring(float("nan")), lambda r: Spring(0.0), lambda r: Spring(1.0, rest=(2.0, 1.0)), lambda r: Spring("stiff"),
    lambda r: FixedTendon({}, Spring(1.0)), lambda r: FixedTendon({"joint1": 0.0}, Spring(1.0)),
    lambda r: FixedTendon({"joint1": float("inf")}, Spring(1.0)), lambda r: SpringBetween("tip", "world", 3.0),
    lambda r: r.with_terms(FixedTendon({"elbow": 1.0}, Spring(1.0))), lambda r: r.with_springs({("tip", "moon"): Spring(1.0)}),
    lambda r: r.with_springs({("tip",): Spring(1.0)}), lambda r: r.with_springs({("tip", "link2"): Spring(1.0)}),
    lambda r: r.with_springs({("tip", "world"): Spring(1.0), ("tip", "world", "tip"): None}).with_springs({(): None}),
    lambda r: ts.forces.field(3), lambda r: ts.forces.field(lambda: [0, 0, 0]), lambda r: ts.forces.field(lambda p: [0, 0]),
    lambda r: r.with_forces({"base": ts.forces.field(lambda p: p)}),
    lambda r: r.with_forces({"moon": ts.forces.field(lambda p: p)}),
    lambda r: r.with_terms(Damping(), Damping()),
])  # fmt: skip
def test_invalid_springs_tendons_and_fields_are_refused(make):
    with pytest.raises(TorsorError):
        make(ts.robots.two_link())


@pytest.mark.skipif("time" not in signature(ts.Robot.forward_dynamics).parameters, reason="dynamics have no time yet")
def test_field_of_time_acts_like_a_wrench_of_time_and_its_audit_closes():
    robot = ts.robots.two_link()
    pushed = robot.with_forces({"tip": ts.forces.field(lambda p, v, t: [0, 5.0 * t, 0])})
    q, v = [0.0, 0.3], [0.0, 0.0]
    J = robot.jacobian(q, "tip", "world")[4]
    assert_close(pushed.forward_dynamics(q, v, [0, 0], time=2.0), robot.forward_dynamics(q, v, 10 * J), condition=10)
    how = {"dt": 1e-3, "integrator": "rk4"}
    run = pushed.simulate(q, v, 0.5, **how)
    wrench = {"tip": lambda t: np.array([0, 0, 0, 0, 5.0 * t, 0])}
    assert_close(run.q, robot.simulate(q, v, 0.5, wrenches=ts.WorldAxes(wrench), **how).q, relative=1e-10)
    assert_close(run.q[-1], pushed.rollout(q, v, steps=500, **how).q[-1], relative=1e-10)
    assert run.audit().worst < 1e-9
    assert abs(run.audit().work[-1]) > 0.1
    with pytest.raises(ArgumentError, match="'tip field'"):
        pushed.forward_dynamics(q, v, [0, 0])
