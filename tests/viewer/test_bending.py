"""Elastic links in the viewer: drawn as in beam theory, bent by weight and force."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError
from torsor.flexible import beam
from torsor.look.scene import Scene
from torsor.look.scene.beams import PIECES
from torsor.look.scene.loops import transform_points
from torsor.look.viewer.session import Session
from torsor.look.viewer.state import Stage

L, EI, RHO = 1.0, 200.0, 1.0


@pytest.fixture(scope="module")
def arm():
    """A horizontal cantilever: one elastic link of MR's 2R arm, the other short, light and rigid."""
    robot = ts.robots.two_link(m1=1e-9, m2=1e-9, L2=1e-6)
    return robot.with_beams({"link1": beam(L, mass_per_length=RHO, EI_z=EI, modes=(3, 0, 0), foreshortening=False)})


def test_beam_at_rest_has_the_deflection_of_beam_theory(arm):
    """ρ g L⁴/8EI at the end under its weight, plus P L³/3EI under a force there; the next link is at the deflected end."""
    stage = Stage(arm)
    sag = RHO * 9.81 * L**4 / (8 * EI)
    look = stage.look(arm.neutral(), frame="tip")
    assert look.origin[1] == pytest.approx(-sag, rel=1e-3)
    assert look.poses[stage.scene.links.index("link2"), 1] == pytest.approx(-sag, rel=1e-3)
    pulled = stage.look(arm.neutral(), frame="tip", force=[0.0, -3.0, 0.0])
    assert pulled.origin[1] == pytest.approx(-sag - 3.0 * L**3 / (3 * EI), rel=1e-3)
    assert pulled.torque["external"][0] == pytest.approx(3.0 * L, rel=1e-3)
    assert pulled.torque["gravity"][0] == pytest.approx(RHO * 9.81 * L**2 / 2, rel=1e-3)


def test_rest_without_a_force_is_the_equilibrium(arm):
    stage, q = Stage(arm), np.array([0.7, -0.3, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(stage.look(q).q, arm.equilibrium(q, held=["joint1", "joint2"]), atol=1e-12)


def test_pieces_of_a_beam_are_connected_from_the_root_to_the_tip():
    """Each piece has the pose of the beam at its middle; ends of neighbours coincide up to second order in their length."""
    part = beam(L, mass_per_length=RHO, EI_z=EI, EI_y=EI, modes=(2, 2, 0))
    robot = ts.robots.two_link().with_beams({"link1": part})
    q = np.array([0.3, 0.0, 0.05, -0.02, 0.03, 0.0])
    scene = Scene.of(robot)
    places = scene.poses(q)[len(robot.links) :]
    ends = np.array([transform_points(place, np.array([[s * L / PIECES / 2, 0, 0] for s in (-1, 1)])) for place in places])
    np.testing.assert_allclose(ends[1:, 0], ends[:-1, 1], atol=3e-4)
    np.testing.assert_allclose(ends[0, 0], robot.pose(q, "link1")[:3, 3], atol=3e-4)
    np.testing.assert_allclose(ends[-1, 1], robot.pose(q, "link1/tip")[:3, 3], atol=3e-4)
    for piece, place in zip(scene.pieces[::7], places[::7], strict=True):
        R, p = (piece.motion.transform(q[2:].tolist()) @ piece.placed).pose
        T = robot.pose(q, "link1") @ np.block(
            [[np.array(R, float), np.array([p], float).T], [np.zeros((1, 3)), np.ones((1, 1))]]
        )
        np.testing.assert_allclose(place[:3], T[:3, 3], atol=1e-12)


def test_viewer_link_poses_equal_those_of_the_flexible_robot(arm):
    scene, q = Scene.of(arm), np.array([0.4, 0.2, 0.05, 0.01, -0.02])
    places = dict(zip(scene.links, scene.poses(q), strict=True))
    for link in arm.links:
        np.testing.assert_allclose(places[link][:3], arm.pose(q, link)[:3, 3], atol=1e-12)
    assert not any(part.link == "link1" and part.kind == "ellipsoid" for part in scene.parts)
    batch = scene.poses(np.stack((q, 0 * q)))
    np.testing.assert_allclose(batch[0], scene.poses(q), atol=1e-15)


def test_viewer_of_an_elastic_robot_has_sliders_force_and_playback():
    arm = ts.robots.two_link().with_beams({"link1": beam(L, mass_per_length=RHO, EI_z=EI, modes=(1, 0, 0))})
    session = Session(Stage(arm))
    session.slide(0, 0.5)
    assert {part.kind for part in session.parts()} == {"gravity", "beam"}
    session.force = np.array([0.0, -3.0, 0.0])
    session.load(session.stage.push(session.q, "tip", session.force, duration=0.05))
    session.advance(0.03)
    look, k = session.look(), session.track.index(0.03)
    np.testing.assert_allclose(
        look.tau, session.track.tau[k], atol=1e-5 * np.abs(look.torque["inertia"]).max()
    )  # M a + h − Jᵀf
    assert len(look.q) == arm.nq
    np.testing.assert_allclose(sum(part.tau for part in session.parts()), look.tau, atol=1e-9)
    session.slide(0, 0.2)
    assert len(session.values) == 2  # beams have no slider
    with pytest.raises(ArgumentError, match="simulation of"):
        session.load(ts.robots.two_link().simulate([0.0, 0.0], [0.0, 0.0], 0.01))
