"""Scene: closed surfaces facing outward, ellipsoids with the inertia of the links, and link poses of the kinematics."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor import algorithms
from torsor.errors import ArgumentError
from torsor.look.scene import Scene
from torsor.look.scene.loops import transform_points
from torsor.look.scene.scene import placements
from torsor.look.scene.skeleton import ellipsoid
from torsor.look.scene.triangles import along, bone, box, capsule, cylinder, sphere
from torsor.robot.builder import Builder
from torsor.spatial.rigid.meshes import mesh

SOLIDS = {
    "box": (box(0.2, 0.3, 0.4), 0.2 * 0.3 * 0.4),
    "cylinder": (cylinder(0.1, 0.5), np.pi * 0.1**2 * 0.5),
    "sphere": (sphere(0.3), 4 / 3 * np.pi * 0.3**3),
    "capsule": (capsule(0.1, 0.4), np.pi * 0.1**2 * 0.4 + 4 / 3 * np.pi * 0.1**3),
}


def signed_volume(surface):
    """Σ a·(b × c)/6: positive where faces are counterclockwise from outside."""
    a, b, c = (surface.vertices.astype(float)[surface.faces[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_are_closed_and_have_their_nominal_volume(name):
    surface, volume = SOLIDS[name]
    assert mesh(surface.vertices, surface.faces).volume == pytest.approx(volume, rel=0.04)  # a circle has 24 vertices
    assert signed_volume(surface) > 0


def test_moved_surfaces_stay_outward_even_mirrored():
    surface = box(1, 2, 3)
    for R in (np.eye(3), np.diag([-1.0, 1, 1]), np.diag([2.0, -3.0, 0.5])):
        assert signed_volume(surface.transform(R, (5, -2, 1))) == pytest.approx(6 * abs(np.linalg.det(R)), rel=1e-5)


def test_bone_runs_from_point_to_point_and_a_shape_lies_along_its_axis():
    a, b = np.array([1.0, 2, 3]), np.array([-1.0, 0.5, 2])
    surface = bone(a, b, 0.1)
    distances = [np.linalg.norm(surface.vertices - end, axis=1).min() for end in (a, b)]
    assert max(distances) < 1e-6
    assert signed_volume(surface) > 0
    for axis in np.vstack((np.eye(3), -np.eye(3), [[1, 2, 3]])):
        laid = along(cylinder(0.1, 2.0), axis / np.linalg.norm(axis)).vertices @ (axis / np.linalg.norm(axis))
        assert np.ptp(laid) == pytest.approx(2.0, rel=1e-5)


def test_quaternions_turn_as_their_matrices():
    rng = np.random.default_rng(0)
    R = np.linalg.qr(rng.normal(size=(50, 3, 3)))[0]
    R *= np.sign(np.linalg.det(R))[:, None, None]
    half_turns = np.stack([np.diag(d).astype(float) for d in ((1, -1, -1), (-1, 1, -1), (-1, -1, 1), (1, 1, 1))])
    R = np.concatenate((R, half_turns))
    T = np.tile(np.eye(4), (len(R), 1, 1))
    T[:, :3, :3] = R
    q = placements(T)[:, 3:]
    assert (q[:, 3] >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1, rtol=1e-14)
    for k, p in enumerate(np.eye(3)):
        turned = transform_points(np.concatenate((np.zeros((len(R), 3)), q), axis=1), p)
        np.testing.assert_allclose(turned, R[:, :, k], atol=1e-14)


def test_ellipsoid_of_a_link_has_the_inertia_of_the_link():
    """The mesh with the mass of the link has its inertia, up to the error of circles with 24 vertices."""
    for link in ts.robots.panda().description.links:
        G = link.inertia
        if not G.m:
            continue
        I = np.array([[float(x) for x in row] for row in G.about_com.rows])
        if np.linalg.eigvalsh(I).sum() < 2 * np.linalg.eigvalsh(I).max() * 1.02:
            continue  # flat, or violates the triangle inequality: drawn thicker
        surface = ellipsoid(G, 1e-4)
        solid = mesh(surface.vertices, surface.faces)
        np.testing.assert_allclose(list(solid.com), [float(x) for x in G.com], atol=1e-6)
        back = float(G.m) * np.array([[float(x) for x in row] for row in solid.gyration.rows])
        np.testing.assert_allclose(back, I, rtol=0.04, atol=0.04 * np.abs(I).max())


@pytest.mark.parametrize("name", ts.robots.names())
def test_every_bundled_robot_has_a_skeleton(name):
    robot = getattr(ts.robots, name)()
    scene = Scene.of(robot, style="skeleton")
    assert scene.drawn_as == "skeleton"
    assert scene.notes == ()
    assert {part.kind for part in scene.parts} <= {"skeleton", "ellipsoid"}
    heavy = {link.name for link in robot.description.links if link.inertia.m}
    assert {part.link for part in scene.parts if part.kind == "ellipsoid"} == heavy
    for part in scene.parts:
        assert np.isfinite(part.surface.vertices).all()
        assert signed_volume(part.surface) > 0


def test_scene_link_poses_equal_forward_kinematics():
    """A batch and one configuration against the generic source over floats."""
    robot = ts.robots.quadruped()
    scene, q = Scene.of(robot, style="skeleton"), robot.random_configuration(0, 4)
    poses = scene.poses(q)
    assert poses.shape == (4, len(robot.links), 7)
    for k, link in enumerate(scene.links):
        T = np.array([algorithms.pose(robot.model, row.tolist(), link) for row in q], float)
        np.testing.assert_allclose(poses[:, k, :3], T[:, :3, 3], atol=1e-13)
        np.testing.assert_allclose(transform_points(poses[:, k], np.array([1.0, 2, 3])), (T @ [1, 2, 3, 1])[:, :3], atol=1e-13)
    np.testing.assert_allclose(scene.poses(q[0]), poses[0], atol=1e-14)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bricard", "delta_robot"])
def test_loops_have_two_markers_that_meet_when_closed(name):
    robot = getattr(ts.mechanisms, name)()
    scene = Scene.of(robot)
    ends = scene.loop_ends(robot.neutral())
    assert ends.shape == (len(robot.loops), 2, 3)
    np.testing.assert_allclose(ends[:, 0], ends[:, 1], atol=1e-12)
    assert sum(part.kind == "loop" for part in scene.parts) == 2 * len(robot.loops)


def test_markers_of_an_open_loop_are_apart_by_its_closure_error():
    robot = ts.mechanisms.four_bar()
    q = robot.neutral() + np.array([0.3, 0, 0])
    ((a, b),) = Scene.of(robot).loop_ends(q)
    loop = robot.loop("pin")
    parent, child = (robot.pose(q, link) @ pose for link, pose in
                     ((loop.parent, loop.pose_in_parent), (loop.child, loop.pose_in_child)))  # fmt: skip
    np.testing.assert_allclose([a, b], [parent[:3, 3], child[:3, 3]], atol=1e-13)
    assert np.linalg.norm(a - b) > 0.05


def test_loop_to_the_world_has_a_fixed_marker_in_the_world():
    b = Builder("foot").link("leg", mass=1.0, com=(0, 0, 0.5), inertia=(1, 1, 1))
    robot = b.loop("held", "spherical", "world", "leg", xyz=(0.1, 0.2, 0.3)).build("floating")
    scene = Scene.of(robot)
    np.testing.assert_allclose(scene.loop_ends(robot.neutral())[0], [[0.1, 0.2, 0.3], [0, 0, 0]], atol=1e-15)
    assert sum(part.kind == "loop" for part in scene.parts) == 1


def test_missing_meshes_are_noted_and_the_skeleton_drawn(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(
        '<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<visual><geometry><mesh filename="package://nowhere/arm.stl"/></geometry></visual></link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>'
    )
    scene = Scene.of(ts.load(file))
    assert scene.drawn_as == "skeleton"
    assert "'nowhere'" in scene.notes[0]
    with pytest.raises(ArgumentError, match="style must be one of"):
        Scene.of(ts.load(file), style="cartoon")
