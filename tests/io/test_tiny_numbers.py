"""Numbers too small for a double, in every text format: read as 0 or with fewer digits, always with a note in the report."""

import pytest

import torsor as ts
from torsor.io.shared.decimals import notes_on_tiny_numbers

INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
ZERO = "line {}: {} is below the smallest double, 4.9e-324, and is read as 0"


def urdf(mass="1", xyz="0 0 0"):
    return f"""<robot name="r"><link name="a"/>
<!-- a remark: 1e-400 -->
<link name="b"><inertial><mass value="{mass}"/>{INERTIA}</inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/>
<origin xyz="{xyz}"/><axis xyz="0 0 1"/></joint></robot>"""


def test_urdf_mass_that_becomes_zero_is_in_the_report():
    robot = ts.load(urdf(mass="1e-400"))
    assert robot.mass == 0
    assert ZERO.format(3, "1e-400") in robot.report
    assert not any("1e-" in line for line in ts.load(urdf(mass="0e-400")).report)


def test_urdf_subnormal_offset_is_in_the_report():
    robot = ts.load(urdf(xyz="3.3e-320 0 -2E-0330"))
    assert "line 5: 3.3e-320 is below 2.2e-308 and is read with fewer digits, as 3.3e-320" in robot.report
    assert ZERO.format(5, "-2E-0330") in robot.report


def test_dh_table_in_csv_and_yaml_reports_numbers_that_become_zero():
    csv = ts.load("# convention: modified\na, mass\n1.0, 1e-400\n0.5, 1.0\n", format="dh")
    assert ZERO.format(3, "1e-400") in csv.report
    yaml = ts.load("convention: standard\njoints:\n - {a: 1.0, mass: 1e-400}\n - {a: 1.0, mass: 1}\n", format="dh")
    assert ZERO.format(3, "1e-400") in yaml.report


def test_loops_file_reports_numbers_that_become_zero():
    loops = "loops:\n - {name: close, type: spherical, parent: {link: a, xyz: [1e-400, 0, 0]}, child: {link: b}}\n"
    assert "loops, " + ZERO.format(2, "1e-400") in ts.load(urdf(), loops=loops).report


def test_mjcf_reports_numbers_that_become_zero():
    pytest.importorskip("mujoco")
    text = (
        '<mujoco><worldbody><body name="a">\n<joint name="j" damping="1e-400"/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    (line,) = [x for x in ts.load(text).report if "1e-400" in x]
    assert line.endswith("line 2: <joint>: 1e-400 is below the smallest double, 4.9e-324, and is read as 0")


@pytest.mark.parametrize("text", ["1e-300", "0.0e-400", "link1e-400", "v1.1e-400.2", "1e-3", "00e-999", "1e400"])
def test_ordinary_numbers_and_names_get_no_note(text):
    assert notes_on_tiny_numbers(text) == ()


def test_long_texts_are_scanned_in_linear_time():
    assert notes_on_tiny_numbers("1" * 1_000_000 + "e" + " " + "e-" * 100_000) == ()
