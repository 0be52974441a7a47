"""DH files: the robot equals from_dh of the same numbers, and errors give the line."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from torsor.errors import FileError
from torsor.io.dh import from_dh
from torsor.io.dh.files import read_dh
from torsor.robot.loading import load

ROWS = [
    {"alpha": pi / 2, "d": 0.4, "mass": 4.0, "com": [0.1, 0, 0.2], "inertia": [0.03, 0, 0, 0.02, 0, 0.04]},
    {"a": 0.25, "theta": -pi / 2, "mass": 2.5, "com": [0.2, 0, 0], "lower": -pi, "upper": pi / 2},
    {"d": 0.1, "type": "prismatic", "mass": 1.0, "offset": 0.05, "lower": 0.0, "upper": 0.3},
]  # fmt: skip
CSV = """\
# convention: standard
# name: arm
# Table 3 of the manual, with a comma
# gravity: 0 0 -1.6
# tool_xyz: [0, 0, 0.1]
type, a [m], alpha [deg], d, theta (deg), mass, cx, cz, ixx, iyy, izz, offset, lower, upper
, 0, 90, 0.4, 0, 4.0, 0.1, 0.2, 0.03, 0.02, 0.04, , ,

revolute, 0.25, 0, 0, -90, 2.5, 0.2, , , , , , -3.141592653589793, 1.5707963267948966
prismatic, 0, 0, 0.1, 0, 1.0, , , , , , 0.05, 0, 0.3
"""
YAML = """\
convention: standard
name: arm
angles: deg
gravity: [0, 0, -1.6]
tool_xyz: [0, 0, 0.1]
joints:
  - {a: 0, alpha: 90, d: 0.4, theta: 0, mass: 4.0, com: [0.1, 0, 0.2], inertia: [0.03, 0.02, 0.04]}
  - {a: 0.25, theta: -90, mass: 2.5, com: [0.2, 0, 0], lower: -180, upper: 90}
  - {d: 0.1, type: prismatic, mass: 1.0, offset: 0.05, lower: 0, upper: 0.3}
"""


@pytest.mark.parametrize(("text", "ending"), [(CSV, "csv"), (YAML, "yaml"), (YAML, "yml")])
def test_dh_file_gives_the_same_robot_as_from_dh(tmp_path, text, ending):
    expected = from_dh(ROWS, name="arm", gravity=(0, 0, -1.6), tool_xyz=(0, 0, 0.1))
    path = tmp_path / f"arm.dh.{ending}"
    path.write_text(text)
    robot = load(path)
    q = np.array([0.3, -0.4, 0.1])
    from torsor.robot import Robot

    same = Robot(expected)
    np.testing.assert_allclose(robot.mass_matrix(q), same.mass_matrix(q), rtol=1e-14)
    np.testing.assert_allclose(robot.pose(q, "end_effector"), same.pose(q, "end_effector"), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(robot.gravity_force(q), same.gravity_force(q), rtol=1e-14, atol=1e-14)
    assert robot.name == "arm"
    for name in robot.joints:
        np.testing.assert_allclose(robot.joint(name).lower, same.joint(name).lower, rtol=1e-15)
    assert robot.description.source == str(path)
    assert read_dh(text).name == "arm"  # CSV and YAML are told apart by the text alone


def test_dh_file_converts_lengths_in_millimetres():
    d = read_dh("# convention: modified\na [mm], mass\n250, 1\n")
    R, p = d.joints[0].origin.pose
    assert p.x == pytest.approx(0.25, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "line", "match"),
    [
        ("a\n1\n", None, "has no DH convention"),
        ("# convention: craig\na\n1\n", None, "'standard' or 'modified', not 'craig'"),
        ("# convension: modified\na\n1\n", 1, "did you mean 'convention'"),
        ("# convention: modified\nalfa\n1\n", 2, "unknown column 'alfa'; did you mean 'alpha'"),
        ("# convention: modified\na,a\n1,2\n", 2, "column 'a' twice"),
        ("# convention: modified\na [inch]\n1\n", 2, "'inch' is not a known unit"),
        ("# convention: modified\nalpha [mm]\n1\n", 3, "alpha of a revolute joint is not in mm"),
        ("# convention: modified\ntype, upper [deg]\nprismatic, 90\n", 3, "upper of a prismatic joint is not in deg"),
        ("# convention: modified\nmass [m]\n1\n", 3, "mass of a revolute joint is not in m"),
        ("# convention: modified\na\n1\n1,2\n", 4, "2 cells in this line and 1 columns"),
        ("# convention: modified\na\nx\n", 3, "'x' is not a number"),
        ("# convention: modified\na\n1 2\n", 3, "not one number"),
        ("# convention: modified\nmass\n1\n-2\n", 4, "mass -2.0 kg is negative"),
        ("# convention: modified\ntype\nspherical\n", 3, "must be 'revolute' or 'prismatic'"),
        ("# convention: modified\n# gravity: 1 2\na\n1\n", 2, "gravity needs 3 numbers, 2 given"),
        ("# convention: modified\n# angles: deg\nalpha [rad]\n1\n", None, "remove one of them"),
        ("# convention: modified\n# angles: turns\nalpha\n1\n", None, "rad or deg, not 'turns'"),
        ("# convention: modified\n", None, "is empty"),
        ("# convention: modified\na\n", None, "at least one row"),
        ("convention: modified\njoints:\n - {alfa: 1}\n", 3, "did you mean 'alpha'"),
        ("convention: modified\njoints:\n - {a: x}\n", 3, "'x' is not a number"),
        ("convention: modified\njoints:\n - {a: 1}\n - {com: [1, 2]}\n", 4, "list of 3 numbers"),
        ("convention: modified\njoints: {a: 1}\n", 2, "must be a list"),
        ("convention: [modified]\njoints:\n - {a: 1}\n", 1, "must be a name"),
        ("joints:\n - {a: 1}\n", None, "has no DH convention"),
        ("convention: modified\njoints:\n - {a: 1, mass: -1}\n", 3, "negative"),
        ("convention: !!python/object:os.system modified\njoints:\n - {a: 1}\n", 1, "must be a name"),
    ],
)  # fmt: skip
def test_invalid_dh_files_are_refused_with_line(text, line, match):
    with pytest.raises(FileError, match=match) as caught:
        read_dh(text)
    assert caught.value.line == line
