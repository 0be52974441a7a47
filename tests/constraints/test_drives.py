"""Joints that have a drive: from a Builder, a loops file, transmissions and actuators; errors where drives are missing."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor import mechanisms

INERTIA = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = f"""<robot name="r"><link name="g"/><link name="a">{INERTIA}</link><link name="b">{INERTIA}</link>
<joint name="A" type="continuous"><parent link="g"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="B" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<transmission name="t"><joint name="A"/></transmission></robot>"""
LOOPS = "loops:\n - {name: close, type: revolute, parent: {link: b, xyz: [1, 0, 0]}, child: {link: g}}\nactuated: [B]\n"
MJCF = """<mujoco><worldbody><body name="a"><joint name="A"/><geom size="0.1"/><body name="b" pos="1 0 0"><joint name="B"/>
<geom size="0.1"/></body></body></worldbody><actuator><motor joint="B"/></actuator></mujoco>"""


def test_transmissions_are_drives_once_they_are_turned_on():
    assert ts.load(URDF).actuated == ("A", "B")
    assert any("<transmission> element ignored" in line for line in ts.load(URDF).report)
    for terms in (["actuated"], "all"):
        robot = ts.load(URDF, terms=terms)
        assert robot.actuated == ("A",)
        assert robot.report == ("drives at A alone",)
    assert ts.load(URDF.replace('<joint name="A"/>', ""), terms="all").actuated == ("A", "B")


def test_actuators_of_mjcf_are_drives_once_they_are_turned_on():
    pytest.importorskip("mujoco")
    assert ts.load(MJCF).actuated == ("A", "B")
    assert ts.load(MJCF, terms=["actuated"]).actuated == ("B",)


def test_loops_file_names_the_drives_and_is_written_with_them(tmp_path):
    robot = ts.load(URDF, loops=LOOPS)
    assert robot.actuated == ("B",)
    ts.save_loops(robot, tmp_path / "r.loops.yaml")
    assert ts.load(URDF, loops=tmp_path / "r.loops.yaml").actuated == ("B",)


@pytest.mark.parametrize(
    ("names", "message"), [("[C]", "no joint named 'C'"), ("B", "must be a list"), ("[[B]]", "must be a name")]
)
def test_loops_file_with_wrong_drives_is_refused(names, message):
    with pytest.raises(ts.FileError, match=message):
        ts.load(URDF, loops=LOOPS.replace("[B]", names))


def test_builder_names_the_drives():
    b = ts.Builder("x").link("g").link("a", 1.0).link("b", 1.0)
    b.joint("A", "prismatic", "g", "a").joint("B", "prismatic", "a", "b").joint("C", "fixed", "b", "c").link("c")
    assert b.build().actuated == ("A", "B")
    assert b.actuated(["B"]).build().actuated == ("B",)
    assert b.actuated([]).build().actuated == ()
    for wrong, error in ((["D"], ts.UnknownName), (["C"], ts.UnknownName), ("A", ts.ArgumentError)):
        with pytest.raises(error):
            b.actuated(wrong).build()


@pytest.mark.parametrize(
    ("make", "drives", "enough"),
    [(mechanisms.four_bar, [], 1), (mechanisms.stewart_platform, ["leg1"], 2), (mechanisms.five_bar, [], 2)],
)
def test_error_of_missing_drives_lists_joints_that_would_do(make, drives, enough):
    robot = make()
    q = robot.assemble()
    a = robot.forward_dynamics(q, np.zeros(robot.nv), np.random.default_rng(0).normal(size=robot.nv))
    with pytest.raises(ts.SingularError, match="cannot make this motion") as error:
        robot.with_actuated(drives).inverse_dynamics(q, np.zeros(robot.nv), a)
    listed = str(error.value).partition("with_actuated([...]) with ")[2].partition(" as well")[0]
    sets = [[name] for name in listed.split(" or ")] if " or " in listed else [listed.split(", ")]
    for more in sets:
        assert len(more) <= enough
        driven = robot.with_actuated([*drives, *more])
        tau = driven.inverse_dynamics(q, np.zeros(robot.nv), a)
        assert driven.forward_dynamics(q, np.zeros(robot.nv), tau) == pytest.approx(a, rel=1e-8, abs=1e-8)
