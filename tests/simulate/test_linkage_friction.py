"""Friction, stops and constraints together in simulate: linkages with dry friction at every joint, standing quadrupeds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts
from torsor.actuators import friction
from torsor.errors import ArgumentError, UnknownName

BARS = ts.mechanisms.four_bar()
START = BARS.assemble()


def direction(q):
    """n with v = n v₁: the motion that the loop allows, per velocity of the crank."""
    n = np.linalg.svd(BARS.constrained().jacobian(q))[2][-1]
    return n / n[0]


def force_and_level(q, levels):
    """Along the one motion at rest: the force of gravity, and the dry friction of all joints."""
    n = direction(q)
    return -n @ BARS.without_loops().gravity_force(q), np.abs(n) @ levels


def acceleration(q, w, side, levels):
    """v̇₁ of the four-bar as a machine with one coordinate: nᵀM n ẇ = nᵀ(−h − M ṅ w) − side Σ c|n|."""
    tree, n, e = BARS.without_loops(), direction(q), 1e-6
    rate = (direction(q + e * n * w) - direction(q - e * n * w)) / (2 * e)
    M = tree.mass_matrix(q)
    return (n @ (-tree.bias_force(q, n * w) - M @ rate * w) - side * np.abs(n) @ levels) / (n @ M @ n)


def swing_to_rest(levels, end):
    """(t, q) where the four-bar with one coordinate comes to rest for good: half a swing after the other."""
    t, q = 0.0, START
    while abs((force := force_and_level(q, levels))[0]) > force[1]:
        side, begin = np.sign(force[0]), t

        def back(t, y, side=side, begin=begin):
            return y[3] * side if t > begin + 1e-6 else 1.0

        def rate(t, y, side=side):
            return [*(direction(y[:3]) * y[3]), acceleration(y[:3], y[3], side, levels)]

        back.terminal, back.direction = True, -1
        run = solve_ivp(rate, (t, end), [*q, 0.0], events=back, rtol=1e-9, atol=1e-10)
        t, q = run.t[-1], run.y[:3, -1]
    return t, q


@pytest.mark.night
@pytest.mark.parametrize("levels", [(0.02, 1.5, 0.3), (0.3, 0.3, 0.3)])
def test_four_bar_with_dry_friction_at_all_joints_comes_to_rest_where_its_one_coordinate_does(levels):
    robot = BARS.with_friction({j: friction.Coulomb(c) for j, c in zip(BARS.joints, levels, strict=True)})
    t, q = swing_to_rest(np.array(levels), 5.0)
    run = robot.simulate(START, np.zeros(3), t + 0.1, dt=4e-3)
    np.testing.assert_allclose(run.q[-1], q, atol=1e-6)
    assert (run.v[run.t > t + 1e-6] == 0).all()  # at rest bit for bit
    assert (run.v[run.t < t - 0.1][1:] != 0).any(axis=1).all()
    assert run.audit().relative < 1e-7


@pytest.mark.parametrize("levels", [(0.3, 0.3, 0.3), (0.02, 1.5, 0.3)])
def test_four_bar_breaks_away_when_no_forces_of_its_joints_hold_it(levels):
    """Its joints share the load: the crank slips at g + τ₁ = Σ c|n|, however the levels are spread."""
    levels = np.array(levels)
    robot = BARS.with_friction({j: friction.Coulomb(c) for j, c in zip(BARS.joints, levels, strict=True)})
    force, level = force_and_level(START, levels)
    slow, first = 0.5, force + np.array([-1.0, 1.0]) * level  # torques −first between which it is held
    begin = -first.mean()
    run = robot.simulate(START, np.zeros(3), 0.2 + level / slow, lambda t, q, v: [begin + slow * t, 0, 0], dt=0.02,
                         events=ts.simulate.Event(lambda t, q, v: v[0] - 1e-9, name="slips"))  # fmt: skip
    (slip,) = run.events
    assert slip.t == pytest.approx(level / slow, abs=1e-4)
    assert (run.v[run.t < level / slow - 1e-3] == 0).all()


def test_loads_of_dry_friction_are_those_behind_it_at_rest_too():
    """τ = ℓ + φ, |φ| ≤ c + μ|ℓ|: a block under a load ℓ₀ is held from ℓ₀ − (c + μ ℓ₀) to ℓ₀ + c + μ ℓ₀."""
    c, mu, g = 0.5, 0.2, 9.81
    block = ts.Builder("lift").link("g").link("b", mass=1.0).joint("z", "prismatic", "g", "b", axis=(0, 0, 1)).build()
    block = block.with_friction({"z": friction.LoadDependent(friction.Coulomb(c), mu)})
    for side in (-1, 1):
        edge = g + side * (c + mu * g)
        held, slips = (block.simulate([0.0], [0.0], 0.1, [edge + side * e]) for e in (-1e-6, 1e-3))
        assert (held.v == 0).all()
        assert side * slips.v[-1, 0] > 0
        loads = slips.tau[-1] - block.without_terms("friction").inverse_dynamics([0.0], [0.0], np.diff(slips.v[-2:, 0]) / 1e-3)
        assert side * loads[0] == pytest.approx(c + mu * abs(slips.tau[-1, 0] - loads[0]), rel=1e-6)


def dog_on_its_feet(level):
    dog = ts.robots.quadruped()
    bent = {"HFE": 0.8, "KFE": -1.6}
    q = dog.neutral().copy()
    joints = [name for name in dog.joints if name != "floating_base"]
    for name in joints:
        q[dog.joint(name).q_slice] = bent.get(name[-3:], 0.0)
    feet = [ts.constraints.point_at(f"{leg}_FOOT", dog.pose(q, f"{leg}_FOOT")[:3, 3]) for leg in ("FL", "FR", "HL", "HR")]
    return dog.with_friction(dict.fromkeys(joints, friction.Coulomb(level))).with_constraints(*feet), q


@pytest.mark.night
def test_quadruped_on_held_feet_stands_by_joint_friction_alone():
    """12 joints hold 6 motions: many forces do.  Thrown, all of it comes to rest, the base too, bit for bit."""
    dog, q = dog_on_its_feet(5.0)
    assert (dog.simulate(q, np.zeros(18), 0.05, dt=5e-3).v == 0).all()
    v = dog.constrained().project_velocity(q, [0, 0.3, 0, 0.2, 0.1, 0.05, *[0.0] * 12])
    run = dog.simulate(q, v, 0.1, dt=5e-3)
    assert (run.v[-1] == 0).all()
    assert np.abs(run.residual).max() < 1e-12
    assert run.audit().relative < 1e-6
    E = run.energy[0] - run.energy[-1]
    assert run.audit().dissipated[-1] == pytest.approx(E, rel=1e-5)


@pytest.mark.parametrize(
    "law",
    [friction.Coulomb(0.4), friction.Coulomb(0.4).smooth(0.2), friction.LuGre(friction.Coulomb(0.4), 300.0, 2.0)],
    ids=["dry", "smooth", "LuGre"],
)
def test_multipliers_of_a_linkage_have_the_friction_of_its_joints(law):
    """M a + h + φ = τ + Aᵀλ with a from differences of v along the run."""
    robot = BARS.with_friction({"crank": law, "rocker": law})
    v = BARS.constrained().project_velocity(START, [2.0, 0, 0])
    run = robot.simulate(START, v, 0.02, dt=1e-4)
    k, tree = 100, BARS.without_loops()
    a = (8 * (run.v[k + 1] - run.v[k - 1]) - (run.v[k + 2] - run.v[k - 2])) / 12e-4
    phi = np.zeros(3)
    for row in (0, 2):
        rate, z = run.v[k, row], run.states["z"][k, row // 2] if law.states else None
        phi[row] = law.force(rate) if z is None else law.force(z, rate)
    A, needed = BARS.constrained().jacobian(run.q[k]), tree.inverse_dynamics(run.q[k], run.v[k], a) + phi
    np.testing.assert_allclose(A.T @ run.multipliers[k], needed, atol=1e-5 * np.abs(needed).max())


def test_stops_are_terms_of_the_robot():
    arm = ts.robots.rp_arm().with_stops({"joint2": 0.5})
    assert arm.terms == {"joint2 stop": "restitution 0.5 at the limits of joint2"}
    assert arm.rename({"joint2": "slide"}).simulate([0.0, 0.5], [0.0, 3.0], 1.0).events[0].name == "slide: upper stop"
    assert arm.without_terms("stop") == ts.robots.rp_arm()
    assert arm.forward_dynamics([0.0, 0.5], [0, 0], [0, 0]).tolist() == ts.robots.rp_arm().forward_dynamics(
        [0.0, 0.5], [0, 0], [0, 0]
    ).tolist()  # fmt: skip
    for wrong in (1.5, -0.1, "bouncy", np.nan):
        with pytest.raises(ArgumentError, match="the restitution must be a number between 0 and 1"):
            arm.with_stops({"joint1": wrong})
    with pytest.raises(UnknownName, match="joint with stops"):
        arm.with_stops({"elbow": 0.1})
    with pytest.raises(ArgumentError, match="are both stops of joint 'joint2'"):
        arm.with_stops(0.1)
    with pytest.raises(ArgumentError, match="joint2 stop acts by impulses, in steps of first order"):
        arm.rollout([0.0, 0.5], [0.0, 0.0], dt=1e-3, steps=2, integrator="rk4")


def test_stabilization_at_velocities_keeps_the_loop_closed_to_second_order():
    v = BARS.constrained().project_velocity(START, [2.0, 0, 0])
    errors = []
    for dt in (2e-3, 1e-3):
        robot = BARS.with_constraints(stabilization="velocity")
        errors.append(np.abs(robot.simulate(START, v, 0.3, integrator="semi_implicit", dt=dt).residual).max())
    assert 0 < errors[1] < 0.3 * errors[0] < 1e-4
    with pytest.raises(ArgumentError, match="'velocity' is for euler and semi_implicit"):
        robot.simulate(START, v, 0.1)
