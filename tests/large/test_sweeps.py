"""Large trees: compiled passes compared with Robot's kernels, the algorithms over floats and closed forms."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from tests import trees
from tests.tolerance import assert_close
from torsor import Robot, large
from torsor import algorithms as alg
from torsor.errors import ArgumentError, ModelError, SingularError, UnknownName
from torsor.large import LargeTree
from torsor.model.joints import Fixed, Planar, Prismatic, Revolute, Spherical, Universal
from torsor.spatial import Vec

X, Z = Vec(1, 0, 0), Vec(0, 0, 1)


@settings(max_examples=4 if os.environ.get("TORSOR_NIGHT") else 2, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_large_tree_dynamics_agree_with_the_algorithms_over_floats(seed, bodies):
    """Every joint type and armatures, compared with the algorithms over floats; a single state has the bits of a batch."""
    robot = Robot(trees.random_tree(seed, bodies=bodies, couplings=False))
    if robot.nv == 0:
        return
    tree, model = LargeTree.of(robot), robot.model
    rng = np.random.default_rng(seed)
    q = tree.random_configuration(rng, (3,))
    v, a = rng.normal(size=(2, 3, robot.nv))
    tau = np.array([alg.rnea(model, *(x.tolist() for x in state)) for state in zip(q, v, a, strict=True)])
    assert_close(tree.inverse_dynamics(q, v, a), tau, floor=1)
    cond = max(np.linalg.cond(alg.crba(model, x.tolist())) for x in q)  # amplifies the error of M a = τ − h
    assert_close(tree.forward_dynamics(q, v, tau), a, 1e-14, condition=cond, floor=1)
    assert np.array_equal(tree.forward_dynamics(q, v, tau)[1], tree.forward_dynamics(q[1], v[1], tau[1]))
    assert np.array_equal(tree.inverse_dynamics(q, v, a)[2], tree.inverse_dynamics(q[2], v[2], a[2]))


@pytest.mark.parametrize("robot", [ts.robots.ur5, ts.robots.quadruped])
def test_large_tree_dynamics_agree_with_robot(robot):
    robot = robot()
    tree = LargeTree.of(robot)
    q, v, tau = trees.state(robot, 4)
    cond = np.linalg.cond(robot.mass_matrix(q))
    assert_close(tree.forward_dynamics(q, v, tau), robot.forward_dynamics(q, v, tau), 1e-14, condition=cond, floor=1)
    assert_close(tree.inverse_dynamics(q, v, tau), robot.inverse_dynamics(q, v, tau), floor=1)


@pytest.mark.parametrize("joint", [Revolute(X), (Revolute(X), Universal(X, Z)), Spherical(), (Prismatic(Z), Planar(Z))])
@pytest.mark.parametrize("branched", [False, True])
def test_forward_dynamics_of_large_trees_inverts_inverse_dynamics(joint, branched):
    """Chains and trees with one or several degrees of freedom per body, N = 40."""
    rng = np.random.default_rng(3)
    types = joint if isinstance(joint, tuple) else (joint,)
    tree = large.random_tree(40, rng, branching=0.5, types=types) if branched else large.chain(40, joint, armature=0.01)
    assert tree.is_chain is not branched
    q = tree.random_configuration(rng)
    v, a = rng.normal(size=(2, tree.nv))
    tau = tree.inverse_dynamics(q, v, a)
    M = np.stack([tree.inverse_dynamics(q, 0 * v, e) for e in np.eye(tree.nv)]) - tree.inverse_dynamics(q, 0 * v, 0 * v)
    assert_close(M, M.T, 1e-11, floor=1)  # differences of forces that contain gravity
    assert_close(tree.forward_dynamics(q, v, tau), a, 1e-14, condition=np.linalg.cond(M), floor=1)


def test_batch_of_torques_at_one_configuration_equals_single_calls():
    rng = np.random.default_rng(5)
    tree = large.random_tree(20, rng)
    q, v, tau = tree.random_configuration(rng), rng.normal(size=tree.nv), rng.normal(size=(2, 3, tree.nv))
    a = tree.forward_dynamics(q, v, tau)
    assert a.shape == tau.shape
    assert np.array_equal(a[1, 2], tree.forward_dynamics(q, v, tau[1, 2]))


def test_straight_rope_matches_statics():
    """Hanging straight down: no motion and no torque; horizontal: torques as in statics."""
    n = 50
    rope = large.chain(n, Revolute(X), length=0.2, mass=0.3)
    zero = np.zeros(n)
    assert_close(rope.inverse_dynamics(zero, zero, zero), zero, floor=1)
    assert_close(rope.forward_dynamics(zero, zero, zero), zero, floor=1)
    q = np.eye(n)[0] * np.pi / 2  # horizontal: the first joint is turned, the others are straight
    below = np.arange(n, 0, -1)
    expected = 0.3 * 9.81 * 0.2 * below**2 / 2  # weight × lever arm of the links beyond
    assert_close(np.abs(rope.inverse_dynamics(q, zero, zero)), expected, floor=1)


def test_stack_of_prismatic_joints_matches_the_closed_form():
    """n prismatic joints along z support all links above: τ_i = Σ_{j ≥ i} m (g + Σ_{k ≤ j} a_k), a closed form for M and h."""
    n = 30
    pile = large.chain(n, Prismatic(Z), mass=np.linspace(1, 2, n), length=0.0, radius=1.0)
    rng = np.random.default_rng(0)
    a = rng.normal(size=n)
    expected = np.cumsum((pile.mass * (9.81 + np.cumsum(a)))[::-1])[::-1]
    assert_close(pile.inverse_dynamics(rng.normal(size=n), rng.normal(size=n), a), expected, floor=1)
    assert_close(pile.forward_dynamics(rng.normal(size=n), rng.normal(size=n), expected), a, 1e-10, floor=1)  # cond(M) ~ n²


def test_forward_dynamics_of_3000_links_balances_forces():
    """N = 3000, too large for straight-line kernels; errors relative to the largest force."""
    rope = large.chain(3000)
    rng = np.random.default_rng(1)
    q, v, tau = 0.02 * rng.normal(size=rope.nq), 0.01 * rng.normal(size=rope.nv), 1e-3 * rng.normal(size=rope.nv)
    h = rope.inverse_dynamics(q, v, 0 * v)
    a = rope.forward_dynamics(q, v, tau)
    Ma = rope.inverse_dynamics(q, 0 * v, a) - rope.inverse_dynamics(q, 0 * v, 0 * v)
    assert_close(Ma + h, tau, 1e-9, scale=np.abs(h).max())


def test_large_tree_forward_dynamics_names_a_massless_tip():
    mass = np.ones(6)
    mass[4:] = 0
    arm = large.chain(6, mass=mass)
    zero = np.zeros(6)
    arm.inverse_dynamics(zero, zero, zero)
    with pytest.raises(SingularError, match=r"joint of body 5 moves no mass"):
        arm.forward_dynamics(zero, zero, zero)
    with pytest.raises(SingularError, match=r"body 5 moves no mass at batch index \(0,\)"):
        arm.forward_dynamics(np.zeros((5, 6)), zero, zero)
    assert np.isfinite(large.chain(6, mass=mass, armature=0.1).forward_dynamics(zero, zero, zero)).all()


def test_large_tree_rejects_invalid_arguments():
    tree = large.chain(4)
    zero = np.zeros(4)
    with pytest.raises(ArgumentError, match="q has shape"):
        tree.forward_dynamics(np.zeros(5), zero, zero)
    with pytest.raises(ArgumentError, match=r"tau\[1\] is nan"):
        tree.forward_dynamics(zero, zero, [0, np.nan, 0, 0])
    with pytest.raises(UnknownName, match="aba"):
        tree.forward_dynamics(zero, zero, zero, method="guess")


def fields(n=3, **changed):
    tree = large.chain(n)
    names = ("parent", "kind", "types", "E", "r", "mass", "h", "I")
    return {**{name: getattr(tree, name) for name in names}, **changed}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"parent": [-1, 1, 0]}, r"parent\[1\] is 1"),
        ({"parent": [-1, 0, -2]}, r"parent\[2\] is -2"),
        ({"parent": [-1.0, 0.0, 1.0]}, "whole numbers"),
        ({"kind": [0, 0, 7]}, r"kind\[2\] is 7, but there are 2"),
        ({"types": (Fixed(), Fixed())}, "weld"),
        ({"types": ("revolute", "revolute")}, "must be a joint type"),
        ({"mass": [1.0, -1.0, 1.0]}, "mass of body 1 is negative"),
        ({"mass": [1.0, np.nan, 1.0]}, r"mass\[1\] must be finite, not nan"),
        ({"E": np.ones((3, 3, 3))}, "is not a rotation"),
        ({"h": np.zeros((3, 2))}, r"h has shape \(3, 2\), expected \(3, 3\)"),
        ({"armature": [0.0]}, "armature has shape"),
        ({"names": ("one",)}, "as many names"),
    ],
)
def test_large_tree_rejects_invalid_fields(changed, words):
    with pytest.raises(ModelError, match=words):
        LargeTree(**fields(**changed))


def test_chain_and_random_tree_reject_invalid_arguments():
    for call in (lambda: large.chain(0), lambda: large.chain(2.5), lambda: large.chain(3, mass=[1, 2]),
                 lambda: large.random_tree(0, np.random.default_rng()),
                 lambda: large.random_tree(3, np.random.default_rng(), branching=2)):  # fmt: skip
        with pytest.raises(ArgumentError):
            call()


def test_large_tree_refuses_mimic_joints():
    coupled = next(r for s in range(99) if any((r := Robot(trees.random_tree(s))).model.coupling))
    with pytest.raises(
        ModelError, match="does not have a large tree: all joints of a large tree have coordinates of their own"
    ):
        LargeTree.of(coupled)


def test_large_tree_joints_agree_with_the_model():
    robot = Robot(trees.random_tree(11, bodies=7, couplings=False, base="floating"))
    tree, q = LargeTree.of(robot), robot.random_configuration(np.random.default_rng(2))
    expected, S = alg.kinematics.joints(robot.model, q.tolist())
    E, r, columns = tree.joints(q)
    assert_close(E, [x.E for x in expected[1:]], floor=1)
    assert_close(r, [x.r for x in expected[1:]], floor=1)
    assert_close(columns, [[*c.w, *c.v] for s in S for c in s], floor=1)
    assert np.array_equal(tree.neutral(), robot.neutral())
    assert tree.body_name(0) == f"{robot.joints[0]!r} (body 0)"
