"""Checkup: accepted sources, and reports as text, JSON and HTML."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import torsor as ts
from tests.doctor.test_codes import HAVE, check_cached
from tests.doctor.urdf import arm, box_inertia, joint, link, robot, shape
from tests.trees import random_tree
from torsor.checks.doctor import CODES, REPAIRS, check
from torsor.checks.doctor.symmetry import mirrored_names, stem
from torsor.errors import ArgumentError, FileError

DOCS = Path(__file__).parents[2] / "docs"
INERTIA = {
    "inertia-not-positive", "triangle-inequality", "moment-without-mass", "point-mass", "inertia-too-small", "inertia-copied",
    "inertia-placeholder", "mass-negative", "mass-missing-matters", "mass-matrix-not-positive",
}  # fmt: skip


@given(st.integers(0, 10**6))
@example(2329)  # a cam between revolute joints: a pure rotation only at angle 0
def test_physical_random_trees_have_no_errors(seed):
    """Bodies made of point masses are physical, whatever the joints."""
    found = {f.code for f in check(random_tree(seed)).findings}
    assert not found & INERTIA


def test_check_gives_the_same_findings_for_file_text_bytes_robot_and_description(tmp_path):
    text = HAVE["triangle-inequality"]
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    with pytest.warns(ts.ModelWarning):
        robot = ts.load(path)
    found = [check(x).findings for x in (path, str(path), text, text.encode(), robot, robot.description)]
    assert {tuple((f.code, f.element, f.severity, f.what) for f in each) for each in found} == {
        tuple((f.code, f.element, f.severity, f.what) for f in found[0])
    }
    assert found[0][0].place == f"{path}:{found[0][0].line}"
    assert found[2][0].place == f"<string>:{found[0][0].line}"
    assert found[4][0].line is None
    assert found[4][0].repair is None  # a robot has no text to repair


def test_invalid_sources_are_refused(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        check(tmp_path / "none.urdf")
    with pytest.raises(ArgumentError, match="not int"):
        check(3)
    with pytest.raises(ArgumentError, match="severity must be one of error, warning, note"):
        check(arm()).count("fatal")


def test_file_that_is_not_xml_is_one_finding(tmp_path):
    path = tmp_path / "broken.urdf"
    path.write_text('<robot name="x">\n<link name="a">\n</robot>')
    (found,) = check(path).findings
    assert (found.code, found.severity, found.place) == ("file-refused", "error", f"{path}:3")


def test_check_of_a_refused_file_reports_other_findings_too():
    text = arm(
        lower=link("lower", mass=-1.0),
        elbow=joint("elbow", "upper", "nowhere", axis="0 3 0"),
        more=link("lost", I=(1, 1, 5)),
    )
    found = {(f.code, f.element) for f in check(text).findings}
    assert {
        ("mass-negative", "link 'lower'"), ("triangle-inequality", "link 'lost'"), ("axis-not-unit", "joint 'elbow'"),
    } <= found  # fmt: skip


@pytest.mark.parametrize("I", [(1, 1, 5), (1, 1, -0.5), (1, 1, 2.001)], ids=["triangle", "negative", "rounded"])
def test_impossible_inertia_has_the_same_severity_whether_the_file_loads_or_not(I):
    """Also on a link that does not move, where it has no effect on M."""
    for where in ("base", "lower"):
        text = arm(**{where: link(where, I=I)})
        refused = text.replace('type="revolute"', 'type="hinge"')
        both = [{(f.code, f.severity) for f in check(t).findings if f.element == f"link {where!r}"} for t in (text, refused)]
        codes = {"triangle-inequality", "inertia-not-positive"}
        assert len({frozenset(x for x in found if x[0] in codes) for found in both}) == 1
        (severity,) = {severity for code, severity in both[0] if code in codes}
        assert severity == ("note" if I[2] == 2.001 else "warning")


def test_each_reason_of_refusal_is_one_finding():
    text = arm(
        lower='<link name="lower"><inertial><mass value="1 kg"/></inertial></link>',
        elbow=joint("elbow", "upper", "lower", type="hinge"),
        shoulder=joint("shoulder", "base", "upper", axis="0 0 0"),
    )
    told = [(f.code, f.element) for f in check(text).findings if f.severity == "error"]
    assert sorted(told) == [("file-refused", f"{e}") for e in ("joint 'elbow'", "joint 'shoulder'", "link 'lower'")]


@pytest.mark.parametrize(("factor", "severity"), [(1, None), (9e2, "error"), (9e5, "error"), (9e8, "error")])
@pytest.mark.parametrize("looks", [None, ""])
def test_inertia_far_beyond_its_body_is_an_error(factor, severity, looks):
    """2 kg in a box of 0.3 m have at most 0.045 kg·m²; without a shape 2 kg are compared with the density of a vacuum."""
    text = arm(lower=link("lower", com=(0, 0, 0.2), I=factor * box_inertia(), looks=looks))
    found = check(text)
    if factor == 9e2 and looks == "":
        severity = "warning"  # k = 3.4 m: a mast
    assert found.worst == severity
    assert {f.code for f in found.findings} <= {"inertia-units"}


def test_inertia_27_times_too_large_is_a_warning_and_1000_times_an_error():
    """The largest factor in public files is 27; a body in other units is off by 1000."""
    largest = 2 * 0.15**2 + 2 * 0.1**2  # Σ m x² of mass at the ends of the box along z and y
    found = {f: check(arm(lower=link("lower", com=(0, 0, 0.2), I=np.eye(3) * f * largest * 1.001))).worst for f in (27, 1000)}
    assert found == {27: "warning", 1000: "error"}


def test_inertia_beyond_a_shape_that_is_too_small_is_not_an_error():
    """A mesh a tenth of its size: 2 kg would be denser than osmium, so the shape is wrong."""
    text = arm(lower=link("lower", com=(0, 0, 0.2), looks=shape((0.01, 0.02, 0.03), com=(0, 0, 0.2))))
    assert check(text).worst == "warning"


def test_effect_of_a_common_error_names_all_links_that_are_corrected():
    """Three links about one axis, each a third of M_jj: one corrected gives 33 %, all three give 100 %."""
    names = ("l1", "l2", "l3")
    parts = [link("base")]
    for parent, name in zip(("base", *names), names, strict=False):
        wrong = link(name, com=(0, 0, 0.2), I=1e6 * box_inertia())
        parts += [wrong, joint(f"j_{name}", parent, name, axis="0 1 0")]
    found = [f for f in check(robot(*parts)).findings if f.code == "inertia-units"]
    assert [f.element for f in found] == [f"link {name!r}" for name in names]
    assert "M_jj of joint 'j_l1' changes by 33 %" in found[0].means
    assert all(re.search(r"; with l1, l2, l3 corrected, M_jj of joint '\w+' changes by 100 %$", f.means) for f in found)
    assert check(ts.load(robot(*parts))).findings[0].means == found[0].means


def test_advice_for_identified_numbers_does_not_send_to_cad():
    found = [f for f in check(ts.robots.panda()).findings if f.code == "inertia-far-from-mesh"]
    assert len(found) == 2
    assert all("identification from motions gives only sums over links" in f.fix for f in found)


def test_inertia_of_the_base_is_measured_with_a_floating_base():
    text = arm(base=link("base", I=(0.01, 0.01, 0.03)))
    (fixed,), (floating,) = check(text).findings, check(text, base="floating").findings
    assert (fixed.severity, floating.severity) == ("warning", "warning")
    assert "does not change" in fixed.means
    assert "changes by" in floating.means


# -- reports -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", HAVE)
def test_checkup_text_and_json_contain_all_findings(code):
    checkup = check_cached(HAVE[code])
    text = str(checkup)
    assert all(len(line) <= 100 for line in text.splitlines())
    for f in checkup.findings:
        assert re.search(rf"^<string>:{f.line}: {f.code}: {re.escape(f.element)}$", text, re.MULTILINE)
    data = json.loads(json.dumps(checkup.to_dict(), allow_nan=False))
    assert [f["code"] for f in data["findings"]] == [f.code for f in checkup.findings]
    assert sum(data["counts"].values()) == len(checkup.findings)
    assert checkup.worst == checkup.findings[0].severity


def test_checkup_sorts_findings_by_severity():
    checkup = check(HAVE["mass-matrix-not-positive"])
    order = ["error", "warning", "note"]
    places = [order.index(f.severity) for f in checkup.findings]
    assert places == sorted(places)
    assert checkup.worst == "error"


def test_checkup_html_is_escaped():
    name = "&lt;img src=x onerror=alert(1)&gt;"
    html = check(arm(lower=link(name, I=(0.01, 0.01, 0.03)), elbow=joint("elbow", "upper", name)))._repr_html_()
    assert "<img" not in html
    assert "triangle-inequality" in html


# -- names ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("left", "right"), [
    ("left_knee", "right_knee"), ("l_hand", "r_hand"), ("FL_hip", "FR_hip"), ("RL_calf", "RR_calf"), ("LF_SHANK", "RF_SHANK"),
    ("hand_L", "hand_R"), ("LeftFoot", "RightFoot"), ("leftFoot", "rightFoot"), ("arm_left_3_link", "arm_right_3_link"),
    ("LShoulder", "RShoulder"), ("l_gripper_l_finger", "r_gripper_r_finger"), ("l_gripper_l_finger", "l_gripper_r_finger"),
])  # fmt: skip
def test_twins_finds_the_name_of_the_other_side(left, right):
    assert right in list(mirrored_names(left))
    assert left in list(mirrored_names(right))
    assert stem(left) == stem(right)


@pytest.mark.parametrize("name", ["link", "roller", "lower", "world", "relay", "leftover", "frame"])
def test_twins_of_a_name_without_a_side_is_the_name(name):
    assert list(mirrored_names(name)) == [name]


# -- the documents -------------------------------------------------------------------------------------------------------


def test_every_code_and_repair_is_in_the_documentation():
    page = (DOCS / "check.md").read_text(encoding="utf-8")
    for name in (*CODES, *REPAIRS):
        assert f"`{name}`" in page, f"docs/check.md does not explain {name}"


def test_equal_findings_of_several_elements_are_merged():
    """Two pairs of limits in degrees: two findings, one entry that names both."""
    wide = 'lower="-90" upper="90" effort="50" velocity="2"'
    elbows = {
        name: joint(name, *ends, axis="0 1 0", limit=wide)
        for name, *ends in (("shoulder", "base", "upper"), ("elbow", "upper", "lower"))
    }
    checkup = check(arm(**elbows))
    assert [f.code for f in checkup.findings] == ["limits-degrees"] * 2
    told = str(checkup)
    assert told.count("limits-degrees") == 1
    assert f"also: elbow (line {checkup.findings[1].line})" in told
    assert checkup._repr_html_().count("limits-degrees") == 1
    assert "2 warnings" in told
