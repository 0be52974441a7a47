"""Springs and beams on random trees with every joint type: the equations are consistent with each other and with the energy."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import trees
from tests.flexible.beam_arms import energy
from torsor import Robot, algorithms
from torsor.algorithms.equation import At, EquationOfMotion
from torsor.algorithms.equation.dynamics import forward_dynamics, hybrid_acceleration, hybrid_force
from torsor.algorithms.equation.motor_motion import motor_motion
from torsor.flexible import SeriesSpring, beam
from torsor.scalar import Dual

SEEDS = st.integers(0, 10**6)


def as_duals(x, rate) -> list[Dual]:
    return [Dual(float(a), float(b)) for a, b in zip(x, rate, strict=True)]


def configuration_rate(model, q, v) -> list[float]:
    return algorithms.configuration_rate(model, list(map(float, q)), list(map(float, v)))


@settings(max_examples=15 if os.environ.get("TORSOR_NIGHT") else 5, deadline=None)
@given(SEEDS)
def test_random_trees_with_elastic_joints_are_consistent(seed):
    """Inverse then forward dynamics, and the power of all forces, on all joints that can have a spring."""
    robot = Robot(trees.random_tree(seed))
    system = robot.with_springs(SeriesSpring(500.0, rotor_inertia=0.3))
    m, n = system.model, robot.nv
    rng = np.random.default_rng(seed)
    q, v, a, jerk, snap = system.random_configuration(rng).tolist(), *rng.normal(size=(4, system.nv)).tolist()
    motion = motor_motion(EquationOfMotion(m), q, v, a, jerk, snap)
    back = forward_dynamics(EquationOfMotion(m), motion.q, motion.v, motion.tau)
    M = np.array(algorithms.crba(m, motion.q))
    # τ_e is computed from θ − q with an error of ε K |θ|; M⁻¹ amplifies the error
    loss = 500.0 * (1 + np.abs(motion.q).max(initial=0)) + np.abs(motion.tau).max()
    np.testing.assert_allclose(back[:n], a[:n], atol=1e-13 * loss * np.linalg.norm(np.linalg.inv(M)) * n + 1e-12)
    np.testing.assert_allclose(back[n:], motion.a[n:], atol=1e-13 * loss / 0.3)

    dq, dv = as_duals(motion.q, configuration_rate(m, motion.q, motion.v)), as_duals(motion.v, motion.a)
    E = algorithms.kinetic_energy(m, dq, dv) + algorithms.potential_energy(m, dq)
    E = E + sum(term.energy(At(m, dq, dv)) for term in m.terms)
    powers = np.multiply(motion.tau, motion.v)
    assert E.rate == pytest.approx(powers.sum(), abs=1e-11 * (np.abs(powers).sum() + loss * np.abs(motion.v).max()))


@settings(max_examples=10 if os.environ.get("TORSOR_NIGHT") else 3, deadline=None)
@given(SEEDS)
def test_random_trees_with_beams_are_consistent(seed):
    """Two beams somewhere in a tree: M is the kinetic energy's, forward undoes inverse, and power is the rate of energy."""
    description = trees.random_tree(seed, bodies=4)
    robot = Robot(description)
    rng = np.random.default_rng(seed)
    bars = {}
    for name in rng.choice(robot.links[1:], size=2, replace=False):
        rotary = (2e-3, 3e-3) if rng.random() < 0.5 else (0, 0)
        bars[str(name)] = beam(
            0.6, mass_per_length=1.0, EI_y=40.0, EI_z=30.0, GJ=20.0, polar_per_length=5e-3, rotary_per_length=rotary,
            modes=(1, 1, 1), damping=1e-3, xyz=rng.normal(size=3) * 0.1, rpy=rng.normal(size=3),
        )  # fmt: skip
    arm = robot.with_beams(bars)
    m, n, e = arm.model, robot.nv, EquationOfMotion(arm.model)
    q = [*robot.random_configuration(rng).tolist(), *(0.03 * rng.normal(size=6)).tolist()]
    v, a = rng.normal(size=(2, n + 6)).tolist()
    joints = [1] * n + [0] * 6
    given = q, v, a, [0.0] * (n + 6), joints
    tau, a = hybrid_force(e, *given), hybrid_acceleration(e, *given)
    M = np.array(algorithms.crba(m, q))
    assert algorithms.kinetic_energy(m, q, v) == pytest.approx(np.array(v) @ M @ v / 2, rel=1e-11)
    np.testing.assert_array_equal(tau[n:], 0.0)
    back = forward_dynamics(e, q, v, tau)
    np.testing.assert_allclose(back, a, atol=1e-13 * np.linalg.cond(M) * np.abs(a).max())

    dq, dv, at = as_duals(q, configuration_rate(m, q, v)), as_duals(v, a), At(m, q, v)
    E = energy(arm, dq, dv)
    power = np.dot(tau, v) - sum(term.heat(at) for term in m.terms)
    scale = np.abs(M @ a).max() * np.abs(v).max() * len(v)
    assert E.rate == pytest.approx(power, abs=1e-10 * scale)
