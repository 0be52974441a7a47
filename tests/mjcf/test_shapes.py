"""Geoms: shapes, roles, colours, and meshes in their own frame (MuJoCo moves them to their principal axes)."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

from torsor.io import read_urdf
from torsor.io.mjcf import read_mjcf, write_mjcf
from torsor.io.mjcf.compiling import compile_model

HERE = Path(__file__).parent
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]], float)


def shapes() -> dict[tuple[str, str], object]:
    return {(g.name, g.role): g for g in read_mjcf(HERE / "shapes.xml").link("body").geometry}


def test_geoms_keep_sizes_roles_and_colours():
    found = shapes()
    assert {name: role for name, role in found if name in ("sphere", "capsule")} == {"sphere": "visual", "capsule": "collision"}
    assert [found[name, "collision"].size for name in ("box", "capsule", "cylinder", "ellipsoid")] == [
        (0.2, 0.4, 0.6), (0.1, 0.4), (0.1, 0.4), (0.1, 0.2, 0.3)]  # fmt: skip
    assert found["box", "visual"].color == (1, 0, 0, 1)
    assert found["sphere", "visual"].color == (0.8, 0.6, 0.2, 1)
    assert found["cylinder", "visual"].color == (0.5, 0.5, 0.5, 1)
    assert found["box", "collision"].color is None
    assert not any(name in ("ghost", "skewed", "inline") for name, _ in found)


def test_mesh_poses_agree_with_mujoco():
    m = compile_model(HERE / "shapes.xml").model
    data = mujoco.MjData(m)
    mujoco.mj_forward(m, data)
    for name in ("plain", "turned"):
        g = shapes()[name, "visual"]
        R, p = (np.array(x, float) for x in g.origin.pose)
        ours = CORNERS * g.scale @ R.T + p + [0, 0, 1]  # the body is one metre above the ground
        k = int(m.geom(name).dataid[0])
        kept = m.mesh_vert[m.mesh_vertadr[k] :][: m.mesh_vertnum[k]]
        theirs = kept @ data.geom(name).xmat.reshape(3, 3).T + data.geom(name).xpos
        apart = np.linalg.norm(ours[:, None] - theirs[None], axis=2).min(axis=0)
        assert apart.max() < 1e-7  # MuJoCo stores vertices in single precision
        assert Path(g.uri).name == "tetrahedron.obj"


def test_meshes_of_a_file_given_by_a_relative_path_are_found(monkeypatch):
    monkeypatch.chdir(HERE)
    assert {g.uri for g in read_mjcf("shapes.xml").link("body").geometry if g.uri} == {str(HERE / "tetrahedron.obj")}


def test_mjcf_with_a_missing_texture_file_is_read():
    assert read_mjcf(HERE / "shapes.xml").link("body").inertia.m > 0  # the file of its texture does not exist


def test_shapes_are_the_same_after_write_and_read(tmp_path):
    d = read_mjcf(HERE / "shapes.xml")
    write_mjcf(d, tmp_path / "shapes.xml", roots=[HERE])
    back = {(g.name, g.role): g for g in read_mjcf(tmp_path / "shapes.xml", roots=[HERE]).link("body").geometry}
    named = {(g.name, g.role) for g in d.link("body").geometry}
    assert len(back) == len(named)
    for g in d.link("body").geometry:
        twin = next(b for b in back.values() if b.role == g.role and b.name.rstrip("_") == g.name)
        assert (twin.shape, twin.size, twin.scale) == (g.shape, g.size, g.scale)
        np.testing.assert_allclose(np.array(twin.origin.r, float), np.array(g.origin.r, float), atol=1e-7)
        np.testing.assert_allclose(np.array(twin.origin.E, float), np.array(g.origin.E, float), atol=1e-7)
        if g.role == "visual":
            np.testing.assert_allclose(twin.color, g.color, atol=1e-7)
    assert 'file="../' in (tmp_path / "shapes.xml").read_text()


def test_ascii_stl_is_omitted(tmp_path):
    """MuJoCo reads only the binary form, and would refuse the whole file."""
    (tmp_path / "box.stl").write_text("solid box\nendsolid box\n")
    shape = '<visual><geometry><mesh filename="box.stl"/></geometry></visual>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a">{shape}</link></robot>')
    text = write_mjcf(read_urdf(tmp_path / "r.urdf"), tmp_path / "r.mjcf")
    assert "<mesh" not in text
    assert "binary form only" in text
