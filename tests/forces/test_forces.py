"""Force elements: MuJoCo's gravcomp, closed forms, relations on random trees, what refuses them."""

from __future__ import annotations

import math
import warnings

import mujoco
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor import algorithms as alg
from torsor.bridges import states
from torsor.forces import Buoyancy, Drag, GravityCompensation, thrust
from torsor.io.mjcf.reader import read_mjcf
from torsor.io.mjcf.writer import write_mjcf
from torsor.model.attachments import with_forces
from torsor.robot import Robot
from torsor.scalar import Dual, rate

LIFTED = """
<mujoco><option gravity="1 2 -9.81"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
<body name="base" pos="0 0 1" gravcomp="0.3">FREE<geom size=".1 .2 .3" type="box" pos=".01 .02 .03"/>
  <body name="arm" pos=".1 0 .2" euler="30 0 10" gravcomp="1"><joint name="j1" axis="0 1 0" armature="0.3"/>
    <geom size=".05 .1" type="capsule" pos="0 .2 .1"/>
    <body name="flange" pos=".1 .2 0" euler="0 40 0" gravcomp="-0.5"><geom size=".1" pos=".1 .1 0"/>
      <body name="finger" pos="0 .3 0" gravcomp="1.5"><joint name="j2" axis="1 0 1"/><geom size=".05" pos="0 .1 0"/></body>
    </body></body></body></worldbody></mujoco>"""


def ball(*forces, mass=2.0) -> Robot:
    """A free ball with force elements."""
    made = ts.Builder("ball").link("ball", mass=mass, inertia=(0.1, 0.1, 0.1)).build().with_base("floating")
    return made.with_forces({"ball": list(forces)})


def loaded_tree(seed: int, bodies: int = 4) -> Robot:
    """A random tree with all elements, two of them on one link."""
    rng = np.random.default_rng(seed)
    forces = {
        "link1": GravityCompensation(0.7),
        "frame2": [Buoyancy(2e-3, rng.normal(size=3)), Drag(rng.uniform(0, 2, 6), rng.uniform(0, 2, 6))],
        f"link{bodies}": [Buoyancy(1e-3, density=900.0), GravityCompensation(-0.2), Drag(0.5)],
    }
    return Robot(with_forces(random_tree(seed, bodies=bodies), forces))


def source(name, robot, *given):
    """An algorithm over floats: random robots would each compile a kernel."""
    return np.array(getattr(alg, name)(robot.model, *(x.tolist() for x in given)), float)


# -- oracles -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["", "<freejoint/>"], ids=["fixed", "floating"])
def test_gravity_compensation_of_mjcf_equals_mujocos(base):
    m = mujoco.MjModel.from_xml_string(LIFTED.replace("FREE", base))
    robot, d = ts.from_mujoco(m), mujoco.MjData(m)
    assert dict(robot.forces)["flange"] == GravityCompensation(-0.5)
    q, v, a = state(robot, 3)
    convention = states.mujoco(robot, m)
    d.qpos[:], d.qvel[:], d.qacc[:] = convention.q(q), convention.v(q, v), convention.a(q, v, a)
    mujoco.mj_inverse(m, d)
    tau = convention.back.tau(d.qpos, d.qfrc_inverse)
    assert_close(robot.inverse_dynamics(q, v, a), tau)
    assert_close(robot.forward_dynamics(q, v, tau), a, condition=np.linalg.cond(robot.mass_matrix(q)))
    assert read_mjcf(write_mjcf(robot.description)).forces == robot.forces


def test_ball_with_linear_drag_falls_as_in_closed_form():
    robot, k, m, g = ball(Drag(linear=3.0)), 3.0, 2.0, 9.81
    result = robot.simulate(robot.neutral(), np.zeros(6), 1.0, dt=0.01)
    assert_close(result.v[:, 5], -(m * g / k) * (1 - np.exp(-k * result.t / m)), 1e-9)
    assert result.audit().worst < 1e-6


def test_ball_with_quadratic_drag_has_its_terminal_velocity():
    robot = ball(Drag(quadratic=(0.5, 0.5, 0.4)))
    v = np.array([0, 0, 0, 0, 0, -math.sqrt(2.0 * 9.81 / 0.4)])
    assert_close(robot.forward_dynamics(robot.neutral(), v, np.zeros(6)), np.zeros(6), floor=1)
    result = robot.simulate(robot.neutral(), np.zeros(6), 0.5, dt=0.01)
    limit = -v[5]
    assert_close(result.v[:, 5], -limit * np.tanh(9.81 * result.t / limit), 1e-8)


def test_neutrally_buoyant_body_does_not_accelerate_and_one_with_a_high_center_rights_itself():
    robot = ball(Buoyancy(2e-3))
    q = robot.random_configuration(0)
    assert_close(robot.forward_dynamics(q, np.zeros(6), np.zeros(6)), np.zeros(6), floor=1)
    keeled = ball(Buoyancy(2e-3, center=(0, 0, 0.1)))
    tilted = np.array([0, 0, 0, math.sin(0.1), 0, 0, math.cos(0.1)])  # rolled by 0.2 rad
    a = keeled.forward_dynamics(tilted, np.zeros(6), np.zeros(6))
    assert a[0] == pytest.approx(-2.0 * 9.81 * 0.1 * math.sin(0.2) / 0.1)
    assert_close(a[1:], np.zeros(5), floor=1)


def test_thrust_of_four_rotors_lets_a_quadrotor_hover():
    build = ts.Builder("quad").link("body", mass=1.2, inertia=(0.01, 0.01, 0.02))
    places = [(0.2, 0, 0), (0, 0.2, 0), (-0.2, 0, 0), (0, -0.2, 0)]
    for k, xyz in enumerate(places):
        build = build.frame(f"rotor{k}", "body", xyz=xyz)
    robot = build.build().with_base("floating")
    lift = {f"rotor{k}": thrust(1.2 * 9.81 / 4, ratio=0.02 * (-1) ** k) for k in range(4)}
    assert_close(robot.forward_dynamics(robot.neutral(), np.zeros(6), np.zeros(6), lift), np.zeros(6), floor=1)
    many = thrust(np.ones((5, 2)), axis=(0, 2, 0))
    assert many.shape == (5, 2, 6)
    assert (many[..., 4] == 1).all()
    with pytest.raises(ts.ModelError, match="axis"):
        thrust(1.0, axis=(0, 0, 0))


# -- relations ---------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6))
def test_lift_of_random_trees_is_the_gradient_of_the_potential_energy(seed):
    robot = loaded_tree(seed)
    q, v, _ = state(robot, seed)
    moving = [Dual(x, dx) for x, dx in zip(q.tolist(), source("configuration_rate", robot, q, v).tolist(), strict=True)]
    g = source("gravity_force", robot, q)
    power = float(rate(alg.potential_energy(robot.model, moving)))
    assert_close(power, g @ v, scale=np.abs(g).max(initial=1) * np.abs(v).max(initial=0) * 10)


@given(seed=st.integers(0, 10**6))
def test_forward_dynamics_of_random_trees_inverts_inverse_dynamics(seed):
    robot = loaded_tree(seed)
    q, v, a = state(robot, seed)
    tau, M = source("rnea", robot, q, v, a), source("crba", robot, q)
    scale = max(np.abs(tau).max(), 1)
    assert_close(M @ a + source("bias_force", robot, q, v), tau, scale=scale * 10)
    for algorithm in ("forward_dynamics", "forward_dynamics_by_factors"):
        assert_close(source(algorithm, robot, q, v, tau), a, 1e-12, np.linalg.cond(M), scale=scale)


@given(seed=st.integers(0, 10**6))
def test_drag_of_random_trees_is_the_rest_of_the_bias_force(seed):
    """(h − c − g)·v = Σ (l + c|V|) V², with the twists of the frames; M, C and c are those of the bodies."""
    robot, bare = loaded_tree(seed), Robot(random_tree(seed, bodies=4))
    q, v, _ = state(robot, seed)
    assert (source("velocity_force", robot, q, v) == source("velocity_force", bare, q, v)).all()
    lost = source("bias_force", robot, q, v) - source("velocity_force", robot, q, v) - source("gravity_force", robot, q)
    power = 0.0
    for name, element in robot.forces:
        if isinstance(element, Drag):
            V = np.array(alg.twist(robot.model, q.tolist(), v.tolist(), name, "body"), float)
            power += np.sum((np.array(element.linear) + np.array(element.quadratic) * np.abs(V)) * V**2)
    h = source("bias_force", robot, q, v)
    assert_close(lost @ v, power, scale=max(np.abs(h).max(initial=0) * np.abs(v).max(initial=0) * 10, 1))


#: quantities of the bodies alone, by their inputs
OF_BODIES = {
    "crba": "q", "mass_matrix_inverse": "q", "coriolis_matrix": "qv", "velocity_force": "qv", "kinetic_energy": "qv",
    "momentum": "qv", "center_of_mass": "q", "center_of_mass_velocity": "qv", "center_of_mass_acceleration": "qva",
    "centroidal_momentum": "qv", "centroidal_momentum_rate": "qva", "centroidal_matrix": "q", "centroidal_matrix_rate": "qv",
    "composite_inertia": "q", "capture_point": "qv", "mass_matrix_product": "qv", "mass_matrix_solve": "qv",
    "mass_factor_product": "qv",
}  # fmt: skip


def test_quantities_of_the_bodies_are_without_force_elements():
    for seed in range(5):
        robot, bare = loaded_tree(seed), Robot(random_tree(seed, bodies=4))
        given = dict(zip("qva", state(robot, seed), strict=True))
        for name, inputs in OF_BODIES.items():
            try:
                expected = source(name, bare, *(given[x] for x in inputs))
            except ts.TorsorError:  # no capture point below the ground
                continue
            assert (source(name, robot, *(given[x] for x in inputs)) == expected).all(), name


def test_zero_moment_point_of_a_part_has_the_forces_of_the_part_alone():
    robot = ts.robots.quadruped().with_forces({"FL_FOOT": Drag(30.0)})
    q, v, a = robot.configuration("standing"), np.full(robot.nv, 0.3), np.zeros(robot.nv)
    part = robot.moved_by("FR_HAA")
    bare = robot.with_forces(None)
    assert_close(robot.zero_moment_point(q, v, a, links=part), bare.zero_moment_point(q, v, a, links=part))
    assert np.abs(robot.zero_moment_point(q, v, a) - bare.zero_moment_point(q, v, a)).max() > 1e-3


@given(seed=st.integers(0, 10**6))
def test_explained_terms_of_random_trees_sum_to_inverse_dynamics(seed):
    robot = loaded_tree(seed, bodies=3)
    q, v, a = state(robot, seed)
    terms = alg.torque_terms(robot.model, q.tolist(), v.tolist(), a.tolist(), robot.description.bodies)
    tau = source("rnea", robot, q, v, a)
    assert_close(terms.total(), tau, 1e-11, scale=np.abs(tau).max(initial=1) * 10)  # Γ v v is not summed as the recursion does


def test_every_way_to_move_a_robot_counts_its_forces():
    robot = ts.robots.ur5().with_forces({"tool0": Drag(2.0, 1.0), "forearm_link": [GravityCompensation(), Buoyancy(1e-3)]})
    q, v, tau = state(robot, 5)
    a = robot.forward_dynamics(q, v, tau)
    assert np.abs(a - robot.with_forces(None).forward_dynamics(q, v, tau)).max() > 0.1
    hybrid = robot.hybrid_dynamics(q, v, a, tau, [robot.joints[0]])
    assert_close(hybrid.a, a, 1e-11)
    assert_close(robot.constrained().forward_dynamics(q, v, tau).a, a, 1e-11)
    stepped = robot.step(q, v, tau, 1e-3, "euler")
    assert_close(stepped.v, v + 1e-3 * a)
    moved = robot.rollout(q, v, tau, dt=1e-3, steps=20, integrator="rk4")
    result = robot.simulate(q, v, 0.02, tau, integrator="rk4", dt=1e-3)
    assert_close(result.q[1:], moved.q, 1e-11)
    assert result.audit().worst < 1e-6


def test_wrench_through_a_weld_counts_the_forces_behind_it_alone():
    robot = ts.robots.ur5().with_payload("tool0", 1.0)
    still = np.zeros(6)
    q = robot.random_configuration(1)
    lifted = robot.with_forces({"tool0": GravityCompensation(), "wrist_3_link": GravityCompensation()})
    assert_close(lifted.force_torque(q, still, still, "tool0"), np.zeros(6), floor=10)
    before = robot.with_forces({"wrist_3_link": GravityCompensation()})
    assert_close(before.force_torque(q, still, still, "tool0"), robot.force_torque(q, still, still, "tool0"))


# -- the robot ---------------------------------------------------------------------------------------------------------


def test_forces_follow_model_editing():
    robot = ts.robots.two_link().with_forces({"link1": Drag(1.0), "tip": [Drag(2.0), Buoyancy(0.1)]})
    assert robot.subtree("link2").forces == (("tip", Drag(2.0)), ("tip", Buoyancy(0.1)))
    both = ts.robots.ur5().attach(robot, at="tool0", prefix="r_")
    assert [name for name, _ in both.forces] == ["r_link1", "r_tip", "r_tip"]
    assert robot.with_forces({"tip": None}).forces == (("link1", Drag(1.0)),)
    assert robot.with_forces(None).forces == ()
    assert robot.with_forces({"link1": Drag(3.0)}).forces[-1] == ("link1", Drag(3.0))
    assert robot.with_forces(None) != robot


@pytest.mark.parametrize(("make", "match"), [
    (lambda: Drag(linear=-1.0), "linear must not be negative"), (lambda: Drag(quadratic=(1, 2)), "one, three or six"),
    (lambda: Drag(math.nan), "finite"), (lambda: Buoyancy(-1.0), "volume must not be negative"),
    (lambda: Buoyancy(math.inf), "finite"), (lambda: Buoyancy(1.0, center=(1, 2)), "center must be 3 numbers"),
    (lambda: GravityCompensation(math.nan), "finite"), (lambda: Buoyancy(1e300), "at most"),
    (lambda: ts.robots.two_link().with_forces({"nowhere": Drag(1.0)}), "nowhere"),
    (lambda: ts.robots.two_link().with_forces({"link1": "drag"}), "is not a force element"),
    (lambda: ts.robots.two_link().with_forces({"tip": GravityCompensation()}), "'tip' is a frame on link 'link2'"),
    (lambda: ts.robots.two_link().with_forces([Drag(1.0)]), "must be a dict"),
])  # fmt: skip
def test_invalid_force_elements_are_refused(make, match):
    with pytest.raises(ts.TorsorError, match=match):
        make()


@pytest.mark.parametrize("call", [
    lambda r: ts.large.LargeTree.of(r), lambda r: r.stacked_equations([0, 0]), lambda r: ts.to_pinocchio(r),
])  # fmt: skip
def test_results_that_would_ignore_forces_are_refused(call):
    robot = ts.robots.two_link().with_forces({"link1": Drag(1.0)})
    with pytest.raises(ts.ModelError, match=r"Drag at link1 of robot 'two_link' does not have .* robot\.with_forces\(None\)"):
        call(robot)


def test_operators_have_the_wrenches_of_force_elements():
    """F&O 26 and 27 give the accelerations of forward dynamics, to which drag and lift belong."""
    drag = Drag(linear=(0.3, 0.2, 0.1, 1.0, 2.0, 3.0), quadratic=0.5)
    robot = ts.robots.ur5().with_forces({"forearm_link": drag, "upper_arm_link": GravityCompensation(0.4)})
    q, v, tau = np.random.default_rng(1).normal(size=(3, 6))
    o, expected = robot.operators(q, v, tau=tau), robot.forward_dynamics(q, v, tau)
    assert_close(o.by_projection(), expected, condition=np.linalg.cond(robot.mass_matrix(q)))
    assert np.abs(expected - robot.with_forces(None).forward_dynamics(q, v, tau)).max() > 1


def test_forces_with_symbols_are_evaluated_by_the_algorithms():
    volume = sympy.Symbol("V", positive=True)
    robot = ts.robots.two_link().with_forces({"link2": Buoyancy(volume, density=1000)})
    assert not robot.model.is_numeric
    g = alg.gravity_force(robot.model, [0, 0])
    assert sympy.simplify(g[0] - (29.43 - 9810 * volume)) == 0


def test_certificate_of_a_robot_with_forces_is_that_of_its_bodies():
    robot = ts.robots.two_link().with_forces({"link1": Drag(1.0)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert robot.verify(2, peers=False).passed


@given(seed=st.integers(0, 10**6))
def test_derivatives_of_random_trees_equal_dual_numbers(seed):
    robot = loaded_tree(seed, bodies=3)
    q, v, a = (x.tolist() for x in state(robot, seed))
    found, n = alg.inverse_dynamics_derivatives(robot.model, q, v, a), range(robot.nv)
    units = [[int(j == k) for k in n] for j in n]
    by_q = [[rate(x) for x in alg.rnea(robot.model, alg.integrate(robot.model, q, e, Dual(0, 1)), v, a)] for e in units]
    by_v = [[rate(x) for x in alg.rnea(robot.model, q, [Dual(x, y) for x, y in zip(v, e, strict=True)], a)] for e in units]
    for block, columns in ((found.q, by_q), (found.v, by_v)):
        expected = np.array(columns, float).T
        assert_close(np.array(block, float), expected, scale=np.abs(expected).max(initial=10))


def test_thrust_along_a_long_or_short_axis_and_with_several_ratios():
    assert thrust(5.0, axis=(0, 0, 1e200)).tolist() == thrust(5.0).tolist()
    assert thrust(5.0, axis=(0, 0, 1e-200)).tolist() == thrust(5.0).tolist()
    assert thrust(5.0, ratio=[0.1, 0.2])[:, [2, 5]].tolist() == [[0.5, 5.0], [1.0, 5.0]]
    with pytest.raises(ts.ModelError, match=r"shapes of force \(3,\) and ratio \(2,\) do not fit"):
        thrust([1.0, 2.0, 3.0], ratio=[0.1, 0.2])
