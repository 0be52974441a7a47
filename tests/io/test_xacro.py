"""xacro files: run only on request, with arguments, packages and includes; errors name the file."""

from __future__ import annotations

from math import pi

import pytest

from torsor.errors import ArgumentError, FileError
from torsor.robot.loading import load

pytest.importorskip("xacrodoc")

HEAD = '<?xml version="1.0"?>\n<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
ARM = (
    HEAD
    + """
  <xacro:arg name="length" default="0.5"/>
  <xacro:arg name="tool" default="false"/>
  <xacro:property name="length" value="$(arg length)"/>
  <xacro:include filename="parts/macros.xacro"/>
  <link name="base"/>
  <xacro:rod name="upper" parent="base" at="0"/>
  <xacro:rod name="lower" parent="upper" at="${length}"/>
  <xacro:if value="$(arg tool)"><link name="tool"/>
    <joint name="tool_fix" type="fixed"><parent link="lower"/><child link="tool"/></joint></xacro:if>
</robot>
"""
)
MACROS = (
    HEAD
    + """
  <xacro:macro name="rod" params="name parent at">
    <link name="${name}"><inertial><origin xyz="${length/2} 0 0"/><mass value="${2*length}"/>
      <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="${name}_joint" type="revolute"><origin xyz="${at} 0 0" rpy="0 0 ${radians(90)}"/>
      <parent link="${parent}"/><child link="${name}"/><axis xyz="0 0 1"/>
      <limit lower="${-pi}" upper="${pi}" effort="1" velocity="1"/></joint>
  </xacro:macro>
</robot>
"""
)


@pytest.fixture
def arm(tmp_path):
    folder = tmp_path / "robots" / "urdf"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "macros.xacro").write_text(MACROS)
    (folder / "arm.urdf.xacro").write_text(ARM)
    return folder / "arm.urdf.xacro"


def test_xacro_runs_on_request(arm, monkeypatch):
    robot = load(arm, xacro_args={})
    assert robot.joints == ("upper_joint", "lower_joint")
    assert robot.mass == pytest.approx(2.0)
    assert robot.joint("upper_joint").lower == (-pi,)
    assert robot.description.source == str(arm)
    assert f"URDF made by xacro from {arm}" in robot.report
    monkeypatch.chdir(arm.parent.parent)  # includes are relative to the file, not to the working directory
    assert load("urdf/arm.urdf.xacro", format="xacro") == robot


def test_xacro_file_is_refused_without_xacro_args(arm):
    with pytest.raises(
        FileError, match=r"is xacro, a program that makes URDF: if you trust it, ts.load\(path, xacro_args=\{\}\)"
    ):
        load(arm)
    with pytest.raises(ArgumentError, match="a path"):
        load(ARM.encode(), format="xacro")


def test_xacro_arguments_are_passed(arm):
    robot = load(arm, xacro_args={"length": 0.25, "tool": True}, base="floating")
    assert robot.mass == pytest.approx(1.0)
    assert "tool" in robot.links
    assert robot.description.base == "floating"
    with pytest.raises(FileError, match=r"unknown argument .* 'lenght'; did you mean 'length'\? \(known: length, tool\)"):
        load(arm, xacro_args={"lenght": 0.25})


def test_xacro_finds_packages_in_roots(arm, tmp_path):
    """By the name of the folder, by package.xml, in folders above the file, or in declared folders."""
    text = ARM.replace("parts/macros.xacro", "$(find my_parts)/macros.xacro")
    lone = tmp_path / "lone" / "arm.xacro"
    lone.parent.mkdir()
    lone.write_text(text)
    with pytest.raises(FileError, match=r"arm.xacro: xacro cannot run it: its package 'my_parts' is not found; give roots="):
        load(lone, xacro_args={})
    other = tmp_path / "workspace" / "clone_of_parts"
    other.mkdir(parents=True)
    (other / "macros.xacro").write_text(MACROS)
    (other / "package.xml").write_text("<package><name>my_parts</name></package>")
    for roots in ([other], [other.parent]):
        assert load(lone, xacro_args={}, roots=roots).nv == 2
    near = tmp_path / "lone" / "my_parts"
    near.mkdir()
    (near / "macros.xacro").write_text(MACROS.replace("2*length", "4*length"))
    assert load(lone, xacro_args={}).mass == pytest.approx(4.0)
    assert load(lone, xacro_args={}, roots=[other]).mass == pytest.approx(2.0)  # declared folders have priority
    with pytest.raises(FileError, match="is not a folder"):
        load(lone, xacro_args={}, roots=[tmp_path / "absent"])


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (HEAD + "<link name='${nothing}'/></robot>", "xacro cannot run it: .*nothing"),
        (HEAD + "<xacro:include filename='absent.xacro'/></robot>", "xacro cannot run it: .*absent.xacro"),
        (HEAD + "<link name='a'></robot>", "xacro cannot run it: .*mismatched tag"),
        (HEAD + "<link name='${().__class__}'/></robot>", "xacro cannot run it: .*invalid name"),
        (HEAD + "<link name='$(arg size)'/></robot>", "xacro cannot run it: .*size"),
    ],
)
def test_errors_of_xacro_are_file_errors(tmp_path, text, match):
    path = tmp_path / "bad.xacro"
    path.write_text(text)
    with pytest.raises(FileError, match=match) as caught:
        load(path, xacro_args={})
    assert caught.value.file == str(path)


def test_errors_in_the_expanded_urdf_name_the_xacro_file(tmp_path, capfd):
    path = tmp_path / "bad.xacro"
    path.write_text(
        HEAD + "<xacro:property name='m' value='-1'/><link name='a'><inertial><mass value='${m}'/></inertial></link></robot>"
    )
    with pytest.raises(FileError, match=r"bad.xacro \(as expanded\):.*<mass>"):
        load(path, xacro_args={})
    path.write_text(HEAD + "${xacro.warning('mind the gap')}<link name='a'/></robot>")
    assert any("mind the gap" in line for line in load(path, xacro_args={}).report)
    assert "mind the gap" not in capfd.readouterr().err
