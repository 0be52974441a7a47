"""Elastic links: drawn where the beam's equation has them, bent by weight and force."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError
from torsor.flexible import FlexibleRobot, beam
from torsor.rigid.mesh import mesh
from torsor.scene.elastic import ElasticScene, tube
from torsor.viewer.bending import BendingStage
from torsor.viewer.session import Session

L, EI, RHO = 1.0, 200.0, 1.0


@pytest.fixture(scope="module")
def arm():
    """A cantilever that does not fall: one horizontal link of MR's 2R arm, the other short, light and rigid."""
    robot = ts.robots.two_link(m1=1e-9, m2=1e-9, L2=1e-6)
    return FlexibleRobot.of(robot, {"link1": beam(L, mass_per_length=RHO, EI_z=EI, modes=(3, 0, 0), foreshortening=False)})


def test_beam_at_rest_sags_as_euler_and_bernoulli_say(arm):
    """ρ g L⁴/8EI at the end under its weight, P L³/3EI more under a force there; and what hangs on it hangs there."""
    stage = BendingStage(arm)
    sag = RHO * 9.81 * L**4 / (8 * EI)
    look = stage.look([0.0, 0.0], frame="tip")
    assert look.origin[1] == pytest.approx(-sag, rel=1e-3)
    assert look.poses[stage.scene.links.index("link2"), 1] == pytest.approx(-sag, rel=1e-3)
    pulled = stage.look([0.0, 0.0], frame="tip", force=[0.0, -3.0, 0.0])
    assert pulled.origin[1] == pytest.approx(-sag - 3.0 * L**3 / (3 * EI), rel=1e-3)
    assert pulled.torque["external"][0] == pytest.approx(3.0 * L, rel=1e-3)
    assert pulled.torque["gravity"][0] == pytest.approx(RHO * 9.81 * L**2 / 2, rel=1e-3)


def test_rest_without_a_force_is_the_equilibrium(arm):
    stage, q = BendingStage(arm), np.array([0.7, -0.3])
    np.testing.assert_allclose(stage.rest(q, "tip", np.zeros(3)), arm.equilibrium(arm.joined(q)), atol=1e-12)


def test_tube_is_closed_ends_at_the_tip_and_faces_outward():
    part = beam(L, mass_per_length=RHO, EI_z=EI, EI_y=EI, modes=(2, 2, 0))
    surface = tube(part, [0.05, -0.02, 0.03, 0.0], 0.02)
    solid = mesh(surface.vertices, surface.faces)
    assert solid.volume == pytest.approx(np.pi * 0.02**2 * L, rel=0.03)
    a, b, c = (surface.vertices.astype(float)[surface.faces[:, i]] for i in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() > 0
    robot = FlexibleRobot.of(ts.robots.two_link(), {"link1": part})
    tip = robot.pose([0.0, 0.0, 0.05, -0.02, 0.03, 0.0], "link1/tip")[:3, 3]
    assert np.linalg.norm(surface.vertices - tip, axis=1).min() < 1e-6


def test_links_are_where_the_flexible_robot_has_them(arm):
    scene, q = ElasticScene.bending(arm), np.array([0.4, 0.2, 0.05, 0.01, -0.02])
    places = dict(zip(scene.links, scene.poses(q), strict=True))
    for link in scene.links:
        np.testing.assert_allclose(places[link][:3], arm.pose(q, link)[:3, 3], atol=1e-12)
    assert not any(part.link == "link1" and part.kind == "ellipsoid" for part in scene.parts)
    assert list(scene.beams(q)) == ["link1"]


def test_page_of_an_elastic_robot_slides_but_plays_nothing(arm):
    session = Session(BendingStage(arm))
    session.slide(0, 0.5)
    assert session.look().beams.keys() == {"link1"}
    assert [part.kind for part in session.parts()] == ["gravity", "external"]
    with pytest.raises(ArgumentError, match="elastic links"):
        session.load(arm.robot.simulate([0.0, 0.0], [0.0, 0.0], 0.01))
