"""Untrusted URDF files: a table of broken and unusual files, each with its exact result."""

from __future__ import annotations

import os
import pickle
import random
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from tests.io import fuzzing
from torsor.errors import ArgumentError, FileError, ModelError, ModelWarning, TorsorError
from torsor.io.urdf import read_urdf
from torsor.io.urdf.writer import write_urdf
from torsor.model.description import Description
from torsor.model.joints import Continuous, Revolute
from torsor.spatial import Inertia, Vec

UNIT = 'ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"'
LARGEST = repr(sys.float_info.max)
PLAIN = "write a plain decimal such as 1.5 or 2e-3"
XACRO = (
    "is xacro, a program that makes URDF: if you trust it, ts.load(path, xacro_args={}) runs it, or run it first "
    "(xacro robot.urdf.xacro > robot.urdf) and load its output"
)
MACRO = "is the call of a xacro macro, which may contain numbers of the tree; run xacro on its source again"
DOCTYPE = "declares a DOCTYPE; DTDs and entities are refused, remove it"
INDEPENDENT = "mimic=False makes such joints independent"


def robot(body: str) -> str:
    """A robot element; its content starts on line 2."""
    return f'<robot name="r">\n{body}\n</robot>'


def link(inside: str) -> str:
    """A robot with one link, whose content starts on line 3."""
    return robot(f'<link name="a">\n{inside}\n</link>')


def inertial(mass: str = 'value="1"', inertia: str = UNIT, origin: str = "") -> str:
    """<origin> is on line 4, <mass> on 5, <inertia> on 6."""
    return link(f"<inertial>\n{origin}\n<mass {mass}/>\n<inertia {inertia}/>\n</inertial>")


def joint(
    inside: str = "", kind: str = "revolute", ends: str = '<parent link="a"/><child link="b"/>', name: str = 'name="j"'
) -> str:
    """<joint> is on line 3, its content starts on line 4."""
    return robot(f'<link name="a"/><link name="b"/>\n<joint {name} type="{kind}">{ends}\n{inside}\n</joint>')


def tree(*rows: tuple[str, ...]) -> str:
    """Links in the order of their names, then joints (name, parent, child, inside, type), one per line from line 2."""
    names = sorted({end for row in rows for end in row[1:3]})
    lines = [f'<link name="{name}"/>' for name in names]
    for name, parent, child, inside, kind in ((*row, *("", "continuous")[len(row) - 3 :]) for row in rows):
        ends = f'<parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/>'
        lines.append(f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>')
    return robot("\n".join(lines))


#: files that are refused: id → (source, the whole message)
REFUSED: dict[str, tuple[str | bytes, str]] = {
    # numbers
    "mass nan": (inertial('value="nan"'), f":5: <mass>: link 'a': value: 'nan' is not a number: {PLAIN}"),
    "mass negative": (inertial('value="-1"'), ":5: <mass>: link 'a': mass -1.0 kg is negative"),
    "mass infinite": (
        inertial('value="inf"'),
        ":5: <mass>: link 'a': value: 'inf' is not a number: infinity is not allowed; for no limit, omit it",
    ),
    "decimal comma": (
        inertial('value="1,5"'),
        ":5: <mass>: link 'a': value: '1,5' is not a number: write a decimal point, and blanks between numbers",
    ),
    "commas between": (
        inertial(origin='<origin xyz="0,1,2"/>'),
        ":4: <origin>: link 'a': xyz: '0,1,2' is not a number: write a decimal point, and blanks between numbers",
    ),
    "underscore": (inertial('value="1_5"'), f":5: <mass>: link 'a': value: '1_5' is not a number: {PLAIN}"),
    "full-width digit": (inertial('value="１"'), f":5: <mass>: link 'a': value: '１' is not a number: {PLAIN}"),
    "arabic digit": (inertial('value="٣"'), f":5: <mass>: link 'a': value: '٣' is not a number: {PLAIN}"),
    "no-break space": (
        inertial(origin='<origin xyz="0\u00a00 1"/>'),
        rf":4: <origin>: link 'a': xyz: '0\xa00' is not a number: {PLAIN}",
    ),
    "hexadecimal": (inertial('value="0x10"'), f":5: <mass>: link 'a': value: '0x10' is not a number: {PLAIN}"),
    "unit": (inertial('value="1 kg"'), f":5: <mass>: link 'a': value: 'kg' is not a number: {PLAIN}"),
    "word": (inertial(origin='<origin rpy="0 0 pi"/>'), f":4: <origin>: link 'a': rpy: 'pi' is not a number: {PLAIN}"),
    "overflow": (inertial('value="1e400"'), ":5: <mass>: link 'a': value: '1e400' is too large for a double"),
    "xacro expression": (
        inertial('value="${m}"'),
        ":5: <mass>: link 'a': value: '${m}' is not a number: it is a xacro expression; run xacro first "
        "(xacro robot.urdf.xacro > robot.urdf)",
    ),
    "number empty": (inertial('value=""'), ":5: <mass>: link 'a': value needs one number, none given: ''"),
    "number twice": (inertial('value="1 2"'), ":5: <mass>: link 'a': value needs one number, 2 given: '1 2'"),
    "two of three": (inertial(origin='<origin xyz="0 1"/>'), ":4: <origin>: link 'a': xyz needs 3 numbers, 2 given: '0 1'"),
    "four of three": (
        inertial(origin='<origin xyz="0 1 2 3"/>'),
        ":4: <origin>: link 'a': xyz needs 3 numbers, 4 given: '0 1 2 3'",
    ),
    "none of three": (inertial(origin='<origin xyz=""/>'), ":4: <origin>: link 'a': xyz needs 3 numbers, none given: ''"),
    # inertia
    "inertia nan": (
        inertial(inertia=UNIT.replace('ixx="1"', 'ixx="NaN"')),
        f":6: <inertia>: link 'a': ixx: 'NaN' is not a number: {PLAIN}",
    ),
    "inertia overflows": (
        inertial('value="1e200"', origin='<origin xyz="1e200 0 0"/>'),
        ":2: <link>: link 'a': mass is 1e+200; its magnitude must be at most 1e+40: "
        "numbers this large overflow when multiplied; check its unit",
    ),
    "rpy and quaternion": (
        inertial(origin='<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>'),
        ":4: <origin>: link 'a': has both rpy and quat_xyzw; give one",
    ),
    "quaternion zero": (
        inertial(origin='<origin quat_xyzw="0 0 0 0"/>'),
        ":4: <origin>: link 'a': quat_xyzw is not a unit quaternion: (0.0, 0.0, 0.0, 0.0)",
    ),
    # names
    "link nameless": (robot("<link/>"), ':2: <link>: has no name="..."'),
    "link name empty": (robot('<link name=""/>'), ':2: <link>: name="" is empty'),
    "joint nameless": (joint(name=""), ':3: <joint>: has no name="..."'),
    "link twice": (robot('<link name="a"/>\n<link name="a"/>'), ":3: <link>: two links are named 'a'; names must differ"),
    "joint twice": (
        tree(("j", "a", "b"), ("j", "b", "c")),
        ":6: <joint>: two joints are named 'j'; names must differ",
    ),
    "parent undefined": (
        joint(kind="fixed", ends='<parent link="z"/><child link="b"/>'),
        ":3: <joint>: joint 'j' refers to link 'z', which is not defined",
    ),
    "child undefined": (
        joint(kind="fixed", ends='<parent link="a"/><child link="z"/>'),
        ":3: <joint>: joint 'j' refers to link 'z', which is not defined",
    ),
    "quote in a name": (
        robot('<link name="it\'s"/>\n<link name="it\'s"/>'),
        ':3: <link>: two links are named "it\'s"; names must differ',
    ),
    # the tree
    "no links": (robot(""), ":1: <robot>: robot 'r' has no links"),
    "joint to itself": (tree(("j", "a", "a")), ":3: <joint>: joint 'j' connects link 'a' to itself"),
    "cycle": (
        tree(("j", "a", "b"), ("k", "b", "a")),
        ":1: <robot>: robot 'r': every link is some joint's child, so the joints form a cycle and there is no root",
    ),
    "cycle beside a tree": (
        tree(("i", "r", "s"), ("j", "a", "b"), ("k", "b", "a")),
        ":2: <link>: robot 'r': link 'a' is attached to a cycle of joints that is not connected to the root 'r'",
    ),
    "two roots": (
        robot('<link name="a"/>\n<link name="b"/>'),
        ":1: <robot>: robot 'r' has 2 root links ('a', 'b'); a robot is one tree",
    ),
    "two parents": (
        tree(("j", "a", "c"), ("k", "b", "c")),
        ":6: <joint>: link 'c' is the child of two joints, 'j' and 'k'; a tree has one (where they close "
        "a loop, take one of them out and declare it as a loop: Builder.loop(...), or a file robot.loops.yaml and "
        "load(..., loops=True))",
    ),
    # joints
    "type unknown": (
        joint(kind="hinge"),
        ":3: <joint>: joint 'j': type 'hinge' is unknown; the types are fixed, revolute, continuous, prismatic, floating, "
        "planar, helical, cylindrical, universal, spherical, translation, euler, floating_rpy",
    ),
    "type empty": (joint(kind=""), ":3: <joint>: joint 'j': type=\"\" is empty"),
    "no parent": (joint(ends='<child link="b"/>'), ":3: <joint>: joint 'j': has no <parent link=\"...\">"),
    "no child": (joint(ends='<parent link="a"/>'), ":3: <joint>: joint 'j': has no <child link=\"...\">"),
    "parent empty": (joint(ends='<parent link=""/><child link="b"/>'), ":3: <parent>: joint 'j': link=\"\" is empty"),
    "axis zero": (
        joint('<axis xyz="0 0 0"/>'),
        ":4: <axis>: joint 'j': the axis (0.0, 0.0, 0.0) is zero; give the direction about or along which the joint moves",
    ),
    "axis nan": (joint('<axis xyz="0 0 nan"/>'), f":4: <axis>: joint 'j': xyz: 'nan' is not a number: {PLAIN}"),
    "axis without xyz": (joint("<axis/>"), ":4: <axis>: joint 'j': has no xyz=\"...\""),
    "limit nan": (joint('<limit lower="nan"/>'), f":4: <limit>: joint 'j': lower: 'nan' is not a number: {PLAIN}"),
    "limit inf": (
        joint('<limit upper="inf"/>'),
        ":4: <limit>: joint 'j': upper: 'inf' is not a number: infinity is not allowed; for no limit, omit it",
    ),
    "limit a list": (joint('<limit lower="0 1"/>'), ":4: <limit>: joint 'j': lower needs 1 number, 2 given"),
    "effort negative": (joint('<limit effort="-1"/>'), ":4: <limit>: joint 'j': effort limit -1.0 is negative"),
    "damping negative": (
        joint('<dynamics damping="-1"/>'),
        ":4: <dynamics>: joint 'j': damping must be finite and not negative, not '-1'",
    ),
    "helical without axis": (
        joint(kind="helical"),
        ":3: <joint>: joint 'j': is helical and has no <axis xyz=\"...\" pitch=\"...\">, pitch in m/rad",
    ),
    "helical without pitch": (joint('<axis xyz="0 0 1"/>', "helical"), ":4: <axis>: joint 'j': has no pitch=\"...\""),
    "universal with one axis": (
        joint('<axis xyz="0 0 1"/>', "universal"),
        ":3: <joint>: joint 'j': is universal and has no <axis2 xyz=\"...\">, its second axis",
    ),
    # mimic
    "mimics itself": (
        tree(("j", "a", "b", '<mimic joint="j"/>')),
        f":4: <joint>: joint 'j': its mimic forms a cycle through 'j'; {INDEPENDENT}",
    ),
    "mimic loop": (
        tree(("j", "a", "b", '<mimic joint="k"/>'), ("k", "b", "c", '<mimic joint="j"/>')),
        f":5: <joint>: joint 'j': its mimic forms a cycle through 'j'; {INDEPENDENT}",
    ),
    "mimics a weld": (
        tree(("j", "a", "b", "", "fixed"), ("k", "b", "c", '<mimic joint="j"/>')),
        f":6: <joint>: joint 'k' (continuous) mimics 'j' (fixed); both must have one degree of freedom; {INDEPENDENT}",
    ),
    "mimics nothing": (tree(("j", "a", "b", "<mimic/>")), ":4: <mimic>: joint 'j': has no joint=\"...\""),
    "mimic multiplier nan": (
        tree(("j", "a", "b"), ("k", "b", "c", '<mimic joint="j" multiplier="nan"/>')),
        f":6: <mimic>: joint 'k': multiplier: 'nan' is not a number: {PLAIN}",
    ),
    # XML
    "empty": (b"", ": is empty; a path or XML was expected"),
    "blank": (b" \n", ": is empty; a path or XML was expected"),
    "DOCTYPE": ('<?xml version="1.0"?>\n<!-- - -->\n<!DOCTYPE robot>\n<robot name="r"/>', f":3: {DOCTYPE}"),
    "external entity": (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"><link name="a"/></robot>',
        f":1: {DOCTYPE}",
    ),
    "external DTD": (
        '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/r.dtd">\n<robot name="r"><link name="a"/></robot>',
        f":1: {DOCTYPE}",
    ),
    "billion laughs": (
        "<!DOCTYPE r [<!ENTITY a0 'ha'>"
        + "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 10))
        + ']>\n<robot name="&a9;"/>',
        f":1: {DOCTYPE}",
    ),
    "PNG": (b"\x89PNG\r\n\x1a\n\x00", ":3: contains a NUL byte: it is UTF-16 or not text; save it as UTF-8"),
    "NUL": (
        robot('<link name="a\0"/>').encode(),
        ":2: contains a NUL byte: it is UTF-16 or not text; save it as UTF-8",
    ),
    "UTF-16": ("<robot/>".encode("utf-16"), ":1: is UTF-16 or UTF-32; save it as UTF-8"),
    "UTF-16 without mark": (
        "<robot/>".encode("utf-16-le"),
        ":1: contains a NUL byte: it is UTF-16 or not text; save it as UTF-8",
    ),
    "UTF-7": (b'<?xml version="1.0" encoding="utf-7"?><robot/>', ":1: declares the encoding 'utf-7'; save it as UTF-8"),
    "not UTF-8": (
        b'<robot name="r">\n<link name="\xff"/></robot>',
        ":2: contains bytes that are not utf-8: invalid start byte; save it as UTF-8",
    ),
    "lone surrogate": (robot('<link name="\ud800"/>'), ":2: contains a lone surrogate, which is not a character"),
    "MJCF": ("<mujoco/>", ":1: is not a URDF: this is an MJCF (MuJoCo) file, not <robot>"),
    "SDF": ("<sdf/>", ":1: is not a URDF: this is an SDF file, not <robot>"),
    "other root": ("\n<robots/>", ":2: is not a URDF: its root element is <robots>, not <robot>"),
    "xacro element": (
        '<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro">\n<xacro:macro name="m"/></robot>',
        f":2: <xacro:macro>: {XACRO}",
    ),
    "xacro attribute": (
        '<robot name="r" xmlns:x="http://www.ros.org/wiki/xacro">\n<link x:if="1" name="a"/></robot>',
        f":2: <link>: {XACRO}",
    ),
    "xacro unbound": ('<robot name="r">\n<xacro:macro name="m"/></robot>', f":2: <xacro:macro>: {XACRO}"),
    "xacro call in a joint": (joint("<xacro:limits/>"), f":4: <xacro:limits>: joint 'j': {MACRO}"),
    "xacro call in an inertial": (
        link("<inertial>\n<xacro:ball/></inertial>"), f":4: <xacro:ball>: link 'a': {MACRO}",
    ),
    "xacro call in a link without inertial": (link("<xacro:ball/>"), f":3: <xacro:ball>: link 'a': {MACRO}"),
    "xacro call for a missing link": (
        robot('<xacro:base/>\n<link name="b"/>\n<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'),
        ":4: <joint>: joint 'j' refers to link 'a', which is not defined; calls of xacro macros are left over (<xacro:base>): "
        "run xacro on its source again",
    ),
    "prefix of a link not declared": (
        robot('<my:link name="a"/>'),
        ":2: <my:link>: my:link 'a': its name space prefix is not declared; remove 'my:'",
    ),
    "prefix of a mass not declared": (
        link('<inertial>\n<my:mass value="1"/></inertial>'),
        ":4: <my:mass>: link 'a': its name space prefix is not declared; remove 'my:'",
    ),
}  # fmt: skip

#: files refused by libxml2: id → (source, line); the message is from libxml2 and depends on its version
MALFORMED = {
    "truncated": ('<robot name="r">\n<link name="a">', 2),
    "half a tag": ('<robot name="r">\n<link na', 2),
    "only a bracket": ("<", 1),
    "tags crossed": ('<robot name="r">\n<link name="a"></robot>', 2),
    "attribute twice": ('<robot name="r">\n<link name="a" name="b"/></robot>', 2),
    "attribute unquoted": ('<robot name="r">\n<link name=a/></robot>', 2),
    "entity undefined": (robot('<link name="&x;"/>'), 2),
    "control character": (robot('<link name="\x01"/>'), 2),
    "NUL in text": (robot('<link name="a\0"/>'), 2),
    "two roots elements": ('<robot name="r"><link name="a"/></robot>\n<robot/>', 2),
    "text behind": ('<robot name="r"><link name="a"/></robot>\nthe end', 2),
    "DOCTYPE inside": ('<robot name="r"><link name="a"/>\n<!DOCTYPE r></robot>', 2),
    "DOCTYPE behind": ('<robot name="r"><link name="a"/></robot>\n<!DOCTYPE r>', 2),
    "too deep": ('<robot name="r">' + "<a>" * 300, 1),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_urdf_is_refused_with_line_and_reason(case):
    source, message = REFUSED[case]
    with pytest.raises(FileError) as caught:
        read_urdf(source)
    assert str(caught.value) == "<string>" + message


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_xml_is_refused(case):
    source, line = MALFORMED[case]
    with pytest.raises(FileError, match=f"^<string>:{line}: is not well-formed XML: ") as caught:
        read_urdf(source)
    assert caught.value.line == line


# -- accepted, with a documented meaning -----------------------------------------------------------------------------------


def only(d: Description):
    return d.joints[0]


#: files that are accepted: id → (source, condition on the description, the whole report)
ACCEPTED = {
    "no inertial": (robot('<link name="a"/>'), lambda d: d.link("a").inertia == Inertia.zero(), ()),
    "zero mass": (inertial('value="0"', UNIT.replace("1", "0")), lambda d: d.link("a").inertia == Inertia.zero(), ()),
    "point mass": (inertial('value="2"', UNIT.replace("1", "0")), lambda d: d.link("a").inertia.m == 2, ()),
    "signs, dots, exponents": (
        inertial(origin='<origin xyz=" +1. \n -.5e0\t2E-1 "/>'),
        lambda d: d.link("a").inertia.com == Vec(1, -0.5, 0.2),
        (),
    ),
    "underflow is zero": (
        inertial(origin='<origin xyz="1e-400 0 0"/>'),
        lambda d: d.link("a").inertia.com == Vec(0, 0, 0),
        ("line 4: 1e-400 is below the smallest double, 4.9e-324, and is read as 0",),
    ),
    "byte order mark": (b"\xef\xbb\xbf" + robot('<link name="a"/>').encode(), lambda d: d.root == "a", ()),
    "byte order mark in text": ("\ufeff" + robot('<link name="a"/>'), lambda d: d.root == "a", ()),
    "blanks before": (b"\n \n" + robot('<link name="a"/>').encode(), lambda d: d.root == "a", ()),
    "latin-1 declared": (
        '<?xml version="1.0" encoding="ISO-8859-1"?><robot name="Zoé"><link name="a"/></robot>'.encode("latin-1"),
        lambda d: d.name == "Zoé",
        (),
    ),
    "text with a declaration": (
        '<?xml version="1.0" encoding="utf-16"?><robot name="Zoé"><link name="a"/></robot>',
        lambda d: d.name == "Zoé",
        (),
    ),
    "unicode names": (robot('<link name="手"/>'), lambda d: d.root == "手", ()),
    "character references": (robot('<link name="&lt;a&#38;b&gt;"/>'), lambda d: d.root == "<a&b>", ()),
    "DOCTYPE in a comment": ('<!-- <!DOCTYPE r> --><robot name="r"><link name="a"/></robot>', lambda d: d.root == "a", ()),
    "instruction": ('<?xml-stylesheet href="x"?><robot name="r"><link name="a"/></robot>', lambda d: d.root == "a", ()),
    "default name space": (
        '<robot name="r" xmlns="http://www.ros.org"><link name="a"/></robot>',
        lambda d: d.root == "a",
        (),
    ),
    "xacro's name space unused": (
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a"/></robot>',
        lambda d: d.root == "a",
        (),
    ),
    "robot nameless": (
        '<robot><link name="a"/></robot>',
        lambda d: d.name == "robot",
        ("<robot> has no name, so it is called: 'robot'",),
    ),
    "joints before links": (
        robot('<joint name="j" type="fixed"><child link="b"/><parent link="a"/></joint><link name="b"/><link name="a"/>'),
        lambda d: d.root == "a",
        (),
    ),
    "no axis": (
        joint('<limit lower="0" upper="1" effort="2" velocity="3"/>'),
        lambda d: only(d).kind == Revolute(Vec(1, 0, 0)) and only(d).upper == (1.0,) and only(d).velocity_limit == (3.0,),
        ("no <axis>, so about or along (1, 0, 0), the default of URDF: joint 'j'",),
    ),
    "long axis": (
        joint('<axis xyz="0 0 -2"/>', "continuous"),
        lambda d: only(d).kind == Continuous(Vec(0, 0, -1)),
        ("axis scaled to length 1: joint 'j'",),
    ),
    "no limit": (
        joint('<axis xyz="0 0 1"/>'),
        lambda d: only(d).lower == () == only(d).upper,
        ("no <limit>, so unlimited: joint 'j'",),
    ),
    "limit without bounds": (
        joint('<axis xyz="0 0 1"/><limit effort="1" velocity="1"/>', "prismatic"),
        lambda d: only(d).lower == (0.0,) == only(d).upper,
        (
            "<limit> without lower, so lower is 0, the default of URDF: joint 'j'",
            "<limit> without upper, so upper is 0, the default of URDF: joint 'j'",
        ),
    ),
    "limit without effort": (
        joint('<axis xyz="0 0 1"/><limit lower="0" upper="1" velocity="1"/>'),
        lambda d: only(d).effort_limit == (),
        ("<limit> without effort, so effort is unlimited: joint 'j'",),
    ),
    "the largest double": (
        joint(f'<axis xyz="0 0 1"/><limit lower="-{LARGEST}" upper="1" effort="{LARGEST}" velocity="1"/>'),
        lambda d: only(d).lower == () == only(d).effort_limit and only(d).upper == (1.0,),
        (),
    ),
    "continuous with bounds": (
        joint('<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>', "continuous"),
        lambda d: only(d).lower == () and only(d).effort_limit == (1.0,),
        ("lower and upper ignored, since a continuous joint has none: joint 'j'",),
    ),
    "weld with everything": (
        joint('<axis xyz="0 0 0"/><limit effort="1"/><dynamics damping="1"/><mimic joint="j"/>', "fixed"),
        lambda d: only(d).kind.name == "fixed" and only(d).mimic is None,
        (
            "1 <axis> element ignored: a fixed joint has no axis",
            "1 <mimic> element ignored: a fixed joint does not move",
            "1 <limit> element ignored: a fixed joint does not move",
            "1 <dynamics> element ignored: a fixed joint does not move",
        ),
    ),
    "one number for six freedoms": (
        joint('<dynamics damping="1"/>', "floating"),
        lambda d: only(d).damping == (),
        (
            '1 <dynamics damping="..."> attribute ignored: it has one number, but such a joint needs 6, '
            "and URDF does not define the meaning of one",
        ),
    ),
    "strangers": (
        robot(
            '<link name="a" type="x"><inertal/></link><transmission name="t"/><transmission name="u"/><gazebo/><sensor/>\n'
            '<material name="m"/><f:oo xmlns:f="urn:foo"/>words'
        ),
        lambda d: d.root == "a",
        (
            '2 <transmission> elements ignored: load with terms=["actuated"], and their joints alone have a drive; give a '
            "rotor's inertia as armature",
            "1 <gazebo> element ignored: settings of a simulator or controller are not part of a rigid-body description",
            "1 <sensor> element ignored: sensors are not part of a rigid-body description",
            "1 <f:oo> element ignored: unknown element in <robot>",
            "1 passage ignored: it is text inside <robot>, which is read by its attributes and elements",
            '1 <link type="..."> attribute ignored: unknown attribute',
            "1 <inertal> element ignored: unknown element in <link>",
        ),
    ),
    "shape unknown": (
        link("<collision><geometry><plane/></geometry></collision>"),
        lambda d: d.link("a").geometry == (),
        ("1 <plane> element ignored: unknown element in <geometry>",),
    ),
    "mesh elsewhere": (
        link('<visual><geometry><mesh filename="../../etc/passwd" scale="1 -1 1"/></geometry></visual>'),
        lambda d: d.link("a").geometry[0].uri == "../../etc/passwd" and d.link("a").geometry[0].scale == (1.0, -1.0, 1.0),
        (),
    ),
    "quaternion": (
        joint('<origin xyz="1 2 3" quat_xyzw="0 0 1 0"/>', "fixed"),
        lambda d: only(d).origin.E.x == Vec(-1, 0, 0) and only(d).origin.r == Vec(1, 2, 3),
        (),
    ),
    "mimic of a mimic": (
        tree(
            ("i", "a", "b"),
            ("j", "b", "c", '<mimic joint="i" multiplier="-2"/>'),
            ("k", "c", "d", '<mimic joint="j" offset="1"/>'),
        ),
        lambda d: d.joints[2].mimic.offset == 1 and d.joints[1].mimic.multiplier == -2,
        (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ACCEPTED)
def test_unusual_urdf_is_accepted_with_notes(case):
    source, holds, report = ACCEPTED[case]
    d = read_urdf(source)
    assert holds(d)
    assert d.report == report


def test_tables_have_at_least_a_hundred_unusual_files():
    assert len(REFUSED) + len(MALFORMED) + len(ACCEPTED) >= 100


NONPHYSICAL = {
    "negative moment": ('ixx="-1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"', "a principal moment is negative (-1, 1, 1 kg·m²)"),
    "triangle": (
        'ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="3"',
        "a principal moment exceeds the sum of the other two (1, 1, 3 kg·m²)",
    ),
    "off the diagonal": (
        'ixx="1" ixy="2" ixz="0" iyy="1" iyz="0" izz="1"',
        "a principal moment is negative (-1, 1, 3 kg·m²)",
    ),
}


@pytest.mark.parametrize("case", NONPHYSICAL)
def test_impossible_inertia_warns_and_is_refused_with_strict(case):
    inertia, why = NONPHYSICAL[case]
    source = inertial(inertia=inertia)
    with pytest.warns(ModelWarning) as warned:
        d = read_urdf(source)
    message = f"robot 'r' has a physically impossible inertia: link 'a': {why}"
    assert [str(w.message) for w in warned] == [f"{message}; it is used as given"]
    assert warned[0].filename == __file__
    assert d.report == ("physically impossible inertia, used as given: link 'a'",)
    with pytest.raises(FileError) as caught:
        read_urdf(source, strict=True)
    assert str(caught.value) == f"<string>:2: <link>: {message}; correct it, or load with strict=False"


@pytest.mark.parametrize("izz", ["2.000001", "2", "1e-9"])
def test_thin_plate_rounded_to_six_digits_gives_no_warning(izz):
    read_urdf(inertial(inertia=f'ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="{izz}"'), strict=True)


def test_inertia_far_from_the_origin_is_accepted_in_spite_of_rounding():
    moments = 'ixx="1e-9" ixy="0" ixz="0" iyy="1e-9" iyz="0" izz="2e-9"'
    read_urdf(inertial(inertia=moments, origin='<origin xyz="30 40 50"/>'), strict=True)


# -- paths and arguments -----------------------------------------------------------------------------------------------------


def test_file_error_has_file_line_and_element_and_can_be_pickled(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(inertial('value="-1"'))
    with pytest.raises(FileError) as caught:
        read_urdf(path)
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == f"{path}:5: <mass>: link 'a': mass -1.0 kg is negative"
    assert (error.file, error.line, error.element) == (str(path), 5, "mass")
    assert isinstance(error, ModelError)
    assert isinstance(error, ValueError)


def test_error_line_numbers_above_65535_are_correct():
    source = '<robot name="r">' + "\n" * 70000 + '<link\n name="a"/>\n<link\nname="a"/></robot>'
    with pytest.raises(FileError, match=r"^<string>:70003: <link>: two links"):
        read_urdf(source)


def test_invalid_paths_are_file_errors(tmp_path):
    with pytest.raises(FileError, match=r"nope.urdf: cannot be read: No such file or directory$"):
        read_urdf(tmp_path / "nope.urdf")
    with pytest.raises(FileError, match=r": is a directory; give the file inside it$"):
        read_urdf(str(tmp_path))
    with pytest.raises(FileError, match=r"^/dev/zero: is not a regular file; read it and pass its contents as bytes$"):
        read_urdf("/dev/zero")
    with pytest.raises(FileError, match=r"^a\\0b: is not a valid path: "):
        read_urdf("a\0b")
    with pytest.raises(FileError, match=r"x\.\.\.: cannot be read: File name too long$"):
        read_urdf("x" * 10000)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match=r"is not a regular file"):
        read_urdf(tmp_path / "pipe")
    finished = tmp_path / "arm.urdf.xacro"
    finished.write_text(robot('<link name="a"/>'))
    with pytest.raises(FileError) as caught:
        read_urdf(finished)
    assert str(caught.value) == f"{finished}: {XACRO}"
    odd = tmp_path / os.fsdecode(b"\xff.urdf")
    odd.write_text(robot('<link name="a"/>'))
    assert read_urdf(odd).root == "a"


def test_urdf_file_above_256_megabytes_is_refused(tmp_path):
    path = tmp_path / "large.urdf"
    with open(path, "wb") as stream:
        stream.truncate(256 * 2**20 + 1)  # sparse: no disk is used
    with pytest.raises(FileError, match="is larger than the limit of 256 MB"):
        read_urdf(path)


@pytest.mark.parametrize("source", [None, 0, 1.5, ["<robot/>"]])
def test_read_urdf_rejects_sources_of_the_wrong_type(source):
    with pytest.raises(ArgumentError, match=r"^source must be a path, XML text or bytes, not "):
        read_urdf(source)


def test_read_urdf_rejects_unknown_base():
    assert read_urdf(robot('<link name="a"/>'), base="floating").base == "floating"
    with pytest.raises(ArgumentError, match=r"^base must be 'fixed', 'floating' or 'floating_rpy', not 'free'$"):
        read_urdf(robot('<link name="a"/>'), base="free")


def test_mimic_false_makes_every_joint_independent():
    source = tree(("j", "a", "b", '<mimic joint="z"/>'))
    d = read_urdf(source, mimic=False)
    assert d.joints[0].mimic is None
    assert d.report == ("<mimic> ignored (mimic=False), joint is independent: joint 'j'",)


# -- size, security, environment ---------------------------------------------------------------------------------------------


def chain(n: int) -> str:
    rows = [f'<link name="l{i}"><inertial><mass value="1"/><inertia {UNIT}/></inertial></link>' for i in range(n)]
    rows += [
        f'<joint name="j{i}" type="continuous"><parent link="l{i - 1}"/><child link="l{i}"/><axis xyz="0 0 1"/></joint>'
        for i in range(1, n)
    ]
    return robot("\n".join(rows))


def test_long_chain_loads_without_deep_recursion():
    limit = sys.getrecursionlimit()
    assert limit <= 1500
    d = read_urdf(chain(1500))
    assert len(d.joints) == 1499
    assert d.root == "l0"


AUDIT = """
import sys
seen = []
from torsor.io.urdf import read_urdf
from torsor.errors import TorsorError
read_urdf(b'<robot name="warm"><link name="up"/></robot>')  # imports and encodings are loaded by now
def hook(event, arguments):
    if event == "open" or event.split(".")[0] in ("socket", "subprocess", "os", "urllib", "ctypes", "http"):
        seen.append((event, str(arguments[0]) if arguments else ""))
sys.addaudithook(hook)
for path in sys.argv[1:]:
    try:
        read_urdf(path)
    except TorsorError:
        pass
    opened, seen[:] = list(seen), []
    assert set(opened) == {("open", path)}, (path, opened)
print("clean")
"""


def environment(**more: str) -> dict[str, str]:
    import torsor

    return {**os.environ, "PYTHONPATH": str(Path(torsor.__file__).parents[1]), "PYTHONWARNINGS": "ignore", **more}


def test_read_urdf_opens_no_other_file_or_connection(tmp_path):
    mesh = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    hostile = ["file:///etc/passwd", "http://127.0.0.1:9/x", "package://../../x", "../x.stl", "/dev/zero"]
    sources = [link(mesh.format(uri)) for uri in hostile] + [
        REFUSED["external entity"][0],
        REFUSED["external DTD"][0],
        REFUSED["billion laughs"][0],
        '<robot name="r" xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/passwd"/><link name="a"/></robot>',
        '<?xml-stylesheet href="http://127.0.0.1:9/x"?><robot name="r"><link name="a"/></robot>',
        '<robot name="r" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xsi:noNamespaceSchemaLocation="http://127.0.0.1:9/x.xsd"><link name="a"/></robot>',
    ]
    paths = []
    for i, source in enumerate(sources):
        paths.append(str(tmp_path / f"{i}.urdf"))
        Path(paths[-1]).write_text(source)
    run = subprocess.run([sys.executable, "-c", AUDIT, *paths], env=environment(), capture_output=True, text=True, timeout=60)
    assert run.stdout == "clean\n", run.stderr


def test_entity_expansion_bomb_is_refused_quickly():
    began = time.perf_counter()
    with pytest.raises(FileError):
        read_urdf(REFUSED["billion laughs"][0])
    assert time.perf_counter() - began < 0.5  # it takes microseconds; the bound is for a busy machine


LOCALE = """
import locale, sys
locale.setlocale(locale.LC_ALL, "")
from torsor.io.urdf import read_urdf
from torsor.io.urdf.writer import write_urdf
d = read_urdf(sys.argv[1])
print(ascii((locale.localeconv()["decimal_point"], d.links, d.joints, write_urdf(d))))
"""


def locale_environment(name: str, folder: Path) -> dict[str, str]:
    """Environment variables of a locale; the locale is built by localedef except for C and C.UTF-8."""
    if name in ("C", "C.UTF-8"):
        return {"LC_ALL": name}
    if shutil.which("localedef") is None:
        pytest.skip("there is no localedef on this machine")
    language, _, charmap = name.partition(".")
    subprocess.run(["localedef", "-i", language, "-f", charmap, str(folder / name)], capture_output=True, check=False)
    if not (folder / name).exists():
        pytest.skip(f"this machine has no sources of locale {name}")
    return {"LC_ALL": name, "LOCPATH": str(folder)}


@pytest.mark.parametrize(
    ("name", "point"),
    [("C", "."), ("C.UTF-8", "."), ("de_DE.UTF-8", ","), pytest.param("tr_TR.UTF-8", ",", marks=pytest.mark.night)],
)
def test_numbers_do_not_depend_on_the_locale(name, point, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(inertial('value="1.5"', origin='<origin xyz="0.1 0.2 0.3" rpy="0.1 0 0"/>').replace('"a"', '"İıé"'))
    env = environment(**locale_environment(name, tmp_path))
    run = subprocess.run([sys.executable, "-c", LOCALE, str(path)], env=env, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    d = read_urdf(path)
    assert run.stdout.strip() == ascii((point, d.links, d.joints, write_urdf(d)))


# -- fuzz --------------------------------------------------------------------------------------------------------------------

SEEDS = [
    tree(("i", "a", "b"), ("j", "b", "c", '<mimic joint="i" multiplier="-2"/><limit effort="1" velocity="2"/>')),
    inertial(origin='<origin xyz="0.1 0 1" rpy="0 1.57 0"/>'),
    joint(
        '<origin xyz="1 2 3"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="1"/>'
    ),
    link('<visual name="v"><origin rpy="1 0 0"/><geometry><box size="1 2 3"/></geometry></visual>'),
]


def test_mutated_files_raise_only_typed_errors():
    rng, count = random.Random(20261115), 100_000 if os.environ.get("TORSOR_NIGHT") else 8_000
    loaded, errors, words = 0, [], [*fuzzing.WORDS, *fuzzing.URDF_WORDS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        for _ in range(count):
            try:
                loaded += len(read_urdf(fuzzing.mutate_text(rng, rng.choice(SEEDS).encode(), words)).links) > 0
            except TorsorError as error:
                errors.append(error)
    assert loaded + len(errors) == count
    assert [e for e in errors if not isinstance(e, FileError) or (e.line is None and "is empty" not in str(e))] == []
    assert 0.025 * count < loaded < 0.75 * count  # some mutated files load, some do not
