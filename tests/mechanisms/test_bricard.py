"""Bricard's linkage: closed form, mobility along the motion, energy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.mechanisms.march import march
from tests.mechanisms.states import configurations_at, constrained_system


@pytest.fixture(scope="module")
def ring():
    return constrained_system("bricard")


def about(axis, angle):
    """Rodrigues' rotation."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def by_hand(q):
    """End point and joint axis of the last rod, by the product of the rotations along the ring."""
    x, y, z = np.eye(3)
    R, p = np.eye(3), np.zeros(3)
    for angle, axis, rod in zip(q, (y, z, x, y, z), (x, -y, z, -x, y), strict=True):
        R = R @ about(axis, angle)
        p = p + R @ rod
    return p, R @ x


def test_bricard_ring_closes_with_equal_alternate_angles(ring):
    """Threefold symmetry and (1 + sin q₁)(1 + sin q₂) = 1: cos θ + cos φ + cos θ cos φ = 0 of the angles between the rods."""
    for q in configurations_at(ring, "hinge1", np.linspace(0, 2.4, 25)):
        assert q[[2, 4]] == pytest.approx(q[0], abs=1e-9)
        assert q[3] == pytest.approx(q[1], abs=1e-9)
        assert (1 + np.sin(q[0])) * (1 + np.sin(q[1])) == pytest.approx(1, abs=1e-9)
        end, hinge = by_hand(q)
        assert end == pytest.approx([0, 0, 1], abs=1e-11)
        assert hinge == pytest.approx([1, 0, 0], abs=1e-11)


def test_bricard_ring_has_one_degree_of_freedom_along_its_motion(ring):
    for q in configurations_at(ring, "hinge1", [0.0, 0.4, 0.9, 1.4]):
        found = ring.mobility(q)
        assert (found.count, found.freedom, found.redundancy, found.singular) == (0, 1, 1, False)


def test_bricard_ring_conserves_energy(ring):
    """From rest in the cube configuration, under gravity: 0.8 s in steps of 2 ms."""
    track = march(ring, ring.robot.neutral(), np.zeros(5), 2e-3, 400)
    assert np.abs(track.q[-1]).max() > 0.3
    assert np.ptp(track.energy) < 1e-7
    assert np.abs(ring.residual(track.q)).max() < 1e-9
