"""Joints of several degrees of freedom against the same motion by revolute and prismatic joints with massless links between."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.machine_code import without_machine_code
from tests.tolerance import assert_close
from tests.trees import KNEE, SADDLE, inertia, transform
from torsor.errors import ArgumentError, ModelError
from torsor.joints import (
    Composite,
    EulerAngles,
    Floating,
    FloatingRPY,
    FunctionJoint,
    Helical,
    JointType,
    Prismatic,
    Revolute,
    Spherical,
    Spline,
    Translation,
    Universal,
    check,
)
from torsor.kernels.digest import digest
from torsor.model import Description, Joint, Link, NamedFrame
from torsor.model.joints.euler_angles import ORDERS
from torsor.model.names import units_of
from torsor.robot import Robot
from torsor.scalar import Dual, rate, value
from torsor.spatial.vector import AXES

SLIDES = [Prismatic(a) for a in AXES]
TURNS = {letter: Revolute(a) for letter, a in zip("xyz", AXES, strict=True)}

#: a joint, the elementary joints in a row, and which entry of q each of these has
CASES = {
    "translation": (Translation(), SLIDES, (0, 1, 2)),
    **{f"euler {order}": (EulerAngles(order), [TURNS[x] for x in order], (0, 1, 2)) for order in ORDERS},
    "floating_rpy": (FloatingRPY(), [*SLIDES, TURNS["z"], TURNS["y"], TURNS["x"]], (0, 1, 2, 5, 4, 3)),
    "composite": (
        Composite([Prismatic((1, 2, 0)), Universal((1, 0, 0), (0, 1, 0)), Revolute((1, 1, 1))]),
        [Prismatic((1, 2, 0)), TURNS["x"], TURNS["y"], Revolute((1, 1, 1))],
        (0, 1, 2, 3),
    ),
}


def arm_with_joints(kinds: list[JointType], seed: int = 0) -> Robot:
    """An arm, the joints in a row with massless links between, and a hinge behind them."""
    rng = np.random.default_rng(seed)
    links, joints = [Link("base"), Link("arm", inertia(rng))], [Joint("arm", TURNS["y"], "base", "arm", transform(rng))]
    before, behind, body, tip = "arm", transform(rng), inertia(rng), inertia(rng)
    for n, kind in enumerate(kinds):
        last = n == len(kinds) - 1
        name = "body" if last else f"between{n}"
        links.append(Link(name, body) if last else Link(name))
        origin = {} if n else {"origin": behind}
        joints.append(Joint(f"joint{n}", kind, before, name, **origin))
        before = name
    links.append(Link("tip", tip))
    joints.append(Joint("tip", TURNS["x"], "body", "tip", transform(rng)))
    return Robot(Description("carried", tuple(links), tuple(joints), (NamedFrame("end", "tip", transform(rng)),)))


@pytest.mark.parametrize("name", CASES)
@without_machine_code
def test_joint_sequence_equals_a_chain_with_massless_links(name):
    kind, chain, order = CASES[name]
    one, many = arm_with_joints([kind]), arm_with_joints(chain)
    assert (one.nq, one.nv) == (many.nq, many.nv)
    there = [0, *(1 + k for k in order), one.nv - 1]  # entry of the chain's q → entry of ours
    rng = np.random.default_rng(1)
    for _ in range(3):
        q, v, a = one.random_configuration(rng), rng.normal(size=one.nv), rng.normal(size=one.nv)
        Q, V, A = q[there], v[there], a[there]
        M = many.mass_matrix(Q)
        assert_close(one.mass_matrix(q)[np.ix_(there, there)], M)
        assert_close(one.bias_force(q, v)[there], many.bias_force(Q, V))
        tau = one.inverse_dynamics(q, v, a)
        assert_close(tau[there], many.inverse_dynamics(Q, V, A))
        assert_close(one.forward_dynamics(q, v, tau), a, 1e-14 * np.linalg.cond(M) + 1e-12)
        assert_close(one.jacobian(q, "end")[:, there], many.jacobian(Q, "end"))
        assert_close(one.jacobian_rate(q, v, "end")[:, there], many.jacobian_rate(Q, V, "end"))
        assert_close(one.coriolis_matrix(q, v)[np.ix_(there, there)], many.coriolis_matrix(Q, V))


def test_composite_with_a_ball_equals_a_chain_with_a_massless_link():
    parts = [Prismatic((0, 1, 0)), Spherical()]
    one, many = arm_with_joints([Composite(parts)]), arm_with_joints(parts)
    rng = np.random.default_rng(0)
    q, v, a = one.random_configuration(rng), rng.normal(size=one.nv), rng.normal(size=one.nv)
    for name, args in {"mass_matrix": (q,), "inverse_dynamics": (q, v, a), "coriolis_matrix": (q, v)}.items():
        assert_close(getattr(one, name)(*args), getattr(many, name)(*args))
    later = one.integrate(q, v, 0.1)
    np.testing.assert_allclose(later, many.integrate(q, v, 0.1), rtol=1e-14)
    np.testing.assert_allclose(one.difference(q, later), 0.1 * v, rtol=1e-12, atol=1e-14)
    assert "zero" in Composite(parts).fault([0.0, 0.0, 0.0, 0.0, 0.0])


# -- the base --------------------------------------------------------------------------------------------------------------


def test_rpy_base_moves_as_the_floating_base_does():
    free, rpy = ts.robots.quadruped(), ts.robots.quadruped().with_base("floating_rpy")
    assert (rpy.nq, rpy.nv, rpy.joint("floating_base").type) == (free.nv, free.nv, "floating_rpy")
    rng = np.random.default_rng(0)
    q, v, a = rpy.random_configuration(rng), rng.normal(size=rpy.nv), rng.normal(size=rpy.nv)
    kind = FloatingRPY()
    base = q[:6].tolist()
    Q = np.concatenate([ts.joints.Floating().coordinates(kind.transform(base)), q[6:]])

    def twist(x, columns):
        found = columns @ x.tolist()
        return np.array([*found.w, *found.v])

    S, S_rate = kind.subspace(base), kind.subspace_rate(base, v[:6].tolist())
    V = np.concatenate([twist(v[:6], S), v[6:]])
    A = np.concatenate([twist(a[:6], S) + twist(v[:6], S_rate), a[6:]])
    assert_close(rpy.kinetic_energy(q, v), free.kinetic_energy(Q, V))
    tau = free.inverse_dynamics(Q, V, A)
    columns = np.array([[*s.w, *s.v] for s in S]).T
    assert_close(rpy.inverse_dynamics(q, v, a), np.concatenate([columns.T @ tau[:6], tau[6:]]))
    for frame in rpy.frames[-3:]:
        np.testing.assert_allclose(rpy.pose(q, frame), free.pose(Q, frame), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(rpy.integrate(q, v, 0.1), q + 0.1 * v)


def test_base_words_are_checked():
    with pytest.raises(ModelError, match=r"'fixed', 'floating' or 'floating_rpy', not 'rpy'"):
        ts.robots.two_link().with_base("rpy")
    with pytest.raises(ArgumentError, match="floating_rpy"):
        ts.load('<robot name="a"><link name="a"/></robot>', base="rpy")
    assert ts.load('<robot name="a"><link name="a"/></robot>', base="floating_rpy").nq == 6
    with pytest.raises(ArgumentError, match="fixed base"):
        ts.robots.quadruped().with_base("floating_rpy").inverse_dynamics(*np.zeros((3, 18)), base_velocity=np.zeros(6))


# -- joints by functions ---------------------------------------------------------------------------------------------------


def test_function_joint_of_plain_functions_is_that_joint():
    hinge = FunctionJoint((0, 0, lambda q: q, 0, 0, 0))
    for q in ([0.4], [-2.0]):
        np.testing.assert_allclose(hinge.transform(q).pose[0], TURNS["z"].transform(q).pose[0], rtol=1e-15, atol=1e-16)
    six = FunctionJoint(lambda q: (q[5], q[4], q[3], q[0], q[1], q[2]), dof=6, order="zyx")
    one, many = arm_with_joints([six]), arm_with_joints([FloatingRPY()])
    rng = np.random.default_rng(0)
    q, v, a = one.random_configuration(rng), rng.normal(size=one.nv), rng.normal(size=one.nv)
    assert_close(one.mass_matrix(q), many.mass_matrix(q))
    assert_close(one.inverse_dynamics(q, v, a), many.inverse_dynamics(q, v, a))


def test_function_joint_equals_its_axes_under_the_chain_rule():
    """τ = F′ᵀ τ_J with v_J = F′v and a_J = F′a + (F″v)v, of the six axes moved by F."""
    one, many = arm_with_joints([SADDLE]), arm_with_joints([*SLIDES, TURNS["x"], TURNS["y"], TURNS["z"]])
    rng = np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, one.nv))
    x, y = q[1:3]
    F = np.array([0.2 * x * x, 0.1 * np.sin(y), 0.05, x, 0.3 * x * y, y])
    slope = np.array([[0.4 * x, 0], [0, 0.1 * np.cos(y)], [0, 0], [1, 0], [0.3 * y, 0.3 * x], [0, 1]])
    second = np.array([0.4 * v[1] ** 2, -0.1 * np.sin(y) * v[2] ** 2, 0, 0, 0.6 * v[1] * v[2], 0])
    T = np.zeros((8, 4))
    T[0, 0] = T[7, 3] = 1
    T[1:7, 1:3] = slope
    Q, V = np.concatenate([q[:1], F, q[3:]]), T @ v
    A = T @ a + np.concatenate([[0], second, [0]])
    assert_close(one.inverse_dynamics(q, v, a), T.T @ many.inverse_dynamics(Q, V, A))
    assert_close(one.mass_matrix(q), T.T @ many.mass_matrix(Q) @ T)
    assert_close(one.jacobian(q, "end"), many.jacobian(Q, "end") @ T)


@pytest.mark.parametrize("kind", [EulerAngles("yzx"), FloatingRPY(), Composite([Spherical(), Translation()]), KNEE, SADDLE])
def test_joint_over_dual_numbers_gives_its_derivatives(kind):
    """Ṡ = rate of S over duals along v, and the rate of Ṡ by differences."""
    rng, h = np.random.default_rng(0), 1e-6
    q = [float(x) for x in kind.random(rng, [-1.0] * kind.nq, [1.0] * kind.nq)]
    v = rng.normal(size=kind.nv).tolist()
    moving = kind.integrate(q, [Dual(0.0, x) for x in v])
    six = lambda S: np.array([[*s.w, *s.v] for s in S])  # noqa: E731
    over_duals = np.vectorize(lambda x: float(rate(x)))
    np.testing.assert_allclose([float(value(x)) for x in moving], q, atol=1e-15)
    np.testing.assert_allclose(over_duals(six(kind.subspace(moving))), six(kind.subspace_rate(q, v)), rtol=1e-12, atol=1e-13)
    ends = [six(kind.subspace_rate(kind.integrate(q, [x * s for x in v]), v)) for s in (h, -h)]
    np.testing.assert_allclose(
        over_duals(six(kind.subspace_rate(moving, v))), (ends[0] - ends[1]).astype(float) / (2 * h), rtol=1e-6, atol=1e-7
    )


def test_function_joint_rejects_functions_that_cannot_be_recorded():
    import math

    with pytest.raises(ModelError, match=r"torsor\.scalar"):
        FunctionJoint((0, 0, math.sin, 0, 0, 0))
    with pytest.raises(ModelError, match="branch on values"):
        FunctionJoint((0, 0, lambda q: q if q > 0 else -q, 0, 0, 0))
    with pytest.raises(ModelError, match="six"):
        FunctionJoint((0, 0, 0))
    with pytest.raises(ModelError, match="six"):
        FunctionJoint(lambda q: q)
    with pytest.raises(ModelError, match="six"):
        FunctionJoint((0, 0, "q", 0, 0, 0))
    with pytest.raises(ModelError, match="does not move"):
        FunctionJoint((0, 0, 0.3, 0, 0, 0))
    with pytest.raises(ModelError, match="from 1 to 6"):
        FunctionJoint((0, 0, lambda q: q, 0, 0, 0), dof=0)
    with pytest.raises(ModelError, match="order"):
        FunctionJoint((0, 0, lambda q: q, 0, 0, 0), order="zyz")


def test_kernels_of_user_functions_are_not_cached_on_disk():
    """A user's function has no digest; a spline is data, and has one."""
    profile = Spline((0, 1, 2), (0, 1, 0))
    assert digest(arm_with_joints([FunctionJoint((0, 0, lambda q: q, 0, 0, 0))]).model) is None
    assert digest(arm_with_joints([Composite([FunctionJoint((0, 0, lambda q: q, 0, 0, 0))])]).model) is None
    one, other = (arm_with_joints([FunctionJoint((0, 0, s, 0, 0, 0))]).model for s in (profile, Spline((0, 1, 2), (0, 1, 0.5))))
    assert None not in (digest(one), digest(other))
    assert digest(one) != digest(other)


# -- splines ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", ["natural", "not-a-knot"])
def test_spline_agrees_with_scipy(ends):
    interpolate = pytest.importorskip("scipy.interpolate")
    rng = np.random.default_rng(0)
    x, y = np.cumsum(rng.uniform(0.2, 1, size=8)), rng.normal(size=8)
    ours, theirs = Spline(x, y, ends), interpolate.CubicSpline(x, y, bc_type=ends)
    at = np.linspace(x[0], x[-1], 101)
    for order in (0, 1, 2):
        np.testing.assert_allclose(ours(at, order), theirs(at, order), rtol=1e-12, atol=1e-12)
    assert [ours(float(s)) for s in at[:5]] == pytest.approx(ours(at[:5]).tolist(), rel=1e-15)
    beyond = np.array([x[0] - 1, x[-1] + 1])
    if ends == "natural":
        edge = np.array([x[0], x[-1]])
        np.testing.assert_allclose(ours(beyond), ours(edge) + np.array([-1, 1]) * ours(edge, 1), rtol=1e-12)
    else:
        np.testing.assert_allclose(ours(beyond), theirs(beyond), rtol=1e-11)


def test_spline_rejects_invalid_points():
    for x, y, match in (
        ((0, 1, 1), (0, 1, 2), "increase"),
        ((0, 1), (0, 1, 2), "2 values of x, but 3 of y"),
        ((0,), (0,), "at least 2"),
        ((0, np.nan), (0, 1), "finite"),
        (((0, 1), (2, 3)), (0, 1), "row"),
        ("ab", (0, 1), "numbers"),
    ):
        with pytest.raises(ArgumentError, match=match):
            Spline(x, y)
    with pytest.raises(ArgumentError, match="at least 4"):
        Spline((0, 1, 2), (0, 1, 2), "not-a-knot")
    with pytest.raises(ArgumentError, match="ends"):
        Spline((0, 1, 2), (0, 1, 2), "clamped")
    with pytest.raises(ArgumentError, match="derivative"):
        Spline((0, 1), (0, 1))(0.5, 3)


# -- words -----------------------------------------------------------------------------------------------------------------


def test_composite_and_euler_angles_reject_invalid_arguments():
    for joints in ((), "zyx", [Revolute], None, [Revolute((0, 0, 1)), 3]):
        with pytest.raises(ModelError, match="list of joint types"):
            Composite(joints)
    with pytest.raises(ModelError, match="fixed"):
        Composite([ts.joints.Fixed()])
    with pytest.raises(ModelError, match=r"one of zyx.*'zyz'"):
        EulerAngles("zyz")
    check(Composite([TURNS["z"], TURNS["y"], TURNS["z"]]))


def test_gimbal_lock_makes_the_mass_matrix_singular():
    robot = ts.Builder("ball").link("a").link("b", mass=1, inertia=(1, 2, 3)).joint("j", "euler", "a", "b").build()
    assert (
        abs(np.linalg.det(robot.mass_matrix([0.3, np.pi / 2, 0.1]))) < 1e-12 < 1 < np.linalg.det(robot.mass_matrix([0, 0, 0]))
    )
    for angles in ([0.3, np.pi / 2, 0.1], [0.3, 1.0, -2.0], [2.0, -np.pi / 2, 0.7]):  # R comes back, even there
        for order in ORDERS:
            kind = EulerAngles(order)
            again = kind.transform(kind.coordinates(kind.transform(angles)))
            np.testing.assert_allclose(again.pose[0], kind.transform(angles).pose[0], atol=1e-15)


def test_new_joints_work_in_batches_and_simulations():
    robot = arm_with_joints([Composite([KNEE, Universal((1, 0, 0), (0, 1, 0))])])
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng, 5), rng.normal(size=(5, robot.nv))
    rows = robot.inverse_dynamics(q, v, np.zeros((5, robot.nv)))
    for k in range(5):
        np.testing.assert_allclose(rows[k], robot.inverse_dynamics(q[k], v[k], np.zeros(robot.nv)), rtol=1e-14, atol=1e-14)
    motion = robot.simulate(robot.neutral(), 0.1 * np.ones(robot.nv), duration=0.2, dt=1e-3)
    K, P = robot.kinetic_energy(motion.q, motion.v), robot.potential_energy(motion.q)
    assert np.ptp(K + P) < 1e-6 * np.abs(K).max()


@pytest.mark.parametrize(
    ("parts", "units"),
    [
        ([Spherical(), Prismatic((1, 0, 0))], "1, m"),
        ([Helical((0, 0, 1), 0.1), Revolute((1, 0, 0))], "rad"),
        ([Floating(), Helical((0, 0, 1), 0.1)], "m, 1, rad"),
        ([EulerAngles(), Translation()], "rad, m"),
    ],
)
def test_units_of_a_composite_joint_are_those_of_its_parts(parts, units):
    robot = ts.Builder("row").link("a", 1.0).link("b", 1.0).joint("j", Composite(parts), "a", "b").build()
    assert units_of(robot.model).q == units_of(robot.rebase("b").model).q == units
