"""Bundled meshes: every mesh of the bundled URDFs exists and has the shape of the original."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from torsor.errors import FileError
from torsor.look.scene import Scene, Triangles
from torsor.look.scene.archive import bundled_mesh, pack_surfaces, unpack_surfaces
from torsor.look.scene.triangles import box, sphere

ROBOTS = {"ur5": "ur5", "panda": "panda", "solo12": "quadruped", "g1": "humanoid"}
DATA = Path(ts.__file__).parent / "robot" / "library" / "data"


@pytest.mark.parametrize("name", ROBOTS)
def test_bundled_robot_is_drawn_with_all_its_meshes(name):
    robot = getattr(ts.robots, ROBOTS[name])()
    scene = Scene.of(robot)
    assert scene.drawn_as == "mesh"
    assert scene.notes == ()
    named = {g.uri for link in robot.description.links for g in link.geometry if g.role == "visual"}
    assert all(uri.startswith(f"torsor://{name}/") for uri in named)
    assert (DATA / "meshes" / f"{name}.npz").stat().st_size <= 300_000


def test_mesh_archive_returns_the_packed_meshes():
    red = box(1, 2, 3).with_color((1.0, 0.0, 0.0, 1.0))
    blue = sphere(0.5).with_color((0.0, 0.0, 1.0, 0.6))
    again = unpack_surfaces(pack_surfaces({"a": [red, blue], "b": [blue]}))
    assert [[s.color for s in found] for found in again.values()] == [[red.color, blue.color], [blue.color]]
    for before, after in ((red, again["a"][0]), (blue, again["a"][1]), (blue, again["b"][0])):
        np.testing.assert_allclose(after.vertices[after.faces], before.vertices[before.faces], atol=3 / 16383)


@pytest.mark.parametrize("uri", ["torsor://nobody/arm", "torsor://panda/nothing", "torsor://../panda/link0", "torsor://"])
def test_unknown_bundled_meshes_are_refused(uri):
    with pytest.raises(FileError):
        bundled_mesh(uri)


@pytest.mark.night
@pytest.mark.parametrize("name", ROBOTS)
def test_reduced_meshes_have_the_boxes_and_surfaces_of_the_originals(name):
    pinocchio = pytest.importorskip("pinocchio")
    folder = Path(pinocchio.__file__).parents[4] / "share" / "example-robot-data" / "robots"
    line = next(x for x in (DATA / "NOTICE.md").read_text().splitlines() if x.startswith(f"| `{name}.urdf`"))
    original = Scene.of(ts.load(folder / line.split("`")[5]))
    ours = Scene.of(getattr(ts.robots, ROBOTS[name])())
    for link in ours.links:
        mine, theirs = ([p.surface for p in s.parts if p.link == link] for s in (ours, original))
        assert len(mine) <= len(theirs)
        for corner in (np.min, np.max):
            a, b = (corner(np.concatenate([s.vertices for s in x] or [np.zeros((1, 3))]), axis=0) for x in (mine, theirs))
            np.testing.assert_allclose(a, b, atol=4e-3)
        assert sum(map(area, mine)) == pytest.approx(sum(map(area, theirs)), rel=0.2, abs=1e-5)


def area(surface: Triangles) -> float:
    a, b, c = (surface.vertices[k].astype(float) for k in surface.faces.T)
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)
