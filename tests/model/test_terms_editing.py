"""Editing reaches every kind of term: renamed, attached, locked, cut, rebased; printed, compared and pickled."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.errors import ModelError
from torsor.terms import FixedTendon, SeriesSpring, Spring

ARM = ("shoulder_lift_joint", "elbow_joint", "wrist_1_joint")


@pytest.fixture(scope="module")
def arm() -> ts.Robot:
    """A UR5 with every kind of term."""
    robot = ts.robots.ur5().with_springs({
        ARM[0]: Spring(5.0, 0.3, rest=0.2), ("tool0", "base_link"): Spring(10.0, 0.5, rest=0.2),
        ("forearm_link", "tool0"): Spring(3.0),
    })  # fmt: skip
    robot = robot.with_terms(FixedTendon({ARM[1]: 0.3, ARM[2]: -0.2}, Spring(50.0), name="cord")).with_damping({ARM[2]: 0.2})
    robot = robot.with_forces({"tool0": ts.forces.field(lambda p, v: [-0.5 * v[0], 0.3 * p[0], 0])})
    return robot.with_friction({"wrist_3_joint": ts.actuators.friction.Viscous(0.3)})


def forces(robot: ts.Robot, q, v) -> np.ndarray:
    return robot.inverse_dynamics(q, v, np.zeros(robot.nv))


def test_renamed_robot_has_the_same_forces_and_new_names(arm):
    renamed = arm.rename({ARM[0]: "A", ARM[1]: "B", "tool0": "T"})
    assert list(renamed.terms) == [
        "wrist_3_joint friction", "spring T–base_link", "spring forearm_link–T", "A spring", "cord", "damping", "T field",
    ]  # fmt: skip
    q, v = np.linspace(-1, 1, 6), np.linspace(1, 2, 6)
    np.testing.assert_array_equal(forces(renamed, q, v), forces(arm, q, v))
    assert arm.rename({ARM[0]: "A"}).rename({"A": ARM[0]}) == arm


def test_lock_drops_terms_of_the_locked_joint_with_a_note_and_keeps_the_others(arm):
    locked = arm.lock({ARM[1]: 0.4})
    assert "cord" not in locked.terms
    assert "spring tool0–base_link" in locked.terms
    assert "terms removed, as their joint or frame is gone: cord" in locked.report[-1]
    q, v = np.linspace(-1, 1, 6), np.linspace(1, 2, 6)
    q[2], v[2] = 0.4, 0.0
    keep = [0, 1, 3, 4, 5]
    held = arm.without_terms("cord").inverse_dynamics(q, v, np.zeros(6))[keep]
    assert_close(forces(locked, q[keep], v[keep]), held, condition=10)


def test_attach_with_a_prefix_renames_terms_and_twins_do_not_clash():
    hand = ts.robots.two_link().with_springs({("tip", "world"): Spring(4.0, rest=0.3), "joint1": Spring(2.0)})
    hand = hand.with_terms(FixedTendon({"joint1": 1.0, "joint2": 1.0}, Spring(1.0), name="cord"))
    both = ts.robots.ur5().attach(hand, "tool0", prefix="l_").attach(hand, "forearm_link", prefix="r_")
    assert list(both.terms) == [
        "spring l_tip–l_base", "l_joint1 spring", "l_cord", "spring r_tip–r_base", "r_joint1 spring", "r_cord",
    ]  # fmt: skip  # a hand on an arm is not tied to the world
    q, v = np.linspace(-1, 1, both.nq), np.zeros(both.nq)
    alone = both.without_terms("spring")
    own = hand.without_terms("spring")
    left = [both.joint(f"l_joint{k}").q_slice.start for k in (1, 2)]
    expected = forces(hand, q[left], v[left]) - forces(own, q[left], v[left])
    assert_close((forces(both, q, v) - forces(alone, q, v))[left], expected, condition=10)


def test_attach_without_prefix_refuses_equal_names():
    robot = ts.robots.two_link().with_terms(FixedTendon({"joint1": 1.0}, Spring(1.0), name="cord"))
    other = ts.robots.panda().with_terms(FixedTendon({"panda_joint1": 1.0}, Spring(1.0), name="cord"))
    with pytest.raises(ModelError, match="both robots have a term named 'cord'"):
        robot.attach(other, "tip")


def test_attach_keeps_damping_to_the_joints_that_had_it():
    arm = ts.robots.puma560()
    hand = ts.robots.two_link().with_damping({"joint1": 0.3, "joint2": 0.4}).rename({"base": "palm"})
    both = arm.attach(hand.with_damping(True), arm.links[-1], prefix="h_")
    assert list(both.terms) == ["h_damping"]
    v = np.ones(both.nv)
    lost = forces(both, np.zeros(both.nq), v) - forces(both.without_terms("damping"), np.zeros(both.nq), v)
    assert_close(lost, [0, 0, 0, 0, 0, 0, 0.3, 0.4], scale=10)  # of joint forces of this size


def test_subtree_and_without_keep_the_terms_whose_places_remain(arm):
    assert list(arm.subtree("forearm_link").terms) == [
        "wrist_3_joint friction",
        "spring forearm_link–tool0",
        "damping",
        "tool0 field",
    ]
    assert list(arm.without("wrist_2_link").terms) == [f"{ARM[0]} spring", "cord", "damping"]


def test_rebased_arm_has_the_same_relative_forces(arm):
    flipped = arm.without_terms("field", "damping").rebase("wrist_3_link")
    q, v = np.linspace(-1, 1, 6), np.zeros(6)
    order = [flipped.joint(name).q_slice.start for name in arm.joints]
    turned, speed = np.empty(6), np.zeros(6)
    turned[order] = q
    no_field = arm.without_terms("field")
    before = forces(no_field, q, v) - forces(no_field.without_terms("spring"), q, v)
    after = forces(flipped, turned, speed) - forces(flipped.without_terms("spring"), turned, speed)
    assert_close(after[order], before, condition=10)


def test_rebase_ties_a_spring_to_the_world_to_the_link_that_stood_there():
    robot = ts.robots.two_link().with_springs({("tip", "world"): Spring(4.0)})
    assert list(robot.rebase("link2").terms) == ["spring tip–base"]
    assert list(robot.with_base("floating").terms) == ["spring tip–world"]


def test_floating_base_and_gravity_keep_terms(arm):
    assert list(arm.with_base("floating").terms) == list(arm.terms)
    assert list(arm.with_gravity((0, 0, 0)).with_payload("tool0", 1.0).terms) == list(arm.terms)


def test_terms_are_printed_compared_and_pickled(arm):
    text = str(arm)
    assert "spring: spring tool0–base_link  (Spring(stiffness=10.0" in text
    assert "field: tool0 field  (force of position, velocity at tool0)" in text
    assert "7 terms" in repr(arm)
    assert "7 terms" in text.splitlines()[0]
    assert "tool0 field" in arm._repr_html_()
    assert pickle.loads(pickle.dumps(arm)) == arm
    assert arm != arm.without_terms("field")


def test_springs_between_frames_are_replaced_and_removed(arm):
    softer = arm.with_springs({("base_link", "tool0"): Spring(1.0)})
    assert [name for name in softer.terms if "base_link" in name] == ["spring base_link–tool0"]
    assert "spring tool0–base_link" not in arm.with_springs({("tool0", "base_link"): None}).terms
    assert "tool0 field" not in arm.with_forces({"tool0": None}).terms
    assert "tool0 field" not in arm.with_forces(None).terms
    assert list(arm.without_terms("spring").terms) == ["wrist_3_joint friction", "damping", "tool0 field"]


def test_series_springs_are_edited_like_the_others():
    robot = ts.robots.two_link().with_springs({"joint2": SeriesSpring(900.0, rotor_inertia=0.2)})
    assert list(robot.rename({"joint2": "elbow"}).joints) == ["joint1", "elbow", "elbow/motor"]
    assert list(robot.lock(["joint2"]).terms) == []


def test_constraints_are_renamed_attached_and_dropped_with_their_frames():
    from torsor import constraints

    plane = constraints.point_on_plane("tip", (0, 1, 0), through=(0, 0.5, 0), name="floor")
    held = ts.robots.two_link().with_constraints(constraints.prescribed(plane, lambda t: [0.1 * t]))
    q, v, tau = [-0.3, 0.9], [0.2, -0.1], [1.0, 2.0]
    a = held.forward_dynamics(q, v, tau, time=0.1)
    np.testing.assert_array_equal(held.rename({"tip": "T"}).forward_dynamics(q, v, tau, time=0.1), a)
    both = ts.robots.ur5().attach(held, "tool0", prefix="l_")
    assert list(both.terms) == ["l_floor"]
    assert "l_tip" in repr(both.description.terms)
    gone = held.with_frame("tip", None)
    assert gone.terms == {}
    assert "terms removed, as their joint or frame is gone: floor" in gone.report[-1]
    coupled = ts.robots.two_link().with_constraints(constraints.coupling("joint2", "joint1"))
    assert coupled.rename({"joint1": "a"}).forward_dynamics(q, v, tau).shape == (2,)
    assert coupled.lock({"joint1": 0.1}).terms == {}
