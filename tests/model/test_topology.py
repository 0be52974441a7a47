"""Topology by names: against Jacobians, against Pinocchio's supports, and the drawing of it."""

from xml.etree import ElementTree

import numpy as np
import pinocchio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.machine_code import without_machine_code
from tests.trees import random_tree, state
from torsor.errors import ArgumentError, UnknownName
from torsor.model.mechanism import Mechanism


@settings(max_examples=15)
@given(st.integers(0, 10**6))
@without_machine_code
def test_moved_by_and_moving_joints_agree_with_the_columns_of_the_jacobian(seed):
    robot = ts.Robot(random_tree(seed, bodies=7))
    q, _, _ = state(robot, seed)
    for link in robot.links:
        J = robot.jacobian(q, link)
        moving = robot.moving_joints(link)
        columns = {k for name in moving for k in range(*robot.joint(name).v_slice.indices(robot.nv))}
        assert not np.delete(J, list(columns), axis=1).any()
        for name in robot.joints:
            assert (link in robot.moved_by(name)) == (name in moving)
            leads = robot.joint(name).mimic is None and not any(
                robot.joint(x).mimic for x in robot.joints if robot.joint(x).v_slice == robot.joint(name).v_slice
            )
            if leads:  # the columns of coupled joints could cancel
                assert (link in robot.moved_by(name)) == bool(J[:, robot.joint(name).v_slice].any())


@pytest.mark.parametrize("make", [ts.robots.humanoid, ts.robots.quadruped, ts.robots.ur5])
def test_moving_joints_of_a_bundled_robot_are_pinocchio_s_supports(make):
    robot = make()
    other = ts.to_pinocchio(robot)
    for link in robot.links:
        frame = other.frames[other.getFrameId(link, pinocchio.FrameType.BODY)]
        supports = [other.names[k] for k in other.supports[frame.parentJoint] if k]
        assert list(robot.moving_joints(link)) == [name if name in robot.joints else "floating_base" for name in supports]


def test_path_between_two_feet_passes_their_common_ancestor():
    robot = ts.robots.humanoid()
    links = robot.path("left_ankle_roll_link", "right_ankle_roll_link")
    joints = robot.path("left_ankle_roll_link", "right_ankle_roll_link", of="joints")
    assert links[0] == "left_ankle_roll_link"
    assert links[-1] == "right_ankle_roll_link"
    assert len(joints) == len(links) - 1
    assert robot.common_ancestor(links[0], links[-1]) == "pelvis"
    assert "pelvis" in links
    assert robot.path(links[-1], links[0]) == links[::-1]
    for a, b, joint in zip(links, links[1:], joints, strict=False):
        assert {a, b} == {robot.joint(joint).parent, robot.joint(joint).child}
        assert a == robot.parent(b) or b == robot.parent(a)
    assert robot.path("pelvis", "pelvis") == ("pelvis",)
    assert robot.path("pelvis", "pelvis", of="joints") == ()


def test_common_ancestor_of_a_link_and_its_descendant_is_the_link():
    robot = ts.robots.panda()
    assert robot.common_ancestor("panda_link3", "panda_hand") == "panda_link3"
    assert robot.common_ancestor("panda_hand", "panda_leftfinger", "panda_link2") == "panda_link2"
    assert robot.common_ancestor("panda_link3") == "panda_link3"


def test_parent_and_children_are_inverse_and_the_root_has_no_parent():
    robot = ts.robots.panda()
    assert robot.parent("panda_link0") is None
    for link in robot.links:
        assert all(robot.parent(child) == link for child in robot.children(link))
    assert sum(len(robot.children(link)) for link in robot.links) == len(robot.links) - 1


def test_moved_by_floating_base_and_chain_of_mimics_includes_every_follower():
    b = ts.Builder("chain").link("base")
    for k in range(3):
        mimic = {"mimic": f"j{k - 1}"} if k else {}
        b.link(f"l{k}", mass=1, com=(1, 0, 0)).joint(f"j{k}", "revolute", "base", f"l{k}", **mimic)
    robot = b.build("floating")
    assert robot.moved_by("j0") == ("l0", "l1", "l2")
    assert robot.moved_by("j1") == ("l1", "l2")
    assert robot.moved_by("floating_base") == robot.links
    assert robot.moving_joints("l2") == ("floating_base", "j0", "j1", "j2")


def test_topology_of_a_long_rope_is_fast_enough():
    rope = ts.Builder("rope").link("l0")
    for k in range(1, 3001):
        rope.link(f"l{k}", mass=1, com=(0.1, 0, 0)).joint(f"j{k}", "spherical", f"l{k - 1}", f"l{k}", xyz=(0.2, 0, 0))
    robot = Mechanism(rope.description())
    assert len(robot.path("l0", "l3000")) == 3001
    assert len(robot.moved_by("j1")) == 3000
    assert robot.graph().svg.count("<rect") == 3001


@pytest.mark.parametrize(
    "ask",
    [
        lambda r: r.parent("nobody"),
        lambda r: r.children("joint1"),
        lambda r: r.children(None),
        lambda r: r.path("link1", "nobody"),
        lambda r: r.path("link1", "link2", of="frames"),
        lambda r: r.moved_by("link1"),
        lambda r: r.moving_joints(3),
        lambda r: r.common_ancestor("link1", "tip"),
    ],
)
def test_topology_of_an_unknown_name_raises_unknown_name(ask):
    with pytest.raises(UnknownName):
        ask(ts.robots.two_link())


def test_moved_by_a_fixed_joint_and_no_links_are_errors():
    with pytest.raises(UnknownName, match="it is fixed"):
        ts.robots.panda().moved_by("panda_joint8")
    with pytest.raises(ArgumentError, match="at least one link"):
        ts.robots.panda().common_ancestor()


# -- the drawing ---------------------------------------------------------------------------------------------------------


def robot_with_nasty_names():
    b = ts.Builder('a "robot" <b>\\').link('base "x"').link("<script>&\n", mass=1, com=(1, 0, 0)).link("tip", mass=1)
    b.joint('hinge\\"', "revolute", 'base "x"', "<script>&\n").joint("weld", "fixed", "<script>&\n", "tip")
    return b.loop("ground", "spherical", "world", "tip").build()


def test_graph_svg_with_markup_in_names_is_well_formed():
    root = ElementTree.fromstring(robot_with_nasty_names().graph().svg)
    texts = [x.text for x in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "<script>&\\n" in texts
    assert 'hinge\\" (revolute)' in texts
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


def test_graph_dot_with_quotes_in_names_escapes_them():
    dot = robot_with_nasty_names().graph().dot
    assert r'"base \"x\"" -> "<script>&\n" [label="hinge\\\" (revolute)"];' in dot
    assert '"world" -> "tip" [label="ground (spherical)", style=dashed, dir=none, constraint=false];' in dot
    assert 'label="weld (fixed)", color="#999999"' in dot


def test_graph_draws_every_link_and_joint_with_mimics_and_loops_dashed():
    for robot, dashed in ((ts.robots.panda(), 1), (ts.mechanisms.four_bar(), 1), (ts.robots.humanoid(), 0)):
        graph = robot.graph()
        root = ElementTree.fromstring(graph.svg)
        rects = list(root.iter("{http://www.w3.org/2000/svg}rect"))
        paths = list(root.iter("{http://www.w3.org/2000/svg}path"))
        assert len(rects) == len(robot.links)
        assert len(paths) == len(robot.description.edges)
        assert sum("stroke-dasharray" in x.attrib for x in paths) == graph.dot.count("style=dashed") == dashed
        boxes = {(x.get("x"), x.get("y")) for x in rects}
        assert len(boxes) == len(rects)  # no two links at the same place
        width, height = float(root.get("width")), float(root.get("height"))
        assert all(float(x.get("x")) + float(x.get("width")) <= width and float(x.get("y")) < height for x in rects)


def test_graph_save_writes_by_extension_and_refuses_others(tmp_path):
    graph = ts.robots.ur5().graph()
    graph.save(tmp_path / "arm.svg")
    graph.save(str(tmp_path / "arm.dot"))
    assert (tmp_path / "arm.svg").read_text() == graph.svg + "\n" == graph._repr_svg_() + "\n"
    assert (tmp_path / "arm.dot").read_text() == str(graph) + "\n"
    with pytest.raises(ArgumentError, match=r"\.svg, \.dot, \.gv"):
        graph.save(tmp_path / "arm.png")


def test_joint_named_like_the_floating_base_is_an_ordinary_joint_of_a_fixed_base():
    """URDF files with a joint "floating_base" below a link "world" exist."""
    b = ts.Builder("named").link("stand").link("hull", mass=1.0, com=(0.1, 0, 0), inertia=(1, 1, 1))
    b = b.link("arm", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(1, 1, 1))
    b = b.joint("floating_base", "revolute", "stand", "hull", lower=-1, upper=1, effort_limit=3, armature=0.5)
    robot = b.joint("elbow", "revolute", "hull", "arm").build().with_configuration("bent", [0.5, 0.1])
    joint = robot.joint("floating_base")
    assert (joint.parent, joint.child) == ("stand", "hull")
    assert (joint.lower, joint.upper, joint.effort_limit, joint.armature) == ((-1.0,), (1.0,), (3.0,), (0.5,))
    assert robot.moved_by("floating_base") == ("hull", "arm")
    assert repr(robot).startswith("<Robot 'named': 2 joints, 3 links")
    assert "2 moving joints" in str(robot)
    assert robot.newton_euler_table([0.1, 0.2], [0, 0], [0, 0]).rows[-1].link == "arm"
    turned = robot.rebase("arm")
    assert turned.configuration("bent")[turned.joint("floating_base").q_slice] == [0.5]
    assert "lose the pose" not in turned.report[-1]
