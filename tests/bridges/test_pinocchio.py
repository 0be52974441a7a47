"""Models to Pinocchio and back: the dynamics agree on every shared joint type, for models of either library."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import torsor as ts
from tests.references.pinocchio_states import ROBOTS
from tests.tolerance import assert_close
from tests.trees import KNEE, Cam, joint_type, random_tree
from torsor import algorithms as alg
from torsor.bridges import from_pinocchio, states, to_pinocchio
from torsor.errors import ArgumentError, MissingExtra, ModelError
from torsor.model.description import Description
from torsor.model.joints import Composite, Cylindrical, EulerAngles, Helical, Planar, Revolute, Spherical, Universal
from torsor.robot import Robot
from torsor.spatial import Vec

LIMIT = 1e-12
URDFS = (
    "ur_description/urdf/ur5_gripper.urdf", "panda_description/urdf/panda.urdf", "kinova_description/robots/kinova.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf", "tiago_description/robots/tiago.urdf",
    "solo_description/robots/solo12.urdf", "g1_description/urdf/g1_29dof_rev_1_0.urdf", "pr2_description/urdf/pr2.urdf",
)  # fmt: skip


def symmetrize(M):
    return np.triu(M) + np.triu(M, 1).T  # crba fills the upper triangle


def by_source(function, robot, *state):
    return np.array(function(robot.model, *(x.tolist() for x in state)), float)


def agree(robot: Robot, model, seed: int = 0, forward: bool = True) -> None:
    """Compare τ, M and forward dynamics of one state in both libraries."""
    there, rng, data = states.pinocchio(robot, model), np.random.default_rng(seed), model.createData()
    q, (v, a) = robot.random_configuration(rng), rng.normal(size=(2, robot.nv))
    Q, V, A = there.q(q), there.v(q, v), there.a(q, v, a)
    tau = by_source(alg.rnea, robot, q, v, a)
    TAU = pin.rnea(model, data, Q, V, A)
    assert_close(there.back.tau(Q, TAU), tau, LIMIT, floor=1e-9)
    coupled = len(model.mimicking_joints) > 0
    if not coupled or all(joint.nv <= 1 for joint in model.joints):  # with more, Pinocchio 4.1's crba differs from its own rnea
        T = there.velocity_matrix(q)
        M = T.T @ symmetrize(pin.crba(model, data, Q)) @ T
        assert_close(by_source(alg.crba, robot, q), M, LIMIT, floor=1e-9)
        kappa = np.linalg.cond(M)
        if forward and not coupled and kappa < 1e12:  # its aba does not support mimic joints
            theirs = there.back.a(Q, V, pin.aba(model, data, Q, V, TAU))
            assert_close(theirs, a, max(LIMIT, 1e-14 * kappa), floor=1e-9)  # the solution loses log₁₀ cond(M) digits
    np.testing.assert_allclose(there.back.v(Q, V), v, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(there.back.a(Q, V, A), a, rtol=1e-14, atol=1e-13)
    np.testing.assert_allclose(there.v(q, there.back.v(Q, V)), V, rtol=1e-14, atol=1e-14)
    if there.nv == robot.nv:
        assert_close(there.tau(q, tau), TAU, LIMIT, floor=1e-9)


def _has_planar(kind) -> bool:
    return isinstance(kind, Planar) or (isinstance(kind, Composite) and any(map(_has_planar, kind.joints)))


def _skew_planar_part(kind) -> bool:
    """Whether a composite joint has a part that Pinocchio's cannot have."""
    return isinstance(kind, Composite) and any(isinstance(k, Planar) and k.normal != Vec(0, 0, 1) for k in kind.joints)


def random_description(seed: int) -> Description:
    """A random tree of joints that Pinocchio supports; planar joints have no armature and damping."""
    rng, kinds = np.random.default_rng(seed), []
    while len(kinds) < 6:
        kind = joint_type(rng)
        if kind.name not in ("cam", "function") and not _skew_planar_part(kind):
            kinds.append(kind)
    d = random_tree(seed, kinds=kinds)
    tables = tuple(replace(j, armature=(), damping=()) if _has_planar(j.kind) else j for j in d.joints)
    follows = any(j.mimic for j in d.joints)
    loose = tuple(replace(j, mimic=None) for j in tables)
    composed = ("cylindrical", "composite", "euler", "floating_rpy")
    odd = follows and any(j.kind.name in composed or (j.mimic and j.kind.name == "helical") for j in d.joints)
    return replace(d, joints=loose if odd else tables)


@pytest.mark.parametrize("name", ts.robots.names())
def test_bundled_robots_agree_with_pinocchio_in_both_directions(name):
    robot = getattr(ts.robots, name)()
    model = to_pinocchio(robot)
    agree(robot, model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ts.ModelWarning)  # textbook rods have impossible inertias
        again = from_pinocchio(model)
    agree(again, model)
    assert again.joints == robot.joints
    assert set(robot.links) <= set(again.frames)
    np.testing.assert_array_equal(again.gravity, robot.gravity)


@pytest.mark.parametrize("seed", [*range(40), 724])  # 724: mimic joints in another order than their leaders
def test_random_trees_agree_with_pinocchio_in_both_directions(seed):
    robot = Robot(random_description(seed))
    model = to_pinocchio(robot)
    agree(robot, model, seed)
    agree(from_pinocchio(model), model, seed)


@pytest.mark.night
@pytest.mark.parametrize("block", range(8))
def test_many_random_trees_agree_with_pinocchio_in_both_directions(block):
    for seed in range(40 + 100 * block, 140 + 100 * block):
        test_random_trees_agree_with_pinocchio_in_both_directions(seed)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", URDFS)
def test_from_pinocchio_agrees_with_models_that_pinocchio_built_from_urdf(name, floating):
    """from_pinocchio of models that Pinocchio built from URDF files."""
    model = pin.buildModelFromUrdf(str(ROBOTS / name), *([pin.JointModelFreeFlyer()] if floating else []))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ts.ModelWarning)
        robot = from_pinocchio(model)
        loaded = ts.load(ROBOTS / name, base="floating" if floating else "fixed", mimic=False)
    assert robot.nv == model.nv == loaded.nv
    agree(robot, model, forward=False)
    agree(loaded, model, forward=False)  # the same file read by both
    assert robot.mass == pytest.approx(loaded.mass, rel=1e-12)
    assert robot.description.base == ("floating" if floating else "fixed")


def test_to_pinocchio_and_from_pinocchio_keep_frame_poses():
    robot = ts.robots.panda()
    model = to_pinocchio(robot)
    data, there = model.createData(), states.pinocchio(robot, model)
    q = robot.random_configuration(3)
    pin.framesForwardKinematics(model, data, there.q(q))
    again = from_pinocchio(model)
    for frame in robot.links:
        pose = data.oMf[model.getFrameId(frame, pin.FrameType.BODY)].homogeneous
        np.testing.assert_allclose(robot.pose(q, frame), pose, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(again.pose(q, frame), pose, rtol=1e-14, atol=1e-14)


def test_to_pinocchio_and_from_pinocchio_keep_limits_friction_damping_and_armature():
    d = (
        ts.Builder("arm").link("base").link("a", mass=1, inertia=(1, 1, 1)).link("b", mass=1, inertia=(1, 1, 1))
        .link("c", mass=1, inertia=(1, 1, 1))
        .joint("lift", "prismatic", "base", "a", lower=-1, upper=2, velocity_limit=3, effort_limit=4, damping=5, friction=6,
               armature=7)
        .joint("wheel", "continuous", "a", "b", velocity_limit=8, effort_limit=9)
        .joint("free", "floating", "b", "c", damping=(1, 2, 3, 4, 5, 6), armature=(6, 5, 4, 3, 2, 1))
        .description()
    )  # fmt: skip
    robot = Robot(d)
    model = to_pinocchio(robot)
    assert (model.lowerPositionLimit[0], model.upperPositionLimit[0]) == (-1, 2)
    assert (model.upperVelocityLimit[0], model.upperEffortLimit[0]) == (3, 4)
    assert (model.damping[0], model.upperDryFrictionLimit[0], model.lowerDryFrictionLimit[0], model.armature[0]) == (
        5,
        6,
        -6,
        7,
    )
    assert model.damping[2:].tolist() == [4, 5, 6, 1, 2, 3]  # linear first
    again = from_pinocchio(model)
    for name in robot.joints:
        ours, theirs = robot.joint(name), again.joint(name)
        for word in ("lower", "upper", "velocity_limit", "effort_limit", "damping", "friction", "armature"):
            assert getattr(ours, word) == getattr(theirs, word), (name, word)
    agree(robot, model)


def test_composite_joints_of_pinocchio_that_are_apart_become_several_joints():
    apart = pin.JointModelComposite(2)
    apart.addJoint(pin.JointModelRX(), pin.SE3.Random())
    apart.addJoint(pin.JointModelSpherical(), pin.SE3.Random())
    together = pin.JointModelComposite(3)
    together.addJoint(pin.JointModelRX(), pin.SE3.Random())  # before the first, it is the place of the joint
    together.addJoint(pin.JointModelPlanar(), pin.SE3.Identity())
    together.addJoint(pin.JointModelTranslation(), pin.SE3.Identity())
    model = pin.Model()
    kinds = (pin.JointModelTranslation(), pin.JointModelSphericalZYX(), apart, together, pin.JointModelRUBY())
    for n, kind in enumerate(kinds):
        i = model.addJoint(n, kind, pin.SE3.Random(), f"j{n}")
        model.appendBodyToJoint(i, pin.Inertia.FromBox(1.0 + n, 0.1, 0.2, 0.3), pin.SE3.Random())
    robot = from_pinocchio(model)
    assert robot.joints == ("j0", "j1", "j2_0", "j2_1", "j3", "j4")
    assert [robot.joint(name).type for name in robot.joints] == (
        ["translation", "euler", "revolute", "spherical", "composite", "continuous"]
    )
    agree(robot, model, forward=False)  # two of its joints slide along the same axes


def test_composite_joints_go_over_and_come_back():
    rows = {"lower": (-1, -2, -3), "upper": (1, 2, 3), "damping": (4, 5, 6), "armature": (7, 8, 9), "effort_limit": (1, 2, 3)}
    kind = Composite([Revolute(Vec(1, 0, 0)), Universal(Vec(0, 1, 0), Vec(0, 0, 1))])
    robot = (
        ts.Builder("arm").link("base").link("a", mass=1, inertia=(1, 1, 1)).link("b", mass=1, inertia=(1, 1, 1))
        .joint("j", kind, "base", "a", **rows)
        .joint("k", EulerAngles("xzy"), "a", "b", xyz=(0.1, 0.2, 0.3)).build("floating_rpy")
    )  # fmt: skip
    model = to_pinocchio(robot)
    assert [joint.shortname() for joint in model.joints][1:] == ["JointModelComposite"] * 3
    agree(robot, model)
    again = from_pinocchio(model)
    assert (again.description.base, again.joints) == ("floating_rpy", robot.joints)
    agree(again, model)
    for word in rows:
        assert getattr(again.joint("j"), word) == getattr(robot.joint("j"), word), word
    with pytest.raises(ModelError, match="no joint for FunctionJoint"):
        to_pinocchio(ts.Builder("f").link("a").link("b", mass=1).joint("j", KNEE, "a", "b").build())


def test_from_pinocchio_reports_unused_rotor_inertia():
    model = pin.buildSampleModelManipulator()
    model.rotorInertia[:] = 1.0
    robot = from_pinocchio(model)
    agree(robot, model)
    assert any("rotorInertia is not used" in line for line in robot.report)


def test_mimic_joints_agree_with_pinocchio():
    """A mimic joint before its leader in torsor's order; its losses act on the leader."""
    robot = Robot(
        ts.Builder("gripper").link("base").link("a", mass=1, com=(0.1, 0, 0)).link("b", mass=2, com=(0, 0.2, 0))
        .joint("follower", "prismatic", "base", "a", axis=(0, 1, 0), mimic=("leader", -0.5, 0.1), armature=0.3, damping=0.2)
        .joint("leader", "revolute", "base", "b", axis=(1, 0, 0), armature=0.1, damping=1.0)
        .description()
    )  # fmt: skip
    model = to_pinocchio(robot)
    assert (model.nv, model.armature[0], model.damping[0]) == (1, pytest.approx(0.1 + 0.25 * 0.3), pytest.approx(1.05))
    agree(robot, model)
    agree(from_pinocchio(model), model)
    free = to_pinocchio(robot.without_couplings())  # only Pinocchio's model has a coordinate for the mimic joint
    there = states.pinocchio(robot, free)
    q, v, a = np.array([0.3]), np.array([0.7]), np.array([-0.4])
    TAU = pin.rnea(free, free.createData(), there.q(q), there.v(q, v), there.a(q, v, a))
    np.testing.assert_allclose(there.back.tau(there.q(q), TAU), by_source(alg.rnea, robot, q, v, a), rtol=1e-14)
    assert there.velocity_matrix(q).shape == (2, 1)


def test_robots_that_pinocchio_does_not_support_are_refused():
    loops = ts.mechanisms.four_bar()
    loops = getattr(loops, "robot", loops)
    with pytest.raises(ModelError, match="does not have a copy in another library: models of other libraries are trees"):
        to_pinocchio(loops)
    rotors = ts.robots.two_link().with_rotors({"joint1": {"mass": 0.1, "inertia": (1e-4, 1e-4, 2e-4), "ratio": 10}})
    with pytest.raises(ModelError, match="rotors_as_armature"):
        to_pinocchio(rotors)
    with pytest.raises(ModelError, match="Pinocchio has no joint for Cam"):
        to_pinocchio(Robot(random_tree(0, kinds=[Cam()])))
    table = ts.Builder("t").link("a").link("b", mass=1).joint("j", "planar", "a", "b", armature=(1, 1, 0)).description()
    with pytest.raises(ModelError, match="fixed axes of the plane"):
        to_pinocchio(Robot(table))


@pytest.mark.parametrize(
    ("first", "second", "match"),
    [
        (Spherical(), Helical(Vec(0, 0, 1), 0.1), "computes wrongly"),
        (Cylindrical(Vec(0, 0, 1)), Revolute(Vec(0, 0, 1)), "crashes"),
    ],
)
def test_to_pinocchio_refuses_mimic_joints_that_pinocchio_computes_wrongly(first, second, match):
    b = ts.Builder("x").link("a").link("b", mass=1).link("c", mass=1).link("d", mass=1)
    b = b.joint("lead", "revolute", "a", "b").joint("j", first, "b", "c").joint("k", second, "c", "d", mimic="lead")
    with pytest.raises(ModelError, match=match):
        to_pinocchio(Robot(b.description()))


def test_ellipsoids_and_other_objects_are_refused(monkeypatch):
    model = pin.Model()
    model.addJoint(0, pin.JointModelEllipsoid(1.0, 2.0, 3.0), pin.SE3.Identity(), "egg")
    with pytest.raises(ModelError, match="'egg' is a Ellipsoid of Pinocchio"):
        from_pinocchio(model)
    with pytest.raises(ArgumentError, match=r"must be a pinocchio.Model, not str"):
        from_pinocchio("robot.urdf")
    monkeypatch.setitem(__import__("sys").modules, "pinocchio", None)
    with pytest.raises(MissingExtra, match=r"\[pinocchio\]"):
        to_pinocchio(ts.robots.ur5())


@pytest.mark.parametrize("name", ["panda", "quadruped", "cart_pole", "scara"])
def test_named_configurations_are_reference_configurations(name):
    robot = getattr(ts.robots, name)()
    model = to_pinocchio(robot)
    data = model.createData()
    theirs = {item.key(): np.array(item.data()) for item in model.referenceConfigurations}
    assert set(theirs) == set(robot.configurations)
    link = robot.links[-1]
    for word, q in theirs.items():
        pin.framesForwardKinematics(model, data, q)
        assert_close(data.oMf[model.getFrameId(link)].homogeneous, robot.pose(robot.configuration(word), link), floor=1)
    back = from_pinocchio(model)
    for word in robot.configurations:
        assert_close(back.configuration(word), robot.configuration(word))


def test_a_reference_configuration_of_a_wrong_size_is_refused():
    model = to_pinocchio(ts.robots.ur5())
    model.referenceConfigurations["bad"] = np.zeros(3)
    with pytest.raises(ArgumentError, match="shape"):
        from_pinocchio(model)
