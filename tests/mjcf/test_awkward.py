"""Untrusted MJCF: a table of invalid files with line, element and reason, and a table of unusual valid files."""

from __future__ import annotations

import pickle
import warnings

import pytest

from tests.io.fuzzing import finite
from torsor.errors import FileError, ModelWarning
from torsor.io.mjcf import read_mjcf
from torsor.model import Description
from torsor.model.assembly import assemble
from torsor.model.forces import GravityCompensation

GEOM = '<geom size=".1"/>'
DECIMAL = "is not a number: write a plain decimal such as 1.5 or 2e-3"
MASSLESS = "mass and inertia of moving bodies must be larger than mjMINVAL"
TOO_LARGE = "is too large"


def mjcf(inside: str) -> str:
    """``inside`` starts on line 2."""
    return f"<mujoco>\n{inside}\n</mujoco>"


def world(inside: str, before: str = "") -> str:
    """``inside`` starts on line 3."""
    return mjcf(f"{before}<worldbody>\n{inside}\n</worldbody>")


def body(joint: str = "<joint/>", geom: str = GEOM, before: str = "", said: str = "") -> str:
    """<body> is on line 3, its joint on 4, its geom on 5."""
    return world(f'<body name="b" {said}>\n{joint}\n{geom}</body>', before)


def inertial(said: str) -> str:
    return body("<joint/>", f'<inertial pos="0 0 0" {said}/>')


def two(inside: str) -> str:
    """Two hinges, j and k, on bodies a and b; ``inside`` is on line 3."""
    bodies = "".join(f'<body name="{b}"><joint name="{j}"/>{GEOM}</body>' for b, j in ("aj", "bk"))
    return mjcf(f"<worldbody>{bodies}</worldbody>\n{inside}")


def mesh(said: str) -> str:
    """<mesh> is on line 2."""
    return mjcf(
        f'<asset><mesh name="m" {said}/></asset><worldbody><body><joint/><geom type="mesh" mesh="m"/></body></worldbody>'
    )


#: invalid files: id → (source, line, element, words of the reason)
REFUSED: dict[str, tuple[str | bytes, int | None, str, str]] = {
    # not MJCF
    "empty": ("", None, "", "is empty"),
    "URDF": ("<robot name='r'><link name='a'/></robot>", 1, "robot", "this is a URDF"),
    "SVG": ("<!-- hello -->\n<svg/>", 2, "svg", "its root element is <svg>, not <mujoco>"),
    "a part": ("<mujocoinclude/>", 1, "mujocoinclude", "a part that other MJCF files include"),
    "mismatched tags": (world("<body></bdy>"), 3, "", "is not well-formed XML: Opening and ending tag mismatch"),
    "cut off": (body()[:60], 5, "", "is not well-formed XML"),
    "DOCTYPE": ("<!DOCTYPE mujoco [<!ENTITY a 'b'>]><mujoco/>", 1, "", "DOCTYPE"),
    "no UTF-8": (b"<mujoco>\n\xff</mujoco>", 2, "", "not utf-8"),
    "UTF-16": ("<mujoco/>".encode("utf-16"), 1, "", "UTF-16"),
    "NUL": (b"<mujoco>\0</mujoco>", 1, "", "NUL"),
    "xacro": ('<mujoco xmlns:xacro="x"><xacro:property name="a"/></mujoco>', 1, "xacro:property", "is xacro"),
    "prefix unbound": (mjcf("<x:worldbody/>"), 2, "", "prefix x"),
    "prefix bound": ('<mujoco xmlns:x="y"><x:worldbody/></mujoco>', 1, "x:worldbody", "unrecognized element"),
    "too deep": (mjcf("<body>" * 3000 + "</body>" * 3000), 2, "", "Excessive depth in document"),
    "too deep for MuJoCo": (mjcf("<body>" * 1500 + "</body>" * 1500), 2, "body", "nesting is too deep"),
    # numbers
    "nan": (body(geom='<geom size=".1" mass="nan"/>'), 5, "geom", f"mass: 'nan' {DECIMAL}"),
    "infinite": (body(geom='<geom size=".1" mass="inf"/>'), 5, "geom", f"mass: 'inf' {TOO_LARGE}"),
    "nan in an axis": (body('<joint axis="0 0 nan"/>'), 4, "joint", f"axis: 'nan' {DECIMAL}"),
    "nan in a setting": (body(before='<compiler settotalmass="nan"/>'), 2, "compiler", DECIMAL),
    "nan in gravity": (mjcf('<option gravity="0 0 nan"/>'), 2, "option", DECIMAL),
    "decimal comma": (body('<joint damping="1,5"/>'), 4, "joint", "bad format in attribute 'damping'"),
    "underscore": (body('<joint damping="1_5"/>'), 4, "joint", "bad format in attribute 'damping'"),
    "full-width digit": (body('<joint damping="１"/>'), 4, "joint", "bad format in attribute 'damping'"),
    "hexadecimal": (body('<joint damping="0x10"/>'), 4, "joint", f"damping: '0x10' {DECIMAL}"),
    "overflow": (body('<joint damping="1e400"/>'), 4, "joint", f"damping: '1e400' {TOO_LARGE}"),
    "number empty": (body('<joint damping=""/>'), 4, "joint", 'damping="" is empty'),
    "two of three": (body('<joint axis="0 1"/>'), 4, "joint", "does not have enough data"),
    "four of three": (body('<joint axis="0 1 0 0"/>'), 4, "joint", "has too much data"),
    # masses
    "mass negative": (body(geom='<geom size=".1" mass="-1"/>'), 5, "geom", "mass, inertia or density are negative"),
    "mass tiny": (body(geom='<geom size=".1" mass="1e-300"/>'), 3, "body", MASSLESS),
    "no mass": (body(geom=""), 3, "body", "give the body an <inertial> or a geom"),
    "geoms do not count": (body(before='<compiler inertiafromgeom="false"/>'), 3, "body", MASSLESS),
    "inertia not positive": (inertial('mass="1" diaginertia="1 -1 1"'), 3, "body", MASSLESS),
    "inertia of no body": (inertial('mass="1" diaginertia="1 1 5"'), 3, "body", "A + B >= C"),
    "inertia not definite": (inertial('mass="1" fullinertia="1 1 1 5 5 5"'), 3, "body", "positive eigenvalues"),
    "inertia twice": (inertial('mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"'), 3, "body", "cannot both"),
    "inertial without mass": (inertial('diaginertia="1 1 1"'), 5, "inertial", "required attribute missing: 'mass'"),
    # shapes
    "size zero": (body(geom='<geom size="0"/>'), 5, "geom", "size 0 must be positive"),
    "size missing": (body(geom="<geom/>"), 5, "geom", "size 0 must be positive"),
    "shape unknown": (body(geom='<geom type="torus" size="1"/>'), 5, "geom", "invalid keyword: 'torus'"),
    "mesh unknown": (body(geom='<geom type="mesh" mesh="x"/>'), 5, "geom", "mesh 'x' not found"),
    "mesh of no points": (mesh(""), 2, "mesh", "at least 4 vertices required"),
    "mesh flat": (mesh('vertex="0 0 0 1 0 0 0 1 0 1 1 0"'), 2, "mesh", "coplanar"),
    "mesh with nan": (mesh('vertex="0 0 0 1 0 0 0 1 0 0 0 nan"'), 2, "mesh", f"vertex: 'nan' {DECIMAL}"),
    "mesh face of nothing": (mesh('vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 9"'), 2, "mesh", "vertex index 9"),
    # poses
    "quaternion zero": (body(said='quat="0 0 0 0"'), 3, "body", "zero quaternion"),
    "quaternion huge": (body(said='quat="1e300 0 0 0"'), 3, "body", TOO_LARGE),
    "two orientations": (body(said='quat="1 0 0 0" euler="0 0 1"'), 3, "body", "multiple orientation"),
    "axes parallel": (body(said='xyaxes="1 0 0 1 0 0"'), 3, "body", "yaxis too small"),
    # joints
    "type unknown": (body('<joint type="gear"/>'), 4, "joint", "invalid keyword: 'gear'"),
    "axis zero": (body('<joint axis="0 0 0"/>'), 4, "joint", "axis too small"),
    "axis huge": (body('<joint axis="0 0 1e300"/>'), 4, "joint", TOO_LARGE),
    "free joint inside": (body(geom=f"{GEOM}<body>\n<freejoint/>{GEOM}</body>"), 5, "body", "only be used on top level"),
    "free and hinge": (body("<freejoint/><joint/>"), 3, "body", "more than 6 dofs"),
    "two balls": (body('<joint type="ball"/><joint type="ball"/>'), 3, "body", "ball followed by rotation"),
    "seven hinges": (body("<joint/>" * 7), 3, "body", "more than 6 dofs"),
    "joint of the world": (world("<joint/>"), 3, "joint", "World body cannot have joints"),
    "range crossed": (body('<joint range="1 -1"/>'), 4, "joint", "range: the lower end 1 is above the upper end -1"),
    "range missing": (body('<joint limited="true"/>'), 4, "joint", "range[0] should be smaller"),
    "armature negative": (body('<joint armature="-1"/>'), 4, "joint", "armature is negative"),
    "damping negative": (body('<joint damping="-1"/>'), 4, "joint", "damping is negative"),
    "friction negative": (body('<joint frictionloss="-1"/>'), 4, "joint", "frictionloss is negative"),
    # names
    "body twice": (world(f'<body name="a"/>\n<body name="a"><joint/>{GEOM}</body>'), 4, "body", "repeated name 'a'"),
    "body called world": (world('<body name="world"/>'), 3, "body", "repeated name 'world'"),
    "element unknown": (world("\n<bodi/>"), 4, "bodi", "Schema violation"),
    "attribute unknown": (body('<joint colour="red"/>'), 4, "joint", "unrecognized attribute: 'colour'"),
    "class unknown": (body('<joint class="x"/>'), 4, "joint", "unknown default class name 'x'"),
    "world placed": (mjcf('<worldbody pos="1 0 0"/>'), 2, "worldbody", "cannot have attributes"),
    # constraints between joints and bodies
    "equality of a stranger": (two('<equality><joint joint1="x"/></equality>'), 3, "joint", "unknown element 'x'"),
    "equality with itself": (two('<equality><joint joint1="j" joint2="j"/></equality>'), 3, "joint", "is repeated"),
    "equality with nan": (two('<equality><joint joint1="j" polycoef="0 nan 0 0 0"/></equality>'), 3, "joint", DECIMAL),
    "connect without anchor": (two('<equality><connect body1="a"/></equality>'), 3, "connect", "must be specified"),
    "motor of a stranger": (two('<actuator><motor joint="x"/></actuator>'), 3, "motor", "'x'"),
    "motor of nothing": (two("<actuator><motor/></actuator>"), 3, "motor", "missing transmission target"),
    "force range crossed": (two('<actuator><motor joint="j" forcerange="1 -1"/></actuator>'), 3, "motor", "above the upper"),
    # files that expand to a huge size
    "copies of copies": (world('<replicate count="999">' * 2 + "<body/>" + "</replicate>" * 2), 3,
                         "replicate", "has more than 200000 elements"),
    "copies": (world('<replicate count="2000000000"><body/></replicate>'), 3, "replicate", "count is 2e+09"),
    "soft cube": (body(geom='<flexcomp name="x" type="grid" count="999 999 999"/>'), 5, "flexcomp", "count is 9.97e+08"),
    "height field": (mjcf('<asset><hfield nrow="99999" ncol="99999" size="1 1 1 1"/></asset>'), 2, "hfield", "is 1e+10"),
    "plugin": (mjcf('<extension><plugin plugin="x"/></extension>'), 2, "plugin", "plugin x not found"),
    "model of nowhere": (world('<attach model="x" body="y" prefix="p"/>'), 3, "attach", "could not find model 'x'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_awkward_mjcf_is_refused_with_line_and_reason(case):
    source, line, element, words = REFUSED[case]
    with pytest.raises(FileError) as caught:
        read_mjcf(source)
    error = pickle.loads(pickle.dumps(caught.value))
    assert words in str(error)
    assert (error.line, error.element) == (line, element)


def _joint(d: Description):
    (joint,) = d.joints
    return joint


#: valid files: id → (source, check of the description)
ACCEPTED = {
    "no bodies: a robot that is a world": (mjcf(""), lambda d: [x.name for x in d.links] == ["world"]),
    "two worlds are one": (world("<body name='a'/>") .replace("</mujoco>", "<worldbody><body name='b'/></worldbody></mujoco>"),
                           lambda d: {x.name for x in d.links} >= {"a", "b"}),
    "a quaternion of any length is a direction": (body(said='quat="0 0 0 7"'), lambda d: _joint(d).origin.E[0][0] == -1),
    "an axis of any length is a direction": (body('<joint axis="0 3 0"/>'), lambda d: tuple(_joint(d).kind.axis) == (0, 1, 0)),
    "infinite ends are no limits": (body('<joint range="-inf inf"/>'), lambda d: _joint(d).upper == (float("inf"),)),
    "ends at zero are none": (body('<joint range="0 0"/>'), lambda d: _joint(d).upper == ()),
    "angles are degrees": (body('<joint range="-90 90"/>'), lambda d: _joint(d).upper == (pytest.approx(1.5707963267948966),)),
    "text between elements means nothing": (body("hello<joint/>"), lambda d: len(d.joints) == 1),
    "a name space is the file's own": (body().replace("<mujoco", '<mujoco xmlns="x"'), lambda d: len(d.joints) == 1),
    "a name may be anything": (body().replace('"b"', '"bras 🤖/&#10;"'), lambda d: d.links[-1].name == "bras 🤖/\n"),
    "no name is no name": (body().replace('"b"', '""'), lambda d: d.links[-1].name == "body1"),
    "a negative number of copies is none": (world('<replicate count="-2"><body/></replicate>'), lambda d: len(d.links) == 1),
    "buffers are MuJoCo's": (body(before='<size memory="9999T" nuserdata="2000000000"/>'), lambda d: len(d.joints) == 1),
    "pixels are MuJoCo's": (body(before='<asset><texture name="t" builtin="flat" width="99999" height="99999"/></asset>'),
                            lambda d: len(d.joints) == 1),
    "textures are not opened": (body(before='<asset><texture file="/none.png"/></asset>'), lambda d: len(d.joints) == 1),
    "a motor without gear": (two('<actuator><motor joint="j" gear="0" ctrlrange="-1 1"/></actuator>'),
                             lambda d: d.joints[0].effort_limit == (0.0,)),
    "joints that say each where the other is": (
        two('<equality><joint joint1="j" joint2="k"/><joint joint1="k" joint2="j"/></equality>'),
        lambda d: [bool(j.mimic) for j in d.joints] == [True, False],
    ),
    "a curve between joints is a mimic": (two('<equality><joint joint1="j" joint2="k" polycoef="0 1 2 0 0"/></equality>'),
                                          lambda d: d.joints[0].mimic.coefficients == (0, 1, 2)),
    "bounds of mass": (body(geom="", before='<compiler boundmass="2" boundinertia="1"/>'),
                       lambda d: d.links[-1].inertia.m == 2),
    "balanced inertia": (inertial('mass="1" diaginertia="1 1 5"').replace("\n", '\n<compiler balanceinertia="true"/>', 1),
                         lambda d: d.links[-1].inertia.I[0] == d.links[-1].inertia.I[5]),
}  # fmt: skip


@pytest.mark.parametrize("case", ACCEPTED)
def test_awkward_mjcf_is_accepted(case):
    source, meaning = ACCEPTED[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        d = read_mjcf(source)
    assert meaning(d)
    assert finite(d)
    assemble(d)


@pytest.mark.parametrize(
    ("source", "line", "element"),
    [
        (body(geom='<geom size=".1" rgba=""/>'), 5, "geom"),
        (body(geom='<geom size=".1" rgba=" \t"/>'), 5, "geom"),
        (body(before='<asset><material name="m" shininess=""/></asset>'), 2, "material"),
        (body(before='<visual><headlight diffuse=""/></visual>'), 2, "headlight"),
    ],
)
def test_empty_attribute_of_the_drawing_is_ignored_with_a_warning(source, line, element):
    with pytest.warns(ModelWarning, match=rf'<{element} \w+=""> ignored, since it is empty') as caught:
        d = read_mjcf(source)
    assert str(caught[0].message).removeprefix("robot 'robot': ") in d.report
    assert d.links == read_mjcf(body()).links
    with pytest.raises(FileError, match="correct it, or load with strict=False") as refused:
        read_mjcf(source, strict=True)
    assert (refused.value.line, refused.value.element) == (line, element)


def test_gravcomp_is_read_as_a_force_element():
    d = read_mjcf(body(said='gravcomp="1"'))
    assert [element for _, element in d.forces] == [GravityCompensation(1)]


def test_the_tables_have_at_least_95_awkward_files():
    assert len(REFUSED) >= 75
    assert len(REFUSED) + len(ACCEPTED) >= 95
