"""Elastic robots on replay pages: links that bend, and motor angles that differ from link angles."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.flexible import SeriesSpring, beam
from torsor.look.replay.replay_data import replay_data_of
from torsor.look.scene.beams import PIECES
from torsor.look.scene.loops import transform_points
from torsor.simulate import Result


def test_beams_are_cut_into_pieces_that_bend(vibration):
    film, arm = replay_data_of(vibration, "auto", (), 30), vibration.robot
    q, _ = vibration.at(film.times)
    last = film.poses[:, film.links.index(f"link1/piece{PIECES}")]
    tip = transform_points(last, np.array([0.5 / PIECES, 0, 0]))
    np.testing.assert_allclose(tip, arm.pose(q, "link1/tip")[:, :3, 3], atol=1e-3)
    np.testing.assert_allclose(film.poses[:, film.links.index("link2"), :3], arm.pose(q, "link2")[:, :3, 3], atol=1e-12)
    across = next(plot for plot in film.plots if plot.title == "Beam tip, across")
    assert across.names == ("link1 y",)
    np.testing.assert_allclose(across.y[:, 0], arm.pose(vibration.q, "link1/tip")[:, 1, 3], atol=1e-12)


def test_number_of_images_follows_the_slowest_vibration():
    stiff = ts.robots.two_link().with_beams({"link1": beam(1.0, mass_per_length=1.0, EI_z=5e4, modes=(1, 0, 0))})
    slowest = stiff.modes(stiff.neutral(), held=["joint1", "joint2"]).frequencies[0] / (2 * np.pi)
    assert slowest > 10
    still = Result(np.array([0.0, 1.0]), *np.zeros((3, 2, 3)), robot=stiff)
    assert len(replay_data_of(still, "auto", (), 30).times) == pytest.approx(12 * slowest, abs=2)


def test_replay_of_an_elastic_robot_at_rest_shows_its_static_deflection():
    arm = ts.robots.two_link().with_beams({"link1": beam(1.0, mass_per_length=1.0, EI_z=50.0, modes=(2, 0, 0))})
    film = replay_data_of(arm, "auto", (), 30)
    ends = [d.y for d in arm.description.terms[0].beam.section(1.0).displacement]  # deflection per unit of each mode
    assert film.poses[0, film.links.index("link2"), 1] == pytest.approx(
        arm.equilibrium(arm.neutral(), held=["joint1", "joint2"])[2:] @ ends, rel=1e-9
    )


def test_replay_of_elastic_joints_shows_motor_angles_ahead_of_links():
    arm = ts.robots.two_link().with_springs(SeriesSpring(40.0, rotor_inertia=0.5))
    q, v, _ = arm.state([0.3, 0.2])
    run = arm.simulate(q, v, 0.3, [0.0, 0.0, 5.0, 1.0])
    film = replay_data_of(run, "auto", (), 30)
    for k, (joint, child) in enumerate((("joint1", "link1"), ("joint2", "link2"))):
        motor, link = (film.poses[-1, film.links.index(name)] for name in (f"{joint}/motor", child))
        angle = 2 * (np.arctan2(motor[5], motor[6]) - np.arctan2(link[5], link[6]))  # both turn about z
        assert angle == pytest.approx(run.q[-1, 2 + k] - run.q[-1, k], abs=1e-9)
        np.testing.assert_allclose(motor[:3], link[:3], atol=1e-12)
    ahead = next(plot for plot in film.plots if plot.title == "Motor ahead of link")
    np.testing.assert_allclose(ahead.y[-1], run.q[-1, 2:] - run.q[-1, :2], atol=1e-12)
