"""Closed forms: balls, coins, skates, walls, driven joints, couplings, and systems without constraints."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torsor as ts
from tests.constraints.mechanisms import four_bar
from tests.constraints.test_dynamics import METHODS, G
from tests.tolerance import assert_close
from torsor import algorithms as alg
from torsor import constraints as C
from torsor.scalar import cos, sin


@pytest.fixture(scope="module")
def bar():
    robot = four_bar()
    return robot, robot.constrained(), robot.assemble([1.0, -0.5, 2.0])


def ball(radius=0.3, mass=2.0):
    I = 0.4 * mass * radius**2
    return ts.Builder("ball").link("ball", mass=mass, inertia=(I, I, I))


def test_ball_rolling_down_an_incline_matches_the_closed_form():
    """a = 5/7 g sin α along the slope, and the friction 2/7 m g sin α that turns it; N = m g cos α."""
    alpha, r, m = 0.4, 0.3, 2.0
    robot = ball(r, m).build(base="floating", gravity=(G * math.sin(alpha), 0, -G * math.cos(alpha)))
    system = robot.constrained(C.rolling("ball", r))
    q = np.array([0, 0, r, 0, 0, 0, 1.0])
    a, lam = system.forward_dynamics(q, np.zeros(6), np.zeros(6))
    down = 5 / 7 * G * math.sin(alpha)
    assert_close(a, [0, down / r, 0, down, 0, 0], 1e-13, floor=1)
    assert_close(lam, [m * G * math.cos(alpha), -2 / 7 * m * G * math.sin(alpha), 0], 1e-13, floor=1)
    spinning = system.project_velocity(q, [3.0, 5.0, 2.0, 1.0, 0, 0])
    assert_close(
        system.forward_dynamics(q, spinning, np.zeros(6)).a[3:],
        np.array([down, 0, 0]) + np.cross(spinning[3:], spinning[:3]),
        1e-9,
        floor=1,
    )


def test_coin_rolling_in_a_circle_matches_the_closed_form():
    """Steady turning with ψ̇ about the vertical of a thin disc that leans inwards by θ, its centre on a circle of radius R.

    In axes that turn with the disc (x outwards, y ahead, z up): û its axis, d the direction from its centre down to the
    contact.  Rolling: V + ω × r d = 0 with V = ψ̇ R ŷ and ω = ψ̇ ẑ + σ û gives the spin σ.  Euler about the centre:
    ψ̇ ẑ × L = r d × F with F = m (g ẑ − ψ̇² R x̂), from which ψ̇² follows (all but the weight is proportional to it).
    """
    m, r, theta, R = 1.5, 0.4, 0.3, 1.1
    I, Ia = m * r * r / 4, m * r * r / 2
    x, y, z = np.eye(3)
    u, d = np.array([math.cos(theta), 0, math.sin(theta)]), np.array([math.sin(theta), 0, -math.cos(theta)])
    sigma = -(R * y + np.cross(z, r * d))[1] / np.cross(u, r * d)[1]  # for ψ̇ = 1
    omega = z + sigma * u
    L = I * omega + (Ia - I) * (omega @ u) * u
    rate = math.sqrt(np.cross(r * d, m * G * z)[1] / (np.cross(z, L)[1] + np.cross(r * d, m * R * x)[1]))
    omega, velocity = rate * omega, rate * R * y
    coin = ts.Builder("coin").link("coin", mass=m, inertia=(Ia, I, I)).build(base="floating")
    axes = np.column_stack([u, y, -d])  # the body's x axis is the disc's
    assert math.isclose(np.linalg.det(axes), 1.0)
    q = np.array([R, 0, r * math.cos(theta), 0, math.sin(-theta / 2), 0, math.cos(theta / 2)])
    v = np.concatenate([axes.T @ omega, axes.T @ velocity])
    system = coin.constrained(C.rolling("coin", r, axis=(1, 0, 0)))
    assert_close(coin.pose(q, "coin")[:3, :3], axes, 1e-14, floor=1)
    assert_close(system.residual(q), np.zeros(3), 1e-14, floor=1)
    assert_close(system.slip(q, v), np.zeros(3), 1e-13, floor=1)
    a, lam = system.forward_dynamics(q, v, np.zeros(6))
    assert_close(axes @ a[:3], np.cross(rate * z, omega), floor=1)  # ω and V turn about the vertical with ψ̇
    assert_close(axes @ (a[3:] + np.cross(v[:3], v[3:])), np.cross(rate * z, velocity), floor=1)
    assert_close(lam, [m * G, -m * rate**2 * R, 0], floor=1)


def test_skate_on_a_slope_matches_the_closed_form():
    """The knife edge: no velocity across the blade, so gravity acts along it and ÿ across is θ̇ times the speed; θ̈ = 0."""
    m, slope = 1.7, 3.0
    skate = ts.Builder("skate").link("ice").link("skate", mass=m, inertia=(1, 1, 0.2)).joint("slide", "planar", "ice", "skate")
    robot = skate.build(gravity=(slope, 0, 0))
    theta, forward, spin = 0.6, 2.0, 1.5
    along, across = np.array([math.cos(theta), math.sin(theta)]), np.array([-math.sin(theta), math.cos(theta)])
    q = np.array([0.3, -0.2, theta])
    system = robot.constrained(C.pfaffian(lambda q: _side(robot, q), name="blade"))
    assert not system.holonomic.any()
    assert (system.residual(q) == 0).all()
    J = robot.jacobian(q, "skate")[[3, 4, 2]]
    v = np.linalg.solve(J, [*forward * along, spin])
    assert_close(system.slip(q, v), [0.0], 1e-13, floor=1)
    a, lam = system.forward_dynamics(q, v, np.zeros(3))
    world = J @ a + robot.jacobian_rate(q, v, "skate")[[3, 4, 2]] @ v
    assert_close(world, [*(slope * along[0] * along + forward * spin * across), 0], floor=1)
    assert_close(lam, [m * (forward * spin + slope * math.sin(theta))], floor=1)


def _side(robot, q):
    """The velocity across the blade, a row over v: the y of the body Jacobian's linear part."""
    return alg.jacobian(robot.model, q, "skate", "body")[4]


def test_prescribed_coordinate_follows_its_function():
    """q̈₁ = s̈(t) whatever the torques; the multiplier is the driving force."""
    arm = ts.robots.two_link()
    system = arm.constrained(C.prescribed(C.holonomic(lambda q: q[0], name="drive"), lambda t: [0.5 * sin(3 * t)]))
    t = 0.7
    q = np.array([0.5 * math.sin(3 * t), 0.4])
    v = np.array([1.5 * math.cos(3 * t), -0.3])
    assert_close(system.residual(q, time=t), [0.0], 1e-15, floor=1)
    assert_close(system.slip(q, v, time=t), [0.0], 1e-15, floor=1)
    for m in METHODS:
        a, lam = system.forward_dynamics(q, v, [5.0, 0.2], time=t, method=m)
        assert math.isclose(a[0], -4.5 * math.sin(3 * t), rel_tol=1e-12)
        assert_close(arm.inverse_dynamics(q, v, a), [5.0 + lam[0], 0.2], 1e-9, floor=1)
    times = np.array([0.1, 0.7, 2.0])
    batch = system.forward_dynamics(q, v, [5.0, 0.2], time=times).a[:, 0]
    assert_close(batch, -4.5 * np.sin(3 * times), floor=1)
    after = system.impact(q, [0.0, 0.0], 0.0, time=t)  # the joint gets the velocity of the moving wall
    assert math.isclose(after.v[0], 1.5 * math.cos(3 * t), rel_tol=1e-12)
    assert system.assemble([0.0, 0.4], time=t)[0] == pytest.approx(0.5 * math.sin(3 * t), abs=1e-12)


def test_timed_holonomic_function_equals_the_prescribed_constraint():
    arm = ts.robots.two_link()
    one = arm.constrained(C.prescribed(C.point_on_plane("tip", (1, 0, 0), through=(1, 0, 0)), lambda t: 0.2 * cos(t)))
    two = arm.constrained(C.holonomic(lambda q, t: cos(q[0]) + cos(q[0] + q[1]) - 1 - 0.2 * cos(t), timed=True, name="by hand"))
    q, v, t = [0.3, 0.9], [0.4, -1.0], 0.8
    for f in ("drift", "slip"):
        assert_close(getattr(one, f)(q, v, time=t), getattr(two, f)(q, v, time=t), 1e-13, floor=1)
    assert_close(one.forward_dynamics(q, v, [1, 2], time=t).a, two.forward_dynamics(q, v, [1, 2], time=t).a, floor=1)
    rate = one.jacobian_rate(q, v, time=t)
    assert_close(rate @ v, np.array(one.drift(q, v, time=t)) + _driven_part(t), floor=1)


def _driven_part(t):
    return np.array([-0.2 * math.cos(t)])  # ḃ = s̈


def test_impact_of_a_falling_ball_matches_the_closed_form():
    """v⁺ = −e v⁻ and the impulse (1 + e) m |v|."""
    robot = ball(0.1, 2.0).build(base="floating")
    ground = robot.constrained(C.point_on_plane("ball", (0, 0, 1), through=(0, 0, 0.1)))
    q, v = np.array([0, 0, 0.1, 0, 0, 0, 1.0]), np.array([0, 0, 0.3, 1.0, 0, -3.0])
    for e in (0.0, 0.5, 1.0):
        after = ground.impact(q, v, e)
        assert_close(after.v, [0, 0, 0.3, 1.0, 0, 3.0 * e], 1e-13, floor=1)
        assert_close(after.impulses, [(1 + e) * 2.0 * 3.0], 1e-13, floor=1)
    batch = ground.impact(q, v, np.array([0.0, 0.5, 1.0]))
    assert_close(batch.v[:, 5], 3.0 * np.array([0.0, 0.5, 1.0]), 1e-13, floor=1)


def test_impact_of_the_two_link_arm_matches_a_hand_calculation():
    """MR's 2R arm at Example 8.5's state with an impact in x: ι = −(1 + e) Av / (A M⁻¹ Aᵀ), Δv = M⁻¹Aᵀι by hand."""
    arm = ts.robots.two_link()
    wall = arm.constrained(C.point_on_plane("tip", (1, 0, 0), through=(1, 0, 0)))
    q, v = np.array([-np.pi / 3, 2 * np.pi / 3]), np.array([1.0, 1.0])
    A, W = np.array([0, -math.sqrt(3) / 2]), np.linalg.inv([[2, 0.5], [0.5, 1]])
    iota = -1.5 * (A @ v) / (A @ W @ A)
    after = wall.impact(q, v, 0.5)
    assert_close(after.impulses, [iota], 1e-13, floor=1)
    assert_close(after.v, v + W @ A * iota, 1e-13, floor=1)
    assert_close(after.v, [1.375, -0.5], 1e-13, floor=1)


def test_baumgarte_stabilization_decays_as_predicted():
    """A point mass in one dimension held to x = 0: ẍ = −2α ẋ − β² x exactly; critically damped with equal gains."""
    mass = (
        ts.Builder("m")
        .link("rail")
        .link("mass", mass=2.0, inertia=(1, 1, 1))
        .joint("x", "prismatic", "rail", "mass", axis=(1, 0, 0))
    )
    system = mass.build().constrained(C.point_on_plane("mass", (1, 0, 0)))
    a = system.forward_dynamics([0.3], [-0.2], [7.0], stabilization=(4.0, 4.0)).a
    assert_close(a, [-8 * -0.2 - 16 * 0.3], 1e-13, floor=1)
    x, v, h = 0.3, 0.0, 1e-3
    entry = lambda x, v: system.forward_dynamics([x], [v], [0.0], stabilization=(4.0, 4.0)).a[0]  # noqa: E731
    for _ in range(500):  # Runge–Kutta steps
        k1 = v, entry(x, v)
        k2 = v + h / 2 * k1[1], entry(x + h / 2 * k1[0], v + h / 2 * k1[1])
        k3 = v + h / 2 * k2[1], entry(x + h / 2 * k2[0], v + h / 2 * k2[1])
        k4 = v + h * k3[1], entry(x + h * k3[0], v + h * k3[1])
        x, v = (y + h / 6 * (a + 2 * b + 2 * c + d) for y, a, b, c, d in zip((x, v), k1, k2, k3, k4, strict=True))
    assert math.isclose(x, 0.3 * (1 + 4 * 0.5) * math.exp(-4 * 0.5), rel_tol=1e-9)


def test_coupling_constraint_equals_the_mimic_joint():
    """The Panda's fingers: a mimic joint, and independent joints with a coupling constraint."""
    mimic = ts.robots.panda()
    free = mimic.without_couplings()
    (name,) = [j for j in mimic.joints if mimic.joint(j).mimic is not None]
    leader, k, b = _mimic(mimic, name)
    system = free.constrained(C.coupling(name, leader, k, offset=b))
    rng = np.random.default_rng(0)
    q, v, tau = mimic.random_configuration(rng), rng.normal(size=mimic.nv), rng.normal(size=mimic.nv)
    own = [i for j in free.joints if j != name for i in range(free.nv)[free.joint(j).v_slice]]
    place = free.joint(name).v_slice
    q2, v2, tau2 = (np.zeros(free.nv) for _ in range(3))
    q2[own], v2[own], tau2[own] = q, v, tau
    q2[place], v2[place] = k * q[mimic.joint(leader).q_slice] + b, k * v[mimic.joint(leader).v_slice]
    assert_close(system.residual(q2), [0.0], 1e-14, floor=1)
    motion = system.forward_dynamics(q2, v2, tau2)
    assert_close(motion.a[own], mimic.forward_dynamics(q, v, tau), 1e-9, floor=1)
    tau = free.inverse_dynamics(q2, v2, motion.a)
    assert_close(tau[place], motion.multipliers, 1e-9, floor=1)  # the coupling force acts on the coupled joint
    assert system.mobility(q2).freedom == mimic.nv


def _mimic(robot, name):
    m = next(j.mimic for j in robot.description.joints if j.name == name)
    return m.joint, m.multiplier, m.offset


def test_project_ends_on_the_constraints_to_rounding(bar):
    robot, system, q = bar
    rng = np.random.default_rng(0)
    for _ in range(5):
        near, v = system.project(q + 0.1 * rng.normal(size=3), rng.normal(size=3))
        assert np.abs(system.residual(near)).max() < 1e-12
        assert np.abs(system.slip(near, v)).max() < 1e-12
    again = system.project(near)
    assert np.abs(again - near).max() < 1e-12
    held = system.assemble(q + 0.2, fixed=["A"])
    assert held[0] == (q + 0.2)[0]
    assert np.abs(system.residual(held)).max() < 1e-12
    moved = system.assemble(q + np.array([0, 0.1, 0.1]), free=["B", "D"])
    assert moved[0] == q[0]


def test_system_without_constraints_equals_the_free_robot():
    """A tree without loops and constraints has the dynamics of the tree."""
    arm = ts.robots.two_link()
    system = arm.constrained()
    q, v, tau = np.random.default_rng(0).normal(size=(3, 2))
    for m in METHODS:
        motion = system.forward_dynamics(q, v, tau, method=m)
        assert_close(motion.a, arm.forward_dynamics(q, v, tau), floor=1)
        assert motion.multipliers.shape == (0,)
    assert system.mobility().freedom == 2
    assert system.jacobian(q).shape == (0, 2) == system.jacobian_rate(q, v).shape
    assert_close(system.projector(q), np.eye(2), 1e-13, floor=1)
    assert_close(system.impact(q, v, 1.0).v, v, 1e-9, floor=1)
    assert (system.assemble(q) == q).all()


def test_energy_of_a_four_bar_changes_only_by_the_work_of_joint_forces(bar):
    """d/dt(K + P) = τᵀv on a four-bar: the constraint forces do no work."""
    robot, system, q = bar
    v = system.project_velocity(q, [1.5, 0, 0])
    tau = np.array([0.3, -0.2, 0.5])
    a = system.forward_dynamics(q, v, tau).a
    h = 1e-5

    def energy(s):
        x = robot.integrate(q, v + s / 2 * a, s)
        return robot.kinetic_energy(x, v + s * a) + robot.potential_energy(x)

    assert math.isclose((energy(h) - energy(-h)) / (2 * h), tau @ v, rel_tol=1e-6)
