"""Elastic joints compared with closed forms, with the rigid robot, and with their energy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torsor as ts
from torsor.algorithms import potential_energy
from torsor.errors import ArgumentError, ModelError, UnknownName
from torsor.flexible import Spring, SpringLaw
from torsor.mechanics.flexible import elastic_joints
from torsor.mechanics.flexible import joint_equations as elastic
from torsor.scalar import Dual, exp, log, sqrt

RNG = np.random.default_rng(5)
m, r, I, B, K, D, g = 2.0, 0.4, 0.3, 0.15, 800.0, 3.0, 9.81


def pendulum(gravity=(0, 0, -g), **joint):
    """A pendulum about y: (I + m r²) q̈ − m g r sin q = τ, q from upright."""
    return (
        ts.Builder("one")
        .link("base")
        .link("arm", mass=m, com=(0, 0, r), inertia=(I, I, 0.01))
        .joint("hinge", "revolute", "base", "arm", axis=(0, 1, 0), **joint)
        .build(gravity=gravity)
    )


def test_elastic_joint_of_one_link_matches_the_closed_form():
    """De Luca & Tomei's single elastic joint, derived by hand: forward and inverse dynamics."""
    one = elastic_joints(pendulum(), Spring(K, rotor_inertia=B))
    J, w = I + m * r**2, m * g * r
    q, v, a, j, s, th, om, tau = RNG.normal(size=8)
    got = one.forward_dynamics([q], [v], [th], [om], [tau])
    t = K * (th - q)
    np.testing.assert_allclose(np.ravel(got), [(t + w * np.sin(q)) / J, (tau - t) / B], rtol=1e-13)
    np.testing.assert_allclose(one.joint_force([q], [v], [th], [om]), [t], rtol=1e-14)

    t = J * a - w * np.sin(q)
    t1 = J * j - w * np.cos(q) * v
    t2 = J * s - w * (np.cos(q) * a - np.sin(q) * v**2)
    drive = one.inverse_dynamics([q], [v], [a], [j], [s])
    expected = [t + B * (a + t2 / K), q + t / K, v + t1 / K, a + t2 / K]
    np.testing.assert_allclose(np.ravel(drive), expected, rtol=1e-13)


def test_frequencies_of_one_elastic_joint_match_the_closed_form():
    """ω² = K (1/J + 1/B) with a free motor, K/J with a locked motor; hanging, gravity adds m g r."""
    J = I + m * r**2
    weightless = elastic_joints(pendulum((0, 0, 0)), Spring(K, rotor_inertia=B))
    free = weightless.frequencies([0.3])
    np.testing.assert_allclose(free, [0, np.sqrt(K * (1 / J + 1 / B))], rtol=1e-12, atol=1e-5)  # √ of rounding errors
    np.testing.assert_array_equal(weightless.frequencies([[0.1], [0.2], [0.3]])[2], free)
    np.testing.assert_allclose(weightless.frequencies([0.3], "locked"), [np.sqrt(K / J)], rtol=1e-13)
    hanging = elastic_joints(pendulum(), Spring(K, rotor_inertia=B))
    np.testing.assert_allclose(hanging.frequencies([np.pi], "locked"), [np.sqrt((K + m * g * r) / J)], rtol=1e-13)
    np.testing.assert_allclose(hanging.frequencies([[np.pi], [0.0]], "locked")[1], [np.sqrt((K - m * g * r) / J)], rtol=1e-13)


@pytest.fixture(scope="module")
def arm():
    return ts.robots.ur5()


@pytest.fixture(scope="module")
def springs(arm):
    stiffness = dict(zip(arm.joints, (4e4, 4e4, 3e4, 1e4, 1e4, 8e3), strict=True))
    return {n: Spring(k, rotor_inertia=2.0 if k > 2e4 else 0.5) for n, k in stiffness.items() if n != arm.joints[3]}


def test_forward_dynamics_of_elastic_joints_inverts_inverse_dynamics(arm, springs):
    """The motor torques computed for a motion produce that motion; one joint of the six is rigid."""
    system = elastic_joints(arm, springs)
    assert system.joints == tuple(n for n in arm.joints if n != arm.joints[3])
    q, v, a, j, s = RNG.normal(size=(5, 7, 6))
    drive = system.inverse_dynamics(q, v, a, j, s)
    a2, alpha = system.forward_dynamics(q, v, drive.theta, drive.omega, drive.tau)
    # τ_e = K δ loses K |θ| / |τ_e| ≈ 10³ in δ = θ − q, and M⁻¹ as much as cond M ≈ 10³
    np.testing.assert_allclose(a2, a, atol=1e-9 * np.abs(a).max())
    np.testing.assert_allclose(alpha, drive.alpha, atol=1e-9 * np.abs(drive.alpha).max())


def test_rotor_motion_is_the_rate_of_rotor_positions(arm, springs):
    """θ(t) along a polynomial motion, differentiated by central differences of fourth order."""
    system = elastic_joints(arm, springs)
    c = RNG.normal(size=(6, 6))
    derivatives = [np.polynomial.Polynomial(np.r_[row]) for row in c]

    def motion(t):
        return [np.array([p.deriv(k)(t) if k else p(t) for p in derivatives]) for k in range(5)]

    h, t = 1e-2, 0.3
    drives = [system.inverse_dynamics(*motion(t + k * h)) for k in range(-3, 4)]
    theta = np.array([d.theta for d in drives])
    rate = np.tensordot([-1, 9, -45, 0, 45, -9, 1], theta, 1) / (60 * h)
    second = np.tensordot([2, -27, 270, -490, 270, -27, 2], theta, 1) / (180 * h * h)
    np.testing.assert_allclose(drives[3].omega, rate, rtol=1e-7)
    np.testing.assert_allclose(drives[3].alpha, second, rtol=1e-6)


def test_second_derivative_of_the_quaternion_is_correct_with_a_floating_base():
    """A floating base with one elastic joint: q̈ of the quaternion matters to τ̈_e; checked on a finely integrated motion."""
    robot = (
        ts.Builder("free")
        .link("hull", mass=4.0, com=(0.1, 0, 0.05), inertia=(0.2, 0.3, 0.25))
        .link("arm", mass=m, com=(0.1, 0.2, r), inertia=(I, I, 0.1))
        .joint("hinge", "revolute", "hull", "arm", axis=(0, 1, 0), xyz=(0.2, 0, 0.1))
        .build(base="floating")
    )
    system = elastic_joints(robot, {"hinge": Spring(K, rotor_inertia=B)})
    c = RNG.normal(size=(4, robot.nv))

    def rates(t):  # v and its three derivatives
        return [c[0] + c[1] * t + c[2] * t**2 / 2 + c[3] * t**3 / 6, c[1] + c[2] * t + c[3] * t**2 / 2, c[2] + c[3] * t, c[3]]

    def after(q, t, steps=20):  # RK4 on the coordinates
        dt = t / steps
        f = lambda q, t: robot.configuration_rate(q, rates(t)[0])  # noqa: E731
        for n in range(steps):
            k1 = f(q, n * dt)
            k2 = f(q + dt / 2 * k1, (n + 0.5) * dt)
            k3 = f(q + dt / 2 * k2, (n + 0.5) * dt)
            q = q + dt / 6 * (k1 + 2 * k2 + 2 * k3 + f(q + dt * k3, (n + 1) * dt))
        return q

    q0, h = robot.random_configuration(RNG), 0.01
    drives = [system.inverse_dynamics(after(q0, k * h) if k else q0, *rates(k * h)) for k in range(-3, 4)]
    theta = np.array([d.theta for d in drives])
    np.testing.assert_allclose(drives[3].omega, np.tensordot([-1, 9, -45, 0, 45, -9, 1], theta, 1) / (60 * h), rtol=1e-7)
    second = np.tensordot([2, -27, 270, -490, 270, -27, 2], theta, 1) / (180 * h * h)
    np.testing.assert_allclose(drives[3].alpha, second, rtol=1e-6)


def test_elastic_joints_tend_to_rigid_joints_for_large_stiffness():
    """As K grows, the torque of a motion tends to that of rigid joints with the rotors as armatures, as 1/K."""
    q, v, a, j, s = RNG.normal(size=(5, 1))
    rigid = pendulum(armature=B).inverse_dynamics(q, v, a)
    off = [elastic_joints(pendulum(armature=B), Spring(k)).inverse_dynamics(q, v, a, j, s).tau - rigid for k in (1e3, 1e4, 1e5)]
    np.testing.assert_allclose(off[0] / off[1], 10, rtol=1e-8)
    np.testing.assert_allclose(off[1] / off[2], 10, rtol=1e-8)


def test_elastic_joint_uses_the_armature_as_rotor_inertia(arm):
    """The armature becomes the motor inertia unless a rotor inertia is given; without either the joint is refused."""
    with_armature = elastic_joints(pendulum(armature=B), Spring(K))
    with_rotor = elastic_joints(pendulum(), Spring(K, rotor_inertia=B))
    state = RNG.normal(size=(5, 1))
    np.testing.assert_array_equal(with_armature.forward_dynamics(*state), with_rotor.forward_dynamics(*state))
    with pytest.raises(ArgumentError, match="rotor_inertia"):
        elastic_joints(pendulum(), Spring(K))


def test_energy_rate_of_elastic_joints_equals_power_minus_dissipation(arm):
    """dE/dt = τ·(motor velocities) − dissipation, with the energy's rate by duals; springs damped, one joint rigid."""
    rigid = arm.joints[2]
    system = elastic_joints(arm, {n: Spring(5e3, 4.0, rotor_inertia=0.3) for n in arm.joints if n != rigid})
    elastic_rows = [k for k, n in enumerate(arm.joints) if n != rigid]
    q, v, tau = RNG.normal(size=(3, 6))
    theta, omega = q[elastic_rows] + 0.01 * RNG.normal(size=5), v[elastic_rows] + RNG.normal(size=5)
    a, alpha = system.forward_dynamics(q, v, theta, omega, tau)

    def moving(x, rate):
        return [Dual(*pair) for pair in zip(x.tolist(), rate.tolist(), strict=True)]

    of, dq, dtheta = system.elastic, moving(q, v), moving(theta, omega)
    energy = elastic.kinetic_energy(of, dq, moving(v, a), moving(omega, alpha)) + elastic.elastic_energy(of, dq, dtheta)
    energy = energy + potential_energy(of.model, dq)
    power = tau[elastic_rows] @ omega + tau[2] * v[2] - system.dissipation(q, v, theta, omega)
    assert energy.rate == pytest.approx(power, rel=1e-9)  # sums of powers 10³ times as large
    assert energy.value == pytest.approx(system.energy(q, v, theta, omega).total, rel=1e-12)
    assert system.dissipation(q, v, theta, omega) == pytest.approx(4.0 * np.sum((omega - v[elastic_rows]) ** 2), rel=1e-12)


def test_elastic_pendulum_conserves_energy():
    """A swinging elastic pendulum under RK4: the drift falls with the fourth power of the step at least."""
    system = elastic_joints(ts.robots.two_link(), Spring(500.0, rotor_inertia=0.2))

    def drift(dt, steps):
        x = np.array([0.3, 0.5, 0, 0, 0.35, 0.45, 0, 0])

        def f(x):
            q, v, th, om = x.reshape(4, 2)
            a, alpha = system.forward_dynamics(q, v, th, om, [0, 0])
            return np.concatenate([v, a, om, alpha])

        def energy(x):
            return system.energy(*x.reshape(4, 2)).total

        before = energy(x)
        for _ in range(steps):
            k1 = f(x)
            k2 = f(x + dt / 2 * k1)
            k3 = f(x + dt / 2 * k2)
            x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + f(x + dt * k3))
        return abs(energy(x) - before)

    coarse, fine = drift(2e-3, 250), drift(1e-3, 500)
    assert coarse < 1e-4  # of 20 J
    assert fine < coarse / 12


def test_custom_spring_law_works_and_names_missing_functions():
    """A stiffening spring, τ = k δ + 10⁴ δ³: forward, inverse and equilibrium; missing inverse or energy is an error."""
    k = 600.0

    def torque(d, rate):
        return k * d + 1e4 * d * d * d

    def inverse(t):  # Cardano, one real root: d³ + p d = t/1e4, p = k/1e4
        p, h = k / 1e4, t / 1e4 / 2
        root = sqrt(h * h + (p / 3) * (p / 3) * (p / 3))
        return _cbrt(h + root) - _cbrt(root - h)

    law = SpringLaw(torque, inverse=inverse, stored=lambda d: k * d * d / 2 + 1e4 * d * d * d * d / 4, rotor_inertia=B)
    one = elastic_joints(pendulum(), law)
    q, v, a, j, s = RNG.normal(size=(5, 1)) * 0.5
    drive = one.inverse_dynamics(q, v, a, j, s)
    forward = one.forward_dynamics(q, v, drive.theta, drive.omega, drive.tau)
    np.testing.assert_allclose(np.ravel(forward), [a[0], drive.alpha[0]], rtol=1e-9)
    theta, tau = one.equilibrium(q)
    np.testing.assert_allclose(np.ravel(one.forward_dynamics(q, [0.0], theta, [0.0], tau)), 0, atol=1e-11)

    d = 0.03
    stiffness = one.stiffness([0.2], [0.2 + d])
    np.testing.assert_allclose(stiffness[1], [-(k + 3e4 * d * d), k + 3e4 * d * d], rtol=1e-13)

    bare = elastic_joints(pendulum(), SpringLaw(torque, rotor_inertia=B))
    with pytest.raises(ArgumentError, match="inverse"):
        bare.inverse_dynamics(q, v, a, j, s)
    with pytest.raises(ArgumentError, match="stored"):
        bare.energy(q, v, q, v)
    with pytest.raises(ArgumentError, match="inverse"):
        SpringLaw(torque, inverse=lambda t: t / k)
    damped = elastic_joints(
        pendulum(), SpringLaw(lambda d, rate: k * d + rate * rate * rate, inverse=lambda t: t / k, rotor_inertia=B)
    )
    with pytest.raises(ArgumentError, match="damping"):
        damped.inverse_dynamics(q, v, a, j, s)


def _cbrt(x):
    return exp(log(x) / 3)


def test_inverse_dynamics_of_a_damped_spring_needs_theta():
    """With a damped spring θ is given and the rest follows; the snap is not used."""
    one = elastic_joints(pendulum(), Spring(K, D, rotor_inertia=B))
    q, v, a, j = RNG.normal(size=(4, 1))
    theta = q + 0.01
    drive = one.inverse_dynamics(q, v, a, j, [np.pi], theta=theta)
    np.testing.assert_array_equal(drive.theta, theta)
    forward = one.forward_dynamics(q, v, theta, drive.omega, drive.tau)
    np.testing.assert_allclose(np.ravel(forward), [a[0], drive.alpha[0]], rtol=1e-11)
    J, w = I + m * r**2, m * g * r  # δ̈ = (τ̇_e − K δ̇)/D
    rate = (J * j - w * np.cos(q) * v - K * (drive.omega - v)) / D
    np.testing.assert_allclose(drive.alpha, a + rate, rtol=1e-11)
    with pytest.raises(ArgumentError, match="theta"):
        one.inverse_dynamics(q, v, a, j, [0.0])


def test_elastic_joints_accept_wrenches_and_batches(arm, springs):
    """A wrench on the tool acts on the links; a batch has the bits of its states; floats agree with the kernel."""
    system = elastic_joints(arm, springs)
    q, v, tau = RNG.normal(size=(3, 9, 6))
    theta, omega = RNG.normal(size=(2, 9, 5))
    F = RNG.normal(size=(9, 6))
    a, alpha = system.forward_dynamics(q, v, theta, omega, tau, {"tool0": F})
    on_links = np.array(tau)
    on_links[:, [0, 1, 2, 4, 5]] = system.joint_force(q, v, theta, omega)
    # forces of K δ ≈ 10⁴ N·m through M⁻¹, cond M ≈ 10³
    expected = arm.forward_dynamics(q, v, on_links, {"tool0": F})
    np.testing.assert_allclose(a, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    one = system.forward_dynamics(q[4], v[4], theta[4], omega[4], tau[4], {"tool0": F[4]})
    np.testing.assert_array_equal(a[4], one[0])
    np.testing.assert_array_equal(alpha[4], one[1])
    lists = [x[4].tolist() for x in (q, v, theta, omega, tau)]
    direct = elastic.forward_dynamics(system.elastic, *lists, {"tool0": F[4].tolist()})
    np.testing.assert_allclose(direct[0], a[4], rtol=1e-9, atol=1e-9 * np.abs(a[4]).max())
    np.testing.assert_allclose(direct[1], alpha[4], rtol=1e-13)


def test_elastic_robot_can_be_pickled_and_printed(arm, springs):
    again = pickle.loads(pickle.dumps(elastic_joints(arm, springs)))
    assert again.joints == elastic_joints(arm, springs).joints
    assert "shoulder" in repr(again)


def test_elastic_joints_reject_invalid_arguments(arm):
    with pytest.raises(UnknownName, match="elbow"):
        elastic_joints(arm, {"elbow": Spring(K, rotor_inertia=B)})
    with pytest.raises(ArgumentError, match="stiffness"):
        Spring(0.0)
    with pytest.raises(ArgumentError, match="damping"):
        Spring(K, -1.0)
    with pytest.raises(ArgumentError, match="rotor"):
        Spring(K, rotor_inertia=0.0)
    ball = ts.Builder("ball").link("a").link("b", mass=1.0, inertia=(1, 1, 1)).joint("j", "spherical", "a", "b").build()
    with pytest.raises(ModelError, match="one coordinate"):
        elastic_joints(ball, {"j": Spring(K, rotor_inertia=B)})
    one = elastic_joints(pendulum(), Spring(K, rotor_inertia=B))
    with pytest.raises(ArgumentError, match="theta"):
        one.forward_dynamics([0.0], [0.0], [0.0, 1.0], [0.0], [0.0])
    with pytest.raises(UnknownName, match="free, locked"):
        one.frequencies([0.0], "held")
    with pytest.raises(UnknownName, match="frame"):
        one.forward_dynamics([0.0], [0.0], [0.0], [0.0], [0.0], {"nowhere": np.zeros(6)})


def test_elastic_joints_refuse_robots_with_rotors():
    """A rotor on an elastic joint spins with the motor, not with the link, which these equations do not contain."""
    robot = ts.robots.two_link().with_rotors({"joint1": {"mass": 0.1, "inertia": (1e-4, 1e-4, 2e-4), "ratio": 10}})
    with pytest.raises(ts.ModelError, match="rotor"):
        ts.flexible.elastic_joints(robot, ts.flexible.Spring(100.0))
