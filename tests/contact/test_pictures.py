"""Forces of contacts on replay pages and in the viewer's playback: arrows at the contacts, and curves of normal forces."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.replay.test_film import page_contents
from torsor import replay
from torsor.errors import ArgumentError
from torsor.look.replay.replay_data import replay_data_of
from torsor.look.viewer.session import Session
from torsor.look.viewer.state import Stage

from . import bodies

G = bodies.G


@pytest.fixture(scope="module")
def box():
    return bodies.box(friction=0.5)


@pytest.fixture(scope="module")
def slide(box):
    return box.simulate(bodies.at_height(box, 0.1), [0, 0, 0, 1.0, 0, 0], 0.5)


def test_replay_has_an_arrow_at_each_contact_that_touches(slide):
    """A box that slides and rests: four of eight corners, m g and μ m g in total, at the corners' height."""
    film = replay_data_of(slide, "auto", (), 30)
    assert {a.kind for a in film.arrows} == {"contact"}
    assert len(film.arrows) == 4
    total = sum(a.force for a in film.arrows)
    np.testing.assert_allclose(total[1:, 2], G, atol=1e-6)
    np.testing.assert_allclose(total[2:5, 0], -0.5 * G, atol=1e-6)
    np.testing.assert_allclose(total[-2:, 0], 0, atol=1e-6)
    assert all(abs(a.at[:, 2]).max() < 1e-6 for a in film.arrows)
    assert film.arrows[0].unit == pytest.approx(G / 2)
    (note,) = (n for n in film.notes if "contacts" in n)
    assert "the robot's weight, 9.81 N" in note
    (plot,) = (p for p in film.plots if p.title.startswith("Contact force"))
    assert len(plot.names) == 4


def test_forces_on_a_page_are_means_between_images():
    """The impulse of an impact that lasts one step of 1 ms is not lost between images."""
    ball = bodies.ball(friction=0.5, restitution=0.5)
    run = ball.simulate(bodies.at_height(ball, 0.15), np.zeros(6), 0.2)
    for fps in (25, 60):
        (arrow,) = replay_data_of(run, "auto", (), fps).arrows
        spacing = 0.2 / (len(arrow.force) - 1)
        width = np.full(len(arrow.force), spacing)
        width[[0, -1]] /= 2
        impulse = np.sum(run.contact_forces[1:, 0, 2]) * 1e-3
        np.testing.assert_allclose(width @ arrow.force[:, 2], impulse, rtol=1e-9)
        assert impulse > 1.0


def test_page_of_a_rollout_is_that_of_one_robot(box):
    q = np.stack([bodies.at_height(box, z) for z in (0.1, 0.5)])
    run = box.rollout(q, np.zeros(6), dt=1e-3, steps=100)
    assert len(replay_data_of(run.result(0), "auto", (), 30).arrows) == 4
    assert not replay_data_of(run.result(1), "auto", (), 30).arrows  # still in the air
    film, _ = page_contents(replay.html(run.result(0)))
    assert [a["kind"] for a in film["arrows"]] == ["contact"] * 4
    assert "Energy error" not in dict(film["facts"])
    np.testing.assert_array_equal(run.result(0).contact_forces, run.contact_forces[0])
    np.testing.assert_array_equal(run.result(0).contact_residual, run.contact_residual[0])
    assert run.result(-1).q[-1, 2] == run.q[1, -1, 2]


def test_rollout_writes_a_page(box, tmp_path):
    run = box.rollout(bodies.at_height(box, 0.1), np.zeros(6), dt=1e-3, steps=30)
    path = run.replay(tmp_path / "box.html", fps=60)
    assert page_contents(path.read_text("utf-8"))[0]["name"] == "box"


@pytest.mark.parametrize("robot", [None, 2, (0, 0), 0.5, "a"])
def test_result_of_a_rollout_needs_the_index_of_a_robot(box, robot):
    run = box.rollout(np.stack([bodies.at_height(box, 0.1)] * 2), np.zeros(6), dt=1e-3, steps=5)
    with pytest.raises(ArgumentError, match=r"index into the batch \(2,\)"):
        run.result(robot)


def test_result_of_a_rollout_has_no_audit_and_needs_the_robot(box, tmp_path):
    run = box.rollout(bodies.at_height(box, 0.1), np.zeros(6), dt=1e-3, steps=5)
    run.result().save(tmp_path / "one.npz")
    for result in (run.result(), ts.simulate.load_result(tmp_path / "one.npz", box)):
        np.testing.assert_array_equal(result.contact_forces, run.contact_forces)
        with pytest.raises(ArgumentError, match="no energy audit"):
            result.audit()
    run.save(tmp_path / "run.npz")
    with pytest.raises(ArgumentError, match="without its robot"):
        ts.simulate.load_rollout(tmp_path / "run.npz").result()


def test_result_of_a_failed_robot_has_the_records_before():
    ball = bodies.ball(friction=0.5)
    u = np.zeros((2, 20, 6))
    u[1, 10:] = 1.7e308
    run = ball.rollout(np.stack([bodies.at_height(ball, 0.1)] * 2), np.zeros(6), u, dt=1e-3, on_failure="mask")
    assert len(run.result(0).t) == 20
    assert 5 < len(run.result(1).t) < 12


def test_arrows_of_a_robot_without_weight_have_their_own_scale():
    ball = bodies.ball(friction=0.5, restitution=1.0).with_gravity((0, 0, 0))
    run = ball.simulate(bodies.at_height(ball, 0.12), [0, 0, 0, 0, 0, -1.0], 0.1)
    (arrow,) = replay_data_of(run, "auto", (), 30).arrows
    assert arrow.unit == pytest.approx(np.linalg.norm(arrow.force, axis=1).max() / 2)


def test_playback_has_forces_of_contacts_until_a_pose_is_shown(box, slide):
    session = Session(Stage(box))
    session.load(slide)
    session.scrub(0.1)
    points, forces = session.contacts
    assert points.shape == forces.shape == (8, 3)
    np.testing.assert_allclose(forces.sum(axis=0), [-0.5 * G, 0, G], atol=1e-6)
    np.testing.assert_allclose(session.look().tau, 0, atol=1e-3)  # the ground carries the box: its base has no forces
    session.reset()
    assert session.contacts is None
