"""Loops in descriptions: declared, kept by model editing, and cut elsewhere without moving a link."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import Cam, joint_type, random_tree, transform
from torsor.model import Description, Joint, Link, Loop, assemble, surgery
from torsor.model.joints import Cylindrical, Fixed, Floating, Planar, Revolute, Spherical
from torsor.model.spanning import spanning_tree
from torsor.spatial import Transform, Vec
from torsor.spatial.vector import flat

Z = Vec(0, 0, 1)


def four_bar(close="revolute", **options) -> ts.Builder:
    bars = ts.Builder("four-bar").link("ground")
    for name in ("crank", "coupler", "rocker"):
        bars.link(name, mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    bars.joint("A", "revolute", "ground", "crank", damping=0.1, lower=-1.0, upper=1.0)
    bars.joint("B", "revolute", "crank", "coupler", xyz=(1, 0, 0))
    bars.joint("D", "revolute", "ground", "rocker", xyz=(4, 0, 0))
    return bars.loop("C", close, "coupler", "rocker", xyz=(3, 0, 0), child_xyz=(2, 0, 0), **options)


def link_transforms(d: Description, q: dict[str, list]) -> dict[str, Transform]:
    """Transform world → link of every link, along the joints; the root is at the world origin."""
    below: dict[str, list[Joint]] = {}
    for j in d.joints:
        below.setdefault(j.parent, []).append(j)
    X, todo = {"world": Transform.identity(), d.root: Transform.identity()}, [d.root]
    while todo:
        link = todo.pop()
        for j in below.get(link, ()):
            X[j.child] = j.kind.transform(q.get(j.name, [])) @ j.origin @ X[link]
            todo.append(j.child)
    return X


def closed_graph(seed: int, loops: int = 3, kinds=None) -> tuple[Description, dict[str, list]]:
    """A random tree with loops, and a configuration (with coordinates of the loop joints) at which they are closed."""
    rng = np.random.default_rng(seed)
    d = random_tree(seed, bodies=6, base="fixed", couplings=False, kinds=kinds)
    q = {j.name: [float(x) for x in j.kind.random(rng, [-1.0] * j.kind.nq, [1.0] * j.kind.nq)] for j in d.joints}
    X = link_transforms(d, q)
    names = [link.name for link in d.links]
    for n in range(loops):
        kind = kinds[n % len(kinds)] if kinds else joint_type(rng)
        while not kind.closes_loops or isinstance(kind, Floating):
            kind = joint_type(rng)
        parent, child = map(str, rng.choice(names, size=2, replace=False))
        q[f"loop{n}"] = qJ = [float(x) for x in kind.random(rng, [-1.0] * kind.nq, [1.0] * kind.nq)]
        origin = transform(rng)
        seat = kind.transform(qJ) @ origin @ X[parent] @ X[child].inverse  # closed at this configuration
        d = replace(d, loops=(*d.loops, Loop(f"loop{n}", kind, parent, child, origin, seat)))
    return d, q


def check_closed(d: Description, q: dict[str, list]) -> None:
    """Every loop of the description, and of its model, is closed at q."""
    X = link_transforms(d, q)
    for x in d.loops:
        assert_close(
            [*flat(x.child_origin @ X[x.child])], [*flat(x.kind.transform(q[x.name]) @ x.origin @ X[x.parent])], scale=1
        )
    m = assemble(d)
    B = [Transform.identity()]
    for i, p in m.outward():
        B.append(m.joint[i].transform(q[m.joint_names[i]]) @ m.offset[i] @ B[p])
    assert [row.name for row in m.loops] == [x.name for x in d.loops]
    for row in m.loops:
        p, s = (f.X @ B[f.body] for f in (row.predecessor, row.successor))
        assert_close([*flat(s @ p.inverse)], [*flat(row.kind.transform(q[row.name]))], scale=1)


# -- declaration ---------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6))
def test_loops_of_description_and_model_are_closed_at_the_same_configuration(seed):
    check_closed(*closed_graph(seed))


def test_loop_with_a_skew_axis_has_frames_rotated_to_z():
    row = four_bar(axis=(0, 1, 1)).build().model.loops[0]
    assert row.kind == Revolute(Z)


def test_loop_views_have_the_data_of_the_description():
    robot = four_bar().build()
    assert robot.loops == ("C",)
    assert robot.nv == 3
    assert ", 1 loop, " in repr(robot)
    assert str(robot).splitlines()[-1] == "loop: coupler ⇄ rocker  (C: revolute)"
    view = robot.loop("C")
    assert (view.name, view.type, view.parent, view.child) == ("C", "revolute", "coupler", "rocker")
    assert view.pose_in_parent[:, 3].tolist() == [3, 0, 0, 1]
    assert view.pose_in_child[:, 3].tolist() == [2, 0, 0, 1]
    assert pickle.loads(pickle.dumps(robot)) == robot
    assert robot != four_bar("spherical").build()
    with pytest.raises(ts.UnknownName, match="no loop named 'B'; valid names: C"):
        robot.loop("B")
    assert "loop" not in repr(ts.robots.two_link())


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        (Loop("x", Revolute(Z), "a", "nowhere"), "loop 'x' refers to link 'nowhere'"),
        (Loop("x", Revolute(Z), "b", "b"), "loop 'x' connects link 'b' to itself"),
        (Loop("x", Revolute(Z), "world", "a"), "loop 'x' connects the world and 'a'"),
        (Loop("x", Floating(), "a", "b"), "loop 'x' is a floating joint, which constrains nothing"),
        (Loop("x", Cam(), "a", "b"), "loop 'x': a joint of type 'cam' cannot close a loop until Cam defines"),
        (Loop("j", Revolute(Z), "a", "b"), "two joints are named 'j'"),
        (Loop("", Revolute(Z), "a", "b"), "has no name"),
        (Loop("x", Revolute(Z), "a", "b", Transform.of_pose(Transform.identity().E, Vec(np.nan, 0, 0))), "loop 'x'.*finite"),
    ],
)
def test_invalid_loops_are_refused(loop, message):
    with pytest.raises(ts.ModelError, match=message):
        Description("r", (Link("a"), Link("b")), (Joint("j", Revolute(Z), "a", "b"),), loops=(loop,))


def test_builder_refuses_arguments_that_a_joint_type_does_not_use():
    with pytest.raises(ts.ModelError, match="loop 'C': a spherical joint has no axis"):
        four_bar("spherical", axis=(0, 0, 1))
    with pytest.raises(ts.ModelError, match="loop 'C': a helical joint needs pitch"):
        four_bar("helical")
    with pytest.raises(ts.UnknownName, match="joint type"):
        four_bar("hinge")
    with pytest.raises(ts.ModelError, match=r"child of two joints, .* take one of them out and declare it as a loop"):
        four_bar().joint("E", "revolute", "coupler", "rocker").build()


def test_loop_may_connect_the_world_to_a_floating_robot():
    foot = ts.Builder("foot").link("foot", mass=1).loop("weld", "fixed", "world", "foot").build(base="floating")
    row = foot.model.loops[0]
    assert (row.predecessor.body, row.successor.body) == (0, 1)
    with pytest.raises(ts.ModelError, match="connects the world and 'foot'"):
        foot.with_base("fixed")


# -- model editing -------------------------------------------------------------------------------------------------------


def test_model_editing_keeps_loops_or_refuses():
    robot = four_bar().build()
    assert robot.lock({"A": 0.1, "B": 0.2, "D": 0.3}).loops == ("C",)
    assert robot.with_payload("coupler", 1.0).loops == robot.with_gravity((0, 0, 0)).loops == ("C",)
    assert robot.with_base("floating").loops == robot.without_couplings().loops == robot.subtree("ground").loops == ("C",)
    with pytest.raises(ts.ModelError, match="joint 'C' closes a loop and has no coordinate"):
        robot.lock({"C": 0.0})
    with pytest.raises(ts.ModelError, match="subtree of link 'crank': loop 'C' ties 'coupler' to 'rocker', which is outside"):
        robot.subtree("crank")
    arm = ts.robots.two_link()
    both = arm.attach(robot, at="tip", prefix="m_")
    assert both.loops == ("m_C",)
    assert (both.loop("m_C").parent, both.loop("m_C").child) == ("m_coupler", "m_rocker")
    with pytest.raises(ts.ModelError, match="both robots have a joint named 'C'"):
        robot.attach(ts.Builder("o").link("x").link("y").joint("C", "revolute", "x", "y").build(), at="rocker")


def test_loop_to_the_world_becomes_a_loop_to_the_root_after_attach_and_rebase():
    """With a fixed base the world is the root link; after attach or rebase the loop is connected to that link."""
    d = four_bar().loop("E", "spherical", "world", "coupler", xyz=(1, 1, 0)).description()
    both = surgery.attach(ts.robots.description("two_link"), d, "tip", prefix="m_")
    assert [(x.parent, x.child) for x in both.loops] == [("m_coupler", "m_rocker"), ("m_ground", "m_coupler")]
    assert surgery.rebase(d, "crank").loops[1].parent == "ground"
    free = replace(d, base="floating")
    assert surgery.rebase(free, "crank").loops[1].parent == "world"


@given(seed=st.integers(0, 10**6))
def test_rebase_keeps_loops_closed(seed):
    d, q = closed_graph(seed)
    check_closed(surgery.rebase(d, d.links[seed % 6 + 1].name), q)


# -- another spanning tree -----------------------------------------------------------------------------------------------


def random_cut(d: Description, rng) -> list[str]:
    """Joints outside a random spanning tree; some types stay in the tree, as they cannot close a loop."""
    edges = list(d.edges)
    rng.shuffle(edges)
    edges.sort(key=lambda e: isinstance(e.kind, Floating) or not e.kind.closes_loops, reverse=True)
    group = {link.name: link.name for link in d.links}
    cut = []
    for e in edges:
        a, b = group[e.parent], group[e.child]
        if a == b:
            cut.append(e.name)
        group = {link: a if g == b else g for link, g in group.items()}
    return cut


@given(seed=st.integers(0, 10**6))
def test_spanning_tree_with_other_cuts_moves_no_link(seed):
    """The coordinates of joints and loop joints describe the same configuration, whichever joints are cut."""
    d, q = closed_graph(seed)
    for cut in (random_cut(d, np.random.default_rng(seed)), "auto"):
        other = spanning_tree(d, cut)
        before, after = link_transforms(d, q), link_transforms(other, q)
        for link in d.links:
            assert_close([*flat(before[link.name])], [*flat(after[link.name])], scale=1)
            assert other.link(link.name) == link
        assert other.frames == d.frames
        assert {e.name for e in d.edges if not isinstance(e.kind, Floating)} <= {e.name for e in other.edges}
        check_closed(other, q)
        if cut != "auto":
            assert sorted(cut) == sorted(x.name for x in other.loops)
            again = spanning_tree(other, [x.name for x in d.loops])  # back to the first tree
            check_closed(again, q)
            for link in d.links:
                assert_close([*flat(before[link.name])], [*flat(link_transforms(again, q)[link.name])], scale=1)


@given(seed=st.integers(0, 10**6))
def test_the_automatic_tree_has_the_fewest_rows_and_coordinates(seed):
    d, _ = closed_graph(seed, kinds=[Revolute(Z), Spherical(), Planar(Z), Cylindrical(Z), Fixed()])
    rows, coordinates = _size(spanning_tree(d))
    for n in range(20):
        other = _size(spanning_tree(d, random_cut(d, np.random.default_rng(seed + n))))
        assert rows <= other[0]
        assert coordinates <= other[1]


def _size(d: Description) -> tuple[int, int]:
    return sum(6 - x.kind.nv for x in d.loops), sum(j.kind.nv for j in d.joints)


def test_automatic_spanning_tree_cuts_equal_joints_far_from_the_root():
    """A ring of six revolute joints is cut opposite the ground, into two short chains."""
    ring = ts.Builder("ring").link("l0")
    for i in range(1, 6):
        ring.link(f"l{i}", mass=1).joint(f"j{i}", "revolute", f"l{i - 1}", f"l{i}", xyz=(1, 0, 0))
    robot = ring.loop("j6", "revolute", "l5", "l0", xyz=(1, 0, 0)).build().with_spanning_tree()
    assert robot.loops == ("j3",) or robot.loops == ("j4",)
    assert robot.with_spanning_tree() == robot


def test_cut_joints_and_lost_data_are_reported():
    robot = four_bar().build().with_spanning_tree("A")
    assert robot.loops == ("A",)
    assert robot.report[-2:] == (
        "spanning tree: A cut, C in the tree instead",
        "joint 'A' is cut; a loop joint has no lower, upper, damping, which is dropped",
    )
    assert robot.nv == 3


def test_with_spanning_tree_refuses_impossible_cuts():
    robot = four_bar().build()
    with pytest.raises(ts.ModelError, match=r"is disconnected: .* 'crank', 'coupler' to the root 'ground'"):
        robot.with_spanning_tree(["A", "C"])
    with pytest.raises(ts.ModelError, match="still has a cycle: cut one of 'A', 'B', 'D', 'C' too"):
        robot.with_spanning_tree([])
    with pytest.raises(ts.UnknownName, match="joint or loop named 'X'"):
        robot.with_spanning_tree(["X"])
    follower = (
        ts.Builder("f")
        .link("a")
        .link("b")
        .link("c")
        .joint("j", "revolute", "a", "b")
        .joint("k", "revolute", "b", "c", mimic="j")
    )
    coupled = follower.loop("l", "cylindrical", "c", "a").build()
    with pytest.raises(ts.ModelError, match="joint 'j' cannot be cut: it is a mimic joint or a leader"):
        coupled.with_spanning_tree(["j"])
    assert coupled.with_spanning_tree().loops == ("l",)
    own = ts.Builder("o").link("a").link("b").joint("j", Cam(), "a", "b").loop("l", "revolute", "a", "b").build()
    with pytest.raises(ts.ModelError, match="joint 'j' cannot be cut: its type 'cam' does not define"):
        own.with_spanning_tree(["j"])
    assert own.with_spanning_tree() == own


def test_cycle_error_names_only_the_joints_of_the_cycle():
    arm = four_bar().link("tool").joint("T", "revolute", "rocker", "tool").build()
    with pytest.raises(ts.ModelError, match="cut one of 'A', 'B', 'D', 'C' too"):
        arm.with_spanning_tree(())


def test_spanning_tree_removes_a_cut_floating_joint_and_reports_it():
    free = ts.Builder("free").link("a").link("b", mass=1).joint("j", "floating", "a", "b").loop("l", "spherical", "a", "b")
    robot = free.build().with_spanning_tree()
    assert (robot.joints, robot.loops) == (("l",), ())
    assert robot.report[-1] == "joint 'j' is floating and constrains nothing: it is removed"


def test_spanning_tree_keeps_a_loop_to_the_world():
    foot = ts.Builder("foot").link("body", mass=1).link("foot", mass=1).joint("ankle", "revolute", "body", "foot")
    robot = foot.loop("floor", "fixed", "world", "foot").build(base="floating")
    assert robot.with_spanning_tree() == robot
    assert robot.with_spanning_tree(["floor"]) == robot


def test_spanning_tree_drops_force_sensors_at_links_that_other_joints_carry():
    """The wrench through the joint before the rocker is that of another joint then; the crank keeps its sensor."""
    d = ts.mechanisms.four_bar().description
    loop, last = d.loops[0], d.joints[-1]
    sensors = {"kept": d.joints[0].child, "crossed": last.child, "through": last.name}
    d = replace(d, sensors=tuple((name, ts.Sensor("force_torque", at)) for name, at in sensors.items()))
    recut = ts.Robot(d).with_spanning_tree([last.name])
    assert loop.name in recut.joints
    assert list(recut.sensors) == ["kept"]
    assert "sensors removed, as other joints carry their links now: crossed, through" in recut.report
