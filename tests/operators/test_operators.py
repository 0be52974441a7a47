"""F&O §3.5 on random trees: the sparse matrices against the recursions and dense algebra, and their sparsity patterns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor import algorithms as alg
from torsor.errors import ArgumentError, SingularError, UnknownName
from torsor.mechanics.operators import operators
from torsor.model import Description, Joint, Link
from torsor.model.joints import Revolute, Spherical
from torsor.robot import Robot
from torsor.spatial import Inertia, Sym, Transform, Vec
from torsor.spatial.vector import IDENTITY

EPS = np.finfo(float).eps
PUSH = {"frame3": np.array([0.3, -1.0, 0.2, 2.0, 0.5, -0.7])}

seeds = st.integers(0, 10**6)
frames = st.sampled_from(["body", "world"])


def case(seed, frame="body", **options):
    robot = Robot(random_tree(seed, **options))
    q, v, tau = state(robot, seed)
    return robot, q, v, tau, operators(robot, q, v, tau=tau, wrenches=PUSH, frame=frame)


def over_floats(name, robot, *state, **words):
    """The recursion over floats, since compiling a kernel for every random tree takes longer."""
    return np.array(getattr(alg, name)(robot.model, *(np.asarray(x).tolist() for x in state), **words), float)


@given(seed=seeds, frame=frames)
def test_operator_product_equals_the_mass_matrix(seed, frame):
    """HᵀP⁻ᵀIP⁻¹H = M, with armatures and couplings; S = P⁻¹H, and constraint forces do no work on S."""
    robot, q, _, _, o = case(seed, frame)
    M = over_floats("crba", robot, q)
    assert_close(o.M.toarray(), M)
    assert_close(o.S.toarray(), np.linalg.solve(o.P.toarray(), o.H.toarray()))
    scale = np.abs(o.S).max() * np.abs(o.T).max()
    assert np.abs((o.T.T @ o.S).toarray()).max(initial=0) <= 1e-13 * scale
    assert np.linalg.matrix_rank(np.hstack([o.T_joint.toarray(), o.dual.toarray()])) == o.P.shape[0], (
        "T and h⁺ span all wrenches"
    )


@given(seed=seeds, frame=frames)
@example(seed=61287, frame="body")  # cond(M) is 5e6
def test_all_solutions_satisfy_every_equation_of_featherstone_and_orin(seed, frame):
    """Equations 23–29 hold for the solutions of the others, and all three solutions equal the articulated-body algorithm."""
    robot, q, v, tau, o = case(seed, frame)
    a = over_floats("forward_dynamics", robot, q, v, tau, wrenches=PUSH)
    loosened = max(1e-12, 1e3 * EPS * np.linalg.cond(over_floats("crba", robot, q)))  # M a = b is solved three times
    assert_close(o.by_projection(), a, loosened)
    assert_close(o.joint_acceleration(o.by_elimination()[0]), a, loosened)
    reached = o.f_a + o.T @ o.by_constraint_forces() - o.v_Iv  # I a
    assert_close(o.S.T @ reached, o.M @ a + o.S.T @ (o.I @ o.a0), 1e-8)
    equations = o.equations()
    assert [e.number for e in equations] == [23, 24, 25, 26, 27, 28, 29]
    kappa = np.linalg.cond(o.K.toarray())  # K is not scaled: β has units of force, a of acceleration
    kappa = max(kappa, np.linalg.cond(o.M.toarray()))  # of 26: M α cancels, and α has the errors of the elimination
    assert max(e.residual for e in equations) <= max(1e-10, 100 * EPS * kappa)


@given(seed=seeds)
def test_operator_velocities_and_bias_equal_the_recursions(seed):
    """v is each body's twist; Sᵀ(I a₀ + v × I v − I g) is the bias force h."""
    robot, q, v, _, o = case(seed, "world")
    for i, name in enumerate(robot.joints):
        link = next(j.child for j in robot.description.joints if j.name == name) if name in _joint_names(robot) else "link0"
        assert_close(o.v[6 * i : 6 * i + 6], over_floats("twist", robot, q, v, frame=link, expressed_in="space"), 1e-11)
    h = over_floats("bias_force", robot, q, v)
    ours = o.S.T @ (o.I @ o.a0 + o.v_Iv - o.I @ o.gravity)
    assert np.abs(ours - h).max() <= 1e-11 * (np.abs(h).max() + 1)


def _joint_names(robot):
    return {j.name for j in robot.description.joints}


@given(seed=seeds)
def test_operator_joint_wrenches_give_inverse_dynamics(seed):
    """P⁻ᵀ(I a + v × I v − I g − f) is the wrench through each joint; Hᵀ of it is τ (F&O 6–8)."""
    robot, q, v, a, o = case(seed)
    wrench = o.to_base(o.net_force(o.acceleration(a)) - o.I @ o.gravity - o.external)
    assert_close(o.H.T @ wrench, over_floats("rnea", robot, q, v, a, wrenches=PUSH), 1e-11)


def test_incidence_matrix_has_identity_blocks_and_is_unit_lower_triangular():
    """In the world P has blocks 1 and −1 only; in both frames it is unit lower triangular."""
    *_, world = case(3, "world", bodies=8)
    *_, body = case(3, "body", bodies=8)
    assert set(np.unique(world.P.toarray())) == {-1.0, 0.0, 1.0}
    parent = world.bodies.parent
    for i, p in enumerate(parent):
        for j in range(len(parent)):
            expected = np.eye(6) if j == i else -np.eye(6) if j == p else np.zeros((6, 6))
            assert (world.P.toarray()[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] == expected).all()
    for P in (world.P.toarray(), body.P.toarray()):
        assert (np.tril(P) == P).all()
        assert (np.diag(P) == 1).all()
    assert_close(world.M.toarray(), body.M.toarray(), 1e-13)


def test_elimination_handles_point_masses_and_massless_links():
    """Bodies with singular inertia are eliminated, too; only F&O 28 needs I⁻¹, and its error names the joint."""
    robot = ts.robots.two_link()
    q, v, tau = [0.3, 0.5], [1.0, 2.0], [3.0, 4.0]
    o = operators(robot, q, v, tau=tau)
    assert_close(o.joint_acceleration(o.by_elimination()[0]), robot.forward_dynamics(q, v, tau))
    assert [e.number for e in o.equations()] == [23, 24, 25, 26, 27, 29]
    with pytest.raises(SingularError, match="joint1"):
        o.by_constraint_forces()
    at = Transform(IDENTITY, Vec(0, 0, 0.2))
    solid = Inertia.of(1.0, Vec(0.1, 0, 0.1), Sym(0.1, 0, 0, 0.2, 0, 0.15))
    links = (Link("base"), Link("empty", Inertia.zero()), Link("tip", solid))
    joints = (
        Joint("a", Revolute(Vec(0, 0, 1)), "base", "empty", at),
        Joint("b", Revolute(Vec(1, 0, 0)), "empty", "tip", at),
    )
    wrist = Robot(Description("wrist", links, joints))
    o = operators(wrist, [0.1, 0.7], [0.5, -1.0], tau=[1.0, 2.0])
    assert_close(
        o.joint_acceleration(o.by_elimination()[0]), wrist.forward_dynamics([0.1, 0.7], [0.5, -1.0], [1.0, 2.0]), 1e-11
    )


def test_massless_spherical_joint_is_singular():
    links = (Link("base"), Link("ball", Inertia.zero()))
    robot = Robot(Description("ball", links, (Joint("socket", Spherical(), "base", "ball"),)))
    with pytest.raises(SingularError, match="moves no mass"):
        operators(robot, robot.neutral()).by_elimination()


def test_operators_refuses_invalid_arguments():
    robot = ts.robots.two_link()
    with pytest.raises(UnknownName, match="world"):
        operators(robot, [0, 0], frame="space")
    with pytest.raises(ArgumentError, match="one state, not a batch"):
        operators(robot, [[0, 0]])
    with pytest.raises(UnknownName, match="23"):
        operators(robot, [0, 0]).equations()[30]


@given(seed=seeds)
def test_global_form_has_the_matrices_of_the_stacked_form(seed):
    """F&O's P, H, I, S and v are 1 − 𝒲, 𝒜, 𝒢, ℒ𝒜 and 𝒱 of MR 8.58–8.73 in the rows of the bodies; rotors come after them."""
    robot, q, v, _, o = case(seed)
    s = robot.stacked_equations(q, v)
    n = len(s.W)
    assert_close(o.P.toarray()[:n, :n], np.eye(n) - s.W)
    assert_close(o.H.toarray()[:n], s.A)
    assert_close(o.I.toarray()[:n, :n], s.G)
    assert_close(o.S.toarray()[:n], s.L @ s.A)
    assert_close(o.v[:n], s.V)
