"""Springs at joints, parallel and in series with a motor, compared with closed forms, the rigid robot and their energy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torsor as ts
from torsor.actuators import Drive, Gearbox, Motor
from torsor.algorithms import kinetic_energy, potential_energy
from torsor.algorithms.equation import At
from torsor.errors import ArgumentError, ModelError, UnknownName
from torsor.flexible import SeriesSpring, Spring, SpringLaw
from torsor.mechanics.flexible.frequencies import frequencies
from torsor.model.friction import Coulomb, LuGre, Viscous
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
    """De Luca & Tomei's single elastic joint, derived by hand: forward dynamics, and the motor's motion."""
    one = pendulum().with_springs(SeriesSpring(K, rotor_inertia=B))
    assert one.joints == ("hinge", "hinge/motor")
    J, w = I + m * r**2, m * g * r
    q, v, a, j, s, th, om, tau = RNG.normal(size=8)
    got = one.forward_dynamics([q, th], [v, om], [0, tau])
    t = K * (th - q)
    np.testing.assert_allclose(got, [(t + w * np.sin(q)) / J, (tau - t) / B], rtol=1e-13)
    alpha = (tau - t) / B
    np.testing.assert_allclose(one.inverse_dynamics([q, th], [v, om], [a, alpha]), [J * a - w * np.sin(q) - t, tau], rtol=1e-12)

    t = J * a - w * np.sin(q)
    t1 = J * j - w * np.cos(q) * v
    t2 = J * s - w * (np.cos(q) * a - np.sin(q) * v**2)
    motion = one.motor_motion([q], [v], [a], [j], [s])
    np.testing.assert_allclose(motion.tau, [0, t + B * (a + t2 / K)], rtol=1e-13)
    np.testing.assert_allclose(motion.q, [q, q + t / K], rtol=1e-13)
    np.testing.assert_allclose(motion.v, [v, v + t1 / K], rtol=1e-13)
    np.testing.assert_allclose(motion.a, [a, a + t2 / K], rtol=1e-13)


def vibrations(robot, q, motors="free"):
    """Angular frequencies of small undamped vibrations: K x = ω² M x, K = ∂τ/∂q at rest; motors free or locked."""
    state = robot.state(q, motors="equilibrium")
    still = np.zeros_like(state.q)
    stiffness, M = robot.inverse_dynamics_derivatives(state.q, still, still).q, robot.mass_matrix(state.q)
    keep = [k for k, name in enumerate(robot.joints) if motors == "free" or not name.endswith("/motor")]
    return frequencies(M[np.ix_(keep, keep)], stiffness[np.ix_(keep, keep)])


def test_frequencies_of_one_elastic_joint_match_the_closed_form():
    """ω² = K (1/J + 1/B) with a free motor, K/J with a locked motor; hanging, gravity adds m g r."""
    J = I + m * r**2
    weightless = pendulum((0, 0, 0)).with_springs(SeriesSpring(K, rotor_inertia=B))
    np.testing.assert_allclose(vibrations(weightless, [0.3]), [0, np.sqrt(K * (1 / J + 1 / B))], rtol=1e-12, atol=1e-5)
    np.testing.assert_allclose(vibrations(weightless, [0.3], "locked"), [np.sqrt(K / J)], rtol=1e-13)
    hanging = pendulum().with_springs(SeriesSpring(K, rotor_inertia=B))
    np.testing.assert_allclose(vibrations(hanging, [np.pi], "locked"), [np.sqrt((K + m * g * r) / J)], rtol=1e-13)
    np.testing.assert_allclose(vibrations(hanging, [0.0], "locked"), [np.sqrt((K - m * g * r) / J)], rtol=1e-13)


def test_parallel_spring_holds_its_joint_at_the_rest_angle():
    """K (rest − q) − D v + preload on the pendulum, by hand; its energy and heat."""
    q, v, tau = RNG.normal(size=3)
    J, w = I + m * r**2, m * g * r
    one = pendulum().with_springs({"hinge": Spring(K, D, rest=0.2, preload=1.5)})
    assert one.nq == 1
    assert one.actuated == ("hinge",)
    spring = K * (0.2 - q) - D * v + 1.5
    np.testing.assert_allclose(one.forward_dynamics([q], [v], [tau]), [(tau + spring + w * np.sin(q)) / J], rtol=1e-13)
    (term,) = one.model.terms
    at = At(one.model, [q], [v])
    assert term.energy(at) == pytest.approx(K * (q - 0.2) ** 2 / 2 - 1.5 * q, rel=1e-13)
    assert term.heat(at) == pytest.approx(D * v**2, rel=1e-12)
    slope = one.forward_dynamics_derivatives([q], [v], [tau]).q
    np.testing.assert_allclose(slope, [[(w * np.cos(q) - K) / J]], rtol=1e-13)


@pytest.fixture(scope="module")
def arm():
    return ts.robots.ur5()


@pytest.fixture(scope="module")
def springs(arm):
    stiffness = dict(zip(arm.joints, (4e4, 4e4, 3e4, 1e4, 1e4, 8e3), strict=True))
    return {n: SeriesSpring(k, rotor_inertia=2.0 if k > 2e4 else 0.5) for n, k in stiffness.items() if n != arm.joints[3]}


def test_programs_with_motors_are_as_short_as_elastic_joints_alone(arm):
    """Operations of forward dynamics with a motor at each joint: a wrapper of rigid dynamics alone had 622."""
    elastic = arm.with_springs(SeriesSpring(5e3, rotor_inertia=0.2))
    assert arm.program("forward_dynamics").operations == 580
    assert elastic.program("forward_dynamics").operations <= 628


def test_motor_motion_is_inverted_by_forward_dynamics(arm, springs):
    """The motor torques computed for a motion produce that motion; one joint of the six is rigid, joints and motors rub."""
    system = arm.with_springs(springs)
    assert system.joints == (*arm.joints, *(f"{n}/motor" for n in arm.joints if n != arm.joints[3]))
    assert system.actuated == (arm.joints[3], *system.joints[6:])
    q, v, a, j, s = RNG.normal(size=(5, 7, 6))
    rubbing = system.with_friction({arm.joints[1]: Viscous(3.0), f"{arm.joints[0]}/motor": Viscous(2.0)})
    for robot in (system, rubbing):
        motion = robot.motor_motion(q, v, a, j, s)
        np.testing.assert_array_equal(motion.tau[:, [0, 1, 2, 4, 5]], 0.0)
        # τ_e = K δ loses K |θ| / |τ_e| ≈ 10³ in δ = θ − q, and M⁻¹ as much as cond M ≈ 10³
        back = robot.forward_dynamics(motion.q, motion.v, motion.tau)
        np.testing.assert_allclose(back, motion.a, atol=1e-9 * np.abs(motion.a).max())
        np.testing.assert_array_equal(motion.a[:, :6], a)


def test_rotor_motion_is_the_rate_of_rotor_positions(arm, springs):
    """θ(t) along a polynomial motion, differentiated by central differences of sixth order."""
    system = arm.with_springs(springs)
    c = RNG.normal(size=(6, 6))
    derivatives = [np.polynomial.Polynomial(np.r_[row]) for row in c]

    def motion(t):
        return [np.array([p.deriv(k)(t) if k else p(t) for p in derivatives]) for k in range(5)]

    h, t = 1e-2, 0.3
    drives = [system.motor_motion(*motion(t + k * h)) for k in range(-3, 4)]
    check_rates(drives, h, 6)


def check_rates(drives, h, first):
    """ω and α of seven equidistant motions against the differences of θ, from coordinate ``first`` of v on."""
    theta = np.array([d.q[-(len(d.v) - first) :] for d in drives])
    rate = np.tensordot([-1, 9, -45, 0, 45, -9, 1], theta, 1) / (60 * h)
    second = np.tensordot([2, -27, 270, -490, 270, -27, 2], theta, 1) / (180 * h * h)
    np.testing.assert_allclose(drives[3].v[first:], rate, rtol=1e-7)
    np.testing.assert_allclose(drives[3].a[first:], second, rtol=1e-6)


def test_second_derivative_of_the_quaternion_is_correct_with_a_floating_base():
    """A floating base with one elastic joint: q̈ of the quaternion matters to τ̈_e; checked on a finely integrated motion."""
    robot = (
        ts.Builder("free")
        .link("hull", mass=4.0, com=(0.1, 0, 0.05), inertia=(0.2, 0.3, 0.25))
        .link("arm", mass=m, com=(0.1, 0.2, r), inertia=(I, I, 0.1))
        .joint("hinge", "revolute", "hull", "arm", axis=(0, 1, 0), xyz=(0.2, 0, 0.1))
        .build(base="floating")
    )
    system = robot.with_springs({"hinge": SeriesSpring(K, rotor_inertia=B)})
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
    drives = [system.motor_motion(after(q0, k * h) if k else q0, *rates(k * h)) for k in range(-3, 4)]
    check_rates(drives, h, robot.nv)


def test_elastic_joints_tend_to_rigid_joints_for_large_stiffness():
    """As K grows, the torque of a motion tends to that of rigid joints with the rotors as armatures, as 1/K."""
    q, v, a, j, s = RNG.normal(size=(5, 1))
    one = pendulum(armature=B)
    rigid = one.inverse_dynamics(q, v, a)
    off = [one.with_springs(SeriesSpring(k)).motor_motion(q, v, a, j, s).tau[1:] - rigid for k in (1e3, 1e4, 1e5)]
    np.testing.assert_allclose(off[0] / off[1], 10, rtol=1e-8)
    np.testing.assert_allclose(off[1] / off[2], 10, rtol=1e-8)


def test_elastic_joint_uses_the_armature_as_rotor_inertia():
    """The armature becomes the motor inertia unless a rotor inertia is given; without either the joint is refused."""
    with_armature = pendulum(armature=B).with_springs(SeriesSpring(K))
    with_rotor = pendulum().with_springs(SeriesSpring(K, rotor_inertia=B))
    state = RNG.normal(size=(3, 2))
    np.testing.assert_array_equal(with_armature.forward_dynamics(*state), with_rotor.forward_dynamics(*state))
    assert with_armature.joint("hinge").armature == (0.0,)
    assert with_armature.joint("hinge/motor").armature == (B,)
    with pytest.raises(ArgumentError, match="rotor_inertia"):
        pendulum().with_springs(SeriesSpring(K))


def test_geared_rotor_of_an_elastic_joint_spins_with_its_motor():
    """½ vᵀM v of links and rotor, the rotor's by hand: ½ m c² and ½ ωᵀI ω with ω = ω_mount + G θ̇ u, on a moving mount."""
    mass, inertia, G, u, c = 0.7, np.diag([2e-3, 2e-3, 3e-3]), 30.0, np.array([0, 0, 1.0]), np.array([0.1, 0.05, 0.02])
    arm = ts.robots.ur5()
    joint, mount = arm.joints[2], arm.joint(arm.joints[2]).parent
    rotor = {"mass": mass, "inertia": inertia, "ratio": G, "xyz": c}
    system = arm.with_rotors({joint: rotor}).with_springs({joint: SeriesSpring(900.0)})
    q, v = system.random_configuration(1), RNG.normal(size=system.nv)
    n = arm.nv
    twist = arm.jacobian(q[:n], mount, expressed_in="body") @ v[:n]
    spin = twist[:3] + G * v[n] * u
    moved = twist[3:] + np.cross(twist[:3], c)
    energy = arm.kinetic_energy(q[:n], v[:n]) + (mass * moved @ moved + spin @ inertia @ spin) / 2
    assert system.kinetic_energy(q, v) == pytest.approx(energy, rel=1e-12)
    assert v @ system.mass_matrix(q) @ v / 2 == pytest.approx(energy, rel=1e-12)
    a = system.forward_dynamics(q, v, np.ones(system.nv))
    np.testing.assert_allclose(system.inverse_dynamics(q, v, a), 1.0, rtol=1e-9)


def test_energy_rate_of_elastic_joints_equals_power_minus_dissipation(arm):
    """dE/dt = τ·(motor velocities) − dissipation, with the energy's rate by duals; springs damped, one joint rigid."""
    rigid = arm.joints[2]
    system = arm.with_springs({n: SeriesSpring(5e3, 4.0, rotor_inertia=0.3) for n in arm.joints if n != rigid})
    rows = [k for k, n in enumerate(arm.joints) if n != rigid]
    q, v, tau = RNG.normal(size=(3, 11))
    q[6:], v[6:], tau[rows] = q[rows] + 0.01 * RNG.normal(size=5), v[rows] + RNG.normal(size=5), 0.0
    a = system.forward_dynamics(q, v, tau)

    def moving(x, rate):
        return [Dual(*pair) for pair in zip(x.tolist(), rate.tolist(), strict=True)]

    m, dq, dv = system.model, moving(q, v), moving(v, a)
    energy = kinetic_energy(m, dq, dv) + potential_energy(m, dq) + sum(term.energy(At(m, dq, dv)) for term in m.terms)
    heat = sum(term.heat(At(m, q.tolist(), v.tolist())) for term in m.terms)
    assert heat == pytest.approx(4.0 * np.sum((v[6:] - v[rows]) ** 2), rel=1e-12)
    assert energy.rate == pytest.approx(tau @ v - heat, rel=1e-9)  # sums of powers 10³ times as large


def test_elastic_pendulum_conserves_energy():
    """A swinging elastic arm under RK4: the drift falls with the fourth power of the step at least."""
    system = ts.robots.two_link().with_springs(SeriesSpring(500.0, rotor_inertia=0.2))

    def drift(dt):
        run = system.simulate([0.3, 0.5, 0.35, 0.45], np.zeros(4), 0.5, dt=dt)
        assert set(run.energies) == {"kinetic", "potential", "elastic"}
        return abs(run.energy[-1] - run.energy[0])

    coarse, fine = drift(2e-3), drift(1e-3)
    assert coarse < 1e-4  # of 20 J
    assert fine < coarse / 12


def test_custom_spring_law_works_and_names_missing_functions():
    """A stiffening spring, τ = k δ + 10⁴ δ³: forward, motor's motion and equilibrium; missing inverse or energy is an error."""
    k = 600.0

    def torque(d, rate):
        return k * d + 1e4 * d * d * d

    def inverse(t):  # Cardano, one real root: d³ + p d = t/1e4, p = k/1e4
        p, h = k / 1e4, t / 1e4 / 2
        root = sqrt(h * h + (p / 3) * (p / 3) * (p / 3))
        return _cbrt(h + root) - _cbrt(root - h)

    law = SpringLaw(torque, inverse=inverse, stored=lambda d: k * d * d / 2 + 1e4 * d * d * d * d / 4)
    one = pendulum().with_springs(SeriesSpring(law, rotor_inertia=B))
    q, v, a, j, s = RNG.normal(size=(5, 1)) * 0.5
    motion = one.motor_motion(q, v, a, j, s)
    np.testing.assert_allclose(one.forward_dynamics(motion.q, motion.v, motion.tau), motion.a, rtol=1e-9)
    rest = one.state(q, motors="equilibrium")
    held = [0.0, one.inverse_dynamics(rest.q, [0.0, 0.0], [0.0, 0.0])[1]]
    np.testing.assert_allclose(one.forward_dynamics(rest.q, [0.0, 0.0], held), 0, atol=1e-11)

    d = 0.03
    stiffness = one.inverse_dynamics_derivatives([0.2, 0.2 + d], [0.0, 0.0], [0.0, 0.0]).q
    np.testing.assert_allclose(stiffness[1], [-(k + 3e4 * d * d), k + 3e4 * d * d], rtol=1e-13)

    bare = pendulum().with_springs(SeriesSpring(SpringLaw(torque), rotor_inertia=B))
    with pytest.raises(ArgumentError, match="inverse"):
        bare.motor_motion(q, v, a, j, s)
    with pytest.raises(ArgumentError, match="stored"):
        bare.energies([0.1, 0.2], [0.0, 0.0])
    with pytest.raises(ArgumentError, match="inverse"):
        SpringLaw(torque, inverse=lambda t: t / k)
    cubic = SpringLaw(lambda d, rate: k * d + rate * rate * rate, inverse=lambda t: t / k)
    with pytest.raises(ArgumentError, match="damping"):
        pendulum().with_springs(SeriesSpring(cubic, rotor_inertia=B)).motor_motion(q, v, a, j, s)


def _cbrt(x):
    return exp(log(x) / 3)


def test_motor_motion_of_a_damped_spring_needs_the_motor_position():
    """With a damped spring θ is given and the rest follows; the snap is not used."""
    one = pendulum().with_springs(SeriesSpring(K, D, rotor_inertia=B))
    q, v, a, j = RNG.normal(size=(4, 1))
    full = np.array([q[0], q[0] + 0.01])
    motion = one.motor_motion(full, v, a, j, [np.pi])
    np.testing.assert_array_equal(motion.q, full)
    np.testing.assert_allclose(one.forward_dynamics(full, motion.v, motion.tau), motion.a, rtol=1e-11)
    J, w = I + m * r**2, m * g * r  # δ̈ = (τ̇_e − K δ̇)/D
    rate = (J * j - w * np.cos(q) * v - K * (motion.v[1] - v)) / D
    np.testing.assert_allclose(motion.a[1:], a + rate, rtol=1e-11)
    with pytest.raises(ArgumentError, match="motor's position"):
        one.motor_motion(q, v, a, j, [0.0])


def test_elastic_joints_accept_wrenches_and_batches(arm, springs):
    """A wrench on the tool acts on the links; a batch has the bits of its states; floats agree with the kernel."""
    system = arm.with_springs(springs)
    q, v = RNG.normal(size=(2, 9, 11))
    tau, F = RNG.normal(size=(9, 11)), RNG.normal(size=(9, 6))
    a = system.forward_dynamics(q, v, tau, {"tool0": F})
    rows = [0, 1, 2, 4, 5]
    across = np.array([springs[arm.joints[k]].stiffness for k in rows]) * (q[:, 6:] - q[:, rows])
    on_links = tau[:, :6].copy()
    on_links[:, rows] += across
    # forces of K δ ≈ 10⁴ N·m through M⁻¹, cond M ≈ 10³
    expected = arm.forward_dynamics(q[:, :6], v[:, :6], on_links, {"tool0": F})
    np.testing.assert_allclose(a[:, :6], expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    inertias = np.array([springs[arm.joints[k]].rotor_inertia for k in rows])
    np.testing.assert_allclose(a[:, 6:], (tau[:, 6:] - across) / inertias, rtol=1e-12, atol=1e-9)
    one = system.forward_dynamics(q[4], v[4], tau[4], {"tool0": F[4]})
    np.testing.assert_array_equal(a[4], one)


def test_robot_with_springs_is_immutable_data(arm, springs):
    """It pickles, compares, and is the same whichever way its springs are attached; None takes one off."""
    system = arm.with_springs(springs)
    again = pickle.loads(pickle.dumps(system))
    assert again == system
    assert again != arm
    one_by_one = arm
    for name, spring in springs.items():
        one_by_one = one_by_one.with_springs({name: spring})
    assert one_by_one == system
    assert system.with_springs(dict.fromkeys(springs)) == arm
    assert system.without_terms("spring") == arm


def test_editing_reaches_springs_and_motors():
    """rename, lock, subtree, without, attach, rebase: the motor goes with its joint; motors have friction and limits."""
    arm = ts.robots.ur5()
    lift, elbow = arm.joints[1:3]
    soft = arm.with_springs({elbow: SeriesSpring(500.0, rotor_inertia=0.3), lift: Spring(100.0)})
    motor = f"{elbow}/motor"
    named = soft.with_actuated([motor]).rename({elbow: "knee"})
    assert named.joints[-1] == "knee/motor"
    assert named.actuated == ("knee/motor",)
    q, v, tau = RNG.normal(size=(3, soft.nv))
    np.testing.assert_array_equal(named.forward_dynamics(q, v, tau), soft.forward_dynamics(q, v, tau))

    locked = soft.lock({elbow: 0.4})
    assert locked.joints == tuple(n for n in arm.joints if n != elbow)
    assert "elbow_joint series spring" in locked.report[-1]
    np.testing.assert_array_equal(locked.terms, soft.without_terms(f"{elbow} series spring").terms)
    assert soft.subtree("forearm_link").nq == 3
    assert soft.without("forearm_link").joints == arm.joints[:2]
    both = ts.robots.two_link().attach(soft, "tip", prefix="a_")
    assert both.joints[-1] == f"a_{motor}"
    turned = soft.rebase("tool0")
    assert turned.joints[-1] == motor
    np.testing.assert_allclose(np.linalg.eigvalsh(turned.mass_matrix(turned.neutral())).min() > 0, True)

    worn = soft.with_friction({motor: Viscous(2.0)}).with_limits(motor, lower=-1.0, upper=1.0).with_armature({motor: 0.7})
    assert worn.model.joints_with_friction == (motor,)
    assert (worn.lower[-1], worn.upper[-1], worn.joint(motor).armature) == (-1.0, 1.0, (0.7,))
    a = worn.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(a[-1], (tau[-1] - 2.0 * v[-1] - 500.0 * (q[-1] - q[2])) / 0.7, rtol=1e-12)
    with pytest.raises(ModelError, match="exactly one coordinate"):
        soft.with_joint_type(elbow, "spherical")
    with pytest.raises(ModelError, match="follows another joint"):
        soft.with_mimic(elbow, lift)


def test_state_completes_the_joints_of_an_elastic_robot():
    """Motors with their joints, or where the springs hold gravity; a wrong size is refused; random states complete."""
    arm = ts.robots.two_link()
    soft = arm.with_springs({"joint2": SeriesSpring(800.0, rotor_inertia=0.2)}).with_configuration("bent", {"joint2": 0.6})
    q = RNG.normal(size=(4, 2))
    state = soft.state(q, q)
    np.testing.assert_array_equal(state.q, np.c_[q, q[:, 1]])
    np.testing.assert_array_equal(state.v, np.c_[q, q[:, 1]])
    assert state.x.shape == (0,)
    held = soft.state(q, motors="equilibrium").q
    np.testing.assert_allclose(800.0 * (held[:, 2] - q[:, 1]), arm.gravity_force(q)[:, 1], rtol=1e-12)
    np.testing.assert_array_equal(soft.state(held).q, held)
    np.testing.assert_array_equal(soft.state().q, np.zeros(3))
    assert soft.state_names == ()
    np.testing.assert_array_equal(soft.configuration("bent"), [0.0, 0.6, 0.6])
    drawn = soft.random_configuration(3, 5)
    np.testing.assert_array_equal(drawn[:, 2], drawn[:, 1])
    np.testing.assert_array_equal(drawn[:, :2], arm.random_configuration(3, 5))
    np.testing.assert_array_equal(soft.wrap([7.0, 7.0, 7.0])[1:], [7.0, 7.0])  # the spring counts turns
    with pytest.raises(ArgumentError, match=r"expected \(\.\.\., 3\) of all coordinates, or \(\.\.\., 2\)"):
        soft.state([1.0])
    with pytest.raises(ArgumentError, match="finite"):
        soft.state([np.nan, 0.0])
    with pytest.raises(UnknownName, match="equilibrium"):
        soft.state([0.0, 0.0], motors="hanging")


def test_springs_reject_invalid_arguments(arm):
    with pytest.raises(UnknownName, match="elbow"):
        arm.with_springs({"elbow": Spring(K)})
    with pytest.raises(ArgumentError, match="stiffness"):
        Spring(0.0)
    with pytest.raises(ArgumentError, match="damping"):
        Spring(K, -1.0)
    with pytest.raises(ArgumentError, match="rest"):
        Spring(K, rest=np.nan)
    with pytest.raises(ArgumentError, match="rotor"):
        SeriesSpring(K, rotor_inertia=0.0)
    with pytest.raises(ArgumentError, match=r"SeriesSpring\(800.0, 0, rotor_inertia=0.15\)"):
        Spring(K, rotor_inertia=B)
    with pytest.raises(ArgumentError, match="number"):
        SeriesSpring("stiff")
    with pytest.raises(ArgumentError, match="Spring, a SpringLaw or a SeriesSpring"):
        arm.with_springs({arm.joints[0]: 3.0})
    ball = ts.Builder("ball").link("a").link("b", mass=1.0, inertia=(1, 1, 1)).joint("j", "spherical", "a", "b").build()
    with pytest.raises(ModelError, match="one coordinate"):
        ball.with_springs({"j": SeriesSpring(K, rotor_inertia=B)})
    one = pendulum().with_springs(SeriesSpring(K, rotor_inertia=B))
    with pytest.raises(ArgumentError, match="expected"):
        one.forward_dynamics([0.0], [0.0], [0.0])
    with pytest.raises(UnknownName, match="frame"):
        one.forward_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], {"nowhere": np.zeros(6)})
    with pytest.raises(UnknownName, match="knee"):
        one.with_actuated(["knee"])
    with pytest.raises(ArgumentError, match=r"with_springs"):
        one.simulate([0.0, 0.0], [0.0, 0.0], 0.1, springs=Spring(K))


def test_harmonic_drive_arm_has_springs_friction_and_drives_in_one_robot():
    """Springs, friction of joints, bristles and windings of motors: rollout = simulation, gradient = differences."""
    arm = ts.robots.two_link()
    winding = Motor(torque_constant=0.1, resistance=0.5, inductance=1e-3, max_voltage=48.0)
    bristles = {f"{name}/motor": LuGre(Coulomb(3.0), stiffness=2e3, damping=10.0) for name in arm.joints}
    robot = (
        arm.with_springs(SeriesSpring(4e3, 5.0, rotor_inertia=0.1))
        .with_friction({name: Coulomb(2.0).smooth(0.1) for name in arm.joints} | bristles)
        .with_drives(dict.fromkeys(arm.joints, Drive(winding, Gearbox(100))), "voltage")
    )
    q, v, x = robot.state([0.3, 0.2])
    volts = np.tile([0.0, 0.0, 5.0, 2.0], (50, 1))
    options = {"dt": 1e-3, "x": x, "integrator": "rk4"}
    run = robot.rollout(q, v, volts, differentiable=True, **options)
    end = robot.simulate(q, v, 0.05, volts[0], dt=1e-3, x=x)
    np.testing.assert_allclose(run.q[-1], end.q[-1], rtol=1e-13)
    assert np.abs(end.q[-1] - q).max() > 1e-3
    weights, along = np.zeros(run.v.shape), np.array([0.0, 0.0, 1.0, -0.5])
    weights[-1] = w = RNG.normal(size=4)
    gradient = run.gradient(v=weights).controls @ along
    up, down = (w @ robot.rollout(q, v, volts + h * along, **options).v[-1] for h in (1e-3, -1e-3))
    assert gradient.sum() == pytest.approx((up - down) / 2e-3, rel=1e-6)  # differences of second order


def test_closed_linkage_with_an_elastic_crank_keeps_its_loop_and_its_energy():
    """A four-bar driven through a spring: forward undoes inverse at the motor, and the loop stays closed in a simulation."""
    bars = (
        ts.mechanisms.four_bar().with_springs({"crank": SeriesSpring(300.0, rotor_inertia=0.2)}).with_actuated(["crank/motor"])
    )
    q = bars.assemble([1.0, 0.0, 0.0, 1.0], fixed=["crank", "crank/motor"])
    v, zero = np.zeros(4), np.zeros(4)
    tau = np.array([0.0, 0.0, 0.0, 2.0])
    a = bars.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(bars.inverse_dynamics(q, v, a), tau, atol=1e-9)
    run = bars.simulate(q, zero, 0.3, tau, dt=1e-3)
    assert np.abs(run.residual).max() < 1e-9
    assert run.audit().worst < 1e-6 * np.ptp(run.energy)
    with pytest.raises(ArgumentError, match="carry a share of the load"):
        bars.state(q, motors="equilibrium")


def test_energies_have_each_term_by_name():
    """½ K q² of a spring, ½ σ z² of bristles with x; robot.energies and the energies of a run agree."""
    rubbing = {"joint1": LuGre(Coulomb(3.0), stiffness=2e3, damping=10.0)}
    arm = ts.robots.two_link().with_friction(rubbing).with_springs({"joint2": Spring(100.0, 1.0)})
    found = arm.energies([0.0, 0.2], [1.0, 0.0], x=[[1e-3], [0.0]])
    np.testing.assert_allclose(found["joint1 friction"], [1e-3, 0.0], rtol=1e-12)
    np.testing.assert_allclose(found["joint2 spring"], [2.0, 2.0], rtol=1e-12)
    np.testing.assert_allclose(found["kinetic"], arm.kinetic_energy([0.0, 0.2], [1.0, 0.0]), rtol=1e-12)
    run = arm.simulate([0.0, 0.2], [1.0, 0.0], 0.2, dt=1e-3)
    end = arm.energies(run.q[-1], run.v[-1], x=run.states["z"][-1])
    assert run.energies["bristles"][-1] == pytest.approx(float(end["joint1 friction"]), rel=1e-12)
    assert run.energies["elastic"][-1] == pytest.approx(float(end["joint2 spring"]), rel=1e-12)
    assert run.audit().worst < 1e-4
    with pytest.raises(ArgumentError, match="shape"):
        arm.energies([0.0, 0.2], [1.0, 0.0], x=[1.0, 2.0])
