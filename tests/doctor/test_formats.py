"""check of files other than URDF: MJCF, DH tables, xacro.  Findings have no lines and no repairs."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.doctor.test_codes import HAVE
from tests.doctor.urdf import arm, box_inertia, link
from torsor.checks.doctor import check, repair
from torsor.checks.doctor.reading import subject_of
from torsor.errors import ArgumentError, FileError


def test_check_finds_the_same_problem_in_urdf_and_mjcf(tmp_path):
    """The same problem in URDF and in the MJCF written by torsor."""
    pytest.importorskip("mujoco")
    text = arm(lower=link("lower", com=(0, 0, 0.2), I=1e6 * box_inertia()))
    path = tmp_path / "arm.mjcf"
    ts.save(ts.load(text), path)
    (there,) = [f for f in check(path).findings if f.severity == "error"]
    (here,) = [f for f in check(text).findings if f.severity == "error"]
    assert (there.code, there.element, there.what) == (here.code, here.element, here.what)
    assert (there.line, there.repair, there.place) == (None, None, str(path))
    with pytest.raises(FileError, match="only URDF can be repaired"):
        repair(path, None)


def test_check_keeps_the_floating_base_of_an_mjcf_file(tmp_path):
    pytest.importorskip("mujoco")
    robot = ts.robots.quadruped()
    ts.save(robot, tmp_path / "robot.mjcf")
    for base, nv in ((None, robot.nv), ("fixed", robot.nv - 6)):
        dynamics = subject_of(tmp_path / "robot.mjcf", (), True, base).dynamics
        assert dynamics is not None
        assert dynamics.nv == nv


def test_mjcf_hinge_without_range_gives_no_finding(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "bob.mjcf").write_text(
        '<mujoco><worldbody><body name="bob"><joint/><geom size=".1" pos="0 0 -1"/></body></worldbody></mujoco>'
    )
    assert "limits-missing" not in {f.code for f in check(tmp_path / "bob.mjcf").findings}
    assert "limits-missing" in {f.code for f in check(HAVE["limits-missing"]).findings}


def test_check_of_a_dh_table_names_the_joint_and_the_file(tmp_path):
    path = tmp_path / "arm.dh.csv"
    path.write_text("# convention: modified\na, mass, cx, izz\n1.0, 2.0, 0.1, 0.1\n0.5, 1.0, 0, 0\n")
    found = {f.code: f for f in check(path).findings}
    assert found["joint-moves-no-inertia"].element == "joint 'joint2'"
    assert found["joint-moves-no-inertia"].place == str(path)
    assert "file-refused" not in found


def test_xacro_runs_only_with_xacro_args(tmp_path):
    pytest.importorskip("xacrodoc")
    text = HAVE["triangle-inequality"].replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ')
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(text)
    with pytest.raises(FileError, match="is xacro, a program"):
        check(path)
    codes = [f.code for f in check(path, xacro_args={}).findings]
    assert codes == [f.code for f in check(HAVE["triangle-inequality"]).findings]
    with pytest.raises(ArgumentError, match="xacro_args are for a xacro file"):
        check(HAVE["triangle-inequality"], xacro_args={})


def test_sources_that_are_not_robots_are_refused(tmp_path):
    for text in ("hello", "<foo/>", "<robot", ""):
        path = tmp_path / "robot.txt"
        path.write_text(text)
        if text == "<foo/>":
            with pytest.raises(FileError, match="is not a URDF: its root element is <foo>"):
                check(path)
            continue
        (found,) = check(path).findings
        assert (found.code, found.severity, found.element) == ("file-refused", "error", "the file")


def test_check_of_a_numeric_robot_skips_nothing():
    robot = ts.robots.two_link()
    assert not check(robot).skipped
    assert np.isfinite(subject_of(robot, (), True, None).reach)
