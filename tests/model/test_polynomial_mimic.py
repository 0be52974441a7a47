"""Joints that follow by a polynomial: against elimination from independent joints, constraints, MuJoCo, and relations."""

import os
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial

import torsor as ts
from tests.machine_code import without_machine_code
from tests.mjcf.twin import Twin
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor import constraints as c
from torsor.errors import ArgumentError, ModelError, ModelWarning
from torsor.io.mjcf import read_mjcf, write_mjcf
from torsor.io.mjcf.compiling import compile_model
from torsor.io.urdf import read_urdf, write_urdf
from torsor.model import Mimic

CURVE = (0.1, -0.7, 0.4, 0.3, -0.1)

#: whether all examples are run
NIGHT = bool(os.environ.get("TORSOR_NIGHT"))


def curved_tree(seed: int, **options):
    """A random tree whose mimic joints follow by polynomials, and which has at least one."""
    d = random_tree(seed, **options)
    rng = np.random.default_rng(seed)
    single = [j.name for j in d.joints if j.kind.nv == 1]
    if len(single) < 2:
        return curved_tree(seed + 1, **options)
    joints = []
    for j in d.joints:
        if j.name in single[1:] and (j.mimic is not None or j.name == single[-1]):
            leader = j.mimic.joint if j.mimic is not None else single[0]
            j = replace(j, mimic=Mimic.of_polynomial(leader, rng.normal(scale=0.5, size=4).tolist()), armature=(), damping=())
        joints.append(j)
    return replace(d, joints=tuple(joints))


def eliminate_follower(robot, q, v, a):
    """M, h, τ of the follower eliminated by hand from the robot with independent joints: q' = f(q), G = ∂q'/∂q, Ġ v."""
    free = robot.without_couplings()
    q2, G, drift = np.zeros(free.nq), np.zeros((free.nv, robot.nv)), np.zeros(free.nv)
    joints = {j.name: j for j in robot.description.joints}
    for name in robot.joints:
        mine, there = robot.joint(name), free.joint(name)
        if mine.mimic is None:
            q2[there.q_slice] = q[mine.q_slice]
            G[there.v_slice, mine.v_slice] = np.eye(there.v_slice.stop - there.v_slice.start)
            continue
        chain, at = [], joints[name]
        while at.mimic is not None:
            chain.append(Polynomial(at.mimic.coefficients))
            at = joints[at.mimic.joint]
        lead = robot.joint(at.name)
        y, dy, ddy = q[lead.q_slice][0], 1.0, 0.0
        for p in reversed(chain):  # y ← p(y): ẏ = p′ẏ, ÿ = p″ẏ² + p′ÿ
            y, dy, ddy = p(y), p.deriv()(y) * dy, p.deriv(2)(y) * dy * dy + p.deriv()(y) * ddy
        q2[there.q_slice], G[there.v_slice, lead.v_slice] = y, dy
        drift[there.v_slice] = ddy * v[lead.v_slice][0] ** 2
    M, h = free.mass_matrix(q2), free.bias_force(q2, G @ v)
    return q2, G, drift, G.T @ M @ G, G.T @ (M @ drift + h), G.T @ free.inverse_dynamics(q2, G @ v, G @ a + drift)


@settings(max_examples=40 if NIGHT else 3)
@given(st.integers(0, 10**6))
@without_machine_code
def test_polynomial_mimic_in_a_random_tree_equals_elimination_from_independent_joints(seed):
    robot = ts.Robot(curved_tree(seed))
    q, v, a = state(robot, seed)
    free, (q2, G, drift, M, h, tau) = robot.without_couplings(), eliminate_follower(robot, q, v, a)
    assert_close(robot.mass_matrix(q), M)
    assert_close(robot.bias_force(q, v), h)
    assert_close(robot.inverse_dynamics(q, v, a), tau)
    assert_close(robot.coriolis_matrix(q, v) @ v + robot.gravity_force(q), h)
    assert_close(robot.kinetic_energy(q, v), v @ M @ v / 2)
    link = robot.links[-1]
    assert_close(robot.pose(q, link), free.pose(q2, link))
    assert_close(robot.jacobian(q, link), free.jacobian(q2, link) @ G)
    expected = free.acceleration(q2, G @ v, G @ a + drift, link)
    assert_close(robot.acceleration(q, v, a, link), expected)
    assert_close(robot.jacobian_rate(q, v, link) @ v + robot.jacobian(q, link) @ a, expected)


@settings(max_examples=20 if NIGHT else 2)
@given(st.integers(0, 10**6))
@without_machine_code
def test_polynomial_mimic_forward_dynamics_inverts_inverse_dynamics(seed):
    robot = ts.Robot(curved_tree(seed))
    q, v, a = state(robot, seed)
    M = robot.mass_matrix(q)
    if np.linalg.cond(M) < 1e8:  # a follower alone may stand still at p′ = 0
        back = robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a))
        assert_close(back, a, condition=np.linalg.cond(M))


def two_link(**options):
    return ts.robots.two_link().with_mimic("joint2", "joint1", **options)


def test_polynomial_mimic_equals_the_coupling_constraint():
    robot, free = two_link(polynomial=CURVE), ts.robots.two_link()
    tied = free.constrained(c.coupling("joint2", "joint1", polynomial=CURVE))
    p = Polynomial(CURVE)
    for x, v, tau in ((0.3, 1.2, 2.0), (-0.8, -2.0, 0.5)):
        q = [x, p(x)]
        solved = tied.forward_dynamics(q, [v, p.deriv()(x) * v], [tau, 0.0]).a
        a = robot.forward_dynamics([x], [v], [tau])[0]
        assert_close(solved, [a, p.deriv()(x) * a + p.deriv(2)(x) * v * v])
        assert tied.residual(q) == pytest.approx(0, abs=1e-15)
    assert tied.assemble([0.3, 0.0], fixed=["joint1"])[1] == pytest.approx(p(0.3), abs=1e-9)


def test_polynomial_mimic_has_the_closed_form_of_lagrange():
    """A slider y = p(x) on a turntable x: the kinetic energy is ½ (I + m y²) ẋ² + ½ m p′² ẋ²."""
    b = ts.Builder("cam").link("base").link("table", inertia=(0, 0, 2.0)).link("slider", mass=3.0)
    b.joint("turn", "revolute", "base", "table")
    b.joint("slide", "prismatic", "table", "slider", axis=(1, 0, 0), mimic=Mimic.of_polynomial("turn", CURVE))
    robot, p = b.build(gravity=(0, 0, 0)), Polynomial(CURVE)
    for x, v, a in ((0.4, 1.3, -0.5), (-1.0, 0.2, 2.0)):
        y, dy, ddy = p(x), p.deriv()(x), p.deriv(2)(x)
        M = 2.0 + 3.0 * (y * y + dy * dy)
        assert_close(robot.mass_matrix([x]), [[M]])
        assert_close(robot.inverse_dynamics([x], [v], [a]), [M * a + 3.0 * (y * dy + dy * ddy) * v * v])


def test_polynomial_mimic_simulation_conserves_energy_and_symbols_give_the_same_numbers():
    robot = two_link(polynomial=CURVE)
    result = robot.simulate([0.2], [0.5], 1.0, dt=1e-3)
    energy = robot.kinetic_energy(result.q, result.v) + robot.potential_energy(result.q)
    assert np.ptp(energy) < 1e-8
    closed = robot.symbolic("numbers")
    assert_close(np.array(closed.M.subs({closed.q[0]: 0.3}), float), robot.mass_matrix([0.3]))


def test_polynomial_mimic_is_verified_by_independent_methods_and_pinocchio():
    certificate = two_link(polynomial=CURVE).verify(samples=2)
    assert certificate.passed
    assert {"Pinocchio: rnea", "MuJoCo: mass matrix"} <= {row.name for row in certificate.rows if row.verdict == "pass"}


def test_polynomial_mimic_in_mjcf_round_trip_agrees_with_mujoco(tmp_path):
    robot = two_link(polynomial=CURVE)
    ts.save(robot, tmp_path / "arm.mjcf")
    back = ts.load(tmp_path / "arm.mjcf")
    follower = next(j for j in back.description.joints if j.name == "joint2")
    assert follower.mimic.coefficients == pytest.approx(CURVE, rel=1e-15)
    m = compile_model(tmp_path / "arm.mjcf").model
    assert max(Twin(back.model, m).errors(count=4)) < 1e-12
    soft = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.mjcf"))  # MuJoCo's own springs, made stiff, move alike
    soft.opt.timestep, soft.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    soft.eq_solref[:] = [2e-4, 1]
    soft.eq_solimp[:, :2] = 0.9999
    data = mujoco.MjData(soft)
    data.qpos[:], data.qvel[:] = [0.2, Polynomial(CURVE)(0.2)], [0.5, Polynomial(CURVE).deriv()(0.2) * 0.5]
    for _ in range(2000):
        mujoco.mj_step(soft, data)
    assert robot.simulate([0.2], [0.5], 0.2).q[-1, 0] == pytest.approx(data.qpos[0], abs=1e-3)  # springs give way


def test_polynomial_mimic_in_urdf_round_trip_is_kept_and_told():
    robot = two_link(polynomial=CURVE)
    text = write_urdf(robot.description)
    assert "follow by a polynomial" in text
    back = read_urdf(text)
    assert next(j for j in back.joints if j.name == "joint2").mimic == robot.joint("joint2").mimic
    q, v, a = [0.4], [1.0], [0.3]
    assert_close(ts.Robot(back).with_gravity(robot.gravity).inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a))


def test_polynomial_mimic_of_degree_five_is_refused_by_the_mjcf_writer():
    with pytest.raises(ModelError, match="degree 5; MJCF has at most 4"):
        write_mjcf(two_link(polynomial=(0, 0, 0, 0, 0, 1)).description)


def test_polynomial_mimic_is_refused_by_pinocchio_s_bridge():
    with pytest.raises(ModelError, match="Pinocchio's mimic joints are linear"):
        ts.to_pinocchio(two_link(polynomial=CURVE))


def test_lock_of_a_leader_holds_the_chain_of_polynomial_followers():
    b = ts.Builder("chain").link("base")
    for k, mimic in enumerate((None, Mimic.of_polynomial("j0", (0.1, 0, 2)), Mimic.of_polynomial("j1", (0, 1, -1)))):
        b.link(f"l{k}", mass=1, com=(1, 0, 0)).joint(f"j{k}", "revolute", "base", f"l{k}", mimic=mimic)
    robot, x = b.build(), 0.3
    y = 0.1 + 2 * x * x
    locked = robot.lock({"j0": x})
    assert_close(locked.pose([], "l2"), robot.pose([x], "l2"))
    assert_close(robot.pose([x], "l2")[0, 0], np.cos(y - y * y))


def test_zeros_at_the_end_of_a_polynomial_leave_a_linear_mimic():
    robot = two_link(polynomial=(0.2, -3, 0, 0, 0))
    assert robot.joint("joint2").mimic == Mimic("joint1", -3, 0.2)
    assert robot.model.joint[2].name == "revolute"
    assert two_link(polynomial=()).joint("joint2").mimic == Mimic("joint1", 0, 0)


@pytest.mark.parametrize("word", ["armature", "damping"])
def test_polynomial_follower_with_armature_or_damping_is_refused(word):
    b = ts.Builder("r").link("base").link("a", mass=1, com=(1, 0, 0)).link("b", mass=1, com=(1, 0, 0))
    b.joint("x", "revolute", "base", "a").joint("y", "revolute", "a", "b", **{word: 0.1})
    robot = b.build()
    with pytest.raises(ModelError, match=rf"joint 'y' follows 'x' by a polynomial of degree 2 or more, and has {word}"):
        robot.with_mimic("y", "x", polynomial=(0, 0, 1))
    assert robot.with_mimic("y", "x", 2.0).nq == 1


@pytest.mark.parametrize("what", ["armature", "damping"])
def test_rollout_with_a_varied_armature_or_damping_of_a_polynomial_follower_is_refused(what):
    with pytest.raises(ArgumentError, match=f"'joint2' follows by a polynomial and cannot have {what}"):
        two_link(polynomial=CURVE).with_damping(True).rollout([0.1], [0.0], dt=1e-3, steps=2, vary={what: {"joint2": 0.1}})


def test_polynomial_follower_before_its_leader_in_the_tree_equals_elimination():
    robot = two_link(polynomial=CURVE).rebase("link2")
    q, v, a = np.array([0.4]), np.array([1.1]), np.array([-0.6])
    _, _, _, M, h, tau = eliminate_follower(robot, q, v, a)
    assert_close(robot.mass_matrix(q), M)
    assert_close(robot.bias_force(q, v), h)
    assert_close(robot.inverse_dynamics(q, v, a), tau)


@pytest.mark.parametrize(("curve", "found"), [((0, 0, 1.0), True), ((0, 0, 0.1), False), ((0.3, 0, 0), True)])
def test_check_of_a_curve_that_leaves_the_limits_of_its_joint_is_a_finding(curve, found):
    b = ts.Builder("r").link("base").link("a", mass=1, com=(1, 0, 0)).link("b", mass=1, com=(1, 0, 0))
    b.joint("x", "revolute", "base", "a", lower=-1, upper=1)
    b.joint("y", "revolute", "a", "b", lower=-0.2, upper=0.2, mimic=Mimic.of_polynomial("x", curve))
    codes = {finding.code for finding in ts.check(b.build()).findings}
    assert ("mimic-limits" in codes or "mimic-zero" in codes) == found


def test_linear_follower_of_a_polynomial_follower_with_armature_is_refused():
    b = ts.Builder("r").link("base")
    for name, extra in (("x", {}), ("y", {"mimic": Mimic.of_polynomial("x", (0, 0, 1))}), ("z", {"mimic": "y", "armature": 1})):
        b.link(f"l{name}", mass=1, com=(1, 0, 0)).joint(name, "revolute", "base", f"l{name}", **extra)
    with pytest.raises(ModelError, match="joint 'z' follows 'x' by a polynomial"):
        b.build()


MJCF = """<mujoco><worldbody>
<body name="a"><joint name="x"/><geom size="0.1" pos="1 0 0"/></body>
<body name="b"><joint name="y" {0}/><geom size="0.1" pos="1 0 0"/></body>
<body name="c"><joint name="z" armature="0.1"/><geom size="0.1" pos="1 0 0"/></body>
</worldbody><equality>
<joint joint1="z" joint2="y"/><joint joint1="y" joint2="x" polycoef="0 1 2 0 0"/></equality></mujoco>"""


def test_mjcf_polynomial_of_a_joint_with_armature_is_a_warning_with_the_constraint_to_add():
    with pytest.warns(ModelWarning, match=r"torsor.constraints.coupling\('y', 'x', polynomial=\(0.0, 1.0, 2.0\)\)"):
        d = read_mjcf(MJCF.format('armature="0.1"'))
    assert {j.name: j.mimic and j.mimic.joint for j in d.joints} == {"x": None, "y": None, "z": "y"}
    with pytest.warns(ModelWarning, match=r"torsor.constraints.coupling\('z', 'y', polynomial=\(0.0, 1.0\)\)"):
        d = read_mjcf(MJCF.format(""))
    assert {j.name: j.mimic and j.mimic.joint for j in d.joints} == {"x": None, "y": "x", "z": None}
    ts.Robot(d).constrained(c.coupling("z", "x", polynomial=(0.0, 1.0, 2.0))).forward_dynamics([0, 0], [0, 0], [0, 0])


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"polynomial": (0, 1, float("nan"))}, ModelError, "must be finite"),
        ({"polynomial": (0, 1, 1e300)}, ModelError, "at most 1e"),
        ({"polynomial": "cubic"}, ArgumentError, "list of coefficients"),
        ({"polynomial": 3.0}, ArgumentError, "list of coefficients"),
        ({"polynomial": (0, 1), "multiplier": 2.0}, ArgumentError, "not both"),
    ],
)
def test_with_mimic_by_a_bad_polynomial_raises(options, error, reason):
    with pytest.raises(error, match=reason):
        two_link(**options)
    if error is ArgumentError:
        with pytest.raises(error, match=reason):
            c.coupling("joint2", "joint1", **options)
