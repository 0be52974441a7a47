"""Energy of quadrupeds that crash at 5 m/s and 70 rad/s: contact adds none, whatever μ is and however well it is solved."""

from __future__ import annotations

import numpy as np

import torsor as ts
from torsor.simulate import per_robot

from . import bodies

#: the velocity by which contact pushes out of the ground [m/s]
PUSH = 0.1


def in_first_axes(q0, q1, v1):
    """Velocities at q1 with the base's linear velocity in its axes at q0, (..., 18): as a step adds impulses to them."""
    turn = np.swapaxes(bodies.rotations(q0), -1, -2) @ bodies.rotations(q1)
    return np.concatenate([v1[..., :3], np.einsum("...ij,...j->...i", turn, v1[..., 3:6]), v1[..., 6:]], axis=-1)


def crashes(n: int, steps: int, dt: float):
    """Quadrupeds thrown at the ground, each with its own friction from 0.1 to 2; their μ, motion, and work of contact by steps.

    Their only drives are dampers of 0.1 N·m·s: without them the integrator itself adds energy to legs that whirl freely.
    """
    robot, q, _ = bodies.quadruped()
    rng = np.random.default_rng(3)
    qs = np.tile(q, (n, 1))
    qs[:, 7:] += rng.uniform(-0.5, 0.5, (n, 12))
    qs[:, 2] += 0.02 - robot.contact_gap(qs).min(axis=1)
    vs = np.concatenate([rng.uniform(-5, 5, (n, 6)), rng.uniform(-70, 70, (n, 12))], axis=1)
    vs[:, 5] = -abs(vs[:, 5])
    mu, damper = np.geomspace(0.1, 2.0, n), ts.Controller(lambda v: [0] * 6 + [-0.1 * x for x in v[6:]])
    vary = {"contact friction": {"contact": per_robot(mu)}}
    run = robot.rollout(qs, vs, dt=dt, steps=steps, controller=damper, vary=vary)
    states, low = [x[:, :-1].reshape(-1, x.shape[-1]) for x in (run.q, run.v)], {"contact height": {"contact": -100.0}}
    free = robot.rollout(*states, dt=dt, steps=1, controller=damper, vary=low, record="last")
    M = robot.mass_matrix(states[0])
    before = run.q[:, :-1]
    moved = in_first_axes(before, run.q[:, 1:], run.v[:, 1:])
    unmoved = in_first_axes(before, free.q.reshape(before.shape), free.v.reshape(moved.shape))
    energies = [np.einsum("...i,...ij,...j->...", x, M.reshape(*x.shape, 18), x) / 2 for x in (moved, unmoved)]
    return mu, run, energies[0] - energies[1]


def test_crashing_quadrupeds_stay_finite_and_gain_no_energy_from_contact():
    """½ v⁺ᵀM v⁺ ≤ ½ v_fᵀM v_f + Σ λ_n · 0.1 m/s in every step, v_f without contact: the rest pushes out of the ground."""
    dt = 1e-3
    mu, run, work = crashes(32, 250, dt)
    assert np.isfinite(run.q).all()
    force = run.contact_forces[:, 1:]
    assert (force[..., 2] > 0).any(axis=(1, 2)).all()  # all of them hit the ground
    bound = mu[:, None, None] * force[..., 2]
    assert (np.hypot(force[..., 0], force[..., 1]) <= bound * (1 + 1e-12) + 1e-300).all()
    pushed = PUSH * dt * force[..., 2].sum(axis=-1)
    assert (work <= pushed + 1e-10).all()
    assert work.min() < -1  # impacts take energy
    assert run.contact_gap.min() > -0.005  # feet on curved paths at 70 rad/s


def test_energy_of_falling_quadrupeds_with_dampers_never_rises():
    """Kinetic and potential energy fall in every interval of flight, impact, slip and rest (dt = 0.1 ms, dampers alone)."""
    robot, q, _ = bodies.quadruped(height=0.05)
    damper = ts.Controller(lambda v: [0] * 6 + [-0.1 * x for x in v[6:]])
    v = np.random.default_rng(5).normal(size=(16, 18))
    run = robot.rollout(np.tile(q, (16, 1)), v, dt=1e-4, steps=3000, controller=damper, record=10)
    energy = bodies.energy(robot, run)
    assert np.diff(energy, axis=1).max() < 0
