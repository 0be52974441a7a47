"""Contacts of edited, saved and loaded robots."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.errors import FileError, UnknownName
from torsor.scalar import sin

from . import bodies

SURFACES = [
    ts.contacts.plane((0.1, 0, 1)), ts.contacts.box((1, 1, 0.2), (0, 0, -0.1), (0.1, 0, 0)),
    ts.contacts.height(lambda x, y: 0.02 * sin(10 * x) + y / 50), ts.contacts.ball(0.5, (0, 0, -0.5)),
    ts.contacts.grid(np.random.default_rng(0).uniform(0, 0.02, (4, 3)), 0.1, at=(-0.1, -0.1, 0)),
]  # fmt: skip


def leg() -> ts.Robot:
    b = ts.Builder("leg").link("hip", mass=1.0, inertia=(0.01, 0.01, 0.01))
    for name, parent in (("thigh", "hip"), ("shin", "thigh")):
        b.link(name, mass=0.5, com=(0, 0, -0.1), inertia=(1e-3, 1e-3, 1e-3))
        b.joint(f"{name} joint", "revolute", parent, name, axis=(0, 1, 0), xyz=(0, 0, 0 if parent == "hip" else -0.2))
    return b.frame("toe", "shin", xyz=(0, 0, -0.2)).build(base="floating")


def standing_leg() -> ts.Robot:
    shapes = [ts.contacts.sphere("toe", 0.02), ts.contacts.capsule("thigh", (0, 0, 0), (0, 0, -0.2), 0.03)]
    return leg().with_contacts(shapes, ts.contacts.plane(), friction=0.7)


def gaps(robot: ts.Robot, z: float = 0.6) -> np.ndarray:
    q = robot.neutral()
    q[2] = z
    return robot.contact_gap(q)


@pytest.mark.parametrize("ending", ["urdf", "mjcf"])
@pytest.mark.parametrize("surface", SURFACES, ids=lambda s: s.surface.describe())
def test_saved_contacts_are_read_back_with_their_surfaces(tmp_path, ending, surface):
    pytest.importorskip("mujoco")
    robot = bodies.ball(friction=1 / 3, restitution=0.1, surface=surface)
    ts.save(robot, tmp_path / f"ball.{ending}")
    back = ts.load(tmp_path / f"ball.{ending}")
    assert back.description.terms == robot.description.terms
    assert back.contacts == robot.contacts
    q = bodies.at_height(robot, 0.2)
    runs = [r.rollout(q, np.array([0, 0, 0, 0.3, 0.2, 0]), dt=1e-3, steps=300, record="last").q for r in (robot, back)]
    np.testing.assert_allclose(runs[1], runs[0], atol=1e-9)


def test_soft_contact_is_read_back(tmp_path):
    robot = bodies.ball(friction=0.5, stiffness=1e4, damping=10.0)
    ts.save(robot, tmp_path / "ball.urdf")
    assert ts.load(tmp_path / "ball.urdf") == robot


@pytest.mark.parametrize(("change", "message"), [
    (('"frames": ["ball"]', '"frames": ["ball", "ball"]'), "one surface, frame and other frame for each shape"),
    (('"mu": 0.5', '"mu": -0.5'), "friction must not be negative"),
    (('"radius": 0.1', '"radius": "x"'), "radius must be"),
    (('"radius": 0.1', '"radius": -0.1'), "radius must not be negative"),
    (('"heights": [[0.0, 1.0]', '"heights": [[0.0]'), "at least 2 × 2"),
])  # fmt: skip
def test_malformed_contacts_of_a_file_are_file_errors(tmp_path, change, message):
    robot = bodies.ball(friction=0.5, surface=ts.contacts.grid([[0, 1], [0, 0]], 1.0))
    ts.save(robot, tmp_path / "ball.urdf")
    text = (tmp_path / "ball.urdf").read_text()
    assert change[0] in text
    with pytest.raises(FileError, match=message):
        ts.load(text.replace(*change))


@pytest.mark.parametrize(("surface", "change", "message"), [
    (SURFACES[0], ('{"Plane": {"normal": {"Vec": [', '{"Plane": {"normal": {"Vec": [1'), "must not differ from 1"),
    (SURFACES[1], ('{"Box": {"half": {"Vec": [0.5', '{"Box": {"half": {"Vec": [-0.5'), "must not be zero or negative"),
    (SURFACES[3], ('"radius": 0.5', '"radius": -0.5'), "must not be negative"),
])  # fmt: skip
def test_malformed_surfaces_of_a_file_are_file_errors(tmp_path, surface, change, message):
    robot = bodies.ball(friction=0.5, surface=surface)
    ts.save(robot, tmp_path / "ball.urdf")
    text = (tmp_path / "ball.urdf").read_text()
    assert change[0] in text
    with pytest.raises(FileError, match=message):
        ts.load(text.replace(*change))


def test_renamed_frames_keep_their_contacts():
    robot = standing_leg()
    renamed = robot.rename({"toe": "tip", "thigh": "upper"})
    assert list(renamed.contacts) == ["tip", "upper 1", "upper 2"]
    assert [s.frame for s in renamed.description.terms[0].shapes] == ["tip", "upper"]
    np.testing.assert_array_equal(gaps(renamed), gaps(robot))


def test_attached_robot_brings_its_contacts():
    robot = leg().attach(standing_leg(), at="hip", xyz=(0.3, 0, 0), prefix="left ")
    assert list(robot.contacts) == ["left toe", "left thigh 1", "left thigh 2"]
    assert robot.contacts["left toe"].term == "left contact"
    np.testing.assert_allclose(gaps(robot), gaps(standing_leg()), atol=1e-15)


def test_rebased_and_locked_robots_have_the_same_gaps():
    robot = standing_leg()
    q = robot.neutral()
    q[2] = 0.6
    rebased = robot.rebase("shin")
    p = rebased.neutral()
    p[2] = 0.4  # the knee below the hip
    np.testing.assert_allclose(rebased.contact_gap(p), robot.contact_gap(q), atol=1e-15)
    np.testing.assert_allclose(gaps(robot.lock({"shin joint": 0.0})), gaps(robot), atol=1e-15)


def test_contacts_that_nothing_moves_any_longer_are_removed_with_a_note():
    arm = ts.robots.two_link().with_contacts(
        [ts.contacts.point("tip"), ts.contacts.point("link1", at=(0.5, 0, 0))],
        ts.contacts.plane((0, 1, 0), (0, -1, 0)),
        friction=0.5,
    )
    part = arm.lock({"joint1": 0.0})
    assert list(part.contacts) == ["tip"]
    assert "parts of terms removed, as nothing moves them any longer: contact" in part.report
    assert part.rollout([0.0], [0.0], dt=1e-3, steps=3).q.shape == (3, 1)
    assert arm.lock({"joint1": 0.0, "joint2": 0.0}).contacts == {}
    clap = ts.robots.two_link().with_contacts(
        ts.contacts.point("tip"), ts.contacts.ball(0.1, (0, 1, 0), frame="link1"), friction=0.5
    )
    assert len(clap.lock({"joint1": 0.0}).contacts) == 1  # the forearm still moves
    assert clap.lock({"joint2": 0.0}).contacts == {}  # both on one body


def test_contacts_go_with_their_link_or_by_name():
    robot = standing_leg()
    assert robot.without_terms("contact").contacts == leg().without_terms("contact").contacts == {}
    cut = robot.without("shin")
    assert cut.contacts == {}
    assert "terms removed, as their joint or frame is gone: contact" in cut.report


def test_frames_of_contacts_must_exist():
    with pytest.raises(UnknownName, match="paw"):
        leg().with_contacts(ts.contacts.point("paw"), ts.contacts.plane(), friction=0.5)
    with pytest.raises(UnknownName, match="table"):
        leg().with_contacts(ts.contacts.point("toe"), ts.contacts.plane(frame="table"), friction=0.5)
