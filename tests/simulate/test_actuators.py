"""Actuators in rollouts and simulations: closed forms, loops over robot.step, shifted controls, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torsor as ts
from tests.simulate.controlled import controlled
from tests.tolerance import assert_close
from torsor import simulate as runs
from torsor.actuators import PID, Gain, Lag, Latency, Limit, PositionServo, RateLimit, VelocityServo
from torsor.compile import build
from torsor.compile.scan import NotFinite
from torsor.errors import ArgumentError, UnknownName
from torsor.scalar import Dual
from torsor.simulate import SampledController, per_robot, per_step

DT = 0.01
LAWS = {
    "gain": Gain(3.0),
    "limit": Limit(-4.0, 2.0),
    "rate limit": RateLimit(30.0),
    "lag": Lag(0.05),
    "Euler's lag": Lag(0.05, exact=False),
    "latency": Latency(3 * DT),
    "position servo": PositionServo(40.0, 3.0),
    "velocity servo": VelocityServo(5.0),
    "PID": PID(40.0, 20.0, 3.0, integral_limit=1.0),
    "servo with everything": [Latency(2 * DT), RateLimit(5.0), PositionServo(40.0, 3.0), Lag(0.03), Gain(1.5), Limit(-9, 9)],
}


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()


@pytest.fixture(scope="module")
def slider():
    """1 kg on a rail, without gravity: v is the integral of the force."""
    b = ts.Builder("slider").link("rail").link("mass", mass=1.0, inertia=(1, 1, 1))
    return b.joint("x", "prismatic", "rail", "mass", axis=(1, 0, 0)).build(gravity=(0, 0, 0))


def rollout(robot, *values, actuators=None, **options):
    """A rollout of the robot with actuators."""
    return runs.rollout(robot if actuators is None else robot.with_actuators(actuators), *values, **controlled(options))


def simulate(robot, *values, actuators=None, **options):
    """A simulation of the robot with actuators."""
    return runs.simulate(robot if actuators is None else robot.with_actuators(actuators), *values, **options)


def commands(T, n=2, N=None, seed=0):
    shape = (T, n) if N is None else (N, T, n)
    return np.random.default_rng(seed).normal(size=shape)


class Reference:
    """The laws once more, on arrays, with attributes as memory."""

    def __init__(self, law, dt):
        self.law, self.dt, self.y, self.s, self.queue = law, dt, 0.0, 0.0, []

    def __call__(self, x, q, v):
        law, dt = self.law, self.dt
        if isinstance(law, Gain):
            return law.k * x
        if isinstance(law, Limit):
            return np.clip(x, law.lower, law.upper)
        if isinstance(law, PositionServo):
            return law.kp * (x - q) - law.kv * v
        if isinstance(law, VelocityServo):
            return law.kv * (x - v)
        if isinstance(law, RateLimit):
            self.y = self.y + np.clip(x - self.y, -law.rate * dt, law.rate * dt)
            return self.y
        if isinstance(law, Lag):
            y, h = self.y + np.zeros_like(x), dt / law.time_constant
            self.y = y - (y - x) * (-math.expm1(-h) if law.exact else h)
            return y
        if isinstance(law, Latency):
            self.queue.append(x)
            k = len(self.queue) - 1 - round(law.delay / dt)
            return self.queue[k] if k >= 0 else np.zeros_like(x)
        s = self.s
        self.s = np.clip(s + law.ki * (x - q) * dt, -law.integral_limit, law.integral_limit)
        return law.kp * (x - q) + s - law.kd * v


def by_hand(robot, q, v, u, laws, dt, integrator="semi_implicit"):
    """robot.step after robot.step, the same laws at every joint."""
    chain = [Reference(law, dt) for law in (laws if isinstance(laws, list) else [laws])]
    out = []
    for k in range(u.shape[-2]):
        x = u[..., k, :]
        for law in chain:
            x = law(x, q, v)
        q, v = robot.step(q, v, x, dt, integrator)
        out.append((q, v, x))
    return (np.stack(x, axis=-2) for x in zip(*out, strict=True))


# -- each law ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("integrator", ["semi_implicit", "euler"])
def test_each_law_equals_a_loop_over_robot_step(arm, name, integrator):
    T, N, laws = 30, 3, LAWS[name]
    u, q0 = 2 * commands(T, N=N), commands(N, seed=1)
    r = rollout(arm, q0, np.zeros(2), u, dt=DT, actuators=dict.fromkeys(arm.joints, laws), integrator=integrator)
    q, v, _ = by_hand(arm, q0, np.zeros((N, 2)), u, laws, DT, integrator)
    np.testing.assert_allclose(r.q, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(r.v, v, rtol=0, atol=1e-11)


def test_lag_memory_is_the_exact_step_response(slider):
    T, tau = 100, 0.07
    r = rollout(slider, [0.0], [0.0], np.array([2.0]), dt=DT, steps=T, actuators={"x": Lag(tau)})
    y = 2 * (1 - np.exp(-r.t / tau))
    np.testing.assert_allclose(r.x[:, 0], y, rtol=1e-13)
    before = np.concatenate([[0.0], y[:-1]])  # the force is that of the beginning of each step
    np.testing.assert_allclose(r.v[:, 0], np.cumsum(before) * DT, rtol=1e-13)


def test_lag_by_euler_converges_to_the_exact_lag(slider):
    def end(dt, exact):
        lag = Lag(0.1, exact=exact)
        return rollout(slider, [0.0], [0.0], [1.0], dt=dt, steps=round(0.2 / dt), actuators={"x": lag}).x[-1, 0]

    errors = [abs(end(dt, False) - end(dt, True)) for dt in (0.01, 0.005, 0.0025)]
    assert errors[0] > 1.8 * errors[1] > 3.2 * errors[2] > 0


@pytest.mark.parametrize("delay", [0, 1, 7, 40])
def test_latency_equals_shifted_controls(arm, delay):
    u = commands(30, N=2)
    shifted = np.concatenate([np.zeros((2, 30, 2)), u], axis=1)[:, 30 - delay :][:, :30] if delay < 30 else np.zeros_like(u)
    late = rollout(arm, [0.3, 0.2], np.zeros(2), u, dt=DT, actuators=dict.fromkeys(arm.joints, Latency(delay * DT)))
    plain = rollout(arm, [0.3, 0.2], np.zeros(2), shifted, dt=DT)
    assert np.array_equal(late.q, plain.q)
    assert np.array_equal(late.v, plain.v)


def test_latency_memory_is_the_shift_register(arm):
    u = commands(9)
    r = rollout(arm, [0.3, 0.2], np.zeros(2), u, dt=DT, actuators={"joint2": Latency(3 * DT)})
    assert np.array_equal(r.x[-1], u[-3:, 1])


def test_force_limit_equals_clipped_controls(arm):
    u = 5 * commands(30, N=4)
    limited = rollout(arm, [0.3, 0.2], np.zeros(2), u, dt=DT, actuators=dict.fromkeys(arm.joints, Limit(-2.0, 3.0)))
    assert limited.x is None
    assert np.array_equal(limited.q, rollout(arm, [0.3, 0.2], np.zeros(2), np.clip(u, -2, 3), dt=DT).q)


def test_limit_of_infinity_on_one_side_clips_the_other_alone(arm):
    u = 5 * commands(10)
    r = rollout(arm, [0.3, 0.2], np.zeros(2), u, dt=DT, actuators={"joint1": Limit(-math.inf, 1.0)})
    clipped = np.stack([np.minimum(u[:, 0], 1.0), u[:, 1]], axis=1)
    assert np.array_equal(r.q, rollout(arm, [0.3, 0.2], np.zeros(2), clipped, dt=DT).q)


def test_rate_limit_ramps_to_the_command(slider):
    r = rollout(slider, [0.0], [0.0], [1.0], dt=DT, steps=30, actuators={"x": RateLimit(5.0)})
    np.testing.assert_allclose(r.x[:, 0], np.minimum(5.0 * r.t, 1.0), rtol=1e-14)


def test_pid_integral_stays_within_its_limit_and_removes_the_steady_error(arm):
    laws = {j: PID(200.0, 400.0, 40.0, integral_limit=60.0) for j in arm.joints}
    r = rollout(arm, [0.0, 0.0], np.zeros(2), np.array([0.4, -0.3]), dt=0.002, steps=4000, actuators=laws, record="last")
    assert abs(r.q[-1] - [0.4, -0.3]).max() < 1e-6
    np.testing.assert_allclose(r.x[-1], arm.gravity_force([0.4, -0.3]), rtol=1e-4)
    weak = {j: PID(200.0, 400.0, 40.0, integral_limit=5.0) for j in arm.joints}
    r = rollout(arm, [0.0, 0.0], np.zeros(2), np.array([0.4, -0.3]), dt=0.002, steps=1000, actuators=weak)
    assert abs(r.x).max() == 5.0


def test_entries_of_joints_without_an_actuator_are_forces(arm):
    u = commands(10)
    r = rollout(arm, [0.3, 0.2], np.zeros(2), u, dt=DT, actuators={"joint2": Gain(2.0)})
    assert np.array_equal(r.q, rollout(arm, [0.3, 0.2], np.zeros(2), u * [1, 2], dt=DT).q)


def test_actuators_without_controls_have_command_zero(arm):
    servo = {j: PositionServo(50.0, 5.0) for j in arm.joints}
    r = rollout(arm, [0.3, 0.2], np.zeros(2), dt=DT, steps=5, actuators=servo)
    assert np.array_equal(r.q, rollout(arm, [0.3, 0.2], np.zeros(2), np.zeros(2), dt=DT, steps=5, actuators=servo).q)


def test_no_actuators_is_a_plain_rollout(arm):
    plain = rollout(arm, [0.3, 0.2], np.zeros(2), dt=DT, steps=5)
    assert np.array_equal(rollout(arm, [0.3, 0.2], np.zeros(2), dt=DT, steps=5, actuators={}).q, plain.q)


def test_laws_are_functions_over_dual_numbers(arm):
    """Derivatives by gains and by the memory exist: rollouts can be differentiated."""
    y, (s,) = PID.respond(1.0, 0.2, 0.5, [Dual(0.1, 1.0)], Dual(3.0, 1.0), 0.5, 2.0, 9.0)
    assert y.rate == pytest.approx(0.8 + 1.0)
    assert s.rate == 1.0
    (rest,) = Lag(Dual(0.1, 1.0)).coefficients(DT)
    assert rest.rate == pytest.approx(DT / 0.01 * math.exp(-0.1))


# -- composition, batches, options -------------------------------------------------------------------------------------------


def laws_of_all_joints(arm):
    return dict.fromkeys(arm.joints, LAWS["servo with everything"]) | {"joint2": LAWS["PID"]}


@pytest.mark.parametrize("integrator", ["semi_implicit", "euler", "rk4", "midpoint"])
def test_one_robot_and_a_batch_have_the_same_bits(arm, integrator):
    u, q0 = commands(20, N=19), commands(19, seed=1)
    options = {"dt": DT, "actuators": laws_of_all_joints(arm), "integrator": integrator}
    many = rollout(arm, q0, np.zeros(2), u, **options)
    for k in (0, 7, 18):
        one = rollout(arm, q0[k], np.zeros(2), u[k], **options)
        assert np.array_equal(one.q, many.q[k])
        assert np.array_equal(one.x, many.x[k])


def test_threads_change_no_bit_of_a_rollout_with_actuators(arm):
    u, q0 = commands(50, N=64), commands(64, seed=1)
    runs = []
    for n in (1, 2):
        with ts.threads(n):
            runs.append(rollout(arm, q0, np.zeros(2), u, dt=DT, actuators=laws_of_all_joints(arm)))
    assert np.array_equal(runs[0].q, runs[1].q)
    assert np.array_equal(runs[0].x, runs[1].x)


def test_record_keeps_rows_of_the_memory(arm):
    options = {"dt": DT, "actuators": laws_of_all_joints(arm)}
    full = rollout(arm, [0.1, 0.2], np.zeros(2), commands(20), **options)
    some = rollout(arm, [0.1, 0.2], np.zeros(2), commands(20), record=5, **options)
    last = rollout(arm, [0.1, 0.2], np.zeros(2), commands(20), record="last", **options)
    assert full.x.shape == (20, 5)
    assert np.array_equal(some.x, full.x[4::5])
    assert np.array_equal(last.x, full.x[-1:])


def test_x_continues_a_rollout(arm):
    u, options = commands(20, N=3), {"dt": DT, "actuators": laws_of_all_joints(arm)}
    whole = rollout(arm, [0.1, 0.2], np.zeros(2), u, **options)
    half = rollout(arm, [0.1, 0.2], np.zeros(2), u[:, :8], **options)
    rest = rollout(arm, half.q[:, -1], half.v[:, -1], u[:, 8:], x=half.x[:, -1], **options)
    assert np.array_equal(rest.q, whole.q[:, 8:])
    assert np.array_equal(rest.x, whole.x[:, 8:])


def test_controller_gives_the_commands_of_actuators(arm):
    """A recorded controller with its memory, before actuators with theirs."""

    def ramp(t, memory, rate):
        return [rate * t, memory[0]], [memory[0] + 0.01]

    T = 15
    r = rollout(arm, [0.0, 0.0], np.zeros(2), dt=DT, steps=T, controller=ramp, parameters={"rate": 2.0}, memory=[0.5],
                actuators=laws_of_all_joints(arm))  # fmt: skip
    u = np.stack([2.0 * np.arange(T) * DT, 0.5 + 0.01 * np.arange(T)], axis=1)
    given = rollout(arm, [0.0, 0.0], np.zeros(2), u, dt=DT, actuators=laws_of_all_joints(arm))
    np.testing.assert_allclose(r.q, given.q, rtol=0, atol=1e-14)
    np.testing.assert_allclose(r.x, given.x, rtol=0, atol=1e-13)
    np.testing.assert_allclose(r.memory[:, 0], 0.5 + 0.01 * np.arange(1, T + 1), rtol=1e-14)


def test_gains_of_each_robot(arm):
    kp, T = np.array([10.0, 40.0, 90.0]), np.array([0.02, 0.05, 0.3])
    many = rollout(arm, [0.3, 0.2], np.zeros(2), commands(20), dt=DT, actuators={"joint1": [PositionServo(1.0), Lag(1.0)]},
                   vary={"actuators": {"joint1": [PositionServo(per_robot(kp), 2.0), Lag(per_robot(T))]}})  # fmt: skip
    for k in range(3):
        one = rollout(arm, [0.3, 0.2], np.zeros(2), commands(20), dt=DT,
                      actuators={"joint1": [PositionServo(kp[k], 2.0), Lag(T[k])]})  # fmt: skip
        np.testing.assert_allclose(many.q[k], one.q, rtol=0, atol=1e-14)  # e^{−dt/T} of an array may round differently


def test_new_gains_compile_nothing(monkeypatch):
    made, built, laws = [], build.build, [PositionServo(1.0), Lag(1.0), Limit(-1.0, 1.0)]
    robot = ts.robots.two_link().with_actuators({"joint1": laws})
    monkeypatch.setattr("torsor.compile.recorded.build.build", lambda *a: made.append(1) or built(*a))

    def run(dt, *gains):
        laws = [PositionServo(*gains[:2]), Lag(gains[2]), Limit(-gains[3], gains[3])]
        vary = {"actuators": {"joint1": laws}}
        return rollout(robot, np.zeros((2, 2)), np.zeros(2), [1.0, 1.0], dt=dt, steps=3, vary=vary)

    run(DT, 1.0, 2.0, 0.1, 9.0)
    count = len(made)
    run(0.02, 30.0, 0.5, 0.02, math.inf)
    assert len(made) == count


def test_actuators_with_friction_wrenches_and_varied_robots(arm):
    """All other options act as without actuators: a gain of one changes no bit."""
    arm = arm.with_damping(True)
    options = {
        "dt": DT, "wrenches": {arm.links[-1]: [0, 0, 1.0, 1.0, 0, 0]},
        "vary": {"mass": {arm.links[-1]: per_robot([0.5, 2.0])}},
    }  # fmt: skip
    plain = rollout(arm, [0.3, 0.2], np.zeros(2), commands(9), **options)
    unit = rollout(arm, [0.3, 0.2], np.zeros(2), commands(9), actuators=dict.fromkeys(arm.joints, Gain(1.0)), **options)
    assert np.array_equal(plain.q, unit.q)


def test_floating_base_with_actuated_legs():
    b = ts.Builder("flyer").link("body", mass=2.0, inertia=(0.2, 0.3, 0.25))
    b.link("arm", mass=0.5, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
    robot = b.joint("hinge", "revolute", "body", "arm", axis=(0, 1, 0), xyz=(0.3, 0, 0)).build(base="floating")
    q, v, q0 = robot.neutral(), np.zeros(robot.nv), robot.neutral()
    r = rollout(robot, q0, v, dt=DT, steps=20, actuators={"hinge": PID(9.0, 4.0, 1.0)}, controls=[0, 0, 0, 0, 0, 0, 0.7])
    s = 0.0
    for k in range(20):
        e = 0.7 - q[7]
        q, v = robot.step(q, v, np.array([0, 0, 0, 0, 0, 0, 9 * e + s - v[6]]), DT)
        s += 4 * e * DT
        assert_close(r.q[k], q)
    with pytest.raises(ArgumentError, match="'floating_base' has several degrees of freedom"):
        rollout(robot, q0, v, dt=DT, steps=2, actuators={"floating_base": Gain(1.0)})


# -- simulate ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["semi_implicit", "euler", "rk4", "midpoint"])
def test_simulate_equals_rollout(arm, integrator):
    u = commands(20)
    options = {"dt": DT, "actuators": laws_of_all_joints(arm), "integrator": integrator}
    r = rollout(arm, [0.1, 0.2], np.zeros(2), u, **options)
    s = simulate(arm, [0.1, 0.2], np.zeros(2), 20 * DT, u, **options)
    np.testing.assert_allclose(s.q[1:], r.q, rtol=0, atol=1e-14 if integrator != "midpoint" else 1e-11)
    q, v, tau = by_hand(arm, np.array([0.1, 0.2]), np.zeros(2), u, LAWS["PID"], DT)
    if integrator == "semi_implicit":
        alone = simulate(arm, [0.1, 0.2], np.zeros(2), 20 * DT, u, dt=DT, integrator=integrator,
                         actuators=dict.fromkeys(arm.joints, LAWS["PID"]))  # fmt: skip
        np.testing.assert_allclose(alone.tau[:-1], tau, rtol=0, atol=1e-12)


def test_simulate_with_stops_and_adaptive_steps_converges_to_the_same_motion(arm):
    u, options = commands(20), {"dt": DT, "actuators": laws_of_all_joints(arm)}
    fine = simulate(arm, [0.1, 0.2], np.zeros(2), 20 * DT, u, integrator="dop853", **options)
    stops = simulate(arm.with_stops(0.5), [0.1, 0.2], np.zeros(2), 20 * DT, u, integrator="rk4", **options)
    np.testing.assert_allclose(stops.q[-1], fine.q[-1], rtol=0, atol=1e-4)


def test_simulate_samples_a_slower_controller_at_its_own_rate(arm):
    def law(t, q, v, k):
        return [0.1 * k, -0.1 * k], k + 1

    servo = {joint: [PositionServo(40.0, 3.0), Lag(0.03)] for joint in arm.joints}
    s = simulate(arm, [0.1, 0.2], np.zeros(2), 20 * DT, SampledController(law, rate=25, state=0), dt=DT, actuators=servo,
                 integrator="semi_implicit")  # fmt: skip
    u = np.repeat(np.arange(5)[:, None] * [0.1, -0.1], 4, axis=0)
    r = rollout(arm, [0.1, 0.2], np.zeros(2), u, dt=DT, actuators=servo)
    np.testing.assert_allclose(s.q[1:], r.q, rtol=0, atol=1e-14)
    with pytest.raises(ArgumentError, match=r"steps of dt = 0.01 s; they change every 0.0333333 s, 3.33333 steps"):
        simulate(arm, [0.1, 0.2], np.zeros(2), 0.2, SampledController(law, rate=30, state=0), dt=DT, actuators=servo)


def test_simulate_with_a_function_of_the_state_as_command(arm):
    servo = {"joint1": [Limit(-1.0, 1.0), PositionServo(40.0, 3.0)]}
    s = simulate(arm, [0.1, 0.2], np.zeros(2), 0.1, lambda t, q, v: [3 * t, -v[1]], dt=DT, actuators=servo)
    r = rollout(arm, [0.1, 0.2], np.zeros(2), dt=DT, steps=10, actuators=servo, controller=lambda t, v: [3 * t, -v[1]],
                integrator="rk4")  # fmt: skip
    np.testing.assert_allclose(s.q[1:], r.q, rtol=0, atol=1e-14)


def test_simulate_x_is_the_start(slider):
    start = simulate(slider, [0.0], [0.0], 0.1, [1.0], dt=DT, actuators={"x": Lag(0.1)}, x=[1.0])
    assert np.allclose(start.tau, 1.0, rtol=1e-15)


@pytest.mark.parametrize(("options", "words"), [
    ({"actuators": {"x": PositionServo(per_robot([1.0]), 0.0)}}, r"must be one number; rollout\(vary="),
    ({"actuators": {"y": Gain(1.0)}}, "no moving joint named 'y'"),
    ({"actuators": []}, "must be a dict"),
    ({"x": [0.0]}, "no first-order states"),
    ({"actuators": {"x": Lag(0.1)}, "x": [0.0, 1.0]}, r"x is .*shape \(1,\)"),
    ({"actuators": {"x": Lag(0.1)}, "x": [math.nan]}, "not finite"),
])  # fmt: skip
def test_simulate_refuses_wrong_actuators(slider, options, words):
    with pytest.raises((ArgumentError, UnknownName), match=words):
        simulate(slider, [0.0], [0.0], 0.1, dt=DT, **options)


# -- what is refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("actuators", "words"), [
    ({"elbow": Gain(1.0)}, "no moving joint named 'elbow'; valid names: joint1, joint2"),
    ([Gain(1.0)], "actuators must be a dict from joints to actuators, not list"),
    ({"joint1": 5.0}, "an actuator must be one or a list of Gain, Limit.*not float"),
    ({"joint1": [Gain(1.0), "lag"]}, "not str"),
    ({"joint1": Lag}, "not Lag"),
    ({"joint1": Latency(1e12)}, r"delay is 1e\+12 s, which is 1e\+14 steps of dt = 0.01 s; at most 10000 .* memory"),
    ({"joint1": Latency(0.015)}, r"delay is 0.015 s, which is 1.5 steps of dt = 0.01 s; .* such as 0.02 s"),
])  # fmt: skip
def test_actuators_that_are_refused(arm, actuators, words):
    with pytest.raises((ArgumentError, UnknownName), match=words):
        rollout(arm, np.zeros(2), np.zeros(2), dt=DT, steps=10, actuators=actuators)


@pytest.mark.parametrize(("actuators", "words"), [
    ({"joint1": PositionServo(per_step([1.0] * 10), 0.0)}, r"\['joint1'\]: PositionServo: kp must be one number, or"),
    ({"joint1": Gain(2.0)}, "must be the laws of the robot's actuator with other numbers: PositionServo"),
    ({"joint2": PositionServo(2.0)}, "joint 'joint2' has no actuator; robot.with_actuators gives it one"),
    ({"joint1": PositionServo(per_robot([[1.0, 2.0]]), 0.0)}, "with one number per robot"),
    ({"joint1": PositionServo(per_robot([1.0, -2.0]), 0.0)}, "PositionServo: kp is -2"),
    ({"joint1": PositionServo(per_robot([1.0, math.nan]), 0.0)}, "PositionServo: kp is nan"),
    ({"joint1": Limit(per_robot([-1.0, 0.3]), per_robot([0.1, 0.2]))}, "lower is above upper for some of the robots"),
    ({"joint1": Limit(per_robot([-1.0, -2.0]), per_robot([0.1, 0.2, 0.3]))}, r"different shapes: \(2,\), \(3,\)"),
    ({"joint1": PositionServo(per_robot([1.0, 2.0]), per_robot([1.0, 2.0, 3.0]))}, r"different shapes: \(2,\), \(3,\)"),
])  # fmt: skip
def test_numbers_of_each_robot_that_are_refused(arm, actuators, words):
    own = {joint: type(law)(-1.0, 1.0) if isinstance(law, Limit) else PositionServo(1.0) for joint, law in actuators.items()}
    own.pop("joint2", None)
    with pytest.raises((ArgumentError, UnknownName), match=words):
        rollout(arm, np.zeros(2), np.zeros(2), dt=DT, steps=10, actuators=own, vary={"actuators": actuators})


@pytest.mark.parametrize(("make", "words"), [
    (lambda: Lag(0.0), "Lag: time_constant is 0 s; it must be greater than 0"),
    (lambda: Lag(-1.0), "greater than 0"),
    (lambda: Lag(math.nan), "time_constant is nan"),
    (lambda: Latency(-0.1), "Latency: delay is -0.1 s; it must be at least 0"),
    (lambda: Latency(per_robot([0.1])), "one number of seconds, not Spread"),
    (lambda: RateLimit(0.0), "RateLimit: rate is 0"),
    (lambda: Limit(1.0, -1.0), "Limit: lower is 1, above upper, -1"),
    (lambda: Limit(math.nan, 1.0), "Limit: lower is nan"),
    (lambda: Limit(math.inf, math.inf), "Limit: lower is inf"),
    (lambda: Gain(math.inf), "Gain: k is inf"),
    (lambda: Gain("high"), "must be a number"),
    (lambda: Gain([1.0, 2.0]), r"Gain: k must be a number in output per input, not \[1.0, 2.0\]"),
    (lambda: Gain(np.array([1.0, 2.0])), r"Gain: k must be a number in output per input, not array"),
    (lambda: Gain(1j), "must be a number"),
    (lambda: Lag(np.int64(-1)), "Lag: time_constant is -1"),
    (lambda: Limit(np.float32(1), np.float32(-1)), "Limit: lower is 1, above upper, -1"),
    (lambda: PositionServo(-1.0), "PositionServo: kp is -1"),
    (lambda: PositionServo(1.0, -1.0), "PositionServo: kv is -1"),
    (lambda: VelocityServo(-1.0), "VelocityServo: kv is -1"),
    (lambda: PID(1.0, -1.0), "PID: ki is -1"),
    (lambda: PID(1.0, 1.0, integral_limit=0.0), "PID: integral_limit is 0"),
])  # fmt: skip
def test_numbers_that_a_law_refuses(make, words):
    with pytest.raises(ArgumentError, match=words):
        make()


@pytest.mark.parametrize(("options", "words"), [
    ({"x": [0.0]}, "x is given, but robot 'two_link' has no first-order states"),
    ({"actuators": {"joint1": Gain(1.0)}, "x": [0.0]}, "has no first-order states"),
    ({"actuators": {"joint1": Lag(1.0)}, "x": [0.0, 0.0]}, r"x has shape \(2,\)"),
    ({"actuators": {"joint1": Lag(1.0)}, "x": [math.nan]}, r"x\[0\] is nan"),
    ({"actuators": {"joint1": Lag(1.0)}, "controls": np.zeros((10, 1))}, r"controls has shape \(10, 1\)"),
])  # fmt: skip
def test_memories_of_actuators_that_are_refused(arm, options, words):
    with pytest.raises(ArgumentError, match=words):
        rollout(arm, np.zeros(2), np.zeros(2), **{"dt": DT, "steps": 10} | options)


def test_actuator_of_a_mimic_joint_is_refused():
    b = ts.Builder("gripper").link("palm")
    for side in ("left", "right"):
        b.link(side, mass=0.2, inertia=(0.001, 0.002, 0.001))
        b.joint(side, "prismatic", "palm", side, axis=(0, 1, 0), **({"mimic": ("left", -1.0, 0.0)} if side == "right" else {}))
    robot = b.build()
    with pytest.raises(ArgumentError, match="joint 'right' is a mimic joint; give an actuator to the joint it follows"):
        rollout(robot, [0.0], [0.0], dt=DT, steps=1, actuators={"right": Gain(1.0)})


def test_memory_that_is_not_finite_is_named(slider):
    with pytest.raises(NotFinite, match=r"after step \d+ .*: x\[0\], although q and v are"):
        rollout(slider, [0.0], [0.0], [1.0], dt=DT, steps=2000, actuators={"x": [Lag(1e-4, exact=False), Limit(-1, 1)]})
