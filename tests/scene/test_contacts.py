"""Contacts in the scene: shapes on their links, surfaces in the world or on a link, the floor at its height."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.look.replay.replay_data import replay_data_of
from torsor.look.scene import Scene
from torsor.look.scene.contacts import CONTACT, GROUND, LEAST, PATCH, POINT, SKIN, triangles_of
from torsor.look.scene.elastic import motor_poses, with_motors
from torsor.look.viewer.camera import view
from torsor.scalar import sin
from torsor.spatial import Vec

LEVEL = ts.contacts.plane(through=(0, 0, -0.3))
SURFACES = {
    "plane": (ts.contacts.plane((0.2, 0, 1), through=(0, 0, 0.1)), 1e-6),
    "box": (ts.contacts.box((0.4, 0.5, 0.1), (0.1, 0.2, 0.3), (0.1, 0.2, 0.3)), 1e-6),
    "ball": (ts.contacts.ball(0.3, (0.1, 0, 0)), 1e-6),
    "height": (ts.contacts.height(lambda x, y: 0.1 * sin(2 * x) + y / 8), 1e-6),
    "flat height": (ts.contacts.height(lambda x, y: 0.25), 1e-6),
    "grid": (ts.contacts.grid(np.random.default_rng(0).uniform(0, 0.1, (4, 3)), 0.2, at=(-0.2, 0.1, 0.3)), 1e-6),
    "bilinear grid": (ts.contacts.grid(np.eye(3), (0.2, 0.3), smooth=False), 1e-6),
}


def of_kind(scene, kind):
    return [part for part in scene.parts if part.kind == kind]


@pytest.mark.parametrize("name", SURFACES)
def test_surface_is_drawn_where_its_distance_is_zero_and_faces_outwards(name):
    placed, tolerance = SURFACES[name]
    drawn = triangles_of(placed.surface, 0.5)
    corners = drawn.vertices.astype(float)
    distances = [placed.surface.distance(Vec(*p)) for p in corners.tolist()]
    assert max(abs(d.size) for d in distances) < tolerance
    a, b, c = (corners[drawn.faces[:, k]] for k in range(3))
    outwards = np.cross(b - a, c - a)
    middle = (a + b + c) / 3
    normals = np.array([placed.surface.distance(Vec(*p)).normal for p in middle.tolist()])
    large = np.linalg.norm(outwards, axis=1) > 1e-9
    assert (np.einsum("ij,ij->i", outwards, normals)[large] > 0).all()


def test_shapes_of_contacts_are_parts_of_their_links():
    rod = ts.contacts.capsule("link1", (0, 0, 0), (0.5, 0, 0), 0.05)
    robot = ts.robots.two_link().with_contacts(
        [ts.contacts.sphere("tip", 0.1), ts.contacts.point("link1"), rod],
        [LEVEL, ts.contacts.plane((0, 1, 0), (0, -2, 0))],
        friction=0.5,
    )
    scene = Scene.of(robot)
    parts = of_kind(scene, "contact")
    assert [(p.link, p.surface.color) for p in parts] == [("link2", CONTACT), ("link1", CONTACT), ("link1", CONTACT)]
    tip = np.array([float(x) for x in robot.frame("tip").pose_in_link[:3, 3]])
    radius = np.linalg.norm(parts[0].surface.vertices - tip, axis=1)
    np.testing.assert_allclose(radius, 0.1 * SKIN, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(parts[1].surface.vertices, axis=1), POINT * scene.size, atol=1e-6)
    assert np.ptp(parts[2].surface.vertices[:, 0]) == pytest.approx(0.5 + 0.1 * SKIN, abs=1e-6)
    assert scene.drawn_as == "skeleton"


def test_small_spheres_are_drawn_large_enough_to_be_seen():
    robot = ts.robots.two_link().with_contacts(ts.contacts.sphere("link1", 1e-4), LEVEL, friction=0.5)
    scene = Scene.of(robot)
    (part,) = of_kind(scene, "contact")
    assert np.abs(part.surface.vertices).max() == pytest.approx(LEAST * scene.size, rel=1e-3)


def test_level_plane_is_the_floor_of_scene_page_and_viewer():
    robot = ts.robots.quadruped().with_ground(surface=[LEVEL, ts.contacts.plane(through=(0, 0, -0.5))])
    scene = Scene.of(robot)
    assert scene.floor == pytest.approx(-0.3)
    assert not of_kind(scene, "ground")
    assert scene.links == robot.links
    assert replay_data_of(robot, "auto", (), 30).floor == scene.floor
    assert view(scene, [scene.poses(robot.neutral())], robot.gravity).floor[2] == pytest.approx(-0.3)
    assert Scene.of(ts.robots.quadruped()).floor is None
    sideways = ts.robots.quadruped().with_gravity((0, -9.81, 0)).with_ground()
    assert Scene.of(sideways).floor is None


def test_other_ground_stands_still_in_the_world():
    robot = ts.robots.quadruped().with_ground(surface=ts.contacts.plane((0.1, 0, 1)))
    scene = Scene.of(robot)
    (part,) = of_kind(scene, "ground")
    assert (part.link, part.surface.color, scene.links[-1]) == ("world", GROUND, "world")
    assert np.ptp(part.surface.vertices[:, 1]) == pytest.approx(2 * PATCH * scene.size, rel=1e-5)
    q = np.stack([robot.neutral(), robot.configuration("standing")])
    q[1, 0] = 3.0
    poses = scene.poses(q)
    assert poses.shape == (2, len(scene.links), 7)
    np.testing.assert_array_equal(poses[:, -1], np.tile([0, 0, 0, 0, 0, 0, 1], (2, 1)))
    far = view(scene, [poses[1]], robot.gravity)
    assert far.radius < 1
    assert abs(far.target[0] - 3) < 0.3
    assert "world" in replay_data_of(robot, "auto", (), 30).links


def test_surface_of_a_link_moves_with_it():
    robot = ts.robots.two_link().with_contacts(
        ts.contacts.point("tip"), ts.contacts.box((0.1, 0.1, 0.1), (0.2, 0, 0), frame="link1"), friction=0.5
    )
    scene = Scene.of(robot)
    assert [p.link for p in of_kind(scene, "contact")] == ["link2", "link1"]
    assert not of_kind(scene, "ground")
    box = of_kind(scene, "contact")[1].surface.vertices
    np.testing.assert_allclose(box.mean(axis=0), [0.2, 0, 0], atol=1e-6)


def test_motors_of_elastic_joints_come_after_the_world():
    robot = ts.robots.two_link().with_springs({"joint2": ts.flexible.SeriesSpring(100.0, rotor_inertia=0.01)})
    robot = robot.with_contacts(ts.contacts.point("tip"), ts.contacts.ball(0.1, (5, 5, 5)), friction=0.5)
    scene = Scene.of(robot)
    q = np.tile(robot.neutral(), (4, 1))
    whole, poses = with_motors(scene), np.concatenate((scene.poses(q), motor_poses(scene, q)), axis=1)
    assert whole.links[-2:] == ("world", "joint2/motor")
    assert poses.shape == (4, len(whole.links), 7)
    np.testing.assert_array_equal(poses[:, -2], np.tile([0, 0, 0, 0, 0, 0, 1], (4, 1)))
    np.testing.assert_array_equal(whole.poses(q), poses[:, :-1])
