"""Integrate a mechanism by RK4, with projection onto the constraints (to rounding) after each step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Track(NamedTuple):
    """States of the motion, one row per step."""

    q: np.ndarray
    v: np.ndarray
    energy: np.ndarray


def march(system, q, v, step, steps, tau=None, method="auto"):
    """(q, v) at the start and after each step, with the total energy [J]; for robots whose q̇ is v."""
    robot = system.robot
    tau = np.zeros(robot.nv) if tau is None else np.asarray(tau, float)
    q, v = np.asarray(q, float), np.asarray(v, float)
    passed = [(q, v)]
    for _ in range(steps):
        v1, a1 = v, _acceleration(system, q, v, tau, method)
        v2, a2 = v + a1 * (step / 2), _acceleration(system, q + v1 * (step / 2), v + a1 * (step / 2), tau, method)
        v3, a3 = v + a2 * (step / 2), _acceleration(system, q + v2 * (step / 2), v + a2 * (step / 2), tau, method)
        v4, a4 = v + a3 * step, _acceleration(system, q + v3 * step, v + a3 * step, tau, method)
        q = q + (v1 + 2 * v2 + 2 * v3 + v4) * (step / 6)
        v = v + (a1 + 2 * a2 + 2 * a3 + a4) * (step / 6)
        q, v = system.project(q, v)
        passed.append((q, v))
    qs, vs = (np.array(part) for part in zip(*passed, strict=True))
    return Track(qs, vs, robot.kinetic_energy(qs, vs) + robot.potential_energy(qs))


def _acceleration(system, q, v, tau, method):
    return system.forward_dynamics(q, v, tau, method=method).a
