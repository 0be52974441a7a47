"""Meshes written beside a robot file: Pinocchio and MuJoCo open them, and they are where torsor draws them."""

from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest

import torsor as ts
from tests.trees import Cam
from torsor.errors import FileError, ModelError
from torsor.look.scene import Scene

ROBOTS = ["ur5", "panda", "quadruped", "humanoid"]


def box_of(robot):
    """The box of all meshes at the neutral configuration, in the world."""
    scene, q = Scene.of(robot), robot.neutral()
    points = [p.surface.vertices @ (T := robot.pose(q, p.link))[:3, :3].T + T[:3, 3] for p in scene.parts]
    return np.concatenate([np.min(np.concatenate(points), axis=0), np.max(np.concatenate(points), axis=0)])


@pytest.mark.parametrize("name", ROBOTS)
def test_saved_urdf_of_a_bundled_robot_opens_in_pinocchio_with_its_meshes(name, tmp_path):
    robot = getattr(ts.robots, name)()
    ts.save(robot, tmp_path / "arm.urdf")
    model = pinocchio.buildModelFromUrdf(str(tmp_path / "arm.urdf"))
    visual = pinocchio.buildGeomFromUrdf(
        model, str(tmp_path / "arm.urdf"), pinocchio.GeometryType.VISUAL, package_dirs=[str(tmp_path)]
    )
    assert visual.ngeoms == len(Scene.of(robot).parts)
    assert all(Path(g.meshPath).parent == tmp_path / "arm_meshes" for g in visual.geometryObjects)
    assert "torsor://" not in (tmp_path / "arm.urdf").read_text()


@pytest.mark.parametrize("name", ROBOTS)
def test_saved_mjcf_of_a_bundled_robot_opens_in_mujoco_with_its_meshes_in_place(name, tmp_path):
    robot = getattr(ts.robots, name)()
    ts.save(robot, tmp_path / "arm.mjcf")
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.mjcf"))
    data = mujoco.MjData(m)
    mujoco.mj_forward(m, data)
    points = []
    for g in range(m.ngeom):
        if m.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH:
            first, count = m.mesh_vertadr[m.geom_dataid[g]], m.mesh_vertnum[m.geom_dataid[g]]
            points.append(m.mesh_vert[first : first + count] @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g])
    found = np.concatenate([np.min(np.concatenate(points), axis=0), np.max(np.concatenate(points), axis=0)])
    np.testing.assert_allclose(found, box_of(robot), atol=2e-6)  # single precision, seven digits in the file


def test_saved_urdf_read_again_is_drawn_as_before(tmp_path):
    robot = ts.robots.ur5()
    ts.save(robot, tmp_path / "arm.urdf")
    again = ts.load(tmp_path / "arm.urdf")
    before, after = (Scene.of(r).parts for r in (robot, again))
    assert [(p.link, len(p.surface.faces)) for p in after] == [(p.link, len(p.surface.faces)) for p in before]
    np.testing.assert_allclose([p.surface.color for p in after], [p.surface.color for p in before], atol=1e-6)
    np.testing.assert_allclose(box_of(again), box_of(robot), atol=1e-6)
    ts.save(again, tmp_path / "again.urdf")  # these meshes are files already
    assert not (tmp_path / "again_meshes").exists()
    assert ts.load(tmp_path / "again.urdf") == again


def test_save_into_an_existing_folder_replaces_files_of_the_same_names_only(tmp_path):
    folder = tmp_path / "arm_meshes"
    folder.mkdir()
    (folder / "mine.obj").write_text("mine")
    (folder / "ur5_base_1.obj").write_text("old")
    ts.save(ts.robots.ur5(), tmp_path / "arm.urdf")
    assert (folder / "mine.obj").read_text() == "mine"
    assert (folder / "ur5_base_1.obj").read_text().startswith("# written by torsor\nv ")


def test_save_without_meshes_leaves_them_out_and_makes_no_folder(tmp_path):
    for name in ("arm.urdf", "arm.mjcf"):
        ts.save(ts.robots.ur5(), tmp_path / name, meshes=False)
        assert "<mesh" not in (tmp_path / name).read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arm.mjcf", "arm.urdf"]


def test_save_that_fails_leaves_no_meshes(tmp_path):
    b = ts.Builder("odd").link("base").link("cam", mass=1).joint("cam", Cam(), "base", "cam")
    odd = ts.robots.ur5().attach(b.build(), at="tool0", prefix="odd_")
    with pytest.raises(ModelError, match="URDF cannot express Cam"):
        ts.save(odd, tmp_path / "arm.urdf")
    assert not list(tmp_path.iterdir())


def test_save_with_a_file_in_place_of_the_folder_raises_file_error(tmp_path):
    (tmp_path / "arm_meshes").write_text("no folder")
    with pytest.raises(FileError, match="folder cannot be made"):
        ts.save(ts.robots.ur5(), tmp_path / "arm.urdf")
    assert not (tmp_path / "arm.urdf").exists()


def test_save_of_two_robots_with_meshes_of_one_name_keeps_both(tmp_path):
    two = ts.robots.ur5().attach(ts.robots.panda(), at="tool0")
    ts.save(two, tmp_path / "two.urdf")
    files = {p.name for p in (tmp_path / "two_meshes").iterdir()}
    assert any(f.startswith("ur5_base") for f in files)
    assert any(f.startswith("panda_link0") for f in files)


def test_save_of_a_mesh_with_a_colour_in_the_robot_writes_it_as_one_file(tmp_path):
    text = '<robot name="r"><link name="a"><visual><geometry><mesh filename="torsor://ur5/base"/></geometry>'
    text += '<material name=""><color rgba="1 0 0 1"/></material></visual></link></robot>'
    ts.save(ts.load(text), tmp_path / "r.urdf")
    assert [p.name for p in (tmp_path / "r_meshes").iterdir()] == ["ur5_base.obj"]
    (part,) = ts.load(tmp_path / "r.urdf").link("a").geometry
    assert (part.uri, part.color) == ("r_meshes/ur5_base.obj", (1.0, 0.0, 0.0, 1.0))


def test_save_of_an_unknown_bundled_mesh_keeps_its_name(tmp_path):
    robot = ts.load(
        '<robot name="r"><link name="a"><visual><geometry><mesh filename="torsor://x/y"/></geometry></visual></link></robot>'
    )
    ts.save(robot, tmp_path / "r.urdf")
    assert ts.load(tmp_path / "r.urdf") == robot
