"""Gradients through contact say where they have two sides: contacts near the edge between open, stick and slip."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError
from torsor.simulate import per_robot

from . import bodies

G = bodies.G


def block(friction: float = 0.5) -> ts.Robot:
    """A point mass of 1 kg that slides along x and z, on the ground z = 0."""
    b = ts.Builder("block").link("ground").link("carriage", mass=0.5, inertia=[0.01] * 3)
    b.link("block", mass=0.5, inertia=[0.01] * 3)
    b.joint("along", "prismatic", "ground", "carriage", axis=(1, 0, 0))
    b.joint("up", "prismatic", "carriage", "block", axis=(0, 0, 1))
    return b.build().with_contacts(ts.contacts.point("block"), ts.contacts.plane(), friction=friction)


def gradient(robot, u, steps=5, q=(0.0, 0.0), v=(0.0, 0.0), **options):
    run = robot.rollout(np.array(q), np.array(v), u, dt=1e-3, steps=steps, differentiable=True, **options)
    return run.gradient(v=np.ones(run.v.shape))


def test_block_at_the_edge_of_its_cone_may_switch_and_others_do_not():
    """Pulled by F: the distance is |F/(μ m g) − 1|, from inside and outside (the block presses with 0.5 kg)."""
    mu, robot = 0.5, block()
    edge = mu * 0.5 * G
    pulls = np.array([0.0, 0.5, 0.9, 0.999, 1.0, 1.001, 1.5]) * edge
    u = np.stack([pulls, 0 * pulls], axis=-1)
    found = gradient(robot, per_robot(u), q=np.zeros((len(u), 2)), v=np.zeros((len(u), 2)), steps=1)
    assert found.distances.shape == (len(u), 1)
    np.testing.assert_allclose(found.distances[:, 0], [1, 0.5, 0.1, 0.001, 0, 0.001, 0.5], atol=1e-5)
    assert found.switches.tolist() == [0, 0, 0, 1, 1, 1, 0]


def test_block_that_slides_to_rest_may_switch_in_the_step_in_which_it_stops():
    """Friction takes μ g/2 dt of the velocity in a step; at last half of this is left, or nothing."""
    robot, loss = block(), 0.5 * 0.5 * G * 1e-3
    sure = gradient(robot, np.zeros(2), v=[[3.5 * loss, 0.0]], q=[[0.0, 0.0]], steps=6)
    edge = gradient(robot, np.zeros(2), v=[[3 * loss, 0.0]], q=[[0.0, 0.0]], steps=6)
    assert (sure.switches[0], edge.switches[0]) == (0, 1)
    np.testing.assert_allclose(sure.distances, 0.5, atol=1e-3)


def test_contact_about_to_lift_off_may_switch():
    """Lifted by a share s of its weight: the distance is that of G λ_n from 0, (1 − s) m g dt G / (9.81 dt)."""
    robot = block()
    for share, switches in ((0.0, 0), (0.9, 0), (0.999, 1), (1.001, 1), (1.5, 0)):
        found = gradient(robot, np.array([0.0, share * 0.5 * G]), steps=1)
        assert int(found.switches) == switches, share
        np.testing.assert_allclose(found.distances, [abs(1 - share)], atol=1e-6)


def test_gradient_has_two_sides_at_the_edge_and_one_elsewhere():
    """∂v/∂F from both sides: 0 of a block that sticks, dt of one that slips, at 0.999 and 1.001 of the cone's edge."""
    robot, edge = block(), 0.5 * 0.5 * G
    sides = [gradient(robot, np.array([s * edge, 0.0]), steps=1) for s in (0.999, 1.001)]
    np.testing.assert_allclose([g.controls[0] for g in sides], [0, 1e-3], atol=1e-8)
    assert [int(g.switches) for g in sides] == [1, 1]


@pytest.mark.parametrize("record", ["all", "last", 5])
def test_distances_do_not_depend_on_the_records(record):
    robot = block()
    rng = np.random.default_rng(0)
    u = rng.normal(size=(4, 40, 2)) * 3
    v, mu = rng.normal(size=(4, 2)) * 0.05, {"contact friction": {"contact": per_robot([0.1, 0.3, 0.5, 0.8])}}
    found = [gradient(robot, u, steps=None, q=np.zeros((4, 2)), v=v, vary=mu, record=r) for r in ("all", record)]
    np.testing.assert_array_equal(found[0].distances, found[1].distances)
    one = robot.rollout(np.zeros(2), v[2], u[2], dt=1e-3, vary={"contact friction": {"contact": 0.5}}, differentiable=True)
    np.testing.assert_array_equal(one.gradient(v=np.ones((40, 2))).distances, found[0].distances[2])


def test_distances_count_stops_and_dry_friction_of_joints():
    """A joint with dry friction of 1 N·m, driven with 0.999 N·m; one that presses against its stop with 1 N."""
    b = ts.Builder("two").link("base").link("one", mass=1.0, inertia=[1.0] * 3).link("two", mass=1.0, inertia=[1.0] * 3)
    b.joint("turn", "revolute", "base", "one", axis=(0, 0, 1))
    b.joint("slide", "prismatic", "base", "two", axis=(1, 0, 0), lower=0, upper=1)
    robot = b.build().with_stops(0.0).with_friction({"turn": ts.actuators.friction.Coulomb(1.0)})
    for turn, slide, near in ((0.999, -1.0, [0.1019, 0.001]), (0.5, -0.01, [0.00102, 0.5])):
        found = gradient(robot, np.array([turn, slide]), steps=1)
        np.testing.assert_allclose(found.distances, near, rtol=0.02)
        assert int(found.switches) == 1


def test_robots_without_contacts_have_no_switches():
    found = gradient(ts.robots.two_link(), np.zeros((3, 5, 2)), steps=None, q=np.zeros((3, 2)), v=np.zeros((3, 2)))
    assert found.switches.tolist() == [0, 0, 0]


def test_failed_robots_have_no_distances():
    robot, u = block(), np.zeros((2, 10, 2))
    u[1, 5:] = 1.7e308
    found = gradient(robot, u, steps=None, q=np.zeros((2, 2)), v=np.zeros((2, 2)), on_failure="mask")
    assert np.isfinite(found.distances[0]).all()
    assert np.isnan(found.distances[1]).all()


def test_gradient_that_was_pickled_does_not_know_its_switches():
    again = pickle.loads(pickle.dumps(gradient(block(), np.zeros(2))))
    assert again.q0.shape == (2,)
    with pytest.raises(ArgumentError, match="pickled"):
        _ = again.switches
