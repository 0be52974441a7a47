"""Defective URDF files that other libraries load: a warning that states the assumption; refused with strict=True."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import torsor as ts
from torsor.io.shared import document

INERTIAL = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def pendulum(
    more: str = "", *, limit: str = LIMIT, look: str = "", head: str = "", inertial: str = INERTIAL, first: str = "",
    base: str = '<link name="base"/>', parent: str = "base",
) -> str:  # fmt: skip
    """A pendulum with ``more`` on line 6."""
    return f"""{first}<robot name="pendulum"{head}>
{base}
<link name="rod">{inertial}{look}</link>
<joint name="hinge" type="revolute"><parent link="{parent}"/><child link="rod"/><axis xyz="0 1 0"/>
{limit}</joint>
{more}
</robot>"""


def shape(inside: str) -> str:
    return f"<visual><geometry>{inside}</geometry></visual>"


DECLARATION = "XML declaration that is not at the start of the file, or not of XML 1.x, ignored"
NO_SHAPE = "has no shape; a <geometry> holds a mesh, box, cylinder, sphere or capsule"


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
    "XML version 0.0": (pendulum(first='<?xml version="0.0" ?>\n'), f"{DECLARATION}: line 1", 1),
    "XML declaration without version": (pendulum(first="<?xml ?>"), f"{DECLARATION}: line 1", 1),
    "XML declaration on line 3": (pendulum(first='\n\n<?xml version="1.0"?>\n'), f"{DECLARATION}: line 3", 3),
    "two XML declarations": (pendulum(first='<?xml version="1.0"?>\n' * 2), f"{DECLARATION}: line 2", 2),
    "scale of one number": (
        pendulum(look=shape('<mesh filename="a.stl" scale="0.001"/>')),
        "scale of a mesh has 1 number, not 3, so it is 0.001 0.001 0.001: link 'rod'",
        3,
    ),
    "scale of four numbers": (
        pendulum(look=shape('<mesh filename="a.stl" scale="1 2 3 4"/>')),
        "scale of a mesh has 4 numbers, not 3, so it is 1 2 3: link 'rod'",
        3,
    ),
    "scale of two numbers": (
        pendulum(look=shape('<mesh filename="a.stl" scale="1 2"/>')),
        "shape omitted (scale needs 3 numbers, 2 given: '1 2'): link 'rod'",
        3,
    ),
    "visual empty": (pendulum(look="<visual/>"), f"shape omitted ({NO_SHAPE}): link 'rod'", 3),
    "collision empty": (
        pendulum(look="<collision><geometry/></collision>"), f"shape omitted ({NO_SHAPE}): link 'rod'", 3,
    ),
    "sphere of negative size": (
        pendulum(look=shape('<sphere radius="-1"/>')), "shape omitted (a size is negative: (-1.0,)): link 'rod'", 3,
    ),
    "box of two sizes": (
        pendulum(look=shape('<box size="1 1"/>')), "shape omitted (size needs 3 numbers, 2 given: '1 1'): link 'rod'", 3,
    ),
    "mesh without file": (
        pendulum(look=shape("<mesh/>")), "shape omitted (has no filename=\"...\"): link 'rod'", 3,
    ),
    "place of a shape nan": (
        pendulum(look='<visual><origin xyz="nan 0 0"/><geometry><sphere radius="1"/></geometry></visual>'),
        "shape omitted (xyz: 'nan' is not a number: write a plain decimal such as 1.5 or 2e-3): link 'rod'",
        3,
    ),
    "two shapes": (
        pendulum(look=shape('<sphere radius="1"/><sphere radius="2"/>')), "second shape of one <visual> ignored: link 'rod'", 3,
    ),
    "two equal axes": (
        pendulum(limit=LIMIT + '<axis xyz="0 1 0"/>'), "second <axis> of one <joint> ignored: joint 'hinge'", 5,
    ),
    "two axes": (
        pendulum(limit=LIMIT + '<axis xyz="0 0 1"/>'),
        "second <axis> of one <joint> ignored, although it differs: joint 'hinge'",
        5,
    ),
    "two limits": (
        pendulum(limit=LIMIT + '<limit effort="2"/>'),
        "second <limit> of one <joint> ignored, although it differs: joint 'hinge'",
        5,
    ),
    "two parents in a joint": (
        pendulum(limit=LIMIT + '<parent link="rod"/>'),
        "second <parent> of one <joint> ignored, although it differs: joint 'hinge'",
        5,
    ),
    "two inertials": (pendulum(look=INERTIAL), "second <inertial> of one <link> ignored: link 'rod'", 3),
    "two masses": (
        pendulum(inertial=INERTIAL.replace("<inertia ", '<mass value="3"/><inertia ')),
        "second <mass> of one <inertial> ignored, although it differs: link 'rod'",
        3,
    ),
    "mimic of a joint that does not exist": (
        pendulum(limit=LIMIT + '<mimic joint="nobody" multiplier="2"/>'),
        "<mimic> of joint 'nobody', which does not exist, ignored, so the joint is independent: joint 'hinge'",
        4,
    ),
    "world not declared": (
        pendulum(base="", parent="world"), "link 'world' is not declared, so it is added without mass: joint 'hinge'", 4,
    ),
}  # fmt: skip
#: defects that Pinocchio does not accept; Drake adds the world
NOT_IN_PINOCCHIO = {"world not declared"}


@pytest.mark.parametrize("case", DEFECTS)
def test_defect_outside_the_tree_is_a_warning_and_a_line_of_the_report(case):
    text, line, _ = DEFECTS[case]
    with pytest.warns(ts.ModelWarning) as caught:
        robot = ts.load(text)
    assert [str(w.message) for w in caught] == [f"robot 'pendulum': {line}; torsor check lists repairs"]
    assert caught[0].filename == __file__
    assert robot.report[0] == line
    assert robot.mass_matrix([0.3]).item() == ts.load(pendulum()).mass_matrix([0.3]).item()
    if case not in NOT_IN_PINOCCHIO:
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


def without(word: str) -> str:
    return INERTIAL.replace(word, "")


PLACED = '<origin xyz="0.3 0 0.4" rpy="0.1 0.2 0.3"/>'
MATRIX = INERTIAL[INERTIAL.index("<inertia ") : INERTIAL.index("</inertial>")]
NO_MASS = "<inertial> without the value of <mass> ignored, so the link is massless: link 'rod'"
#: <inertial> with missing numbers → (inertial, line of ``robot.report``)
INCOMPLETE = {
    "no inertia": (
        without(MATRIX),
        "<inertial> without <inertia>, so the inertia about the centre of mass is zero: link 'rod'",
    ),
    "no ixy": (without('ixy="0"'), "<inertial> without ixy, so the inertia about the centre of mass is zero: link 'rod'"),
    "no izz": (without('izz="1"'), "<inertial> without izz, so the inertia about the centre of mass is zero: link 'rod'"),
    "no mass": (without('<mass value="2"/>'), NO_MASS),
    "mass without value": (without('value="2"'), NO_MASS),
    "mass as text": (INERTIAL.replace('<mass value="2"/>', "<mass>2</mass>"), NO_MASS),
    "inertial empty": ("<inertial/>", NO_MASS),
}


@pytest.mark.parametrize("case", INCOMPLETE)
def test_incomplete_inertial_has_the_dynamics_of_pinocchio_and_a_warning(case):
    inertial, line = INCOMPLETE[case]
    text = pendulum(inertial=inertial.replace("<inertial>", f"<inertial>{PLACED}"))
    with pytest.warns(ts.ModelWarning) as caught:
        robot = ts.load(text)
    assert [str(w.message) for w in caught] == [f"robot 'pendulum': {line}; torsor check lists repairs"]
    assert robot.report[0] == line
    model = pin.buildModelFromXML(text)
    M = pin.crba(model, model.createData(), np.array([0.3]))
    np.testing.assert_allclose(robot.mass_matrix([0.3]), M, rtol=1e-14)
    with pytest.raises(ts.FileError, match="correct it, or load with strict=False") as refused:
        ts.load(text, strict=True)
    assert refused.value.line == 3


@pytest.mark.parametrize(("case", "word"), [("no inertia", "0.5"), ("no ixy", "1.5")])
def test_repair_of_an_incomplete_inertial_writes_zeros(case, word, tmp_path):
    """M = 2 kg · 0.25 m², with the three moments of 1 kg·m² if only ixy was missing."""
    text = pendulum(inertial=INCOMPLETE[case][0].replace("<inertial>", f"<inertial>{PLACED}"))
    (made,) = ts.repair(text, tmp_path / "out.urdf")
    assert made.name == "complete-inertial"
    assert made.change == pytest.approx(float(word) / 0.5 - 1, rel=1e-12)
    M = ts.load(tmp_path / "out.urdf", strict=True).mass_matrix([0.3]).item()
    assert pytest.approx(float(word), rel=1e-12) == M


def test_numbers_of_an_incomplete_inertial_are_checked():
    text = pendulum(inertial=without('ixy="0"').replace('ixx="1"', 'ixx="1,5"'))
    with pytest.raises(ts.FileError, match="ixx: '1,5' is not a number"):
        ts.load(text)


def test_world_of_a_floating_or_second_root_is_not_invented():
    with pytest.raises(ts.FileError, match="has 2 root links"):
        ts.load(pendulum(parent="world"))
    with pytest.raises(ts.FileError, match="refers to link 'ground', which is not defined"):
        ts.load(pendulum(base="", parent="ground"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "iso-8859-1"])
def test_invalid_declaration_is_corrected_in_every_encoding(encoding, tmp_path):
    declared = "iso-8859-1" if encoding == "iso-8859-1" else "utf-8"
    text = pendulum("<!-- Körper -->", first=f'<?xml version="0.0" encoding="{declared}"?>\n').replace("0 1 0", "0 2 0")
    source, out = tmp_path / "a.urdf", tmp_path / "b.urdf"
    source.write_bytes(text.encode(encoding))
    assert [(made.name, made.line) for made in ts.repair(source, out)] == [("correct-declaration", 1), ("normalise-axis", 5)]
    assert ts.load(out, strict=True).nv == 1
    assert "Körper" in out.read_bytes().decode(declared)


@pytest.mark.parametrize("first", ['<?xml version="0.0"?>\n', '\n<?xml version="1.0"?>\n', "<?xml?><?xml?>"])
def test_doctype_behind_an_invalid_declaration_is_refused(first):
    for text in (pendulum(first=first + "<!DOCTYPE r>"), pendulum(first="<!DOCTYPE r>" + first)):
        with pytest.raises(ts.FileError, match=r"declares a DOCTYPE|not well-formed"):
            ts.load(text)


def test_many_defects_parse_the_text_once_more_only(monkeypatch):
    """The line of each unreadable shape would take a pass over the whole file: quadratic time."""
    calls = []
    plain = document.start_tags
    monkeypatch.setattr(document, "start_tags", lambda *x: calls.append(1) or plain(*x))
    first = '<?xml version="0.0"?>' * 5000  # the format was recognised by a pattern of exponential time
    with pytest.warns(ts.ModelWarning, match=r"link 'rod' \(300 times\)"):
        ts.load(pendulum(look="<visual/>" * 300, first=first))
    assert len(calls) == 1
