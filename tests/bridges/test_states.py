"""q, v, a and τ in the conventions of MuJoCo and Drake, compared with MuJoCo and with the definitions."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import axis, inertia, random_tree, transform
from torsor import algorithms as alg
from torsor.bridges import from_mujoco, states
from torsor.bridges.kinds import BALL_RPY, CIRCLE, FREE_LINEAR_FIRST, FREE_MIXED, FREE_WORLD, PLANAR_IN_BODY_AXES, W_FIRST
from torsor.errors import ArgumentError, ModelError
from torsor.io.mjcf import write_mjcf
from torsor.model.description import Description, Joint, Link
from torsor.model.joints import Cylindrical, Floating, Planar, Prismatic, Revolute, Spherical, Universal
from torsor.robot import Robot
from torsor.spatial import Vec

LIMIT = 1e-12


def mujoco_model(robot: Robot):
    """MuJoCo's model of a robot, without constraints."""
    return mujoco_model_of_text(write_mjcf(robot.description))


def mujoco_model_of_text(text: str):
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # its geoms are in contact
    return model


def without_damping_and_armature(d: Description) -> Description:
    return replace(d, joints=tuple(replace(j, damping=(), armature=()) for j in d.joints))


def agree(robot: Robot, model, seed: int = 0) -> None:
    """Compare inverse dynamics and mass matrix with MuJoCo at the state converted by ``there``."""
    there, rng, data = states.mujoco(robot, model), np.random.default_rng(seed), mujoco.MjData(model)
    q, (v, a) = robot.random_configuration(rng), rng.normal(size=(2, robot.nv))
    Q, V, A = there.q(q), there.v(q, v), there.a(q, v, a)
    data.qpos[:], data.qvel[:], data.qacc[:] = Q, V, A
    mujoco.mj_inverse(model, data)
    tau = np.array(alg.rnea(robot.model, q.tolist(), v.tolist(), a.tolist()))
    assert_close(there.back.tau(Q, data.qfrc_inverse), tau, LIMIT, floor=1e-9)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    T = there.velocity_matrix(q)
    assert_close(T.T @ M @ T, np.array(alg.crba(robot.model, q.tolist()), float), LIMIT, floor=1e-9)
    np.testing.assert_allclose(there.back.v(Q, V), v, rtol=1e-14, atol=1e-13)
    np.testing.assert_allclose(there.back.a(Q, V, A), a, rtol=1e-14, atol=1e-12)
    if model.nv == robot.nv:
        np.testing.assert_allclose(there.tau(q, tau), data.qfrc_inverse, rtol=1e-14, atol=1e-10)


KINDS = (
    Revolute(Vec(0, 0, 1)), Prismatic(Vec(0, 1, 0)), Spherical(), Universal(Vec(1, 0, 0), Vec(0, 1, 0)),
    Cylindrical(Vec(0, 0, 1)), Planar(Vec(0, 0, 1)), Floating(),
)  # fmt: skip


@pytest.mark.parametrize("seed", range(25))
def test_random_trees_agree_with_mujoco(seed):
    rng = np.random.default_rng(seed)
    kinds = [KINDS[k] for k in rng.integers(0, len(KINDS), size=6)]
    robot = Robot(without_damping_and_armature(random_tree(seed, kinds=kinds)))
    agree(robot, mujoco_model(robot), seed)


@pytest.mark.parametrize("name", ["ur5", "panda", "quadruped", "humanoid"])
def test_bundled_robots_agree_with_mujoco(name):
    robot = Robot(without_damping_and_armature(getattr(ts.robots, name)().description))
    agree(robot, mujoco_model(robot))


FREE = """
<mujoco><worldbody>
  <body name="drone" pos="1 2 3" euler="10 20 30"><freejoint/><geom size="0.1 0.2 0.3" type="box" pos="0.1 0 0"/>
    <body name="arm" pos="0 0 0.1"><joint axis="0 1 0" ref="20" pos="0 0 0.1"/><geom size="0.1" pos="0.2 0 0"/>
      <body name="hand" pos="0.3 0 0"><joint type="ball"/><geom size="0.1 0.1 0.2" type="box" pos="0 0.1 0"/></body>
    </body>
  </body>
</worldbody></mujoco>
"""


def test_from_mujoco_agrees_with_a_compiled_model():
    """Joints without names, a free base, a ball joint, a hinge with a reference angle."""
    model = mujoco_model_of_text(FREE)
    robot = from_mujoco(model)
    assert robot.description.base == "floating"
    agree(robot, model)
    data = mujoco.MjData(model)
    q = robot.random_configuration(5)
    data.qpos[:] = states.mujoco(robot, model).q(q)
    mujoco.mj_kinematics(model, data)
    for body in ("drone", "arm", "hand"):
        pose = robot.pose(q, body)
        np.testing.assert_allclose(data.body(body).xpos, pose[:3, 3], rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(data.body(body).xmat.reshape(3, 3), pose[:3, :3], rtol=1e-14, atol=1e-14)


def test_from_mujoco_splits_a_free_joint_with_armature():
    text = FREE.replace("<freejoint/>", '<joint type="free" name="fly" armature="0.5"/>')
    model = mujoco_model_of_text(text)
    robot = from_mujoco(model)
    assert "fly_x" in robot.joints
    agree(robot, model)


def test_floating_joint_with_an_origin_agrees_with_mujoco():
    """The joint has an origin in torsor; MuJoCo measures its pose from the world frame."""
    rng = np.random.default_rng(2)
    links = (Link("world"), Link("trunk", inertia(rng)), Link("arm", inertia(rng)))
    joints = (
        Joint("fly", Floating(), "world", "trunk", transform(rng)),
        Joint("hinge", Revolute(axis(rng)), "trunk", "arm", transform(rng)),
    )
    robot = Robot(Description("bird", links, joints))
    model = mujoco_model(robot)
    assert mujoco.mjtJoint.mjJNT_FREE in model.jnt_type
    agree(robot, model)
    data, q = mujoco.MjData(model), robot.random_configuration(4)
    data.qpos[:] = states.mujoco(robot, model).q(q)
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(data.body("arm").xpos, robot.pose(q, "arm")[:3, 3], rtol=1e-14, atol=1e-14)


def test_state_conversion_handles_batches_and_rejects_wrong_shapes():
    robot = ts.robots.quadruped()
    there = states.mujoco(robot, mujoco_model(robot))
    rng = np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng, (3, 4)), rng.normal(size=(3, 4, robot.nv)), rng.normal(size=robot.nv)
    Q, V, A = there.q(q), there.v(q, v), there.a(q, v, a)
    assert Q.shape == (3, 4, there.nq)
    np.testing.assert_array_equal(there.q(q[1, 2]), Q[1, 2])
    np.testing.assert_allclose(there.a(q[1, 2], v[1, 2], a), A[1, 2], rtol=0, atol=1e-14)
    np.testing.assert_allclose(there.back.a(Q, V, A), np.broadcast_to(a, v.shape), rtol=1e-14, atol=1e-13)
    np.testing.assert_allclose((there.velocity_matrix(q) @ v[..., None])[..., 0], V, rtol=1e-14, atol=1e-14)
    with pytest.raises(ArgumentError, match=r"q has shape \(3,\), expected \(..., 19\)"):
        there.q(np.zeros(3))
    with pytest.raises(ArgumentError, match="batch axes do not match"):
        there.v(q, np.zeros((7, robot.nv)))


# -- each joint type and its definition ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "joint"),
    [(FREE_LINEAR_FIRST, Floating()), (FREE_MIXED, Floating()), (FREE_WORLD, Floating()), (BALL_RPY, Spherical()),
     (PLANAR_IN_BODY_AXES, Planar(Vec(0, 0, 1))), (CIRCLE, Revolute(Vec(0, 0, 1))), (W_FIRST, Spherical())],
)  # fmt: skip
def test_converted_acceleration_is_the_rate_of_the_converted_velocity(kind, joint):
    """A = dV/dt along a motion, by central differences; T is orthogonal; ``back`` inverts ``there``."""
    rng, h = np.random.default_rng(1), 1e-6
    q = np.array([float(x) for x in joint.random(rng, [-1.0] * joint.nq, [1.0] * joint.nq)])
    v, a = rng.normal(size=(2, joint.nv))

    def T(q):
        return np.eye(joint.nv) if kind.T is None else kind.T(q)

    def velocity(t):
        later = np.array(joint.integrate(q.tolist(), (t * v + t * t / 2 * a).tolist()))
        return T(later) @ (v + t * a)

    rate = (velocity(h) - velocity(-h)) / (2 * h)
    drift = 0 if kind.drift is None else kind.drift(q, v)
    np.testing.assert_allclose(T(q) @ a + drift, rate, rtol=1e-14, atol=1e-8)
    np.testing.assert_allclose(T(q) @ T(q).T, np.eye(joint.nv), rtol=1e-14, atol=1e-15)
    back = kind.q_back(kind.q(q))
    assert np.abs(joint.difference(q.tolist(), back.tolist())).max() < 1e-14


def test_converted_twist_of_a_floating_joint_matches_a_hand_calculation():
    """After a quarter turn about ẑ, 1 m/s along the body's x̂ is 1 m/s along the world's ŷ."""
    half = np.sqrt(0.5)
    q = np.array([1, 2, 3, 0, 0, half, half])
    v = np.array([0.1, 0.2, 0.3, 1, 0, 0])
    np.testing.assert_allclose(FREE_LINEAR_FIRST.T(q) @ v, [1, 0, 0, 0.1, 0.2, 0.3])
    np.testing.assert_allclose(FREE_MIXED.T(q) @ v, [0, 1, 0, 0.1, 0.2, 0.3], rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(FREE_WORLD.T(q) @ v, [-0.2, 0.1, 0.3, 0, 1, 0], rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(FREE_MIXED.q(q), [1, 2, 3, half, 0, 0, half])
    np.testing.assert_allclose(FREE_WORLD.q(q), [half, 0, 0, half, 1, 2, 3])


# -- Drake, with a stub of pydrake's MultibodyPlant ----------------------------------------------------------------------


class Place:
    """Stub of a joint of a MultibodyPlant with the methods that torsor calls."""

    def __init__(self, name, word, q, nq, v, nv):
        self._said = {"name": name, "type_name": word, "position_start": q, "num_positions": nq, "velocity_start": v,
                      "num_velocities": nv}  # fmt: skip

    def __getattr__(self, word):
        return lambda: self._said[word]


class Plant:
    def __init__(self, *joints):
        self.joints = joints

    def GetJointIndices(self):
        return range(len(self.joints))

    def get_joint(self, k):
        return self.joints[k]

    def num_positions(self):
        return sum(j.num_positions() for j in self.joints)

    def num_velocities(self):
        return sum(j.num_velocities() for j in self.joints)


def test_state_conversion_to_drake_and_back_gives_the_same_state():
    """The stub has the joint order and type names of pydrake; test_drake.py uses Drake itself."""
    rng = np.random.default_rng(0)
    links = tuple(Link(x) for x in ("trunk", "shank", "eye"))
    joints = (
        Joint("knee", Revolute(axis(rng)), "trunk", "shank", transform(rng)),
        Joint("socket", Spherical(), "shank", "eye", transform(rng)),
    )
    robot = Robot(Description("r", links, joints, base="floating"))
    plant = Plant(
        Place("trunk", "quaternion_floating", 0, 7, 0, 6), Place("lid", "weld", 0, 0, 0, 0),
        Place("socket", "ball_rpy", 7, 3, 6, 3), Place("knee", "revolute", 10, 1, 9, 1),
    )  # fmt: skip
    there = states.drake(robot, plant)
    q, (v, a) = robot.random_configuration(rng), rng.normal(size=(2, robot.nv))
    Q, V, A = there.q(q), there.v(q, v), there.a(q, v, a)
    assert (there.nq, there.nv) == (11, 10)
    assert Q[10] == q[7]
    R = robot.pose(q, "trunk")[:3, :3]
    np.testing.assert_allclose(V[:6], [*(R @ v[:3]), *(R @ v[3:6])], rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(there.back.q(Q)[:8], q[:8], rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(there.back.a(Q, V, A), a, rtol=1e-14, atol=1e-14)
    with pytest.raises(ModelError, match="floating joint with roll, pitch and yaw"):
        states.drake(robot, Plant(Place("trunk", "rpy_floating", 0, 6, 0, 6)))


def test_state_conversion_refuses_missing_joints_by_name():
    robot = ts.robots.ur5()
    model = mujoco_model(robot)
    with pytest.raises(ModelError, match="MuJoCo has a joint 'shoulder_pan_joint' that is missing in robot 'two_link'"):
        states.mujoco(ts.robots.two_link(), model)
    with pytest.raises(ModelError, match="has joints that are missing in Drake: elbow_joint"):
        states.drake(
            robot,
            Plant(*(Place(n, "revolute", k, 1, k, 1) for k, n in enumerate(j for j in robot.joints if j != "elbow_joint"))),
        )
