"""Remove a branch, rename, retype a joint, make one follow: dynamics against the same robot made directly."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.machine_code import without_machine_code
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor.errors import ArgumentError, ModelError, UnknownName
from torsor.model import Mimic
from torsor.model.joints import Composite, Prismatic, Revolute


def same_dynamics(robot, other, seed=0):
    q, v, a = state(robot, seed)
    assert_close(robot.mass_matrix(q), other.mass_matrix(q))
    assert_close(robot.inverse_dynamics(q, v, a), other.inverse_dynamics(q, v, a))


# -- without -------------------------------------------------------------------------------------------------------------


@settings(max_examples=10)
@given(st.integers(0, 10**6))
@without_machine_code
def test_without_a_branch_attached_again_is_the_same_robot(seed):
    d = random_tree(seed, couplings=False)
    robot = ts.Robot(d)
    link = robot.links[-1]
    rest, branch = robot.without(link), robot.subtree(link)
    assert set(rest.links) | set(branch.links) == set(robot.links)
    assert not set(rest.links) & set(branch.links)
    assert_close(rest.mass + branch.mass, robot.mass)
    assert set(rest.frames) == {f for f in robot.frames if robot.frame(f).link not in branch.links}
    q, _, _ = state(robot, seed)
    kept = np.concatenate([np.arange(robot.nq)[robot.joint(n).q_slice] for n in rest.joints] or [np.zeros(0, int)])
    for name in rest.links:
        assert_close(rest.pose(q[kept], name), robot.pose(q, name))


def test_without_the_hand_of_panda_has_the_dynamics_of_the_arm_alone():
    robot = ts.robots.panda().without("panda_hand")
    assert robot.nq == 7
    assert "panda_hand" not in robot.frames
    arm = ts.robots.panda().with_payload("panda_link8", 0.0)
    hand = ts.robots.panda().subtree("panda_hand")
    q, v, a = state(robot, 1)
    with_hand = robot.attach(hand, at="panda_link8", rpy=(0, 0, -np.pi / 4)).lock(["panda_finger_joint1"])
    assert_close(with_hand.inverse_dynamics(q, v, a), arm.lock(["panda_finger_joint1"]).inverse_dynamics(q, v, a), 1e-11)


def test_without_a_leader_frees_its_followers_and_says_so():
    robot = ts.robots.panda().without("panda_leftfinger")
    assert robot.joint("panda_finger_joint2").mimic is None
    assert robot.nq == 8
    assert "no longer coupled, as the joint followed is removed: panda_finger_joint2" in robot.report[-1]
    assert ts.robots.panda().without("panda_rightfinger").nq == 8


def test_without_a_link_of_a_loop_removes_the_loop_and_says_so():
    robot = ts.mechanisms.four_bar().without("rocker")
    assert robot.loops == ()
    assert "loops removed: pin" in robot.report[-1]
    assert robot.links == ("ground", "crank", "coupler")


def test_without_a_driven_branch_leaves_the_rotor_on_its_link():
    motor = {"mass": 0.5, "inertia": (1e-3, 1e-3, 2e-3), "ratio": 50}
    robot = ts.robots.two_link().with_rotors({"joint2": motor}).without("link2")
    assert robot.rotors == ()
    assert "rotor: joint2_rotor" in robot.report[-1]
    assert robot.mass == pytest.approx(1.5)


def test_without_the_root_or_an_unknown_link_is_an_error():
    with pytest.raises(ModelError, match="'base' is the root"):
        ts.robots.two_link().without("base")
    with pytest.raises(UnknownName):
        ts.robots.two_link().without("joint1")


# -- rename --------------------------------------------------------------------------------------------------------------


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_rename_and_back_is_the_same_robot(seed):
    robot = ts.Robot(random_tree(seed))
    names = [*robot.links, *(f for f in robot.frames if f.startswith("frame")), *(j.name for j in robot.description.joints)]
    there = {name: f"the {name}" for name in names}
    other = robot.rename(there)
    assert other.links == tuple(map(there.get, robot.links))
    assert other.rename({new: old for old, new in there.items()}) == robot
    same_dynamics(robot, other, seed)


def test_rename_exchanges_two_names_and_reaches_mimics_loops_and_rotors():
    robot = ts.robots.panda().rename(
        {"panda_finger_joint1": "panda_finger_joint2", "panda_finger_joint2": "panda_finger_joint1"}
    )
    assert robot.joint("panda_finger_joint1").mimic == Mimic("panda_finger_joint2")
    bars = ts.mechanisms.four_bar().rename({"rocker": "beam", "pin": "bolt"})
    assert bars.loop("bolt").child == "beam"
    assert "beam" in bars.joints
    assert "beam" in bars.links
    assert "renamed rocker → beam, pin → bolt" in bars.report
    motor = {"mass": 0.5, "inertia": (1e-3, 1e-3, 2e-3), "ratio": 50}
    driven = (
        ts.robots.two_link().with_rotors({"joint2": motor}).rename({"joint2_rotor": "m", "joint2": "elbow", "link1": "arm"})
    )
    assert driven.rotors == ("m",)
    assert driven.description.rotors[0].joint == "elbow"
    assert driven.description.rotors[0].link == "arm"
    assert ts.robots.ur5().rename({}) == ts.robots.ur5()


@pytest.mark.parametrize(
    ("names", "error", "reason"),
    [
        ({"nobody": "x"}, UnknownName, "nobody"),
        ({"link1": "link2"}, ModelError, "two links are named 'link2'"),
        ({"link1": "tip"}, ModelError, "two frames are named 'tip'"),
        ({"joint1": "joint2"}, ModelError, "two joints are named"),
        ({"link1": ""}, ModelError, "not empty"),
        ({"link1": 3}, ModelError, "not 3"),
        (["link1"], ArgumentError, "a dict of old and new names"),
    ],
)
def test_rename_to_a_bad_name_raises(names, error, reason):
    with pytest.raises(error, match=reason):
        ts.robots.two_link().rename(names)


def test_rename_of_a_link_to_the_world_of_a_loop_is_an_error():
    b = ts.Builder("held").link("base").link("arm", mass=1, com=(1, 0, 0)).joint("j", "spherical", "base", "arm")
    robot = b.loop("grip", "spherical", "world", "arm").build("floating")
    with pytest.raises(ModelError, match="take the place of the fixed frame"):
        robot.rename({"arm": "world"})
    assert robot.rename({"arm": "leg"}).loop("grip").parent == "world"


# -- joint types ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "options"),
    [
        ("prismatic", {}),
        ("prismatic", {"axis": (1, 2, 0)}),
        ("helical", {"pitch": 0.1}),
        ("universal", {"second_axis": (0, 1, 0)}),
        ("cylindrical", {}),
        ("spherical", {}),
        ("planar", {"axis": (0, 1, 0)}),
        ("fixed", {}),
        ("floating", {}),
    ],
)
def test_with_joint_type_equals_the_robot_built_with_that_joint(type, options):
    def made(kind, **more):
        b = ts.Builder("r").link("base").link("a", mass=1, com=(0.3, 0.2, 0), inertia=(0.1, 0.2, 0.25))
        b.link("b", mass=2, com=(0.1, 0, 0.4), inertia=(0.3, 0.2, 0.15)).joint("x", "revolute", "base", "a", axis=(0, 1, 0))
        return b.joint("y", kind, "a", "b", xyz=(0.5, 0, 0.1), rpy=(0.1, 0.2, 0.3), **more).build()

    axis = {"axis": (0, 0, 1)} if type in ("prismatic", "helical", "cylindrical", "universal") else {}
    changed = made("revolute").with_joint_type("y", type, **options)
    assert changed == made(type, **{**axis, **options})
    same_dynamics(changed, made(type, **{**axis, **options}))


def test_with_joint_type_keeps_axis_and_limits_where_the_units_stay():
    robot = ts.robots.ur5()
    turning = robot.with_joint_type("elbow_joint", "continuous")
    assert turning.joint("elbow_joint").effort_limit == robot.joint("elbow_joint").effort_limit
    assert turning.joint("elbow_joint").lower == (-np.inf,)
    assert turning.report[-1] == "joint 'elbow_joint': revolute → continuous; dropped: lower, upper"
    q, v, a = state(robot, 0)
    assert_close(turning.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a))
    sliding = robot.with_joint_type("elbow_joint", "prismatic")
    assert sliding.joint("elbow_joint").effort_limit == (np.inf,)
    assert "effort_limit" in sliding.report[-1]
    assert next(j for j in sliding.description.joints if j.name == "elbow_joint").kind.axis == (0, 1, 0)


def test_with_joint_type_keeps_the_axis_of_a_reversed_joint():
    links = ts.Builder("hook").link("a", 1.0).link("b", 1.0)
    hook = links.joint("j", "universal", "a", "b", axis=(1, 0, 0), second_axis=(0, 1, 0)).build()
    hinge, turned = (r.with_joint_type("j", "revolute") for r in (hook, hook.rebase("b")))
    assert turned.pose([0.3], "a") == pytest.approx(np.linalg.inv(hinge.pose([0.3], "b")), abs=1e-15)


def test_with_joint_type_of_a_loop_and_of_a_leader():
    loop = ts.mechanisms.four_bar().with_joint_type("pin", "spherical")
    assert loop.loop("pin").type == "spherical"
    with pytest.raises(ModelError, match="both must have one degree of freedom"):
        ts.robots.panda().with_joint_type("panda_finger_joint1", "fixed")
    assert ts.robots.panda().with_joint_type("panda_finger_joint2", "fixed").nq == 8
    with pytest.raises(UnknownName):
        ts.robots.panda().with_joint_type("panda_finger_joint1", "hinge")
    with pytest.raises(UnknownName):
        ts.robots.panda().with_joint_type("nobody", "fixed")


# -- mimic ---------------------------------------------------------------------------------------------------------------


def test_with_mimic_equals_the_robot_built_so_and_none_removes_it():
    robot = ts.robots.ur5().with_mimic("wrist_2_joint", "elbow_joint", -0.5, 0.1)
    assert robot.nq == 5
    assert robot.joint("wrist_2_joint").mimic == Mimic("elbow_joint", -0.5, 0.1)
    q, v, a = state(robot, 0)
    full, G = np.zeros(6), np.zeros((6, 5))
    for k, name in enumerate(ts.robots.ur5().joints):
        lead = robot.joint("elbow_joint" if name == "wrist_2_joint" else name).q_slice.start
        G[k, lead] = -0.5 if name == "wrist_2_joint" else 1
        full[k] = G[k, lead] * q[lead] + (0.1 if name == "wrist_2_joint" else 0)
    assert_close(robot.inverse_dynamics(q, v, a), G.T @ ts.robots.ur5().inverse_dynamics(full, G @ v, G @ a))
    free = robot.with_mimic("wrist_2_joint", None)
    assert free.configuration("home")[free.joint("wrist_2_joint").q_slice] == 0.1  # that of its leader, 0, by the mimic
    assert replace(free.description, configurations=()) == replace(ts.robots.ur5().description, configurations=())


@pytest.mark.parametrize(
    ("arguments", "error", "reason"),
    [
        (("elbow_joint", "nobody"), UnknownName, "nobody"),
        (("nobody", "elbow_joint"), UnknownName, "nobody"),
        (("elbow_joint", "elbow_joint"), ModelError, "cycle"),
        (("elbow_joint", "wrist_3_link-tool0_fixed_joint"), (ModelError, UnknownName), "one degree of freedom|there is no"),
        (("elbow_joint", "wrist_1_joint", float("inf")), ModelError, "finite"),
        (("elbow_joint", None, 2.0), ArgumentError, "needs a leader"),
        (("elbow_joint", 3), UnknownName, "joint"),
    ],
)
def test_with_mimic_of_bad_arguments_raises(arguments, error, reason):
    with pytest.raises(error, match=reason):
        ts.robots.ur5().with_mimic(*arguments)


def test_with_mimic_of_a_loop_joint_is_an_error():
    with pytest.raises(ModelError, match="closes a loop"):
        ts.mechanisms.four_bar().with_mimic("pin", "crank")


# -- arguments of the wrong kind -----------------------------------------------------------------------------------------


def test_attach_and_lock_of_the_wrong_type_are_refused():
    arm = ts.robots.two_link()
    for other in ("ur5.urdf", arm.description, None):
        with pytest.raises(ArgumentError, match="attach: other must be a Robot, not"):
            arm.attach(other, "tip")
    with pytest.raises(ArgumentError, match="attach: prefix must be text, such as 'left_', not 3"):
        arm.attach(arm, "tip", prefix=3)
    for joints in (None, 3):
        with pytest.raises(ArgumentError, match=r"lock takes .* or a list of joints, not"):
            arm.lock(joints)
    for base in (["floating_base"], {"floating_base": (0, 0, 0, 0, 0, 0, 1)}):
        with pytest.raises(ModelError, match=r"carries the floating base; use with_base\('fixed'\)"):
            arm.with_base("floating").lock(base)


def test_joint_type_of_other_units_in_a_composite_drops_the_limits():
    """(slide, hinge) to (hinge, slide): as many coordinates, other units."""
    slide, hinge = Prismatic((1, 0, 0)), Revolute((0, 0, 1))
    b = ts.Builder("rail").link("base").link("body", mass=1.0, com=(0.1, 0, 0))
    robot = b.joint("j", Composite([slide, hinge]), "base", "body", lower=(-0.1, -3), upper=(0.1, 3)).build()
    swapped = robot.with_joint_type("j", Composite([hinge, slide]))
    assert swapped.upper.tolist() == [np.inf, np.inf]
    assert "dropped: lower, upper" in swapped.report[-1]
    turned = robot.with_joint_type("j", Composite([Prismatic((0, 1, 0)), hinge]))
    assert turned.upper.tolist() == [0.1, 3.0]


def test_joint_type_of_other_units_refuses_the_gear_ratio_of_a_rotor():
    motor = {"mass": 0.1, "inertia": (1e-5, 1e-5, 2e-5), "ratio": 50}
    robot = ts.robots.two_link().with_rotors({"joint2": motor})
    with pytest.raises(ModelError, match=r"changes the unit of the gear ratio of rotor 'joint2_rotor'; drop it first"):
        robot.with_joint_type("joint2", "prismatic", axis=(1, 0, 0))
    assert robot.with_joint_type("joint2", "continuous").rotors == ("joint2_rotor",)
    assert robot.with_rotors({"joint2": None}).with_joint_type("joint2", "prismatic", axis=(1, 0, 0)).nq == 2
