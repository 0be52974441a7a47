"""Defective URDF files that other libraries load: a warning where the tree is whole; refused with strict=True."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import torsor as ts

INERTIAL = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def pendulum(more: str = "", *, limit: str = LIMIT, look: str = "", head: str = "") -> str:
    """A pendulum with ``more`` on line 6."""
    return f"""<robot name="pendulum"{head}>
<link name="base"/>
<link name="rod">{INERTIAL}{look}</link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
{limit}</joint>
{more}
</robot>"""


SENSOR = '<gazebo reference="rod"><sensor:camera name="rgb"/></gazebo>'
GREY = '<visual><geometry><box size="1 1 1"/></geometry><xacro:grey/></visual>'
#: defect → (file, line of ``robot.report``, line of the strict error); as in Fetch, Valkyrie, Robotis OP2 and Pioneer
DEFECTS = {
    "prefix not declared": (
        pendulum(SENSOR),
        "name space prefix 'sensor' is not declared, so its elements and attributes are ignored: <sensor:camera>",
        6,
    ),
    "prefix of an attribute": (
        pendulum('<gazebo a:b="1"/>'),
        "name space prefix 'a' is not declared, so its elements and attributes are ignored: <gazebo>",
        6,
    ),
    "macro call": (
        pendulum("<xacro:sensors usb='1'/>", head=' xmlns:xacro="http://www.ros.org/wiki/xacro"'),
        "call of a xacro macro left over and ignored, so links may be missing: <xacro:sensors>",
        6,
    ),
    "macro call without a declared prefix": (
        pendulum("<xacro:sensors/>"),
        "call of a xacro macro left over and ignored, so links may be missing: <xacro:sensors>",
        6,
    ),
    "macro calls in shapes": (
        pendulum(look=GREY + GREY), "call of a xacro macro left over and ignored: <xacro:grey> (2 times)", 3,
    ),
    "limits exchanged": (
        pendulum(limit='<limit lower="2.775" upper="-2.775" effort="1" velocity="1"/>'),
        "lower limit above upper limit, so the two are exchanged: joint 'hinge'",
        5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DEFECTS)
def test_defect_outside_the_tree_is_a_warning_and_a_line_of_the_report(case):
    text, line, _ = DEFECTS[case]
    with pytest.warns(ts.ModelWarning) as caught:
        robot = ts.load(text)
    assert [str(w.message) for w in caught] == [f"robot 'pendulum': {line}; torsor check lists repairs"]
    assert caught[0].filename == __file__
    assert robot.report[0] == line
    assert robot.mass_matrix([0.3]).item() == ts.load(pendulum()).mass_matrix([0.3]).item()
    assert pin.buildModelFromXML(text).nv == robot.nv


@pytest.mark.parametrize("case", DEFECTS)
def test_strict_refuses_a_defect_at_its_line(case):
    text, line, place = DEFECTS[case]
    with pytest.raises(ts.FileError, match="correct it, or load with strict=False") as caught:
        ts.load(text, strict=True)
    assert line in str(caught.value)
    assert caught.value.line == place


@pytest.mark.parametrize("case", DEFECTS)
def test_repaired_defect_loads_without_a_warning(case, tmp_path):
    text, _, _ = DEFECTS[case]
    assert len(ts.repair(text, tmp_path / "out.urdf")) == 1
    robot = ts.load(tmp_path / "out.urdf", strict=True)
    assert robot.mass_matrix([0.3]).item() == ts.load(pendulum()).mass_matrix([0.3]).item()


def test_exchanged_limits_are_used_in_the_other_order():
    with pytest.warns(ts.ModelWarning):
        joint = ts.load(DEFECTS["limits exchanged"][0]).joint("hinge")
    np.testing.assert_array_equal([joint.lower, joint.upper], [[-2.775], [2.775]])


def test_missing_lower_limit_above_the_upper_one_counts_as_zero():
    with pytest.warns(ts.ModelWarning, match="exchanged"):
        joint = ts.load(pendulum(limit='<limit upper="-1" effort="1" velocity="1"/>')).joint("hinge")
    np.testing.assert_array_equal([joint.lower, joint.upper], [[-1], [0]])


def test_other_errors_of_a_file_with_an_undeclared_prefix_are_reported():
    with pytest.raises(ts.FileError, match="not well-formed") as caught:
        ts.load(pendulum(SENSOR + "<link>"))
    assert caught.value.line == 7


def test_undeclared_prefixes_are_tolerated_only_if_they_are_few():
    for count in (20, 21):
        text = pendulum(f"<gazebo>{''.join(f'<é{i}:x/>' for i in range(count))}</gazebo>")
        if count > 20:
            with pytest.raises(ts.FileError, match="not well-formed"):
                ts.load(text)
        else:
            with pytest.warns(ts.ModelWarning, match="prefix 'é19' is not declared"):
                ts.load(text)


def test_many_macro_calls_are_counted_and_removed_in_linear_time(tmp_path):
    text = pendulum("<xacro:bolt><origin/></xacro:bolt>" * 1000)
    with pytest.warns(ts.ModelWarning, match=r"<xacro:bolt> \(1000 times\)"):
        ts.load(text)
    ts.repair(text, tmp_path / "out.urdf")
    assert (tmp_path / "out.urdf").read_text() == pendulum()
