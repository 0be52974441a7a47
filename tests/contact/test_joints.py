"""Stops and dry friction in steps and rollouts: the same solve as contacts, under loops too."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.contact import bodies
from torsor.model.friction import Coulomb, LoadDependent, StaticKinetic, StaticViscous
from torsor.simulate import per_robot
from torsor.simulate.complementarity import solve


def sliders(restitution=None, gravity=(0.0, 0.0, 0.0), **laws) -> ts.Robot:
    """Two sliders in series, of 1 and 2 kg, with upper stops at 1.0 and 0.6 m."""
    builder = ts.Builder("sliders").link("ground").link("first", mass=1.0).link("second", mass=2.0)
    builder.joint("j1", "prismatic", "ground", "first", axis=(1, 0, 0), lower=-5.0, upper=1.0)
    builder.joint("j2", "prismatic", "first", "second", axis=(1, 0, 0), lower=-5.0, upper=0.6)
    robot = builder.build().with_gravity(gravity)
    robot = robot if restitution is None else robot.with_stops(restitution)
    return robot.with_friction(laws) if laws else robot


def test_strikes_at_one_time_bounce_together():
    """Both stops in one step: v⁺ = −e v⁻ in both joints, as masses 1 and 2 with v = (1, 0.6) at (1.0, 0.6) m."""
    run = sliders(1.0).rollout([0, 0], [1.0, 0.6], dt=1e-2, steps=150)
    np.testing.assert_allclose(run.v[-1], [-1, -0.6], atol=1e-11)
    assert (run.q.max(axis=0) <= [1 + 1e-12, 0.6 + 1e-12]).all()


def test_restitution_never_raises_the_energy_of_coupled_impacts():
    """Newton's restitution alone may; the energy is compared with that of a step without stops, which has its own error."""
    free = ts.robots.ur5().with_gravity((0, 0, 0))
    arm = free.with_stops(0.9)
    rng = np.random.default_rng(0)
    q = np.where(rng.random((300, 6)) < 0.6, np.array(arm.upper) - 1e-4 * rng.random((300, 6)), 0.0)
    v = rng.normal(size=(300, 6))
    run = arm.rollout(q, v, dt=1e-3, steps=1)
    before, after = (arm.kinetic_energy(q, x) for x in (free.step(q, v, np.zeros(6), 1e-3)[1], run.v[:, 0]))
    assert (after <= before * (1 + 1e-12)).all()
    assert (after < 0.99 * before).mean() > 0.3  # e = 0.9 takes some
    assert (run.q[:, 0] <= np.array(arm.upper) + 1e-12).all()


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_pendulum_rests_on_its_stop(e):
    builder = ts.Builder("pendulum").link("ground").link("bob", mass=1.0, com=(1, 0, 0))
    builder.joint("hinge", "revolute", "ground", "bob", axis=(0, 1, 0), lower=-1.0, upper=0.3)
    run = builder.build().with_stops(e).rollout([0.0], [0.0], dt=1e-3, steps=4000)
    assert abs(run.q[-1, 0] - 0.3) < 1e-9
    assert abs(run.v[-1, 0]) < 1e-9
    assert run.q.max() <= 0.3 + 1e-12


def test_joint_beyond_its_stop_returns_slowly():
    run = sliders(0.0).rollout([1.05, 0.0], [0.0, 0.0], dt=1e-3, steps=600)
    assert run.q[-1, 0] < 1.0
    assert abs(run.v).max() <= 0.1 + 1e-12


@pytest.mark.parametrize("scale", [0.5, 3.0, 30.0])
def test_step_with_dry_friction_solves_the_complementarity_problem(scale):
    """M (v⁺ − v) = dt (f − φ), |φ| ≤ F, φ against v⁺: Lemke's method on the same problem."""
    arm, level, dt = ts.robots.ur5(), 5.0, 1e-3
    rubbing = arm.with_friction(dict.fromkeys(arm.joints, Coulomb(level)))
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-3, 3, (200, 6)), scale * 1e-3 * rng.normal(size=(200, 6))
    tau = scale * 10 * rng.normal(size=(200, 6))
    _, after = rubbing.step(q, v, tau, dt)
    for k in range(200):
        W = np.linalg.inv(arm.mass_matrix(q[k]))
        free = v[k] + dt * arm.forward_dynamics(q[k], v[k], tau[k])
        expected = solve(W, free, -dt * level * np.ones(6), dt * level * np.ones(6)).w
        np.testing.assert_allclose(after[k], expected, atol=1e-12 * max(1, abs(free).max()))


def test_joints_that_stick_stay_and_those_that_slide_follow_the_simulation():
    """Events locate where joints stop in ``simulate``; the rollout is first order in dt."""
    arm = ts.robots.ur5()
    rubbing = arm.with_friction(dict.fromkeys(arm.joints, StaticViscous(5.0, 0.5)))
    q = np.array([0, -1, 1, 0, 0.5, 0.0])
    exact = rubbing.simulate(q, np.zeros(6), 0.5)
    assert (exact.v[-1, 4:] == 0).all()  # two joints stick
    errors = [
        abs(rubbing.rollout(q, np.zeros(6), dt=dt, steps=round(0.5 / dt)).q[-1] - exact.q[-1]).max() for dt in (2e-3, 1e-3)
    ]
    assert errors[1] < 5e-3
    assert 1.6 < errors[0] / errors[1] < 2.4
    run = rubbing.rollout(q, np.zeros(6), dt=1e-3, steps=500)
    assert abs(run.q[:, 4:] - q[4:]).max() < 1e-12


def test_static_friction_is_larger_than_kinetic_friction():
    """A block held by 1.5 N, which slides with 1.0 N: 1.4 N leave it at rest, 1.6 N accelerate it with 0.6 N."""
    builder = ts.Builder("block").link("ground").link("block", mass=2.0)
    builder.joint("rail", "prismatic", "ground", "block", axis=(1, 0, 0))
    block = builder.build().with_friction({"rail": StaticKinetic(1.5, 1.0)})
    still = block.rollout([0.0], [0.0], np.full((500, 1), 1.4), dt=1e-3)
    assert abs(still.q).max() < 1e-12
    moved = block.rollout([0.0], [0.0], np.full((500, 1), 1.6), dt=1e-3)
    assert abs(moved.v[-1, 0] - 0.6 / 2.0 * 0.5) < 1e-3


def test_load_dependent_friction_holds_within_its_own_load():
    """φ = F + μ|ℓ|, ℓ = τ − φ: at rest ℓ = 0, so that a joint sticks up to |τ| = F; beyond it τ − φ = (τ − F)/(1 + μ)."""
    builder = ts.Builder("block").link("ground").link("block", mass=2.0)
    builder.joint("rail", "prismatic", "ground", "block", axis=(1, 0, 0))
    block = builder.build().with_friction({"rail": LoadDependent(Coulomb(1.0), 0.2)})
    for force, accelerates in ((0.99, False), (1.5, True)):
        run = block.rollout([0.0], [0.0], np.full((100, 1), force), dt=1e-3)
        exact = block.simulate([0.0], [0.0], 0.1, control=[force])
        np.testing.assert_allclose(run.v[-1], exact.v[-1], atol=1e-9)
        assert (abs(run.v[-1, 0]) > 1e-6) == accelerates


def test_friction_may_vary_by_robot():
    arm = sliders(j1=Coulomb(1.0), j2=Coulomb(1.0))
    factors = np.array([0.5, 1.0, 2.0])
    run = arm.rollout(np.zeros((3, 2)), np.array([1.0, 0.3]), dt=1e-3, steps=100, vary={"friction": {"j1": per_robot(factors)}})
    for k, factor in enumerate(factors):
        alone = sliders(j1=Coulomb(factor), j2=Coulomb(1.0)).rollout(np.zeros(2), np.array([1.0, 0.3]), dt=1e-3, steps=100)
        np.testing.assert_allclose(run.v[k], alone.v, rtol=1e-13, atol=1e-15)


def crank() -> tuple[ts.Robot, np.ndarray]:
    """A four-bar whose crank may have limits, and where it is assembled."""
    robot = ts.mechanisms.four_bar().with_joint_type("crank", "revolute")
    return robot, np.asarray(robot.constrained().assemble(robot.neutral()))


@pytest.mark.parametrize("terms", [
    pytest.param("friction", marks=pytest.mark.night), pytest.param("stops", marks=pytest.mark.night), "stops and friction",
])  # fmt: skip
def test_stops_and_dry_friction_under_a_loop_follow_the_simulation(terms):
    linkage, q = crank()
    limited = linkage.with_limits("crank", lower=-0.5, upper=0.5)
    robot = {
        "friction": linkage.with_friction({"crank": Coulomb(0.5)}),
        "stops": limited.with_stops(0.5),
        "stops and friction": limited.with_friction(dict.fromkeys(linkage.joints, Coulomb(0.2))).with_stops(0.0),
    }[terms]
    run, exact = robot.rollout(q, np.zeros(3), dt=2e-4, steps=5000), robot.simulate(q, np.zeros(3), 1.0)
    assert abs(run.q[-1] - exact.q[-1]).max() < 5e-3
    assert run.residual[0] < 1e-9


def test_contact_under_a_loop_keeps_the_loop_closed_and_the_point_above_the_plane():
    linkage, q = crank()
    height = linkage.pose(q, "coupler_point")[1, 3] - 0.05
    touching = linkage.with_contacts(
        ts.contacts.point("coupler_point"), ts.contacts.plane((0, 1, 0), (0, height, 0)), friction=0.3
    )
    run = touching.rollout(q, np.zeros(3), dt=1e-3, steps=1000)
    assert run.residual[0] < 1e-9
    assert run.contact_gap.min() > -1e-6
    assert run.contact_forces[-1, 0, 1] > 1.0  # it rests on the plane
    assert abs(run.v[-1]).max() < 1e-6


def test_stops_dry_friction_and_contact_act_together():
    """A leg on a rail: the foot stands, the knee rests on its stop, the hip sticks; forces balance the weight."""
    builder = ts.Builder("leg").link("ground").link("body", mass=5.0).link("thigh", mass=1.0, com=(0, 0, -0.2))
    builder.link("shin", mass=1.0, com=(0, 0, -0.2)).joint("rail", "prismatic", "ground", "body", axis=(0, 0, 1))
    builder.joint("hip", "revolute", "body", "thigh", axis=(0, 1, 0), lower=-3.0, upper=3.0)
    builder.joint("knee", "revolute", "thigh", "shin", axis=(0, 1, 0), xyz=(0, 0, -0.4), lower=0.0, upper=2.0)
    leg = builder.build().with_stops({"knee": 0.0}).with_friction({"hip": Coulomb(20.0)})
    leg = leg.with_contacts(ts.contacts.point("shin", (0, 0, -0.4)), ts.contacts.plane(), friction=0.8)
    run = leg.rollout([0.8, 0.0, 0.0], np.zeros(3), dt=1e-3, steps=1000)
    assert abs(run.v[-1]).max() < 1e-9
    np.testing.assert_allclose(run.contact_forces[-1, 0], [0, 0, 7 * bodies.G], atol=1e-6)
    assert run.contact_residual[-1] < 1e-10


def test_integrators_without_impulses_are_refused_by_the_name_of_the_term():
    with pytest.raises(ts.ArgumentError, match=r"stops acts by impulses.*semi_implicit"):
        sliders(0.5).rollout([0, 0], [0, 0], dt=1e-3, steps=3, integrator="rk4")


def test_quadruped_with_dry_joints_comes_to_rest_on_its_feet():
    """Feet that stand and joints that stick depend on each other: 24 rows of 18 motions.  It crept by 0.4 mm/s."""
    robot = ts.robots.quadruped().with_ground(friction=0.8)
    legs = [name for name in robot.joints if name != "floating_base"]
    servos = {name: ts.actuators.PositionServo(kp=20.0, kv=0.5) for name in legs}
    robot = robot.with_actuators(servos).with_friction(dict.fromkeys(legs, Coulomb(0.1)))
    stance = np.array([0.0, 0.8, -1.6] * 4)
    q = np.concatenate([[0, 0, 0.3, 0, 0, 0, 1], stance])
    q[2] -= robot.contact_gap(q).min()
    command = np.concatenate([np.zeros(6), stance])
    run = robot.rollout(q, np.zeros(18), command, dt=1e-3, steps=1000, integrator="implicit")
    assert np.median(run.contact_residual) < 1e-7
    assert abs(run.v[-1]).max() < 1e-6
