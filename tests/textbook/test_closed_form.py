"""The closed form of the recursion (MR §8.4) against the recursions, on chains, trees and every joint type.

The matrices are compared with their definitions in the modern_robotics package, and the equations with torsor's recursions and
with finite differences.
"""

import itertools
from dataclasses import replace

import modern_robotics as mr
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor import algorithms as alg
from torsor.algorithms.jacobian_derivative import jacobian_derivative
from torsor.algorithms.kinematics import joints, velocities
from torsor.algorithms.stacked import StackedEquations, rotor_inertia
from torsor.algorithms.stacked import stacked_equations as generic
from torsor.algorithms.terms import mass_matrix_by_link
from torsor.compile import Argument, record
from torsor.errors import ArgumentError, UnknownName
from torsor.look.explain import stacked_equations
from torsor.model.assembly import assemble
from torsor.model.joints import Planar, Universal
from torsor.robot import Robot
from torsor.spatial import Vec
from torsor.spatial.matrix import Matrix, Vector

STEP = 1e-6
seeds = st.integers(0, 10**6)
WRENCH = {"frame3": [1.0, -2.0, 3.0, -4.0, 5.0, 6.0]}


def case(seed, **options):
    robot = Robot(random_tree(seed, **options))
    return robot, *(x.tolist() for x in state(robot, seed))


def moved(robot, q, v, dt):
    return alg.integrate(robot.model, q, v, dt)


def depth(model):
    return max(sum(1 for _ in model.path(i)) for i in range(len(model.parent)))


# -- the matrices --------------------------------------------------------------------------------------------


def test_stacked_matrices_of_the_ur5_equal_the_definitions_of_the_book():
    """MR 8.60–8.72 of UR5, block by block, with Ad and ad of the modern_robotics package."""
    robot = ts.robots.ur5()
    rng = np.random.default_rng(3)
    q, v = robot.random_configuration(rng), rng.normal(size=6)
    s = stacked_equations(robot, q, v)
    model = robot.model
    X, S = joints(model, q.tolist())
    V = velocities(model, X, S, v.tolist())

    def block(M, i, j):
        return M[6 * i - 6 : 6 * i, 6 * j - 6 : 6 * j]

    def T(X):
        R, p = X.inverse.pose
        return mr.RpToTrans(np.array(R, float), np.array(p, float))

    for i, j in itertools.product(range(1, 7), repeat=2):
        same = float(i == j)
        twist, screw = (np.array([*x.w, *x.v], float) for x in (V[i], S[i][0]))
        G = model.inertia[i]
        mass = np.block(
            [[np.array(G.I.rows, float), np.array(G.h.skew(), float)], [-np.array(G.h.skew(), float), G.m * np.eye(3)]]
        )
        assert_close(block(s.G, i, j), mass * same, 1e-11, floor=1)  # 8.61
        assert_close(block(s.ad_V, i, j), mr.ad(twist) * same, 1e-11, floor=1)  # 8.62
        assert_close(block(s.ad_Av, i, j), mr.ad(screw * v[i - 1]) * same, 1e-11, floor=1)  # 8.63
        assert_close(s.A[6 * i - 6 : 6 * i, j - 1], screw * same, 1e-11, floor=1)  # 8.60
        assert_close(block(s.W, i, j), mr.Adjoint(T(X[i])) if j == i - 1 else np.zeros((6, 6)), 1e-11, floor=1)  # 8.64
        Tij = np.eye(4)
        for k in range(j + 1, i + 1):
            Tij = T(X[k]) @ Tij
        assert_close(block(s.L, i, j), mr.Adjoint(Tij) if j <= i else np.zeros((6, 6)), 1e-11, floor=1)  # 8.72
    assert (s.A_rate == 0).all()
    assert (s.V_base == 0).all()
    assert_close(s.dV_base[:6], mr.Adjoint(T(X[1])) @ [0, 0, 0, 0, 0, 9.81], 1e-11, floor=1)  # 8.66
    assert (s.dV_base[6:] == 0).all()


@pytest.mark.parametrize("name", ["two_link", "ur5", "panda", "quadruped"])
def test_stacked_matrix_w_is_nilpotent_and_its_powers_sum_to_l(name):
    """𝒲ⁿ = 0 for a chain of n (MR §8.4), and already 𝒲^depth = 0 for a tree; the powers sum to ℒ."""
    robot = getattr(ts.robots, name)()
    s = stacked_equations(robot, robot.random_configuration(1))
    order = depth(robot.model)
    powers = [np.linalg.matrix_power(s.W, k) for k in range(order + 1)]
    assert (powers[order] == 0).all()
    assert (powers[order - 1] != 0).any()
    assert_close(sum(powers), s.L, 1e-11, floor=1)
    assert_close(np.linalg.inv(np.eye(len(s.W)) - s.W), s.L, 1e-11, floor=1)
    assert name in ("panda", "quadruped") or order == robot.nv


def test_stacked_form_accepts_the_script_letters_of_the_book():
    """𝒜 𝒢 𝒲 ℒ 𝒱 ℱ are read as A G W L V F (Python normalises names, PEP 3131)."""
    s = stacked_equations(ts.robots.two_link(), [0.1, 0.2], [1, 2])
    assert s.𝒜 is s.A
    assert s.ℒ is s.L
    assert_close(s.𝒜.T @ s.ℒ.T @ s.𝒢 @ s.ℒ @ s.𝒜, ts.robots.two_link().mass_matrix([0.1, 0.2]), 1e-11, floor=1)
    assert_close(s.𝒱, s.V, 1e-11, floor=1)
    assert_close(s.ℱ, s.F, 1e-11, floor=1)


# -- the equations, against the recursions -------------------------------------------------------------------


@given(seed=seeds)
def test_stacked_closed_form_equals_the_recursions(seed):
    """MR 8.73–8.80 and Exercise 8.7 on trees with every joint type, couplings, rotors, either base."""
    robot, q, v, a = case(seed)
    m = robot.model
    s = generic(m, q, v, a, WRENCH)
    X, S = joints(m, q)
    twists = velocities(m, X, S, v)[1:]
    assert_close(s.V, [x for V in twists for x in (*V.w, *V.v)], 1e-11, floor=1)  # 8.73
    g = np.abs(alg.gravity_force(m, q)).max(initial=1)
    assert_close(s.tau, alg.rnea(m, q, v, a, WRENCH), 1e-11, floor=1)  # 8.76
    assert_close(s.mass_matrix, alg.crba(m, q), 1e-11, floor=1)  # 8.78
    assert_close(s.velocity_force, alg.velocity_force(m, q, v), 1e-11, floor=max(1, g))  # 8.79
    assert_close(s.gravity_force, alg.gravity_force(m, q), 1e-11, floor=1)  # 8.80
    assert_close(s.mass_matrix_rate, alg.mass_matrix_rate(m, q, v), 1e-11, floor=1)  # Exercise 8.7
    M, parts = np.array(s.mass_matrix, float), (s.velocity_force, s.gravity_force, s.tip_force)
    assert_close(M @ a + sum(np.array(x, float) for x in parts), s.tau, 1e-11, floor=1)  # 8.77


@given(seed=seeds)
def test_stacked_form_satisfies_the_implicit_equations(seed):
    """MR 8.68–8.71 as printed, with the solution inserted."""
    robot, q, v, a = case(seed)
    s = stacked_equations(robot, q, v, a, WRENCH)
    assert_close(s.W @ s.V + s.A @ s.v + s.V_base, s.V, 1e-11, floor=1)  # 8.68
    dV = s.W @ s.dV + s.A @ s.a + s.A_rate @ s.v - s.ad_Av @ (s.W @ s.V + s.V_base) + s.dV_base
    assert_close(dV, s.dV, 1e-11, floor=1)  # 8.69
    assert_close(s.W.T @ s.F + s.G @ s.dV - s.ad_V.T @ s.G @ s.V + s.F_tip, s.F, 1e-11, floor=1)  # 8.70
    assert_close(s.A.T @ s.F + s.rotor @ s.a, alg.rnea(robot.model, q, v, a, WRENCH), 1e-11, floor=1)  # 8.71


@given(seed=seeds)
def test_stacked_form_of_a_moving_base_equals_the_recursions(seed):
    """𝒱_base and 𝒱̇_base (MR 8.65–8.66), also for trees with several branches at the base."""
    robot, q, v, a = case(seed, base="fixed")
    carried = [0.1, -0.2, 0.3, 0.4, 0.5, -0.6], [0.6, 0.5, -0.4, 0.3, 0.2, 0.1]
    assert_close(
        generic(robot.model, q, v, a, WRENCH, *carried).tau, alg.rnea(robot.model, q, v, a, WRENCH, *carried), 1e-11, floor=1
    )


@given(seed=seeds)
def test_stacked_rates_equal_differences_along_the_motion(seed):
    """d/dt 𝒲 = −[ad_𝒜θ̇]𝒲, d/dt ℒ𝒜 and Ṁ (Exercise 8.7) along the motion; 𝒱̇ is d/dt 𝒱 where gravity is off."""
    robot, q, v, a = case(seed)
    robot = robot.with_gravity((0, 0, 0))
    s, zero = stacked_equations(robot, q, v, a), [0.0] * robot.nv
    later, earlier = (stacked_equations(robot, moved(robot, q, v, dt), np.add(v, np.multiply(a, dt))) for dt in (STEP, -STEP))

    def rate(name):
        return (getattr(later, name) - getattr(earlier, name)) / (2 * STEP)

    assert_close(rate("W"), -s.ad_Av @ s.W, 1e-7, floor=1)
    assert_close(rate("A"), s.A_rate, 1e-7, floor=1)
    assert_close(rate("J"), s.J_rate, 1e-7, floor=max(1, np.abs(s.J).max()))
    assert_close(rate("mass_matrix"), s.mass_matrix_rate, 1e-7, floor=max(1, np.abs(s.mass_matrix).max()))
    ahead, behind = (stacked_equations(robot, moved(robot, q, np.add(v, np.multiply(a, t / 2)), t), v) for t in (STEP, -STEP))
    twists = [x.J @ np.add(v, np.multiply(a, t)) for x, t in ((ahead, STEP), (behind, -STEP))]
    assert_close((twists[0] - twists[1]) / (2 * STEP), s.dV, 1e-6, floor=max(1, np.abs(s.V).max()))
    assert (stacked_equations(robot, q, zero, zero).dV == 0).all()


def test_a_moving_subspace_needs_its_rate():
    """Without 𝒜̇θ̇ the book's 8.74 would be wrong for universal and planar joints."""
    robot, q, v, a = case(7, bodies=3, kinds=[Universal(Vec(1, 0, 0), Vec(0, 1, 0)), Planar(Vec(0, 0, 1))], base="fixed")
    s = stacked_equations(robot, q, v, a)
    assert (s.A_rate != 0).any()
    tau = robot.inverse_dynamics(q, v, a)
    assert_close(s.tau, tau, 1e-11, floor=1)
    still = StackedEquations(**{**vars(s), "A_rate": np.zeros_like(s.A_rate)})
    assert np.abs(still.tau - tau).max() > 0.1


def test_stacked_form_over_symbols_gives_mr_8_10():
    """M, c and g of the 2R arm (MR 8.10), from the stacked matrices over SymPy symbols."""
    m1, m2, L1, L2, g = sympy.symbols("m1 m2 L1 L2 g", positive=True)
    q, v = sympy.symbols("q1 q2"), sympy.symbols("v1 v2")
    s = generic(assemble(ts.robots.description("two_link", m1=m1, m2=m2, L1=L1, L2=L2, g=g)), q, v)
    cos, sin = sympy.cos, sympy.sin
    off = m2 * (L1 * L2 * cos(q[1]) + L2**2)
    M = [[m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * cos(q[1]) + L2**2), off], [off, m2 * L2**2]]
    c = [-m2 * L1 * L2 * sin(q[1]) * (2 * v[0] * v[1] + v[1] ** 2), m2 * L1 * L2 * v[0] ** 2 * sin(q[1])]
    G = [(m1 + m2) * L1 * g * cos(q[0]) + m2 * g * L2 * cos(q[0] + q[1]), m2 * g * L2 * cos(q[0] + q[1])]
    for ours, book in ((sum(s.mass_matrix, ()), M[0] + M[1]), (s.velocity_force, c), (s.gravity_force, G)):
        assert all(sympy.simplify(sympy.expand_trig(x - y)) == 0 for x, y in zip(ours, book, strict=True))


def test_stacked_matrices_work_over_any_scalar():
    A, b = Matrix([[1, 0, 2], [0, 3, 0]]), Vector([1, 1, 1])
    assert A @ b == Vector([3, 3])
    assert A.T.T == A
    assert Matrix([[5, 0], [0, 9]]) == A @ A.T
    assert A + A - A == A
    assert b + b - b == b
    assert repr(A) == "Matrix([[1, 0, 2], [0, 3, 0]])"
    assert np.array(A).shape == (2, 3)


def test_rotor_matrix_is_the_armature():
    robot, q, *_ = case(11)
    m = robot.model
    bare = replace(m, armature=tuple((0,) * len(x) for x in m.armature))
    assert_close(rotor_inertia(m), np.subtract(alg.crba(m, q), alg.crba(bare, q)), 1e-11, floor=1)
    assert np.any(rotor_inertia(m))


def test_stacked_form_of_a_robot_without_joints_is_empty():
    s = stacked_equations(Robot(ts.Builder("stone").link("rock", mass=1.0).description()), [])
    assert s.A.shape == (0, 0)
    assert s.L.shape == (0, 0)
    assert s.tau.shape == (0,)


# -- M = Σ JᵀGJ and its efficient form (MR 8.57, Exercise 8.13) ------------------------------------------------


@given(seed=seeds)
def test_mass_matrix_by_link_sums_to_the_mass_matrix(seed):
    robot, q, *_ = case(seed)
    links = {x.name: x.inertia for x in robot.description.links}
    shares = mass_matrix_by_link(robot.model, q, links)
    assert_close(
        np.sum([np.array(M, float) for M in shares.values()], axis=0) + np.array(rotor_inertia(robot.model)),
        alg.crba(robot.model, q),
        1e-11,
        floor=1,
    )
    s = stacked_equations(robot, q)
    rows = [s.J[6 * i : 6 * i + 6] for i in range(len(robot.joints))]
    G = [s.G[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] for i in range(len(robot.joints))]
    assert_close(sum(J.T @ g @ J for J, g in zip(rows, G, strict=True)) + s.rotor, s.mass_matrix, 1e-11, floor=1)


def test_composite_bodies_need_less_than_half_the_operations_of_mass_matrix_by_link():
    """Exercise 8.13: the same matrix with less than half the operations for six joints."""
    robot = ts.robots.ur5()
    links = {x.name: x.inertia for x in robot.description.links}

    def by_links(q):
        shares = mass_matrix_by_link(robot.model, q, links).values()
        return {"M": [[sum(M[i][j] for M in shares) for j in range(6)] for i in range(6)]}

    q = [Argument("q", (6,))]
    sums, composite = record(by_links, q), record(lambda q: {"M": alg.crba(robot.model, q)}, q)
    assert composite.operations < sums.operations / 2


# -- Jacobian derivatives (MR Exercise 8.6) --------------------------------------------------------------------


def test_jacobian_derivative_equals_mr_exercise_8_6():
    """∂J_i/∂θ_j = ad_{J_j}(J_i) for i > j (space), ad_{J_i}(J_j) for i < j (body), zero otherwise; ad of the book's package."""
    robot = ts.robots.ur5()
    q = robot.random_configuration(4)
    Js, Jb = robot.jacobian(q, "tool0", "space"), robot.jacobian(q, "tool0", "body")
    space, body = (np.array(jacobian_derivative(robot.model, q.tolist(), "tool0", w), float) for w in ("space", "body"))
    for i, j in itertools.product(range(6), repeat=2):
        assert_close(space[:, i, j], mr.ad(Js[:, j]) @ Js[:, i] if i > j else np.zeros(6), 1e-11, floor=1)
        assert_close(body[:, i, j], mr.ad(Jb[:, i]) @ Jb[:, j] if i < j else np.zeros(6), 1e-11, floor=1)


@given(seed=seeds, word=st.sampled_from(["space", "body", "world"]))
def test_jacobian_derivative_equals_the_jacobian_rate_and_differences(seed, word):
    """(∂J/∂θ) v = J̇ of torsor's recursion, and each ∂J/∂θ_j by differences."""
    robot, q, v, _ = case(seed)
    m = robot.model
    dJ = np.array(jacobian_derivative(m, q, "frame6", word), float)
    assert_close(dJ @ v, alg.jacobian_rate(m, q, v, "frame6", word), 1e-11, floor=1)
    k = seed % robot.nv
    unit = [float(j == k) for j in range(robot.nv)]
    later, earlier = (np.array(alg.jacobian(m, moved(robot, q, unit, dt), "frame6", word), float) for dt in (STEP, -STEP))
    assert_close((later - earlier) / (2 * STEP), dJ[:, :, k], 1e-7, floor=max(1, np.abs(later).max()))


# -- errors ----------------------------------------------------------------------------------------------------


def test_stacked_form_rejects_invalid_input():
    robot = ts.robots.two_link()
    with pytest.raises(UnknownName, match="expressed_in must be one of body, space, world"):
        jacobian_derivative(robot.model, [0, 0], "tip", "tool")
    with pytest.raises(UnknownName, match="no frame or link named 'hand'"):
        jacobian_derivative(robot.model, [0, 0], "hand")
    with pytest.raises(ArgumentError, match=r"q has shape \(3,\), expected \(..., 2\)"):
        stacked_equations(robot, [0, 0, 0])
    with pytest.raises(ArgumentError, match=r"q has shape \(5, 2\), expected \(2,\): one state, not a batch"):
        stacked_equations(robot, np.zeros((5, 2)))
    with pytest.raises(ArgumentError, match=r"v\[1\] is nan"):
        stacked_equations(robot, [0, 0], [0, np.nan])
