"""The rows of every constraint: A against Jacobians, φ̇ and d/dt(A v − b) against differences, over floats and symbols.

The source runs over floats here; tests/constraints/test_dynamics.py compares the kernels with it.
"""

from __future__ import annotations

import math
import os
from functools import partial

import numpy as np
import pytest
import scipy.linalg
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.constraints.mechanisms import LOOP_JOINTS, closed_mechanism, closing_joint, integrate, pose, rows, two_frames
from tests.tolerance import assert_close
from tests.trees import random_tree, rotation
from torsor import algorithms as alg
from torsor import constraints as C
from torsor.algorithms.closed_loops.direct import solve_direct
from torsor.algorithms.closed_loops.multipliers import solve_by_multipliers
from torsor.algorithms.equation import At
from torsor.algorithms.equation.equation import stack_rows
from torsor.algorithms.inverse_mass import by_factors
from torsor.model.terms.frames import relative_motion
from torsor.scalar import cos, sin, sqrt
from torsor.spatial import Transform

STEP = 1e-6  # central differences: truncation and cancellation near 1e-10 of the terms
DIFFERENCES = 2e-7
seeds = st.integers(0, 10**6)
few = settings(max_examples=200 if os.environ.get("TORSOR_NIGHT") else 5)


def random_robot(seed: int, **options):
    while True:
        robot = ts.Robot(random_tree(seed, **options))
        rng = np.random.default_rng(seed)
        if robot.nv >= 2 and len({robot.model.frame(f).body for f in robot.frames if f.startswith("frame")}) > 1:
            return robot, robot.random_configuration(rng), rng.normal(size=robot.nv), rng
        seed += 1


def check_rates(robot, constraints, q, v, t=0.0):
    """drift = d/dt(A v − b) with v constant, at any q, whether or not the constraints hold."""
    now = rows(robot, constraints, q, v, t)
    ends = [rows(robot, constraints, integrate(robot, q, v, h), v, t + h) for h in (STEP, -STEP)]
    slip = [r.A @ v - r.speed for r in ends]
    scale = 1 + np.abs(now.drift).max() + np.abs(now.A).max() * np.abs(v).max()
    assert np.abs((slip[0] - slip[1]) / (2 * STEP) - now.drift).max() <= DIFFERENCES * scale


def check_errors(robot, constraints, q, v, t=0.0):
    """A v − b = dφ/dt, on the rows that have a φ."""
    now = rows(robot, constraints, q, v, t)
    later, earlier = (rows(robot, constraints, integrate(robot, q, v, h), v, t + h).error for h in (STEP, -STEP))
    keep = np.array([x for c in constraints for x in c.holonomic])
    scale = 1 + np.abs(now.A).max() * np.abs(v).max()
    assert np.abs(((later - earlier) / (2 * STEP) - (now.A @ v - now.speed))[keep]).max() <= DIFFERENCES * scale


@pytest.mark.parametrize("kind", LOOP_JOINTS)
@few
@given(seed=seeds)
def test_rows_of_loop_joints_agree_with_jacobians_and_differences(kind, seed):
    """A = Tᵀ(J_s − J_p) for any joint between any two frames; φ = 0 where it is closed, φ̇ = A v there, Ȧv anywhere."""
    robot, q, v, rng = random_robot(seed)
    joint = LOOP_JOINTS[kind](rng)
    parent, child = two_frames(robot, rng)
    c = closing_joint(robot, q, joint, parent, child, rng)
    at = rows(robot, [c], q, v)
    assert len(at.error) == 6 - joint.nv == c.size
    assert all(c.holonomic)
    assert np.abs(at.error).max(initial=0) <= 1e-13 * (1 + np.abs(pose(robot, q, child).r).max() + np.abs(q).max())
    assert_relative_jacobian(robot, c, parent, child, q, at.A)
    check_errors(robot, [c], q, v)
    check_rates(robot, [c], q, v)
    check_rates(robot, [c], robot.random_configuration(rng), v)


@pytest.mark.parametrize("kind", [name for name in LOOP_JOINTS if name != "fixed"])
@few
@given(seed=seeds)
def test_loop_joint_velocity_is_least_squares_and_its_wrench_has_the_joint_force(kind, seed):
    """v_J is the least-squares solution of S v_J = V, and the wrench of a joint force τ lies in S with SᵀF = τ."""
    robot, q, v, rng = random_robot(seed)
    c = closing_joint(robot, q, LOOP_JOINTS[kind](rng), *two_frames(robot, rng), rng)
    state, tau = At(robot.model, q.tolist(), v.tolist()), rng.normal(size=c.joint_type.nv)
    seen = relative_motion(state, *c.frames(robot.model))
    S = np.array([[*s.w, *s.v] for s in c.joint_type.subspace(c.joint_type.coordinates(seen.X))], float).T
    V = np.array([*seen.V.w, *seen.V.v], float)
    assert_close(np.array(c.velocity(state), float), np.linalg.lstsq(S, V)[0], condition=np.linalg.cond(S) ** 2, floor=1)
    on = c.drive_wrench(state, tau.tolist())
    F = np.array([*on.m, *on.f], float)
    assert_close(S.T @ F, tau, condition=np.linalg.cond(S) ** 2, floor=1 + np.abs(F).max())
    assert_close(S @ np.linalg.lstsq(S, F)[0], F, condition=np.linalg.cond(S), floor=1)


def assert_relative_jacobian(robot, c, parent, child, q, A):
    J = {f: np.array(alg.jacobian(robot.model, q.tolist(), f, "space"), float) for f in (parent, child)}
    state = At(robot.model, q.tolist())
    X = relative_motion(state, *c.frames(robot.model)).X
    to_world = getattr(c, "child_origin", Transform.identity()) @ pose(robot, q, child)
    T = np.array([[*F.m, *F.f] for F in (to_world.T @ F for F in c.forces(X))], float)  # the wrenches, in the world frame
    assert np.abs(T @ (J[child] - J[parent]) - A).max(initial=0) <= 1e-12 * (1 + np.abs(T).max() * np.abs(J[child]).max())


@few
@given(seed=seeds)
def test_rows_of_point_distance_and_rolling_constraints_agree_with_differences(seed):
    """Every maker between frames of random trees: φ̇ = A v and Ȧv at any configuration; A from the frames' Jacobians."""
    robot, q, v, rng = random_robot(seed)
    a, b = two_frames(robot, rng)
    (n, d, k), (c, e) = rng.normal(size=(3, 3)), rng.normal(size=(2, 3))
    made = [
        C.point_on_plane(a, n, through=c, relative_to=b),
        C.point_on_line(a, d, through=c, relative_to=b),
        C.point_at(a, e, relative_to=b),
        C.distance(a, b, 0.7),
        C.rolling(a, 0.3, normal=n, through=c, relative_to=b),
        C.rolling(a, 0.3, k, normal=d, through=e, relative_to=b, name="wheel"),
    ]
    assert [m.size for m in made] == [1, 2, 3, 1, 3, 3]
    assert [m.holonomic for m in made[-2:]] == [(True, False, False)] * 2
    assert all(all(m.holonomic) for m in made[:-2])
    check_errors(robot, made, q, v)
    check_rates(robot, made, q, v)
    for m in made:
        p, s = (b, a) if not isinstance(m, type(made[3])) else (m.other, m.frame)
        assert_relative_jacobian(robot, m, p, s, q, rows(robot, [m], q, v).A)


def test_planes_go_through_the_origin_unless_a_point_is_given():
    normal, origin = (1, 2, 2), (0, 0, 0)
    for made in (partial(C.point_on_plane, "f", normal), partial(C.rolling, "f", 0.1, normal=normal)):
        assert made() == made(through=origin)
    assert C.point_on_line("f", normal) == C.point_on_line("f", normal, through=origin)


def test_pivots_do_not_depend_on_the_length_of_rows():
    """Two prismatic joints, 1 kg, orthogonal rows of length 1 and 0.1: both pivots are 1."""
    arm = ts.Builder("xy").link("base").link("x", mass=0.0).link("y", mass=1.0)
    arm = arm.joint("along x", "prismatic", "base", "x", axis=(1, 0, 0)).joint("along y", "prismatic", "x", "y", axis=(0, 1, 0))
    mass = by_factors(arm.build().model, [0.0, 0.0])
    found = solve_by_multipliers(mass, [[1.0, 0.0], [0.0, 0.1]], [1.0, 1.0], [0.0, 0.0])
    assert_close(found.pivots, [1, 1])
    assert_close(found.multipliers, [-1, -10])


def test_pivots_of_both_methods_are_the_part_of_each_row_that_is_independent_of_those_before_it():
    """The squares of the diagonal of Cholesky's factor of S = A M⁻¹Aᵀ, over the diagonal of S."""
    arm, rng = ts.robots.ur5(), np.random.default_rng(3)
    q, A, f, g = arm.random_configuration(rng), rng.normal(size=(4, 6)), rng.normal(size=6), rng.normal(size=4)
    S = A @ np.linalg.solve(arm.mass_matrix(q), A.T)
    expected = np.diag(np.linalg.cholesky(S)) ** 2 / np.diag(S)
    given = A.tolist(), f.tolist(), g.tolist()
    condition = np.linalg.cond(arm.mass_matrix(q))
    assert_close(solve_by_multipliers(by_factors(arm.model, q.tolist()), *given).pivots, expected, condition=condition)
    assert_close(solve_direct(arm.model, q.tolist(), *given).pivots, expected, condition=condition)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (C.point_on_plane("tip", (1, 0, 0)), "tip on a plane"),
        (C.point_on_line("tip", (1, 0, 0)), "tip on a line"),
        (C.point_at("tip"), "tip at a place"),
        (C.fixed_pose("tip"), "tip held"),
        (C.joint("spherical", "tip"), "spherical joint at tip"),
        (C.distance("tip", "hip", 1.0), "tip to hip"),
        (C.rolling("tip", 1.0), "tip rolling"),
        (C.coupling("left", "right"), "left follows right"),
    ],
)
def test_constraint_without_a_name_is_named_after_its_frame(made, name):
    assert made.name == name


@few
@given(seed=seeds)
def test_error_of_a_weld_is_the_matrix_logarithm_of_the_pose_between_its_frames(seed):
    """exp(φ) by SciPy is the pose of one frame in the other; by default the joint frames are the frames themselves."""
    robot, q, _, rng = random_robot(seed)
    a, b = two_frames(robot, rng)
    Ta, Tb = (np.array(alg.pose(robot.model, q.tolist(), f), float) for f in (a, b))
    for weld in (C.joint("fixed", a, b), C.fixed_pose(a, relative_to=b)):
        wx, wy, wz, *v = rows(robot, [weld], q, np.zeros(robot.nv)).error
        twist = np.array([[0, -wz, wy, v[0]], [wz, 0, -wx, v[1]], [-wy, wx, 0, v[2]], [0, 0, 0, 0]])
        assert_close(Tb @ scipy.linalg.expm(twist), Ta, 1e-12, floor=np.abs(Tb).max() * (1 + np.abs(twist).max()))


@few
@given(seed=seeds)
def test_point_constraints_use_the_given_points(seed):
    """φ by plain geometry: nᵀ(p − c), the distance of two origins, the height of a ball, all from the poses."""
    robot, q, _, rng = random_robot(seed)
    a, b = two_frames(robot, rng)
    n, c = rng.normal(size=(2, 3))
    n /= np.linalg.norm(n)
    Ta, Tb = (np.array(alg.pose(robot.model, q.tolist(), f), float) for f in (a, b))
    seen = np.linalg.inv(Tb) @ Ta
    made = [
        C.point_on_plane(a, n, through=c, relative_to=b),
        C.distance(a, b, 0.7),
        C.rolling(a, 0.2, normal=n, through=c, relative_to=b),
    ]
    phi = rows(robot, made, q, np.zeros(robot.nv)).error
    height = n @ (seen[:3, 3] - c)
    assert np.allclose(phi, [height, np.linalg.norm(seen[:3, 3]) - 0.7, height - 0.2, 0, 0], atol=1e-12)
    line = rows(robot, [C.point_on_line(a, n, through=c, relative_to=b)], q, np.zeros(robot.nv)).error
    off = (seen[:3, 3] - c) - n * height
    assert math.isclose(np.linalg.norm(line), np.linalg.norm(off), abs_tol=1e-12)
    assert np.allclose(rows(robot, [C.point_at(a, c, relative_to=b)], q, np.zeros(robot.nv)).error, seen[:3, 3] - c, atol=1e-12)


def test_velocity_residual_of_a_ball_is_the_velocity_of_the_contact_point():
    """v + ω × (−r n) of a ball's lowest point, from its twist in the world's axes."""
    ball = ts.Builder("ball").link("ball", mass=1, inertia=(1, 1, 1)).build(base="floating")
    rng = np.random.default_rng(3)
    q, v = ball.random_configuration(rng), rng.normal(size=6)
    r = rows(ball, [C.rolling("ball", 0.3)], q, v)
    w, u = np.split(np.array(alg.twist(ball.model, q.tolist(), v.tolist(), "ball"), float), 2)
    touching = u + np.cross(w, [0, 0, -0.3])
    assert np.allclose(r.A @ v, [touching[2], touching[0], touching[1]], atol=1e-14)


@few
@given(seed=seeds)
def test_rows_of_constraint_functions_agree_with_differences(seed):
    """Pfaffian and holonomic functions of q, timed or not, on trees with quaternions among q; driven constraints."""
    robot, q, v, rng = random_robot(seed)
    k = rng.normal(size=robot.nq).tolist()
    frame, other = two_frames(robot, rng)

    def phi(q):
        s = sum(a * x for a, x in zip(k, q, strict=True))
        return [sin(s) * q[0] + q[-1] ** 2, sqrt(2 + cos(s) * q[-1] / (1 + q[-1] * q[-1]))]

    def phi_t(q, t):
        return phi(q)[0] * cos(t) + t * t * q[-1]

    n = robot.nv
    made = [
        C.holonomic(phi, 2),
        C.holonomic(phi_t, timed=True, name="timed"),
        C.prescribed(C.holonomic(phi, 2, name="driven"), lambda t: [sin(2 * t), t**3]),
        C.prescribed(C.point_at(frame, relative_to=other), lambda t: (t, t * t, 0)),
        C.prescribed(C.distance(frame, other, 1.0), lambda t: cos(t)),
    ]
    check_errors(robot, made, q, v, 0.4)
    nonholonomic = [
        C.pfaffian(lambda q: [[sin(q[j % len(q)]) * q[0] for j in range(n)], [q[-1]] * n], 2),
        C.pfaffian(lambda q, t: [cos(t * x) for x in (*q, *q)][:n], right=lambda q, t: t * t * q[0], timed=True, name="b"),
    ]
    assert not any(x for c in nonholonomic for x in c.holonomic)
    assert [c.depends_on_time for c in (*made, *nonholonomic)] == [False, True, True, True, True, False, True]
    check_rates(robot, [*made, *nonholonomic], q, v, 0.4)


@few
@given(seed=seeds)
def test_holonomic_function_of_a_position_gives_the_rows_of_point_at(seed):
    """holonomic(φ) with φ the position of a point gives point_at's A and Ȧv: the derivatives of a pose, twice."""
    robot, q, v, rng = random_robot(seed)
    _, frame = two_frames(robot, rng)
    frame = frame if frame != "world" else "frame1"

    def place(q):
        return [row[3] for row in alg.pose(robot.model, q, frame)[:3]]

    ours, theirs = (rows(robot, [c], q, v) for c in (C.holonomic(place, 3), C.point_at(frame)))
    for x, y in zip(ours, theirs, strict=True):
        assert np.abs(x - y).max() <= 1e-11 * (1 + np.abs(y).max())


def test_rows_of_a_coupling_match_its_equation():
    panda = ts.robots.panda().without_couplings()
    a, b = panda.joints[-2:]
    c = C.coupling(a, b, 2.0, offset=0.1)
    rng = np.random.default_rng(0)
    q, v = panda.random_configuration(rng), rng.normal(size=panda.nv)
    r = rows(panda, [c], q, v)
    i, j = (panda.joint(x).v_slice.start for x in (a, b))
    assert np.isclose(r.error[0], q[i] - 2 * q[j] - 0.1)
    assert np.isclose(r.A[0] @ v, v[i] - 2 * v[j])
    assert r.drift[0] == 0


@pytest.mark.parametrize(
    "kind", ["revolute", "prismatic", "cylindrical", "helical", "spherical", "planar", "universal", "fixed"]
)
def test_constraints_joint_equals_the_loop_of_the_builder(kind):
    """constraints.joint(xyz, rpy, child_xyz, child_rpy) equals the loop that Builder.loop makes from the same arguments."""
    words = {"xyz": (0.1, -0.2, 0.3), "rpy": (0.3, 0.2, -0.5), "child_xyz": (0.4, 0.1, 0.0), "child_rpy": (-0.2, 0.4, 1.1)}
    axes = {"universal": {"axis": (1, 0, 0), "second_axis": (0, 1, 1)}, "fixed": {}, "spherical": {}}
    words |= axes.get(kind, {"axis": (1, 2, 3)}) | ({"pitch": 0.2} if kind == "helical" else {})

    def tree():
        b = ts.Builder("two").link("base").link("a", mass=1, inertia=(1, 1, 1)).link("b", mass=1, inertia=(1, 1, 1))
        return b.joint("j", "revolute", "base", "a", axis=(0, 1, 0)).joint("k", "spherical", "base", "b", xyz=(1, 0, 0))

    looped = tree().loop("loop", kind, "a", "b", **words).build()
    (model_loop,) = looped.constrained().constraints
    rng = np.random.default_rng(1)
    q, v = looped.random_configuration(rng), rng.normal(size=looped.nv)
    ours, theirs = rows(looped, [C.joint(kind, "b", "a", **words)], q, v), rows(looped, [model_loop], q, v)
    for x, y in zip(ours, theirs, strict=True):
        assert np.allclose(x, y, atol=1e-13)
    assert len(set(model_loop.labels())) == model_loop.size, "no two rows are called the same"


def test_fixed_pose_holds_the_given_pose():
    robot = ts.robots.ur5()
    rng = np.random.default_rng(2)
    q = robot.random_configuration(rng)
    T = robot.pose(q, "tool0")
    R = T[:3, :3]
    rpy = (math.atan2(R[2, 1], R[2, 2]), math.asin(-R[2, 0]), math.atan2(R[1, 0], R[0, 0]))
    r = rows(robot, [C.fixed_pose("tool0", xyz=T[:3, 3], rpy=rpy)], q, np.zeros(6))
    assert np.abs(r.error).max() < 1e-13
    assert np.allclose(r.A, robot.jacobian(q, "tool0", "body"), atol=1e-13)


def test_rows_over_symbols_match_mr_example_8_5():
    """MR Example 8.5 with Ȧ as printed in the book, exactly."""
    arm = ts.robots.two_link()
    q, v = sympy.symbols("θ1:3"), sympy.symbols("θ̇1:3")
    c1, s1, c12, s12 = sympy.cos(q[0]), sympy.sin(q[0]), sympy.cos(sum(q)), sympy.sin(sum(q))
    made = [
        C.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0)),
        C.holonomic(lambda q: cos(q[0]) + cos(q[0] + q[1]) - 1, name="φ"),
        C.pfaffian(lambda q: [-sin(q[0]) - sin(q[0] + q[1]), -sin(q[0] + q[1])], name="A"),
    ]
    drift = (-v[0] * c1 - (v[0] + v[1]) * c12) * v[0] - (v[0] + v[1]) * c12 * v[1]
    for k, c in enumerate(made):
        r = stack_rows([c], At(arm.model, q, v))
        assert k == 2 or sympy.simplify(sympy.expand_trig(r.error[0] - (c1 + c12 - 1))) == 0
        for x, y in zip(r.A[0], (-s1 - s12, -s12), strict=True):
            assert sympy.simplify(sympy.expand_trig(x - y)) == 0
        assert sympy.simplify(sympy.expand_trig(sympy.expand(r.drift[0] - drift))) == 0


def test_symbolic_constraint_bias_is_the_second_derivative_by_sympy():
    """Ȧv − ḃ of a timed function over symbols equals the second derivative by SymPy."""
    robot = ts.robots.two_link()
    q, v, t = sympy.symbols("q1:3"), sympy.symbols("v1:3"), sympy.Symbol("t")
    phi = lambda q, t: sin(q[0] * t) * q[1] + q[0] ** 3  # noqa: E731
    r = stack_rows([C.holonomic(phi, timed=True)], At(robot.model, q, v, t))
    d = lambda f: sum(sympy.diff(f, x) * y for x, y in zip(q, v, strict=True)) + sympy.diff(f, t)  # noqa: E731
    f = phi(q, t)
    assert sympy.expand(d(d(f)) - r.drift[0]) == 0
    assert all(sympy.expand(sympy.diff(f, x) - a) == 0 for x, a in zip(q, r.A[0], strict=True))
    assert sympy.expand(r.speed[0] + sympy.diff(f, t)) == 0


def test_row_space_of_a_weld_does_not_depend_on_its_frame():
    """A weld rotated in its own frame has the same row space: the projector on it does not change."""
    robot, q, (loop,) = closed_mechanism(5, ["fixed"])
    rng = np.random.default_rng(0)
    X = Transform.of_pose(rotation(rng), loop.origin.r * 0)
    turned = type(loop)("turned", loop.joint_type, loop.predecessor, loop.successor, X @ loop.origin, X @ loop.child_origin)
    spans = [np.linalg.pinv(A) @ A for A in (rows(robot, [c], q, np.zeros(robot.nv)).A for c in (loop, turned))]
    assert np.abs(spans[0] - spans[1]).max() < 1e-10
