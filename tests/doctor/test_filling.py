"""mass-from-density: masses of shapes compared with closed forms; only if named, only for closed surfaces."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.doctor.urdf import arm, joint
from torsor.checks.doctor import check, repair
from torsor.errors import ArgumentError, ModelWarning

NAMED = ["mass-from-density"]
#: corners of a unit cube, and its faces counterclockwise from outside
CORNERS = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
SQUARES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def arm_with_shape(geometry, inertial="", kind="visual", xyz="0.1 0 0.2", more=""):
    """A correct arm with a tip that has a shape and no mass."""
    tip = f'<link name="tip">{inertial}<{kind}><origin xyz="{xyz}"/><geometry>{geometry}</geometry></{kind}>{more}</link>'
    return arm(more=tip + joint("tip_j", "lower", "tip", axis="0 1 0"))


def cube(path, *, faces=SQUARES, edge=0.2):
    """A cube as an OBJ file, its corner at the origin."""
    lines = [f"v {edge * x} {edge * y} {edge * z}" for x, y, z in CORNERS]
    lines += [f"f {a + 1} {b + 1} {c + 1}\nf {a + 1} {c + 1} {d + 1}" for a, b, c, d in faces]
    path.write_text("\n".join(lines) + "\n")


def filled_tip(text, tmp_path, density=800.0):
    """(m, c, I about c) of the tip after the repair, as torsor loads it."""
    source, out = tmp_path / "robot.urdf", tmp_path / "filled.urdf"
    source.write_text(text)
    (made,) = repair(source, out, NAMED, density=density)
    assert (made.name, made.code, made.element) == (NAMED[0], "mass-missing-matters", "link 'tip'")
    assert f"{density:g} kg/m³" in made.says
    assert not [f for f in check(out).findings if f.severity == "error"]
    G = next(link for link in ts.load(out).description.links if link.name == "tip").inertia
    return float(G.m), np.array(G.com, float), np.array(G.about_com.rows, float)


@pytest.mark.parametrize(("shape", "volume", "moments"), [
    ('<box size="0.1 0.2 0.3"/>', 0.006, np.array([0.13, 0.10, 0.05]) / 12),
    ('<sphere radius="0.1"/>', 4e-3 * np.pi / 3, np.full(3, 0.4 * 0.01)),
    ('<cylinder radius="0.1" length="0.4"/>', 4e-3 * np.pi, np.array([0.19, 0.19, 0.06]) / 12),
])  # fmt: skip
@pytest.mark.parametrize("inertial", [
    "",
    '<inertial>\n<origin xyz="9 9 9" rpy="0.3 0 0"/><mass value="0"/>'
    '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>',
])  # fmt: skip
def test_mass_from_density_of_simple_shapes_matches_closed_forms(shape, volume, moments, inertial, tmp_path):
    m, c, I = filled_tip(arm_with_shape(shape, inertial), tmp_path)
    np.testing.assert_allclose(m, 800 * volume, rtol=1e-11)  # twelve digits are written
    np.testing.assert_allclose(c, (0.1, 0, 0.2), rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(I, np.diag(800 * volume * moments), rtol=1e-10, atol=1e-12)


def test_mass_from_density_of_a_cube_mesh_matches_the_closed_form(tmp_path):
    pytest.importorskip("trimesh")
    cube(tmp_path / "cube.obj")
    m, c, I = filled_tip(arm_with_shape('<mesh filename="cube.obj"/>'), tmp_path)
    np.testing.assert_allclose(m, 800 * 0.008, rtol=1e-6)  # corners are read in single precision
    np.testing.assert_allclose(c, (0.2, 0.1, 0.3), rtol=1e-6)
    np.testing.assert_allclose(I, 6.4 * 0.04 / 6 * np.eye(3), rtol=1e-6, atol=1e-8)


def test_mass_from_density_of_an_open_mesh_is_refused(tmp_path):
    pytest.importorskip("trimesh")
    cube(tmp_path / "open.obj", faces=SQUARES[1:])
    text = arm_with_shape('<mesh filename="open.obj"/>')
    (tmp_path / "robot.urdf").write_text(text)
    with pytest.warns(ModelWarning, match=r"link 'tip' stays without mass: faces: the mesh is not closed: 4 edges"):
        assert repair(tmp_path / "robot.urdf", None, NAMED, density=800.0) == []
    collided = '<collision><origin xyz="0 0 0.1"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
    m, c, _ = filled_tip(
        arm_with_shape('<mesh filename="open.obj"/>', more=collided), tmp_path
    )  # the collision shape is closed
    np.testing.assert_allclose([m, *c], [0.8, 0, 0, 0.1], rtol=1e-11, atol=1e-15)


def test_mass_from_density_is_repaired_only_if_named():
    text = arm_with_shape('<sphere radius="0.1"/>')
    assert repair(text, None) == []
    (found,) = [f for f in check(text).findings if f.code == "mass-missing-matters"]
    assert "mass-from-density" in found.fix
    assert (
        "mass-from-density"
        not in check(arm_with_shape("").replace("<visual>", "<!--").replace("</visual>", "-->")).findings[0].fix
    )


@pytest.mark.parametrize("asked", [
    {"only": NAMED}, {"density": 1000.0}, {"only": ["normalise-axis"], "density": 1.0},
    {"only": NAMED, "density": 0}, {"only": NAMED, "density": float("nan")}, {"only": NAMED, "density": "steel"},
])  # fmt: skip
def test_density_without_mass_from_density_or_the_reverse_is_refused(asked):
    with pytest.raises(ArgumentError, match="density"):
        repair(arm(), None, **asked)
