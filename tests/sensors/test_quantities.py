"""Gyroscope, accelerometer, force/torque and joint torque: MuJoCo, Pinocchio, and relations on random trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests.machine_code import without_machine_code
from tests.references.pinocchio_states import ROBOTS
from tests.references.test_pinocchio import twin
from tests.sensors.mujoco_sensors import Twin, models, with_sensors
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor import algorithms as alg
from torsor.model.joints import Fixed, Prismatic
from torsor.robot import Robot
from torsor.spatial import Vec

MODELS = models()
Z = Vec(0, 0, 1)
REAL = {
    "panda_description/urdf/panda.urdf": False,
    "ur_description/urdf/ur5_gripper.urdf": False,
    "solo_description/robots/solo12.urdf": True,
}


def source(name, robot, *given):
    """An algorithm over floats: random robots would each compile a kernel."""
    values = (x.tolist() if isinstance(x, np.ndarray) else x for x in given)
    return np.array(getattr(alg, name)(robot.model, *values), float)


@pytest.mark.parametrize("name", MODELS)
@without_machine_code
def test_sensors_at_every_body_equal_mujocos(name):
    t = Twin(with_sensors(MODELS[name]()))
    robot, (q, v, a) = t.robot, (t.q, t.v, t.a)
    sites = [k for k in range(t.m.nsite) if f"site{k}" in robot.frames]
    scale = max(np.abs(t.reading("torque", k)).max() for k in sites)
    for k in sites:
        site = f"site{k}"
        assert_close(robot.gyroscope(q, v, site), t.reading("gyro", k), floor=1)
        assert_close(robot.accelerometer(q, v, a, site), t.reading("accelerometer", k), 1e-11, floor=1)  # a is of a solve
        if robot.link(robot.frame(site).link).parent_joint is None and robot.description.base == "floating":
            continue  # nothing holds a floating base, and MuJoCo's reading is the rounding error of its solve
        F = robot.force_torque(q, v, a, site)
        assert_close(F[3:], t.reading("force", k), 1e-11, scale=max(scale, 1))
        assert_close(F[:3], t.reading("torque", k), 1e-11, scale=max(scale, 1))


@pytest.mark.parametrize("name", REAL)
def test_sensors_of_real_robots_equal_pinocchios(name):
    t = twin(ROBOTS / name, REAL[name])
    robot, (q, v, a) = t.robot, state(t.robot, 3)
    pin.rnea(t.model, t.data, t.q(q), t.v(v), t.v(a))
    pin.forwardKinematics(t.model, t.data, t.q(q), t.v(v), t.v(a))
    pin.updateFramePlacements(t.model, t.data)
    for link in robot.links[:: max(len(robot.links) // 6, 1)]:
        frame = t.model.getFrameId(link, pin.FrameType.BODY)
        classical = pin.getFrameClassicalAcceleration(t.model, t.data, frame, pin.LOCAL).linear
        expected = classical - t.data.oMf[frame].rotation.T @ t.model.gravity.linear
        assert_close(robot.accelerometer(q, v, a, link), expected, floor=1)
        expected = pin.getFrameVelocity(t.model, t.data, frame, pin.LOCAL).angular
        assert_close(robot.gyroscope(q, v, link), expected, floor=1)
    for name, f in zip(list(t.model.names)[1:], list(t.data.f)[1:], strict=True):
        ours = robot.force_torque(q, v, a, "floating_base" if name == "root_joint" else name)
        assert_close(ours, np.r_[f.angular, f.linear], scale=np.abs(f.vector).max(), floor=1)


@given(seed=st.integers(0, 10**6))
def test_accelerometer_of_random_trees_is_the_acceleration_less_gravity(seed):
    robot = Robot(random_tree(seed, bodies=4))
    q, v, a = state(robot, seed)
    for frame in ("frame1", "link4"):
        R, A = source("pose", robot, q, frame)[:3, :3], source("acceleration", robot, q, v, a, frame)
        scale = max(np.abs(A).max(), 10)
        assert_close(source("accelerometer", robot, q, v, a, frame), R.T @ (A[3:] - robot.gravity), scale=scale)
        assert_close(source("gyroscope", robot, q, v, frame), R.T @ source("twist", robot, q, v, frame)[:3], floor=1)


@given(seed=st.integers(0, 10**6))
def test_force_torque_at_a_joint_of_random_trees_is_its_reaction_wrench(seed):
    robot = Robot(random_tree(seed, bodies=4))
    q, v, a = state(robot, seed)
    wrenches = {"frame2": np.arange(6.0), "link4": np.ones(6)}
    rows = source("reaction_wrenches", robot, q, v, a, wrenches)
    for name, row in zip(robot.joints, rows, strict=True):
        assert_close(source("force_torque", robot, q, v, a, name, wrenches), row, scale=max(np.abs(rows).max(), 1))


@given(seed=st.integers(0, 10**6))
def test_force_torque_at_a_weld_is_the_reaction_of_a_joint_that_stands_still(seed):
    """A slider at rest in place of the weld: the wrench through it is what reaction_wrenches says of a moving joint."""
    kinds = (Fixed(), Prismatic(Z), Fixed(), *(j.kind for j in random_tree(seed, bodies=3).joints))
    d = random_tree(seed, bodies=5, kinds=kinds, couplings=False)
    welds = [j for j in d.joints if isinstance(j.kind, Fixed)]
    robot, wrenches = Robot(d), {name: np.arange(6.0) - k for k, name in enumerate(("frame1", "frame3", "link5", "link0"))}
    q, v, a = state(robot, seed)
    for weld in welds:
        loose = Robot(replace(d, joints=tuple(replace(j, kind=Prismatic(Z), armature=(), damping=()) if j is weld else j
                                              for j in d.joints)))  # fmt: skip
        at, into = loose.joint(weld.name), (loose.joint(weld.name).q_slice.start, loose.joint(weld.name).v_slice.start)
        Q, V, A = (np.insert(x, into[k], 0.0) for x, k in ((q, 0), (v, 1), (a, 1)))
        expected = source("reaction_wrenches", loose, Q, V, A, wrenches)
        scale = max(np.abs(expected).max(), 1)
        assert_close(source("force_torque", robot, q, v, a, weld.name, wrenches), expected[at.index - 1], scale=scale)
        assert_close(source("force_torque", robot, q, v, a, weld.child, wrenches), expected[at.index - 1], scale=scale)


def test_force_torque_at_a_frame_is_the_wrench_of_its_link_moved_and_turned():
    robot = ts.robots.ur5()
    q, v, a = state(robot, 1)
    T = np.linalg.inv(robot.pose(q, "wrist_3_link")) @ robot.pose(q, "tool0")
    load = robot.with_payload("tool0", 2.0, com=(0.1, 0.2, 0.3))
    assert robot.frame("tool0").link == "tool0"  # a link of its own, welded on
    m, f = np.split(load.force_torque(q, v, a, "tool0"), 2)
    all_of_it, without = (np.split(r.force_torque(q, v, a, "wrist_3_link"), 2) for r in (load, robot))
    R, p = T[:3, :3], T[:3, 3]
    assert_close(R @ f, all_of_it[1] - without[1], scale=np.abs(all_of_it).max())
    assert_close(R @ m + np.cross(p, R @ f), all_of_it[0] - without[0], scale=np.abs(all_of_it).max())


def test_force_torque_at_rest_carries_the_weight_behind_the_cut():
    robot = ts.robots.panda()
    q = robot.random_configuration(0)
    still = np.zeros(robot.nv)
    F = robot.force_torque(q, still, still, "panda_hand")
    assert np.linalg.norm(F[3:]) == pytest.approx(robot.subtree("panda_hand").mass * 9.81)


def test_force_torque_at_the_root_of_a_fixed_base_carries_the_whole_robot():
    robot = ts.robots.ur5()
    q = robot.random_configuration(0)
    F = robot.force_torque(q, 0 * q, 0 * q, robot.links[0])
    assert_close(F[3:], robot.pose(q, robot.links[0])[:3, :3].T @ (-robot.gravity * robot.mass))


def test_force_torque_at_the_root_of_a_floating_base_vanishes_in_free_motion():
    robot = ts.robots.quadruped()
    q, v, tau = state(robot, 2)
    tau[:6] = 0
    a = robot.forward_dynamics(q, v, tau)
    assert_close(robot.force_torque(q, v, a, "floating_base"), np.zeros(6), scale=np.abs(tau).max() + 100)


def test_joint_torque_sensor_leaves_out_armature_rotors_and_friction():
    robot = ts.robots.two_link().with_rotors({"joint2": {"mass": 0.2, "inertia": (1e-4, 1e-4, 2e-4), "ratio": 80.0}})
    q, v, a = state(robot, 4)
    assert_close(robot.joint_torque_sensor(q, v, a)[1:], robot.motor_torques(q, v, a).gear)
    rows = robot.reaction_wrenches(q, v, a)
    assert_close(robot.joint_torque_sensor(q, v, a), rows[:, 2])  # both turn about the z axes of their links
    with_law = robot.with_friction({"joint1": ts.actuators.friction.Viscous(3.0)})
    assert_close(with_law.joint_torque_sensor(q, v, a), robot.joint_torque_sensor(q, v, a), 0)


@given(seed=st.integers(0, 10**6))
def test_joint_torque_sensor_of_random_trees_is_tau_without_armature(seed):
    d = random_tree(seed, bodies=4)
    bare = Robot(replace(d, joints=tuple(replace(j, armature=()) for j in d.joints)))
    robot, (q, v, a) = Robot(d), state(bare, seed)
    assert_close(source("joint_torque_sensor", robot, q, v, a), source("rnea", bare, q, v, a), floor=1)


def test_force_torque_of_an_unknown_name_names_those_there_are():
    robot = ts.robots.two_link()
    with pytest.raises(ts.UnknownName, match=r"link, frame or joint named 'joint3'.*joint2"):
        robot.force_torque([0, 0], [0, 0], [0, 0], "joint3")
    with pytest.raises(ts.UnknownName, match="joint3"):
        robot.kernel("force_torque:joint3")
    with pytest.raises(ts.ArgumentError, match="needs a link, frame or joint"):
        robot.kernel("force_torque")


def test_force_torque_at_a_weld_counts_rotors_mounted_behind_it():
    def arm(weld):
        body = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.2, 0.25)}
        made = ts.Builder("arm").link("base").link("upper", **body).link("plate", **body).link("lower", **body)
        made = made.joint("j1", "revolute", "base", "upper", axis=(0, 1, 0)).joint(
            "weld", weld, "upper", "plate", xyz=(0.1, 0, 0)
        )
        made = made.joint("j2", "revolute", "plate", "lower", axis=(1, 0, 0), xyz=(0, 0.4, 0))
        made = made.rotor(
            "r2", "j2", "plate", mass=0.3, inertia=(0.01, 0.01, 0.02), ratio=30.0, axis=(0, 0, 1), xyz=(0, 0.1, 0)
        )
        return made.rotor("r1", "j1", "base", mass=0.3, inertia=(0.01, 0.02, 0.01), ratio=20.0, axis=(0, 1, 0)).build()

    fixed, loose = arm("fixed"), arm("prismatic")
    q, v, a = state(fixed, 7)
    Q, V, A = (np.insert(x, 1, 0.0) for x in (q, v, a))
    assert_close(fixed.force_torque(q, v, a, "weld"), loose.reaction_wrenches(Q, V, A)[1])
