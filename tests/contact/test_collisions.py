"""Collisions of free bodies: momenta are kept, Newton's restitution holds, and energy does not rise."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.simulate import per_robot

from . import bodies


def two_balls(masses, radius=0.1, **contact) -> ts.Robot:
    """Two free balls in space without gravity."""
    b = ts.Builder("balls").link("space")
    for name, m in zip("ab", masses, strict=True):
        b.link(name, mass=m, inertia=[0.4 * m * radius**2] * 3)
        b.joint(f"{name} free", "floating", parent="space", child=name)
    robot = b.build().with_gravity((0, 0, 0))
    return robot.with_contacts(ts.contacts.sphere("a", radius=radius), ts.contacts.ball(radius, frame="b"), **contact)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_central_collision_has_the_velocities_of_newton(e):
    """v_a⁺ = (m_a v_a + m_b v_b + m_b e (v_b − v_a))/(m_a + m_b), and so for b."""
    masses, v_a, v_b = (1.0, 3.0), 2.0, -1.0
    robot = two_balls(masses, friction=0.4, restitution=e)
    q, v = robot.neutral(), np.zeros(12)
    q[7], v[3], v[9] = 0.3, v_a, v_b
    run = robot.rollout(q, v, dt=1e-3, steps=100)
    m_a, m_b = masses
    mean = (m_a * v_a + m_b * v_b) / (m_a + m_b)
    expected = [mean + m_b * e * (v_b - v_a) / (m_a + m_b), mean - m_a * e * (v_b - v_a) / (m_a + m_b)]
    np.testing.assert_allclose(run.v[-1, [3, 9]], expected, atol=1e-9)
    assert abs(np.delete(run.v[-1], [3, 9])).max() < 1e-9


@pytest.mark.parametrize("e", [0.0, 0.3])
def test_oblique_collisions_keep_momentum_and_angular_momentum(e):
    """Spinning balls of unequal masses, with friction: the impulses on the two are opposite, at one point.

    With e > 0 the balls move on before the impact within its step, by less than 1 mm: so much is the angular momentum off.
    """
    masses, n = (1.0, 20.0), 64
    robot, rng = two_balls(masses, friction=0.6, restitution=e), np.random.default_rng(2)
    q, v = np.tile(robot.neutral(), (n, 1)), rng.normal(size=(n, 12)) * np.tile([20, 20, 20, 0.5, 0.5, 0.5], 2)
    q[:, 7], v[:, 3], v[:, 9] = 0.25, 3.0, -1.0
    q[:, 8] = rng.uniform(-0.1, 0.1, n)
    run = robot.rollout(q, v, dt=1e-3, steps=60)
    hit = run.contact_forces.any(axis=(1, 2, 3))
    assert hit.sum() > 50
    P, L = 0, 0
    for k, m in enumerate(masses):
        R, x = bodies.rotations(run.q[..., 7 * k :]), run.q[..., 7 * k : 7 * k + 3]
        spin, p = (np.einsum("...ij,...j->...i", R, run.v[..., 6 * k + j : 6 * k + j + 3]) for j in (0, 3))
        P, L = P + m * p, L + m * np.cross(x, p) + 0.4 * m * 0.1**2 * spin
    assert abs(P - P[:, :1]).max() < 1e-11
    assert abs(L - L[:, :1]).max() < (1e-11 if e == 0 else 1e-3 * abs(P).max())
    energy = robot.kinetic_energy(run.q, run.v)
    assert np.diff(energy, axis=1).max() < 1e-12
    assert (energy[hit, -1] < 0.999 * energy[hit, 0]).all()


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_rods_that_bounce_with_friction_gain_no_energy(e):
    """Newton's e with friction can raise the energy of a rod's impact, by up to 30 % at e = 1: here it must not."""
    n, rng = 256, np.random.default_rng(6)
    rod = bodies.body("rod", 1.0, [1e-3, 1 / 12, 1 / 12]).with_gravity((0, 0, 0))
    ends = [ts.contacts.point("rod", (x, 0, 0)) for x in (-0.5, 0.5)]
    rod = rod.with_contacts(ends, ts.contacts.plane(), friction=0.5, restitution=e)
    q, v = np.tile(rod.neutral(), (n, 1)), rng.normal(size=(n, 6)) * [2, 2, 2, 2, 2, 2]
    q[:, 2], q[:, 3:] = 0.52, rng.normal(size=(n, 4))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    v[:, 3:] = np.einsum("nji,nj->ni", bodies.rotations(q), np.column_stack([v[:, 3], v[:, 4], -abs(v[:, 5]) - 0.5]))
    vary = {"contact friction": {"contact": per_robot(rng.uniform(0, 1.5, n))}}
    run = rod.rollout(q, v, dt=1e-3, steps=600, vary=vary)
    q1, v1 = run.q[:, :-1].reshape(-1, 7), run.v[:, :-1].reshape(-1, 6)
    free = rod.rollout(q1, v1, dt=1e-3, steps=1, vary={"contact height": {"contact": -100.0}})
    without = rod.kinetic_energy(free.q, free.v).reshape(n, -1)  # the integrator itself changes that of a turning rod
    work = rod.kinetic_energy(run.q, run.v)[:, 1:] - without
    force = run.contact_forces[:, 1:]
    assert force.any(axis=(2, 3)).any(axis=1).mean() > 0.9
    assert work.max() < 1e-12 * without.max()
    assert run.contact_gap.min() > -5e-3
