"""Meshes from files: in metres whatever the file's unit, and a skeleton where too few are to be had."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.io.places import Places
from torsor.model.description import Geometry
from torsor.scene import Scene
from torsor.scene.shapes import triangles

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
def test_most_shapes_decide(tmp_path, found, drawn):
    """Of four links some have a box, the others a mesh that is not there."""
    shapes = ['<box size="1 1 1"/>'] * found + ['<mesh filename="lost.stl"/>'] * (4 - found)
    links = "".join(LINK.format(name, shape) for name, shape in zip("abcd", shapes, strict=True))
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r">{links}{"".join(JOINT.format(x) for x in "bcd")}</robot>')
    scene = Scene.of(ts.load(path))
    assert scene.drawn_as == drawn
    assert len(scene.notes) == 4 - found
    assert Scene.of(ts.load(path), style="mesh").drawn_as == "mesh"
