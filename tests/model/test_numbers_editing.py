"""Other masses, limits, armature, damping and frames: the same numbers assigned in Pinocchio, and errors."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.machine_code import without_machine_code
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor.errors import ArgumentError, ModelError, ModelWarning, UnknownName
from torsor.io import write_urdf
from torsor.spatial.rigid.physical import inertia_problems


@pytest.fixture(scope="module")
def ur5():
    return ts.robots.ur5()


def in_pinocchio(robot):
    return pin.buildModelFromXML(write_urdf(robot.description))


def torques(model, q, v, a):
    return pin.rnea(model, model.createData(), q, v, a)


# -- links ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"mass": 5.0},
        {"com": (0.1, -0.2, 0.3)},
        {"inertia": (0.3, 0.01, 0.02, 0.4, 0.03, 0.5)},
        {"mass": 5.0, "com": np.array([0.1, -0.2, 0.3]), "inertia": np.diag([0.3, 0.4, 0.5])},
    ],
)
@without_machine_code
def test_with_link_has_the_dynamics_of_the_assignment_in_pinocchio(ur5, given):
    model = in_pinocchio(ur5)
    k = model.getJointId("elbow_joint")
    G = model.inertias[k]
    if "mass" in given:
        G.mass = given["mass"]
    if "com" in given:
        G.lever = np.array(given["com"])
    if "inertia" in given:
        xx, xy, xz, yy, yz, zz = given["inertia"] if len(given["inertia"]) == 6 else (0.3, 0, 0, 0.4, 0, 0.5)
        G.inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    model.inertias[k] = G
    q, v, a = state(ur5, 3)
    assert_close(ur5.with_link("forearm_link", **given).inverse_dynamics(q, v, a), torques(model, q, v, a))


def test_with_link_of_its_own_numbers_is_the_same_link(ur5):
    link = ur5.link("forearm_link")
    same = ur5.with_link("forearm_link", mass=link.mass, com=link.com, inertia=link.inertia).link("forearm_link")
    assert_close(same.com, link.com)
    assert_close(same.inertia, link.inertia)
    assert ur5.with_link("forearm_link", mass=1.0).report[-1] == "link 'forearm_link': other mass"


def test_with_link_gives_a_massless_link_a_body_and_takes_it_away(ur5):
    loaded = ur5.with_link("tool0", mass=2.0, com=(0, 0, 0.1), inertia=(0.01, 0.01, 0.01))
    assert loaded.mass == pytest.approx(ur5.mass + 2)
    q = np.linspace(-1, 1, 6)
    payload = ur5.with_payload("tool0", mass=2.0, com=(0, 0, 0.1), inertia=(0.01, 0.01, 0.01))
    assert_close(loaded.mass_matrix(q), payload.mass_matrix(q))
    assert_close(loaded.with_link("tool0", mass=0, com=(0, 0, 0), inertia=(0, 0, 0)).mass_matrix(q), ur5.mass_matrix(q))


def test_with_link_accepts_symbols():
    m = sympy.Symbol("m")
    robot = ts.robots.two_link().with_link("link2", mass=m)
    assert sympy.simplify(robot.mass - m - 1) == 0


def test_impossible_inertia_given_to_a_link_is_a_warning_at_the_call(ur5):
    with pytest.warns(ModelWarning, match=r"link 'forearm_link': a principal moment exceeds the sum") as caught:
        ur5.with_link("forearm_link", inertia=(1, 1, 3))
    assert caught[0].filename == __file__


WRONG = {
    "unknown link": (lambda r: r.with_link("forearm", mass=1), UnknownName, "forearm_link"),
    "frame in place of a link": (lambda r: r.with_frame("x", "tool0").with_link("x", mass=1), UnknownName, "'x'"),
    "nothing given": (lambda r: r.with_link("tool0"), ArgumentError, "give mass=, com= or inertia="),
    "mass negative": (lambda r: r.with_link("tool0", mass=-1), ModelError, "mass -1 kg is negative"),
    "mass nan": (lambda r: r.with_link("tool0", mass=np.nan), ModelError, "mass must be finite"),
    "mass huge": (lambda r: r.with_link("tool0", mass=1e300), ModelError, "check its unit"),
    "mass text": (lambda r: r.with_link("tool0", mass="heavy"), ModelError, "mass must be a number"),
    "com of two": (lambda r: r.with_link("tool0", com=(1, 2)), ModelError, "com must be 3 numbers, 2 given"),
    "inertia not symmetric": (lambda r: r.with_link("tool0", inertia=np.arange(9).reshape(3, 3)), ModelError, "symmetric"),
    "inertia empty": (lambda r: r.with_link("tool0", inertia=[]), ModelError, "3×3 matrix"),
    "limits of an unknown joint": (lambda r: r.with_limits("elbow", lower=0), UnknownName, "elbow_joint"),
    "limits by a dict": (lambda r: r.with_limits({"elbow_joint": (-1, 1)}, lower=0), UnknownName, "moving joint"),
    "limits of a fixed joint": (lambda r: r.with_limits("ee_fixed_joint", lower=0), UnknownName, "moving joint"),
    "limits of nothing": (lambda r: r.with_limits("elbow_joint"), ArgumentError, "give lower=, upper=, velocity_limit="),
    "limits exchanged": (lambda r: r.with_limits("elbow_joint", lower=1, upper=0), ModelError, "above upper limit"),
    "limit nan": (lambda r: r.with_limits("elbow_joint", upper=np.nan), ModelError, "upper must be finite"),
    "two limits": (lambda r: r.with_limits("elbow_joint", upper=(1, 2)), ModelError, "upper needs 1 number, 2 given"),
    "effort negative": (lambda r: r.with_limits("elbow_joint", effort_limit=-1), ModelError, "effort_limit -1.0 is negative"),
    "armature negative": (lambda r: r.with_armature({"elbow_joint": -1}), ModelError, "must be finite and not negative"),
    "armature nan": (lambda r: r.with_armature({"elbow_joint": np.nan}), ModelError, "armature must be finite"),
    "armature without a joint": (lambda r: r.with_armature(0.1), ArgumentError, "with_armature takes a dict"),
    "armature of an unknown joint": (lambda r: r.with_armature({"elbow": 1}), UnknownName, "elbow_joint"),
    "damping of a weld": (lambda r: r.with_damping({"ee_fixed_joint": 1}), UnknownName, "moving joint"),
    "damping infinite": (lambda r: r.with_damping({"elbow_joint": np.inf}), ModelError, "finite"),
    "damping of two": (lambda r: r.with_damping({"elbow_joint": [1, 2]}), ModelError, "damping needs 1 number, 2 given"),
    "damping of the base": (lambda r: r.with_base("floating").with_damping({"floating_base": 1}), UnknownName, "moving joint"),
    "frame on nothing": (lambda r: r.with_frame("tcp", "flange"), UnknownName, "link or frame"),
    "frame named as a link": (lambda r: r.with_frame("tool0", "tool0"), ModelError, "two frames are named 'tool0'"),
    "frame without a name": (lambda r: r.with_frame("", "tool0"), ModelError, "has no name"),
    "frame named by a number": (lambda r: r.with_frame(3, "tool0"), ArgumentError, "the name must be text, not 3"),
    "frame nan": (lambda r: r.with_frame("tcp", "tool0", xyz=(0, 0, np.nan)), ModelError, "xyz must be finite"),
    "frame removed twice": (lambda r: r.with_frame("tcp", None), UnknownName, "'tcp'"),
    "too few parameters": (lambda r: r.with_inertial_parameters([1.0] * 59), ModelError, "60 numbers, 59 given"),
    "parameters nan": (lambda r: r.with_inertial_parameters([np.nan] * 60), ModelError, r"parameters\[0\] must be finite"),
    "parameters of a negative mass": (
        lambda r: r.with_inertial_parameters(-r.inertial_parameters), ModelError, "mass -[0-9.]+ kg is negative",
    ),
    "one number as parameters": (lambda r: r.with_inertial_parameters(1.0), ModelError, "60 numbers"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_invalid_numbers_are_refused_with_their_name(ur5, case):
    edit, error, words = WRONG[case]
    with pytest.raises(error, match=words):
        edit(ur5)


# -- joints --------------------------------------------------------------------------------------------------------------


def test_limits_replace_those_given_and_keep_the_others(ur5):
    before = ur5.joint("elbow_joint")
    robot = ur5.with_limits("elbow_joint", lower=-0.5, effort_limit=np.inf)
    after = robot.joint("elbow_joint")
    assert (after.lower, after.effort_limit) == ((-0.5,), (np.inf,))
    assert (after.upper, after.velocity_limit) == (before.upper, before.velocity_limit)
    assert not robot.within_limits(-np.ones(6))
    assert robot.clip(-np.ones(6))[2] == -0.5


def test_limits_of_a_continuous_joint_need_another_type():
    robot = ts.Builder("top").link("a").link("b", 1).joint("j", "continuous", "a", "b").build()
    with pytest.raises(ModelError, match=r"is continuous and has no lower; use with_joint_type\('j', 'revolute'\) first"):
        robot.with_limits("j", lower=-1)
    assert robot.with_limits("j", velocity_limit=3).joint("j").velocity_limit == (3.0,)
    assert robot.with_joint_type("j", "revolute").with_limits("j", lower=-1, upper=1).joint("j").lower == (-1.0,)


def test_joints_with_several_degrees_of_freedom_take_a_number_each():
    robot = ts.Builder("ball").link("a").link("b", 1, com=(0, 0, 1)).joint("s", "spherical", "a", "b").build()
    with pytest.raises(ModelError, match="armature needs 3 numbers, 1 given"):
        robot.with_armature({"s": 0.1})
    q, armature = robot.neutral(), [0.1, 0.2, 0.3]
    assert_close(robot.with_armature({"s": armature}).mass_matrix(q), robot.mass_matrix(q) + np.diag(armature))
    assert_close(robot.with_damping({"s": np.array(armature)}).damping_force([1, 1, 1]), armature)
    assert robot.with_limits("s", velocity_limit=[1, 2, 3]).joint("s").velocity_limit == (1, 2, 3)


@without_machine_code
def test_armature_has_the_dynamics_of_the_assignment_in_pinocchio(ur5):
    model = in_pinocchio(ur5)
    model.armature = np.array([0, 0, 0.3, 0, 0.4, 0])
    robot = ur5.with_armature({"elbow_joint": 0.3, "wrist_2_joint": 0.4})
    q, v, a = state(ur5, 5)
    assert_close(robot.inverse_dynamics(q, v, a), torques(model, q, v, a))
    assert robot.with_armature({"elbow_joint": None, "wrist_2_joint": 0}).joint("elbow_joint").armature == (0.0,)


def test_armature_and_damping_of_a_mimic_joint_count_on_its_leader():
    """q₂ = −0.5 q₁: 0.25 of the armature and damping of the follower on the leader."""
    robot = ts.robots.two_link().with_mimic("joint2", "joint1", -0.5)
    assert_close(robot.with_armature({"joint2": 0.8}).mass_matrix([0.3]), robot.mass_matrix([0.3]) + 0.2)
    assert_close(robot.with_damping({"joint2": 0.8}).damping_force([2.0]), [0.4])
    curved = ts.robots.two_link().with_mimic("joint2", "joint1", polynomial=(0, 1, 2))
    with pytest.raises(ModelError, match="follows 'joint1' by a polynomial of degree 2 or more, and has armature"):
        curved.with_armature({"joint2": 1})


def test_damping_that_is_given_acts_and_that_of_a_file_does_when_asked():
    bare = ts.robots.two_link()
    robot = bare.with_damping({"joint1": 0.5})
    q, v, a = [0.1, 0.2], [1.0, 2.0], [0.0, 0.0]
    assert_close(robot.inverse_dynamics(q, v, a) - bare.inverse_dynamics(q, v, a), [0.5, 0.0])
    assert_close(robot.with_damping(False).inverse_dynamics(q, v, a), bare.inverse_dynamics(q, v, a))
    assert_close(robot.without_terms("damping").inverse_dynamics(q, v, a), bare.inverse_dynamics(q, v, a))
    assert_close(robot.with_damping(True).inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a))
    assert robot.with_damping({"joint1": None}).with_damping(False) == bare
    for wrong in (None, 0.3, "all", [True]):
        with pytest.raises(ArgumentError, match="with_damping takes True, False or"):
            bare.with_damping(wrong)


# -- frames --------------------------------------------------------------------------------------------------------------


def test_frame_on_a_link_or_frame_has_the_pose_of_the_product(ur5):
    robot = ur5.with_frame("tcp", "tool0", xyz=(0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6)).with_frame("tip", "tcp", xyz=(0, 0, 1))
    q = np.linspace(-1, 1, 6)
    local = pin.SE3(pin.rpy.rpyToMatrix(0.4, 0.5, 0.6), np.array([0.1, 0.2, 0.3])).homogeneous
    assert_close(robot.pose(q, "tcp"), ur5.pose(q, "tool0") @ local)
    assert_close(robot.pose(q, "tip")[:3, 3], (robot.pose(q, "tcp") @ [0, 0, 1, 1])[:3])
    moved = robot.with_frame("tcp", "tool0", xyz=(0, 0, 2))
    assert moved.frames.count("tcp") == 1
    assert_close(moved.pose(q, "tip"), robot.pose(q, "tip"))
    assert "tcp" not in moved.with_frame("tcp", None).frames


# -- inertial parameters -------------------------------------------------------------------------------------------------


def possible_parameters(n, rng):
    """Ten numbers of n bodies of random points: physically possible."""
    out = []
    for _ in range(n):
        r, m = rng.normal(size=(6, 3)), rng.uniform(0.1, 1, 6)
        I = sum(mass * (x @ x * np.eye(3) - np.outer(x, x)) for mass, x in zip(m, r, strict=True))
        out += [m.sum(), *(m @ r), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]
    return np.array(out)


@pytest.mark.parametrize("name", ["two_link", "ur5", "panda", "quadruped", "humanoid"])
def test_own_inertial_parameters_give_the_same_robot(name):
    robot = getattr(ts.robots, name)()
    assert robot.with_inertial_parameters(robot.inertial_parameters) == robot
    assert robot.with_inertial_parameters(list(robot.inertial_parameters)) == robot


@settings(max_examples=15)
@given(st.integers(0, 10**6))
@without_machine_code
def test_inertial_parameters_are_those_given_and_regressors_hold(seed):
    robot = ts.Robot(random_tree(seed)).with_friction(None).with_forces(None)
    robot = robot.with_armature(dict.fromkeys(j for j in robot.joints if j != "floating_base"))
    robot = robot.with_rotors(dict.fromkeys(robot.joints)) if robot.rotors else robot
    theta = possible_parameters(len(robot.joints), np.random.default_rng(seed))
    other = robot.with_inertial_parameters(theta)
    assert_close(other.inertial_parameters, theta)
    q, v, a = state(robot, seed)
    assert_close(other.inverse_dynamics(q, v, a), robot.inverse_dynamics_regressor(q, v, a) @ theta)
    assert not any(inertia_problems(link.inertia) for link in other.description.links)


def test_parameters_of_a_body_change_its_first_link_and_keep_the_welded_hand():
    panda = ts.robots.panda()
    theta = panda.inertial_parameters.reshape(-1, 10)
    k = panda.joints.index("panda_joint7")
    heavier = theta.copy()
    heavier[k, 0] += 1.0
    robot = panda.with_inertial_parameters(heavier.ravel())
    assert robot.link("panda_hand").mass == panda.link("panda_hand").mass
    assert robot.link("panda_link7").mass == pytest.approx(panda.link("panda_link7").mass + 1, rel=1e-14)
    assert robot.link("panda_link6").mass == panda.link("panda_link6").mass


def test_parameters_lighter_than_the_welded_hand_go_to_the_first_link_as_a_whole():
    panda = ts.robots.panda()
    theta = panda.inertial_parameters.reshape(-1, 10)
    k = panda.joints.index("panda_joint7")
    lighter = theta.copy()
    lighter[k] *= 0.1
    robot = panda.with_inertial_parameters(lighter.ravel())
    assert robot.link("panda_hand").mass == 0
    assert robot.link("panda_link7").mass == pytest.approx(lighter[k, 0], rel=1e-14)
    assert_close(robot.inertial_parameters, lighter.ravel())


def test_rotors_keep_their_inertia_when_the_parameters_of_their_body_change():
    motor = {"mass": 0.1, "inertia": (1e-5, 1e-5, 2e-5), "ratio": 50}
    robot = ts.robots.two_link().with_rotors({"joint2": motor})
    theta = 2 * robot.inertial_parameters
    other = robot.with_inertial_parameters(theta)
    assert_close(other.inertial_parameters, theta)
    assert other.rotors == robot.rotors
    assert other.description.rotors == robot.description.rotors


def test_impossible_parameters_are_a_warning(ur5):
    theta = ur5.inertial_parameters
    theta[4] = -1.0
    with pytest.warns(ModelWarning, match="a principal moment is negative"):
        robot = ur5.with_inertial_parameters(theta)
    assert_close(robot.inertial_parameters, theta)


def test_arguments_are_not_changed(ur5):
    theta, com = ur5.inertial_parameters * 1.5, np.array([0.1, 0.2, 0.3])
    kept = theta.copy(), com.copy()
    ur5.with_inertial_parameters(theta)
    robot = ur5.with_link("forearm_link", com=com)
    com[:] = 9
    np.testing.assert_array_equal(theta, kept[0])
    assert_close(robot.link("forearm_link").com, kept[1])
