"""Fixed-step integrators: order for every kind of joint, conservation, and recorded against staged evaluation."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.algorithms.steps import ORDERS, STEPS, step_named
from torsor.errors import UnknownName
from torsor.simulate import simulate
from torsor.simulate.stages import StepNotConverged

STEPS_OF_RUN = (80, 160, 320)
METHODS = ("euler", "semi_implicit", "rk4", "midpoint", "variational")


def top() -> ts.Robot:
    """A spherical joint followed by a revolute joint."""
    return (
        ts.Builder("top")
        .link("base")
        .link("top", mass=1, com=(0, 0, 0.3), inertia=(0.1, 0.2, 0.15))
        .link("arm", mass=0.5, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
        .joint("ball", "spherical", "base", "top")
        .joint("hinge", "revolute", "top", "arm", axis=(0, 1, 0), xyz=(0, 0, 0.4))
        .build()
    )


def drifter() -> ts.Robot:
    """Two bodies floating in space, with a revolute joint between them."""
    return (
        ts.Builder("drifter")
        .link("a", mass=1, com=(0.1, 0, 0.2), inertia=(0.1, 0.2, 0.15))
        .link("b", mass=0.7, com=(0, 0.2, 0), inertia=(0.03, 0.02, 0.04))
        .joint("hinge", "revolute", "a", "b", axis=(0, 1, 0), xyz=(0, 0, 0.4))
        .build(base="floating")
    )


ROBOTS = {"plain": ts.robots.two_link, "spherical": top, "floating": drifter}


@pytest.fixture(scope="module", params=ROBOTS)
def swinging(request):
    """(robot, q, v, state after 0.5 s by SciPy's DOP853 with tolerance 1e-13)."""
    robot = ROBOTS[request.param]()
    q, v = robot.random_configuration(1), 2 * np.random.default_rng(0).normal(size=robot.nv)
    end = simulate(robot, q, v, 0.5, integrator=ts.Adaptive("dop853", tolerance=1e-13), record="last")
    return robot, q, v, np.r_[end.q[-1], end.v[-1]]


@pytest.mark.parametrize("method", METHODS)
def test_each_integrator_has_its_order(swinging, method):
    robot, q, v, end = swinging
    errors = []
    for n in STEPS_OF_RUN:
        run = simulate(robot, q, v, 0.5, lambda t, q, v: np.zeros(robot.nv), integrator=method, dt=0.5 / n, record="last")
        errors.append(np.abs(np.r_[run.q[-1], run.v[-1]] - end).max())
    measured = np.log2(errors[-2] / errors[-1])
    assert measured == pytest.approx(ORDERS[method], abs=0.15)


@pytest.mark.parametrize("method", METHODS)
def test_constant_forces_in_a_kernel_equal_forces_from_a_function(swinging, method):
    """Both use the same source; implicit steps iterate a fixed number of times if recorded, otherwise to convergence."""
    robot, q, v, _ = swinging
    if method == "variational" and robot.nq > robot.nv:
        pytest.skip(
            "ten iterations recorded on rotations are 16 000 operations and more: seconds to compile, and the same source"
        )
    tau = np.linspace(-0.3, 0.4, robot.nv)
    recorded = simulate(robot, q, v, 0.05, tau, integrator=method)
    asked = simulate(robot, q, v, 0.05, lambda t, q, v: tau, integrator=method)
    np.testing.assert_allclose(recorded.q, asked.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(recorded.v, asked.v, rtol=0, atol=1e-11)


def slope(t, energy):
    """Slope of a straight line through the energies [J/s]."""
    return np.polyfit(t, energy, 1)[0]


def test_variational_energy_does_not_drift():
    """A double pendulum for 1e5 steps: the trend of the energy is far below its oscillation; with Euler it diverges."""
    robot = ts.robots.two_link()
    run = simulate(robot, [-1.2, 0.5], [0.0, 0.0], 1000.0, integrator="variational", dt=1e-2, record=10)
    swing = np.ptp(run.energy)
    assert swing < 5e-2
    assert abs(slope(run.t, run.energy)) * run.t[-1] < 0.02 * swing
    halves = np.array_split(run.energy, 2)
    assert abs(halves[0].mean() - halves[1].mean()) < 0.02 * swing
    other = simulate(robot, [-1.2, 0.5], [0.0, 0.0], 10.0, integrator="euler", dt=1e-2)
    assert other.energy[-1] - other.energy[0] > 100 * swing


def test_variational_integrator_conserves_momentum_of_a_floating_robot():
    """Noether: without gravity the momentum in world axes is constant to rounding in every step."""
    robot = drifter().with_gravity((0, 0, 0))
    q, v = robot.random_configuration(2), np.random.default_rng(3).normal(size=robot.nv)
    run = simulate(robot, q, v, 2.0, lambda t, q, v: np.zeros(7), integrator="variational", dt=1e-2)
    p = robot.momentum(run.q, run.v)
    np.testing.assert_allclose(p, np.broadcast_to(p[0], p.shape), atol=1e-11)
    rk4 = simulate(robot, q, v, 2.0, integrator="rk4", dt=1e-2)
    assert np.ptp(robot.momentum(rk4.q, rk4.v), axis=0).max() > 1e-9


def test_variational_on_rotations_does_not_drift():
    """The heavy top with an arm, 6000 steps of 1e-2 s."""
    robot = top()
    q, v = robot.random_configuration(1), np.array([0.5, 1.0, 2.0, -0.5])
    run = simulate(robot, q, v, 60.0, lambda t, q, v: np.zeros(4), integrator="variational", dt=1e-2, record=5)
    assert abs(slope(run.t, run.energy)) * run.t[-1] < 0.1 * np.ptp(run.energy)


def test_quaternions_stay_normalised_during_integration(swinging):
    robot, q, v, _ = swinging
    run = simulate(robot, q, v, 0.2)
    for i, _ in robot.model.outward():
        if robot.model.joint[i].nq > robot.model.joint[i].nv:
            end = robot.model.q_start[i] + robot.model.joint[i].nq
            np.testing.assert_allclose(np.linalg.norm(run.q[:, end - 4 : end], axis=1), 1, rtol=1e-14)


def test_implicit_step_that_is_too_long_recommends_a_smaller_dt():
    with pytest.raises(StepNotConverged, match="smaller dt"):
        simulate(ts.robots.two_link(), [0.0, 1.0], [30.0, -50.0], 5.0, lambda t, q, v: -30 * v, integrator="midpoint", dt=0.5)


def test_unknown_integrator_lists_the_known_names():
    assert set(STEPS) == set(ORDERS) == set(METHODS)
    with pytest.raises(UnknownName, match="variational"):
        step_named("leapfrog")


@pytest.mark.parametrize("method", ["dop853", "rk45", "lsoda", "radau"])
def test_adaptive_integrators_agree_with_the_reference_on_rotations(swinging, method):
    """Four methods of SciPy; local coordinates are re-centred when a rotation becomes large."""
    robot, q, v, end = swinging
    run = simulate(robot, q, v, 0.5, integrator=ts.Adaptive(method, tolerance=1e-9), record="last")
    np.testing.assert_allclose(np.r_[run.q[-1], run.v[-1]], end, atol=2e-6)


def test_adaptive_integrator_is_accurate_over_30_turns():
    """Local coordinates about one fixed rotation would become singular after half a turn."""
    robot = ts.Builder("body").link("a", mass=1, inertia=(1.0, 1.0, 2.0)).build(base="floating").with_gravity((0, 0, 0))
    spin = 20 * np.pi
    run = simulate(
        robot, robot.neutral(), [0, 0, spin, 0, 0, 0], 3.0, integrator=ts.Adaptive("dop853", tolerance=1e-11), record="last"
    )
    np.testing.assert_allclose(np.abs(run.q[-1]), [0, 0, 0, 0, 0, 0, 1], atol=1e-9)  # 30 turns: ± the identity
