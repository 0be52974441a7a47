"""Meshes from files: converted to metres, and a skeleton if too few meshes are found."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.io.shared.places import Places
from torsor.look.scene import Scene
from torsor.look.scene.shapes import triangles
from torsor.model.description import Geometry

trimesh = pytest.importorskip("trimesh")
LINK = '<link name="{0}"><visual><geometry>{1}</geometry></visual></link>'
JOINT = '<joint name="to_{0}" type="revolute"><parent link="a"/><child link="{0}"/><axis xyz="0 0 1"/><limit effort="1" velocity="1" lower="-1" upper="1"/></joint>'  # noqa: E501


def test_collada_in_centimetres_is_in_metres(tmp_path):
    pytest.importorskip("collada")
    text = trimesh.exchange.dae.export_collada(trimesh.creation.box((20, 30, 40))).decode()
    unit = '<unit name="centimeter" meter="0.01" />'
    assert "<unit" in text or "<up_axis>" in text
    text = text.replace("<up_axis>", f"{unit}<up_axis>") if "<unit" not in text else _with_unit(text, unit)
    (tmp_path / "box.dae").write_text(text)
    (surface,) = triangles(Geometry("visual", "mesh", uri="box.dae"), Places(roots=[tmp_path]))
    np.testing.assert_allclose(np.ptp(surface.vertices, axis=0), (0.2, 0.3, 0.4), rtol=1e-5)


def _with_unit(text: str, unit: str) -> str:
    start = text.index("<unit")
    return text[:start] + unit + text[text.index(">", start) + 1 :]


@pytest.mark.parametrize(("found", "drawn"), [(3, "mesh"), (1, "skeleton")])
def test_scene_is_drawn_as_mesh_only_if_most_shapes_are_found(tmp_path, found, drawn):
    """Of four links some have a box, the others a missing mesh file."""
    shapes = ['<box size="1 1 1"/>'] * found + ['<mesh filename="lost.stl"/>'] * (4 - found)
    links = "".join(LINK.format(name, shape) for name, shape in zip("abcd", shapes, strict=True))
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r">{links}{"".join(JOINT.format(x) for x in "bcd")}</robot>')
    scene = Scene.of(ts.load(path))
    assert scene.drawn_as == drawn
    assert len(scene.notes) == 4 - found
    assert Scene.of(ts.load(path), style="mesh").drawn_as == "mesh"


@pytest.mark.parametrize(
    ("up", "com", "stands"), [("Y_UP", "0 0 0.2", True), ("Y_UP", "0 0.2 0", False), ("Z_UP", "0 0 0.2", False)]
)
def test_mesh_with_y_up_is_rotated_only_if_the_centre_of_mass_agrees(tmp_path, up, com, stands):
    """A rod along y is rotated to z only if the file declares y up and the centre of mass fits (MeshLab declares it always)."""
    pytest.importorskip("collada")
    rod = trimesh.creation.box((0.1, 0.4, 0.1), transform=trimesh.transformations.translation_matrix((0, 0.2, 0)))
    text = trimesh.exchange.dae.export_collada(rod).decode()
    (tmp_path / "rod.dae").write_text(text.replace("Z_UP", up).replace("Y_UP", up))
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    inertial = f'<inertial><origin xyz="{com}"/><mass value="1"/>{inertia}</inertial>'
    link = LINK.format("b", '<mesh filename="rod.dae"/>').replace("<visual>", f"{inertial}<visual>")
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r"><link name="a"/>{link}{JOINT.format("b")}</robot>')
    (part,) = Scene.of(ts.load(path), style="mesh").parts
    size = (0.1, 0.1, 0.4) if stands else (0.1, 0.4, 0.1)
    np.testing.assert_allclose(np.ptp(part.surface.vertices, axis=0), size, rtol=1e-5)
