"""Repairs change only the named values of the file, and leave nothing to repair."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import torsor as ts
from tests.doctor.test_codes import HAVE
from tests.doctor.urdf import arm, joint, link, marked_line
from torsor.checks.doctor import REPAIRS, check, repair
from torsor.errors import ArgumentError, FileError, UnknownName

#: code → the repair that removes it
MENDED = {
    "xml-declaration": "correct-declaration",
    "element-twice": "remove-second",
    "shape-unreadable": "remove-shape",
    "mesh-scale-numbers": "scale-to-three",
    "mimic-leader-missing": "remove-mimic",
    "inertia-not-positive": "nearest-inertia",
    "triangle-inequality": "nearest-inertia",
    "inertia-units": "inertia-to-si",
    "inertia-about-wrong-frame": "inertia-about-com",
    "inertia-axes-swapped": "inertia-axes",
    "inertia-products-sign": "flip-products",
    "mass-units": "grams-to-kilograms",
    "com-units": "millimetres-to-metres",
    "limits-millimetres": "millimetres-to-metres",
    "limits-degrees": "degrees-to-radians",
    "limits-reversed": "exchange-limits",
    "rpy-degrees": "rpy-to-radians",
    "xacro-call": "remove-xacro-call",
    "axis-not-unit": "normalise-axis",
}


def test_table_of_repairs_is_complete():
    # in test_filling.py, below, and in tests/io/test_urdf_defects.py
    elsewhere = {"mass-from-density", "declare-prefix", "declare-world", "complete-inertial"}
    assert set(MENDED.values()) | elsewhere == set(REPAIRS)


@pytest.mark.parametrize("code", MENDED)
def test_repair_removes_its_finding_and_changes_nothing_else(code, tmp_path):
    before = HAVE[code].encode()
    source, out = tmp_path / "robot.urdf", tmp_path / "repaired.urdf"
    source.write_bytes(before)
    offered = {f.repair for f in check(source).findings if f.code == code}
    assert offered == {MENDED[code]}
    (made,) = repair(source, out, only=[MENDED[code]])
    assert (made.name, made.code, made.line) == (MENDED[code], code, marked_line(HAVE[code]))
    after = out.read_bytes()
    changed = [n for n, (a, b) in enumerate(zip(before.splitlines(), after.splitlines(), strict=True), 1) if a != b]
    assert changed == [marked_line(HAVE[code])]
    assert code not in {f.code for f in check(out).findings}
    assert repair(out, None, only=[MENDED[code]]) == []
    assert source.read_bytes() == before
    json.dumps(made.to_dict(), allow_nan=False)


@pytest.mark.parametrize("code", MENDED)
def test_all_repairs_leave_nothing_to_repair(code, tmp_path):
    out = tmp_path / "repaired.urdf"
    made = repair(HAVE[code], out)
    assert made
    once = out.read_bytes()
    assert repair(out, out) == []
    assert out.read_bytes() == once


def test_repair_of_an_undeclared_prefix_declares_it_in_the_root(tmp_path):
    out = tmp_path / "repaired.urdf"
    text = HAVE["prefix-undeclared"]
    (made,) = repair(text, out)
    assert (made.name, made.line) == ("declare-prefix", marked_line(text))
    assert out.read_text() == text.replace('<robot name="sample"', '<robot name="sample" xmlns:sensor="urn:x-prefix:sensor"')
    assert check(out).findings == ()


def test_repair_removes_nested_macro_calls_and_keeps_the_rest(tmp_path):
    calls = '<xacro:hand side="l"><xacro:finger/><origin/></xacro:hand><gazebo><xacro:camera/></gazebo>'
    repair(arm(more=calls), tmp_path / "out.urdf")
    assert (tmp_path / "out.urdf").read_text() == arm(more="<gazebo></gazebo>")


def test_macro_call_that_may_hold_an_inertia_is_not_removed():
    text = arm(more='<link name="tip"><xacro:ball/></link>')
    (found,) = (f for f in check(text).findings if f.code == "xacro-call")
    assert found.repair is None
    assert "torsor refuses the file" in found.means
    assert repair(text, None) == []


def test_sign_repair_is_preferred_to_nearest_inertia():
    codes = {f.code for f in check(HAVE["inertia-products-sign"]).findings}
    assert {"triangle-inequality", "inertia-products-sign"} <= codes
    assert [made.name for made in repair(HAVE["inertia-products-sign"], None)] == ["flip-products"]


def test_file_without_findings_is_copied_unchanged(tmp_path):
    text = '<?xml version="1.0"?>\r\n<!-- a comment -->\r\n' + arm().replace("\n", "\r\n") + "\r\n<!-- the end -->"
    source, out = tmp_path / "a.urdf", tmp_path / "b.urdf"
    source.write_bytes(text.encode())
    assert repair(source, out) == []
    assert out.read_bytes() == text.encode()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "iso-8859-1"])
def test_repair_keeps_all_other_bytes(encoding, tmp_path):
    declared = "iso-8859-1" if encoding == "iso-8859-1" else "utf-8"
    text = f'<?xml version="1.0" encoding="{declared}"?>\n<!-- Gelenkkörper ünten -->\n' + HAVE["axis-not-unit"]
    source, out = tmp_path / "a.urdf", tmp_path / "b.urdf"
    source.write_bytes(text.encode(encoding))
    (made,) = repair(source, out)
    assert made.line == marked_line(HAVE["axis-not-unit"]) + 2
    assert out.read_bytes() == text.replace('xyz="0 2 0"', 'xyz="0 1 0"').encode(encoding)


def test_repair_reports_the_largest_change_of_the_mass_matrix(tmp_path):
    """max |ΔM_ij|/√(M_ii M_jj) over the samples of check, computed from the mass matrices of both robots."""
    from torsor.checks.doctor.dynamics import Dynamics

    (made,) = repair(HAVE["triangle-inequality"], tmp_path / "out.urdf")
    with pytest.warns(ts.ModelWarning):
        before = ts.load(HAVE["triangle-inequality"])
    after = ts.load(tmp_path / "out.urdf")
    q = Dynamics(before.description).q
    M, N = before.mass_matrix(q), after.mass_matrix(q)
    d = np.sqrt(np.diagonal(M, axis1=1, axis2=2))
    assert made.change == pytest.approx((np.abs(N - M) / (d[:, :, None] * d[:, None, :])).max(), rel=1e-9)
    assert f"M changes by up to {100 * made.change:.2g} %" in str(made)


def test_two_repairs_of_one_link_are_both_made():
    I = 1e6 * np.diag([0.01, 0.01, 0.0201])  # impossible, and in kg·mm²
    text = arm(lower=link("lower", com=(0, 0, 0.2), I=I))
    assert [made.name for made in repair(text, None)] == ["inertia-to-si", "nearest-inertia"]


def test_repair_of_limits_adds_a_missing_attribute(tmp_path):
    text = arm(elbow=joint("elbow", "upper", "lower", limit='upper="90" effort="1" velocity="1"'))
    (made,) = repair(text, tmp_path / "out.urdf")
    assert made.edits == (("lower", "", "0"), ("upper", "90", "1.57079632679"))
    assert 'effort="1" velocity="1" lower="0"/>' in (tmp_path / "out.urdf").read_text()


def test_repair_refuses_other_formats_and_arguments():
    with pytest.raises(UnknownName, match="repair named 'magic'"):
        repair(arm(), None, only=["magic"])
    with pytest.raises(ArgumentError, match="not Robot"):
        repair(ts.robots.two_link(), None)
    with pytest.raises(FileError, match="only URDF can be repaired"):
        repair("<mujoco/>", None)
    with pytest.raises(FileError, match="not well-formed"):
        repair("<robot>", None)


def test_right_angles_in_degrees_are_repaired_to_right_angles():
    origin = '<origin rpy="90 0 -180"/>'
    text = f"""<robot name="r"><link name="a"/><link name="b"/>
      <joint name="j" type="fixed"><parent link="a"/><child link="b"/>{origin}</joint></robot>"""
    (made,) = repair(text, None)
    assert made.edits == (("rpy", "90 0 -180", f"{math.pi / 2!r} 0.0 {-math.pi!r}"),)
