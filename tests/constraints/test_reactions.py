"""Reaction wrenches compared with free-body diagrams: rate of momentum of the subtree minus its weight."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.constraints.mechanisms import four_bar, integrate, pose
from tests.constraints.test_dynamics import carried_over
from tests.tolerance import assert_close
from tests.trees import random_tree
from torsor import algorithms as alg
from torsor import constraints as C
from torsor.algorithms.kinematics import joints, velocities
from torsor.spatial import Force, Transform, Vec

G = 9.81


def in_world(X: Transform, F) -> np.ndarray:
    """A wrench given in a frame, converted to world axes about the world origin; X from the world to the frame."""
    m, f = np.split(np.asarray(F, float), 2)
    W = X.T @ Force(Vec(*m.tolist()), Vec(*f.tolist()))
    return np.array([*W.m, *W.f], float)


def momentum_and_weight(model, bodies, q, v):
    """Σ X₀ᵀ I V and Σ gravity wrench of some bodies, about the world origin."""
    X, S = joints(model, q)
    V = velocities(model, X, S, v)
    world = {0: Transform.identity()}
    for i, p in model.outward():
        world[i] = X[i] @ world[p]
    momentum, weight = np.zeros(6), np.zeros(6)
    for i in bodies:
        h = world[i].T @ (model.inertia[i] @ V[i])
        momentum += [*h.m, *h.f]
        R, p = world[i].pose
        centre, f = p + R @ model.inertia[i].com, model.gravity * model.inertia[i].m
        weight += [*centre.cross(f), *f]
    return momentum, weight


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_reactions_balance_momentum_gravity_and_wrenches_of_the_subtree(seed):
    """F_i, seen from the world, is d/dt of the momentum of the subtree of joint i minus gravity and the applied wrench."""
    robot = ts.Robot(random_tree(seed, bodies=5))
    model, rng = robot.model, np.random.default_rng(seed)
    if robot.nv == 0:
        return
    q, (v, a), F = robot.random_configuration(rng), rng.normal(size=(2, robot.nv)), rng.normal(size=6)
    found = np.array(alg.reaction_wrenches(model, q.tolist(), v.tolist(), a.tolist(), {"frame4": F.tolist()}), float)
    h = 1e-6
    at = {s: (integrate(robot, q, v + s / 2 * a, s).tolist(), (v + s * a).tolist()) for s in (h, -h)}
    for i, _ in model.outward():
        carried = [k for k, _ in model.outward() if i in model.path(k)]
        later, earlier = (momentum_and_weight(model, carried, *at[s])[0] for s in (h, -h))
        weight = momentum_and_weight(model, carried, q.tolist(), v.tolist())[1]
        applied = in_world(pose(robot, q, "frame4"), F) if model.frame("frame4").body in carried else 0
        child = next(name for name, f in model.frames.items() if f.body == i)
        expected = (later - earlier) / (2 * h) - weight - applied
        scale = 1 + np.abs(expected).max() + np.abs(weight).max()
        assert np.abs(in_world(pose(robot, q, child), found[i - 1]) - expected).max() <= 1e-6 * scale


@pytest.fixture(scope="module")
def bar():
    robot = four_bar()
    system = robot.constrained()
    q = robot.assemble([1.0, -0.5, 2.0])
    return robot, system, q, system.project_velocity(q, [1.5, 0, 0])


def test_reactions_contain_the_joint_forces(bar):
    """Sᵀ F = τ at every joint, of the tree and of the loop."""
    _, system, q, v = bar
    tau = np.array([0.4, -0.3, 0.7])
    found = system.reactions(q, v, tau)
    assert_close([found[j][2] for j in ("A", "B", "D")], tau, 1e-10, floor=1)
    assert abs(found["C"][2]) < 1e-12
    driven = system.reactions(q, v, tau, loop_forces={"C": [2.0]})
    others = [driven[j][2] for j in ("A", "B", "D")]  # a drive at C loads the bearings, not the other drives
    assert_close(others, tau, 1e-10, floor=1)
    assert_close(driven["C"][2], 2.0, 1e-12)


@pytest.mark.parametrize("cut", ["A", "B", "D"])
def test_reactions_do_not_depend_on_the_cut_joint(bar, cut):
    """The wrench through each joint, in the plane, about the world's origin, with a drive at every joint (F&O 19)."""
    robot, system, q, v = bar
    torques = {"A": 0.4, "B": -0.3, "C": 2.0, "D": 0.7}
    tau = [torques[name] for name in robot.joints]
    found = planar_forces(robot, system, q, system.reactions(q, v, tau, loop_forces={"C": [torques["C"]]}))
    other = robot.with_spanning_tree([cut])
    there = other.constrained()
    q2, v2, sign = carried_over(robot, q, v, other)
    tau2 = [torques[name] * sign[name] for name in other.joints]
    (loop,) = other.description.loops
    direction = {j.name: (j.parent, j.child) for j in robot.description.joints}[cut]
    drive = [torques[cut] * (1 if (loop.parent, loop.child) == direction else -1)]
    again = planar_forces(other, there, q2, there.reactions(q2, v2, tau2, loop_forces={cut: drive}))
    assert again.keys() == found.keys() == torques.keys()
    for name, (child, F) in found.items():
        child2, F2 = again[name]
        assert_close(F2 if child2 == child else -F2, F, 1e-9, floor=1)


def planar_forces(robot, system, q, found):
    """By joint: the link and the wrench on it (m_z, f_x, f_y) about the world's origin."""
    out = {}
    for j in robot.description.joints:
        if j.name in found:
            out[j.name] = _link_with_mass(robot, j.child), in_world(pose(robot, q, j.child), found[j.name])[2:5]
    for loop in robot.description.loops:
        X = loop.child_origin @ pose(robot, q, loop.child)
        out[loop.name] = loop.child, in_world(X, found[loop.name])[2:5]
    return out


def _link_with_mass(robot, link):
    """The link with a mass that an auxiliary link is welded to."""
    for j in robot.description.joints:
        if j.name not in robot.joints and j.parent == link:
            return j.child
    return link


def test_reactions_at_the_ground_of_a_four_bar_balance_weight_and_momentum(bar):
    """The sum of the reactions at A and D is the rate of momentum of all links minus their weight."""
    robot, system, q, v = bar
    tau = np.array([0.4, 0, 0])
    a = system.forward_dynamics(q, v, tau).a
    found = system.reactions(q, v, tau)
    total = in_world(pose(robot, q, "crank"), found["A"]) + in_world(pose(robot, q, "rocker"), found["D"])
    h = 1e-6
    bodies = range(1, 4)
    ends = [
        momentum_and_weight(robot.model, bodies, (q + s * v + s * s / 2 * a).tolist(), (v + s * a).tolist()) for s in (h, -h)
    ]
    weight = momentum_and_weight(robot.model, bodies, q.tolist(), v.tolist())[1]
    assert_close(total, (ends[0][0] - ends[1][0]) / (2 * h) - weight, 1e-7, floor=1)


def test_reactions_include_applied_wrenches():
    """A force on the tip of a hanging pendulum on a plane: the joint takes the part that the plane does not."""
    rod = ts.Builder("rod").link("ground").link("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    robot = rod.joint("hinge", "revolute", "ground", "rod", axis=(0, 1, 0)).frame("end", "rod", xyz=(0, 0, -1)).build()
    system = robot.constrained(C.point_on_plane("end", (1, 0, 0)))
    found = system.reactions([0.0], [0.0], [0.0], {"end": [0, 0, 0, 3.0, 0, 0]})
    assert_close(found["end on a plane"], [0, 0, 0, -3.0, 0, 0], 1e-10, floor=1)
    assert_close(found["hinge"], [0, 0, 0, 0, 0, 2 * G], 1e-10, floor=1)
    lifted = system.reactions([0.0], [0.0], [0.0], {"rod": [0, 0, 0, 0, 0, 5.0]})
    assert_close(lifted["hinge"], [0, 0, 0, 0, 0, 2 * G - 5], 1e-10, floor=1)


def test_reactions_of_a_beam_on_two_supports_match_statics():
    """Hinged at one end, on a plane at the other: each takes half; a load at a quarter is shared three to one."""
    m, length = 3.0, 2.0
    beam = ts.Builder("beam").link("ground").link("beam", mass=m, com=(length / 2, 0, 0), inertia=(0.1, 1, 1))
    beam.joint("hinge", "revolute", "ground", "beam", axis=(0, 1, 0)).frame("end", "beam", xyz=(length, 0, 0))
    robot = beam.frame("quarter", "beam", xyz=(length / 4, 0, 0)).build()
    system = robot.constrained(C.point_on_plane("end", (0, 0, 1)))
    found = system.reactions([0.0], [0.0], [0.0])
    assert_close(found["hinge"], [0, 0, 0, 0, 0, m * G / 2], 1e-10, floor=1)
    assert_close(found["end on a plane"], [0, 0, 0, 0, 0, m * G / 2], 1e-10, floor=1)
    loaded = system.reactions([0.0], [0.0], [0.0], {"quarter": [0, 0, 0, 0, 0, -8.0]})
    assert_close(loaded["hinge"][5], m * G / 2 + 6.0, 1e-10, floor=1)
    assert_close(loaded["end on a plane"][5], m * G / 2 + 2.0, 1e-10, floor=1)
    batch = system.reactions(np.zeros((2, 1)), [0.0], [0.0])
    assert batch["hinge"].shape == (2, 6)
    assert_close(batch["hinge"][1], found["hinge"], 1e-10, floor=1)


def test_reaction_of_a_skew_loop_joint_is_in_its_described_frame():
    """Moments free about a skew axis: the wrench of the loop, in the frame described, has no part along that axis."""
    axis = np.array([1.0, 2.0, 3.0]) / math.sqrt(14)
    arm = (
        ts.Builder("arm")
        .link("ground")
        .link("a", mass=1, com=(0.1, 0.2, 0), inertia=(1, 1, 1))
        .joint("free", "spherical", "ground", "a")
    )
    robot = arm.loop("hinge", "revolute", "ground", "a", axis=axis, rpy=(0.3, -0.2, 0.5), child_rpy=(0.3, -0.2, 0.5)).build()
    system = robot.constrained()
    q = robot.neutral()
    assert np.abs(system.residual(q)).max() < 1e-15
    F = system.reactions(q, np.zeros(3), np.zeros(3))["hinge"]
    assert np.linalg.norm(F[:3]) > 0.1
    assert abs(F[:3] @ axis) < 1e-12
    R = robot.loop("hinge").pose_in_child[:3, :3]
    a = system.forward_dynamics(q, np.zeros(3), np.zeros(3)).a
    assert np.linalg.norm(np.cross(a, R @ axis)) < 1e-12 * np.linalg.norm(a), "it turns about the axis described"
