"""Round trips of random trees by every bridge: all numbers of the joints, and states with quaternions of either sign."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bridges.test_pinocchio import random_description
from tests.mjcf.test_random_trees import expressible_in_mjcf
from tests.trees import random_tree, transform
from torsor import algorithms as alg
from torsor.bridges import from_mujoco, from_pinocchio, states, to_pinocchio
from torsor.io.mjcf import write_mjcf
from torsor.model.description import Description, Joint
from torsor.model.joints import Floating, Prismatic, Revolute, Spherical
from torsor.robot import Robot

FEW = settings(max_examples=300 if os.environ.get("TORSOR_NIGHT") else 8)
LOSSES = ("armature", "damping", "friction")
LIMITS = ("lower", "upper", "velocity_limit", "effort_limit")


def with_friction_and_limits(d: Description, seed: int) -> Description:
    """The tree with friction and limits on its revolute and prismatic joints."""
    rng = np.random.default_rng(seed)

    def more(j):
        if type(j.kind) not in (Revolute, Prismatic):
            return j
        low, span, speed, force, loss = (float(x) for x in rng.uniform(0.1, 2, size=5))
        limits = {"lower": (-low,), "upper": (span,), "velocity_limit": (speed,), "effort_limit": (force,), "friction": (loss,)}
        return replace(j, **limits)

    return replace(d, joints=tuple(more(j) for j in d.joints))


def dynamics(robot: Robot, q, v, a):
    state = [x.tolist() for x in (q, v, a)]
    return np.array(alg.crba(robot.model, state[0]), float), np.array(alg.rnea(robot.model, *state), float)


def mimic_leader(robot: Robot, j: Joint) -> tuple[str, float, float]:
    """(leader, k, b) with q = k q(leader) + b, through chains of mimic joints."""
    joints, k, b = {x.name: x for x in robot.description.joints}, 1.0, 0.0
    while j.mimic:
        k, b, j = k * j.mimic.multiplier, b + k * j.mimic.offset, joints[j.mimic.joint]
    return j.name, k, b


def loss_sum(robot: Robot, j: Joint, word: str) -> tuple[float, ...]:
    """Losses of a joint and its mimic joints: damping and armature scale with k², dry friction with |k|."""
    out, power = list(getattr(j, word)), 1 if word == "friction" else 2
    for x in robot.description.joints:
        leader, k, _ = mimic_leader(robot, x)
        if x.mimic and leader == j.name and any(getattr(x, word)):
            out = [sum(out) + abs(k) ** power * getattr(x, word)[0]]
    return tuple(out)


def check(before: Robot, after: Robot, words: tuple[str, ...], seed: int) -> None:
    """Shared joints have equal numbers; if all joints are shared, the dynamics agree too."""
    masses = [sum(G.m for G in robot.model.inertia[1:]) for robot in (before, after)]  # of all moving bodies
    assert masses[0] == pytest.approx(masses[1], rel=1e-12)
    theirs = {j.name: j for j in after.description.joints}
    for j in before.description.joints:
        twin = theirs.get(j.name)
        if twin is None or type(j.kind) is not type(twin.kind):
            continue  # several joints in the other model; see tests/io/test_losses.py
        for word in words if j.mimic is None else ():
            sizes = (j.kind.nq if word in ("lower", "upper") else j.kind.nv,)
            mine, its = (loss_sum(d, x, word) if word in LOSSES else getattr(x, word) for d, x in ((before, j), (after, twin)))
            mine, its = mine or np.zeros(sizes), its or np.zeros(sizes)
            np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-12, err_msg=f"{j.name} {word}")
        (leader, *line), (theirs_leader, *theirs_line) = mimic_leader(before, j), mimic_leader(after, twin)
        assert leader == theirs_leader
        np.testing.assert_allclose(line, theirs_line, rtol=1e-12, atol=1e-12)
    if before.joints == after.joints and before.nq == after.nq:
        rng = np.random.default_rng(seed)
        q, (v, a) = before.random_configuration(rng), rng.normal(size=(2, before.nv))
        for x, y in zip(dynamics(before, q, v, a), dynamics(after, q, v, a), strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=1e-12 * max(1, np.abs(x).max(initial=0)))


@FEW
@given(st.integers(0, 10**6))
def test_from_pinocchio_undoes_to_pinocchio(seed):
    robot = Robot(with_friction_and_limits(random_description(seed), seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(robot, from_pinocchio(to_pinocchio(robot)), (*LOSSES, *LIMITS), seed)


@FEW
@given(st.integers(0, 10**6))
def test_from_mujoco_undoes_write_mjcf(seed):
    robot = Robot(with_friction_and_limits(expressible_in_mjcf(random_tree(seed, bodies=1 + seed % 6, base="fixed")), seed))
    model = mujoco.MjModel.from_xml_string(write_mjcf(robot.description))
    words = (*LOSSES, "lower", "upper")
    check(robot, from_mujoco(model), words, seed)
    free = [j for j in robot.description.joints if j.mimic is None and j.effort_limit]
    theirs = {j.name: j.effort_limit for j in from_mujoco(model).description.joints}
    for j in free:
        np.testing.assert_allclose(theirs[j.name], j.effort_limit, rtol=1e-12, atol=1e-12)


# -- signs of quaternions ------------------------------------------------------------------------------------------------


def robot_with_quaternions(base: str) -> Robot:
    """A spherical and a floating joint on a base."""
    d = random_tree(3, bodies=2, base=base, couplings=False, kinds=[Spherical(), Floating()])
    plain = tuple(
        replace(j, armature=(), damping=(), origin=transform(np.random.default_rng(k))) for k, j in enumerate(d.joints)
    )
    return Robot(replace(d, joints=plain))


def quaternions(robot: Robot) -> list[slice]:
    """Slices of q that are quaternions."""
    at, out = 0, []
    for kind in robot.model.joint[1:]:
        if kind.name in ("spherical", "floating"):
            out.append(slice(at + kind.nq - 4, at + kind.nq))
        at += kind.nq
    return out


LIBRARIES = {
    "pinocchio": lambda robot: states.pinocchio(robot, to_pinocchio(robot)),
    "mujoco": lambda robot: states.mujoco(robot, mujoco.MjModel.from_xml_string(write_mjcf(robot.description))),
}


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_either_sign_of_a_quaternion_is_the_same_state(library, base):
    robot = robot_with_quaternions(base)
    there, rng = LIBRARIES[library](robot), np.random.default_rng(1)
    places = quaternions(robot)
    assert len(places) == (3 if base == "floating" else 2)
    frames = [f.name for f in robot.description.frames]
    for k in range(2 ** len(places)):
        q, (v, a) = robot.random_configuration(rng), rng.normal(size=(2, robot.nv))
        if k % 3 == 2:
            q[places[0]] = (1.0, 0.0, 0.0, 0.0)  # half a turn: w = 0 has no sign
        turned = q.copy()
        for n, place in enumerate(places):
            turned[place] *= -1 if k >> n & 1 else 1
        back = there.back.q(there.q(turned))
        for frame in frames:  # poses do not depend on the sign that is returned
            np.testing.assert_allclose(robot.pose(back, frame), robot.pose(q, frame), rtol=1e-14, atol=1e-13)
        for place in places:
            assert np.linalg.norm(back[place]) == pytest.approx(1, abs=1e-14)
        Q, V = there.q(turned), there.v(turned, v)
        np.testing.assert_allclose(V, there.v(q, v), rtol=1e-14, atol=1e-13)
        np.testing.assert_allclose(there.a(turned, v, a), there.a(q, v, a), rtol=1e-14, atol=1e-12)
        np.testing.assert_allclose(there.back.v(Q, V), v, rtol=1e-14, atol=1e-13)
        np.testing.assert_allclose(there.back.tau(Q, there.tau(turned, a)), a, rtol=1e-14, atol=1e-13)
