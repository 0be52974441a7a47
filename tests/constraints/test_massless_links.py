"""Links without mass inside a loop: M of the tree is singular, the saddle system of M and A is not."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor import mechanisms
from torsor.model.friction import Coulomb

TAU = np.array([1.0, 0.2, -0.3])


def bars(mass: float = 0.0) -> ts.Robot:
    return mechanisms.four_bar(masses=(0.4, mass, 0.8))


@pytest.fixture(scope="module")
def state() -> tuple[np.ndarray, np.ndarray]:
    q = bars(0.1).assemble([1.0, 0, 0], fixed=["crank"])
    return q, bars(0.1).constrained().project_velocity(q, [1.0, 0.0, 0.0])


def saddle(robot: ts.Robot, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """a of [[M, −Aᵀ], [A, 0]] [a; λ] = [τ − h; −Ȧv] by least squares, from the bare M, h, A."""
    held = robot.constrained()
    M, A = robot.mass_matrix(q), held.jacobian(q)
    K = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
    right = np.concatenate([tau - robot.bias_force(q, v), -held.drift(q, v)])
    return np.linalg.lstsq(K, right, rcond=1e-12)[0][: robot.nv]


@pytest.mark.parametrize("method", ["auto", "direct", "multipliers", "null_space"])
def test_forward_dynamics_with_a_massless_coupler_solves_the_saddle_system(state, method):
    robot, (q, v) = bars(), state
    assert np.linalg.matrix_rank(robot.mass_matrix(q)) == 2
    a, lam = robot.constrained().forward_dynamics(q, v, TAU, method=method)
    held = robot.constrained()
    assert a == pytest.approx(saddle(robot, q, v, TAU), abs=1e-11)
    left = robot.mass_matrix(q) @ a + robot.bias_force(q, v) - TAU - held.jacobian(q).T @ lam
    assert np.abs(left).max() < 1e-12
    assert robot.forward_dynamics(np.tile(q, (2, 1)), v, TAU) == pytest.approx(np.tile(a, (2, 1)), abs=1e-11)


def test_inverse_dynamics_with_a_massless_coupler_is_undone_by_forward_dynamics(state):
    q, v = state
    for robot in (bars(), bars().with_actuated(["crank"])):
        a = robot.forward_dynamics(q, v, TAU)
        tau = robot.inverse_dynamics(q, v, a)
        assert robot.forward_dynamics(q, v, tau) == pytest.approx(a, abs=1e-11)


def test_results_with_a_massless_coupler_are_limits_of_small_masses(state):
    """Each difference to the mechanism with a small mass ε falls as ε."""
    (q, v), none = state, bars()
    calls = {
        "derivatives": lambda r: np.concatenate(r.forward_dynamics_derivatives(q, v, TAU)),
        "gradient": lambda r: np.concatenate(r.vjp("forward_dynamics")(q, v, TAU, np.ones(3))),
        "reactions": lambda r: np.stack(list(r.constrained().reactions(q, v, TAU).values())),
        "impact": lambda r: r.constrained().impact(q, v + np.array([0, 0.1, 0])).v,
        "projector": lambda r: r.constrained().projector(q),
        "inverse mass": lambda r: r.constrained().inverse_mass_matrix(q),
        "motions": lambda r: r.constrained().mobility(q).motions,
        "step": lambda r: np.concatenate(r.step(q, v, TAU, 1e-3)),
        "rollout": lambda r: r.rollout(q, v, np.tile(TAU, (20, 1)), dt=1e-3, integrator="rk4").v,
        "simulation": lambda r: r.simulate(q, v, 0.05, dt=1e-3).v,
        "task": lambda r: r.task("rocker", ("wz",)).mass_matrix(q),
    }
    for name, call in calls.items():
        exact = call(none)
        off = [np.abs(call(bars(mass)) - exact).max() / np.abs(exact).max() for mass in (1e-3, 1e-4)]
        assert off[0] < 0.1, name
        assert off[1] < 0.11 * off[0] + 1e-12, name


def test_simulation_with_a_massless_coupler_keeps_energy_and_stops_by_friction(state):
    q, v = state
    run = bars().simulate(q, v, 0.5, dt=1e-3)
    energy = bars().kinetic_energy(run.q, run.v) + bars().potential_energy(run.q)
    assert np.ptp(energy) < 1e-6 * np.abs(energy).max()
    rest = bars().with_gravity((0, 0, 0)).with_friction({"crank": Coulomb(0.5)}).simulate(q, v, 2.0, dt=1e-3)
    assert np.abs(rest.v[-1]).max() < 1e-12


def test_a_massless_rod_that_turns_about_its_own_axis_is_named():
    """The ends of a rod on two balls leave its spin free, and the spin moves no mass."""
    b = ts.Builder("rod").link("ground").link("crank", 1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1)).link("rod")
    b.joint("hinge", "revolute", "ground", "crank").joint("ball", "spherical", "crank", "rod", xyz=(1, 0, 0))
    robot = b.loop("end", "spherical", "rod", "ground", xyz=(1, 0, 0), child_xyz=(1, 1, 0)).build()
    q = robot.assemble()
    with pytest.raises(ts.SingularError, match="'ball' moves no mass"):
        robot.forward_dynamics(q, np.zeros(4), np.zeros(4))
