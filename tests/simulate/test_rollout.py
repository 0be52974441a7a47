"""Rollouts: the compiled loop against a Python loop, SciPy and Pinocchio; controllers, varied robots, errors."""

from __future__ import annotations

import functools
import math
import random
import time

import numpy as np
import pytest

import torsor as ts
from tests.simulate.controlled import rollout
from torsor import scalar
from torsor.algorithms import forward_dynamics_by_factors
from torsor.algorithms.field import Field
from torsor.algorithms.steps import STEPS
from torsor.compile import Argument, Scan, build, record
from torsor.compile.scan import NotFinite
from torsor.errors import ArgumentError, SingularError, UnknownName
from torsor.model.friction import StaticViscous
from torsor.simulate import (
    computed_torque,
    gravity_compensation,
    pd,
    pd_with_gravity,
    per_robot,
    per_robot_and_step,
    per_step,
    record_once,
)

DT = 0.01


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()


@pytest.fixture(scope="module")
def flyer():
    """A floating body with an arm and a spherical joint: every kind of coordinate."""
    b = ts.Builder("flyer")
    b.link("body", mass=2.0, com=(0, 0.1, 0), inertia=(0.2, 0.3, 0.25))
    b.link("ball", mass=0.7, com=(0.1, 0, 0.2), inertia=(0.03, 0.02, 0.04))
    b.link("arm", mass=0.5, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
    b.joint("socket", "spherical", "body", "ball", xyz=(0, 0, 0.3))
    b.joint("hinge", "revolute", "ball", "arm", axis=(0, 1, 0), xyz=(0.3, 0, 0))
    return b.build(base="floating")


def states(robot, count, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random_configuration(rng, size=count), rng.normal(size=(count, robot.nv))


def by_hand(robot, q, v, tau, dt, **options):
    """Semi-implicit Euler in a Python loop of robot methods; joint force tau(k, q, v)."""
    out = []
    for k in range(options.pop("steps")):
        v = v + robot.forward_dynamics(q, v, tau(k, q, v), **options) * dt
        q = robot.integrate(q, v, dt)
        out.append((q, v))
    return (np.stack(x, axis=-2) for x in zip(*out, strict=True))


# -- the loop ----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gripper():
    """Two fingers with a mimic joint: a joint without its own coordinate."""
    b = ts.Builder("gripper").link("palm").link("wrist", mass=0.4, com=(0, 0.02, 0.1), inertia=(0.01, 0.02, 0.01))
    b.joint("turn", "continuous", "palm", "wrist", axis=(1, 0, 0))
    for side, sign in (("left", 1), ("right", -1)):
        b.link(side, mass=0.2, com=(0, 0.02 * sign, 0.1), inertia=(0.001, 0.002, 0.001))
        mimic = {} if side == "left" else {"mimic": ("left_slide", -1.0, 0.0)}
        b.joint(f"{side}_slide", "prismatic", "wrist", side, axis=(0, 1, 0), **mimic)
    return b.build()


@pytest.mark.parametrize("name", ["arm", "flyer", "gripper"])
def test_rollout_equals_a_python_loop_of_robot_methods(name, request):
    robot = request.getfixturevalue(name)
    q0, v0 = states(robot, 5)
    u = np.random.default_rng(1).normal(size=(5, 30, robot.nv))
    r = rollout(robot, q0, v0, u, dt=DT)
    q, v = by_hand(robot, q0, v0, lambda k, q, v: u[:, k], DT, steps=30)
    np.testing.assert_allclose(r.q, q, rtol=0, atol=1e-11)  # rounding errors of 30 steps, each multiplied by 1/M
    np.testing.assert_allclose(r.v, v, rtol=0, atol=1e-11 * np.abs(v).max())
    np.testing.assert_array_equal(r.t, DT * np.arange(1, 31))


def test_rollout_wrenches_per_robot_and_per_step_equal_a_python_loop(flyer):
    """One wrench of each kind, against the same loop in Python; no wrench acts at the other frames."""
    rng, (q0, v0) = np.random.default_rng(2), states(flyer, 4)
    on_body, on_ball, on_arm = rng.normal(size=6), rng.normal(size=(4, 6)), rng.normal(size=(4, 20, 6))
    acting = {"body": on_body, "ball": per_robot(on_ball), "arm": per_robot_and_step(on_arm)}
    r = rollout(flyer, q0, v0, dt=DT, steps=20, wrenches=acting)
    q, v = q0, v0
    for k in range(20):
        F = {"body": on_body, "ball": on_ball, "arm": on_arm[:, k]}
        v = v + flyer.forward_dynamics(q, v, np.zeros(flyer.nv), wrenches=F) * DT
        q = flyer.integrate(q, v, DT)
    np.testing.assert_allclose(r.q[:, -1], q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(r.v[:, -1], v, rtol=0, atol=1e-11 * np.abs(v).max())


WRENCHES = {
    "frame.*nowhere": {"nowhere": np.zeros(6)},
    "wrenches must be a dict": [1.0] * 6,
    r"wrenches\['link2'\] has values of shape \(3,\), expected \(6,\)": {"link2": np.zeros(3)},
}


@pytest.mark.parametrize("text", WRENCHES)
def test_rollout_refuses_invalid_wrenches(arm, text):
    with pytest.raises((ArgumentError, UnknownName), match=text):
        rollout(arm, [0, 0], [0, 0], dt=DT, steps=2, wrenches=WRENCHES[text])


@pytest.mark.parametrize("integrator", STEPS)
def test_rollout_integrators_equal_their_reference_steps(arm, integrator):
    """The kernel against the step over floats, with the acceleration of another algorithm."""
    q, v = [0.3, -0.5], [1.0, 2.0]
    field = Field(arm.model, lambda q, v, t: forward_dynamics_by_factors(arm.model, q, v, [math.cos(t), -v[1]]))
    law = lambda v, t: [scalar.cos(t), -v[1]]  # noqa: E731
    r = rollout(arm, q, v, dt=DT, steps=5, integrator=integrator, controller=law)
    for k in range(5):
        q, v = STEPS[integrator](field, q, v, k * DT, DT)
        np.testing.assert_allclose(r.q[k], q, rtol=0, atol=1e-13)
        np.testing.assert_allclose(r.v[k], v, rtol=0, atol=1e-12)


def test_constant_controls_equal_controls_per_step_and_per_robot(arm):
    q0, v0 = states(arm, 3)
    u = np.array([1.0, -2.0])
    held = rollout(arm, q0, v0, u, dt=DT, steps=20)
    shared = rollout(arm, q0, v0, np.tile(u, (20, 1)), dt=DT)
    own = rollout(arm, q0, v0, per_robot(np.tile(u, (3, 1))), dt=DT, steps=20)
    assert np.array_equal(held.q, shared.q)
    assert np.array_equal(held.q, own.q)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_rollout_of_one_robot_equals_its_row_of_a_batch_bit_for_bit(flyer, integrator):
    q0, v0 = states(flyer, 9)
    whole = rollout(flyer, q0, v0, dt=DT, steps=12, integrator=integrator)
    for k in (0, 4, 8):
        alone = rollout(flyer, q0[k], v0[k], dt=DT, steps=12, integrator=integrator)
        assert np.array_equal(alone.q, whole.q[k])
        assert np.array_equal(alone.v, whole.v[k])
    some = rollout(flyer, q0[3:6], v0[3:6], dt=DT, steps=12, integrator=integrator)
    assert np.array_equal(some.q, whole.q[3:6])


def test_rollout_does_not_depend_on_the_number_of_threads(arm):
    q0, v0 = states(arm, 4000)
    with ts.threads(1):
        one = rollout(arm, q0, v0, dt=DT, steps=100)
    with ts.threads(2):
        two = rollout(arm, q0, v0, dt=DT, steps=100)
    assert one.q.tobytes() == two.q.tobytes()


def test_rollout_record_option_selects_rows_of_the_full_record(arm):
    q0, v0 = states(arm, 6)
    whole = rollout(arm, q0, v0, dt=DT, steps=60)
    for every, kept in ((1, whole.q), ("last", whole.q[:, -1:]), (20, whole.q[:, 19::20])):
        r = rollout(arm, q0, v0, dt=DT, steps=60, record=every)
        assert np.array_equal(r.q, kept)
        assert r.t.shape == (kept.shape[1],)
        assert r.t[-1] == whole.t[-1]


def test_rollout_keeps_the_batch_axes_of_the_initial_state(arm):
    q0, v0 = np.zeros((2, 3, 2)), np.linspace(0, 1, 3)[:, None] * np.ones(2)
    factors = per_robot(np.linspace(0.5, 2, 6).reshape(2, 3))
    r = rollout(arm, q0, v0, dt=DT, steps=4, vary={"mass": {arm.links[-1]: factors}})
    assert r.q.shape == (2, 3, 4, 2)
    one = rollout(arm, q0[1, 2], v0[2], dt=DT, steps=4, vary={"mass": {arm.links[-1]: 2.0}})
    assert np.array_equal(r.q[1, 2], one.q)


# -- other libraries ---------------------------------------------------------------------------------------------------------


def test_rollout_with_rk4_converges_to_scipy_in_fourth_order(arm):
    """The measured order is 4 within 0.15: the errors of h and h/2 differ by a factor of 16."""
    from scipy.integrate import solve_ivp

    start = np.array([0.3, -0.4, 1.0, 2.0])

    def f(t, y):
        return np.concatenate([y[2:], arm.forward_dynamics(y[:2], y[2:], np.array([3 * math.sin(5 * t), 0.0]))])

    exact = solve_ivp(f, (0, 1), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]

    def push(t):
        return [3 * scalar.sin(5 * t), 0]

    errors = []
    for n in (100, 200):
        r = rollout(arm, start[:2], start[2:], dt=1 / n, steps=n, integrator="rk4", controller=push, record="last")
        errors.append(np.abs(np.concatenate([r.q[-1], r.v[-1]]) - exact).max())
    assert errors[1] < 1e-6
    assert abs(math.log2(errors[0] / errors[1]) - 4) < 0.15


def test_falling_ur5_agrees_with_pinocchio():
    """MR Exercise 8.15: the UR5 falls from its zero configuration for 3 s, against SciPy at 1e-12 over Pinocchio's aba."""
    pin = pytest.importorskip("pinocchio")
    from scipy.integrate import solve_ivp

    from tests.references.pinocchio_states import ROBOTS

    path = ROBOTS / "ur_description/urdf/ur5_robot.urdf"
    robot, model = ts.load(path), pin.buildModelFromUrdf(str(path))
    data, zero = model.createData(), np.zeros(6)
    assert tuple(model.names)[1:] == robot.joints  # the same joint order, and every coordinate is an angle

    def f(t, y):
        return np.concatenate([y[6:], pin.aba(model, data, y[:6], y[6:], zero)])

    times = np.array([1.0, 2.0, 3.0])
    y = solve_ivp(f, (0, 3), np.zeros(12), method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times).y.T
    r = rollout(robot, zero, zero, dt=1e-4, steps=30_000, integrator="rk4", record=10_000)
    np.testing.assert_allclose(r.t, times, rtol=1e-15)
    np.testing.assert_allclose(r.q, y[:, :6], rtol=0, atol=1e-11)  # SciPy at 1e-12 is itself 2e-12 from a finer run
    np.testing.assert_allclose(r.v, y[:, 6:], rtol=0, atol=1e-11)


# -- controllers -------------------------------------------------------------------------------------------------------------


def test_recorded_controllers_equal_controllers_called_with_numbers(flyer):
    """Each bundled controller: recorded into the kernel, against calls with numbers at every step."""
    q0, v0 = states(flyer, 3)
    target = flyer.random_configuration(7)
    gains = {"target": target, "kp": 3.0, "kd": np.linspace(0.1, 1, flyer.nv)}
    for make, parameters in ((pd, gains), (pd_with_gravity, gains), (computed_torque, gains), (gravity_compensation, {})):
        law = make(flyer)
        bound = functools.partial(law, **parameters)

        def tau(k, q, v, bound=bound, moving="v" in law.__code__.co_varnames[: law.__code__.co_argcount]):
            return np.array([bound(x, y) if moving else bound(x) for x, y in zip(q, v, strict=True)], float)

        r = rollout(flyer, q0, v0, dt=DT, steps=8, controller=law, parameters=parameters)
        q, v = by_hand(flyer, q0, v0, tau, DT, steps=8)
        np.testing.assert_allclose(r.v, v, rtol=0, atol=1e-11 * np.abs(v).max())
        r = rollout(flyer, q0, v0, dt=DT, steps=8, controller=bound)
        np.testing.assert_allclose(r.v, v, rtol=0, atol=1e-11 * np.abs(v).max())


def test_computed_torque_makes_the_error_decay_as_designed(arm):
    """ë + kd ė + kp e = 0 with kp = 25, kd = 10: e(t) = e₀ (1 + 5t) e^{−5t}, by RK4 at 1 ms."""
    target = np.array([0.5, -1.0])
    r = rollout(arm, np.zeros(2), np.zeros(2), dt=1e-3, steps=1000, integrator="rk4", controller=computed_torque(arm),
                parameters={"target": target, "kp": 25.0, "kd": 10.0})  # fmt: skip
    expected = target - target * ((1 + 5 * r.t) * np.exp(-5 * r.t))[:, None]
    np.testing.assert_allclose(r.q, expected, rtol=0, atol=1e-11)


def test_gravity_compensation_keeps_the_robot_at_rest(arm):
    q0 = arm.random_configuration(0, size=4)
    r = rollout(arm, q0, np.zeros(2), dt=DT, steps=50, controller=gravity_compensation(arm))
    np.testing.assert_allclose(r.q, np.broadcast_to(q0[:, None], r.q.shape), rtol=0, atol=1e-13)


def test_parameters_per_robot_and_per_step_equal_a_python_loop(arm):
    """Gains per robot, targets per step, offsets per robot and step, and controls, against a Python loop."""
    rng = np.random.default_rng(0)
    N, T = 5, 12
    q0, v0 = states(arm, N)
    kp, target, push, u = rng.uniform(1, 9, N), rng.normal(size=(T, 2)), rng.normal(size=(N, T)), rng.normal(size=(N, T, 3))

    def law(q, v, u, kp, target, push, kd=0.5):
        return kp * (target - q) - kd * v + [u[0] * u[1], u[2] + push]

    r = rollout(arm, q0, v0, u, dt=DT, controller=law,
                parameters={"kp": per_robot(kp), "target": per_step(target), "push": per_robot_and_step(push)})  # fmt: skip

    def tau(k, q, v):
        extra = np.stack([u[:, k, 0] * u[:, k, 1], u[:, k, 2] + push[:, k]], axis=-1)
        return kp[:, None] * (target[k] - q) - 0.5 * v + extra

    q, v = by_hand(arm, q0, v0, tau, DT, steps=T)
    np.testing.assert_allclose(r.q, q, rtol=0, atol=1e-12)


def test_one_initial_state_with_gains_per_robot_gives_a_batch(arm):
    gains = np.linspace(0, 5, 7)
    run = functools.partial(rollout, arm, np.zeros(2), np.zeros(2), dt=DT, steps=3, controller=lambda q, k: -k * q)
    r = run(parameters={"k": per_robot(gains)})
    assert r.q.shape == (7, 3, 2)
    assert np.array_equal(run(parameters={"k": gains[4]}).q, r.q[4])


def test_controller_time_is_the_time_of_the_rk4_stage(arm):
    """RK4 of v̇ = M⁻¹ τ(t) evaluates τ at t, t + h/2 and t + h, and so integrates a polynomial of degree 3 exactly."""
    slider = ts.Builder("slider").link("rail").link("cart", mass=2.0, inertia=(1, 1, 1))
    robot = slider.joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0)).build()
    r = rollout(robot, [0.0], [0.0], dt=0.1, steps=10, integrator="rk4", controller=lambda t: [2 * t * t * t])
    np.testing.assert_allclose(r.v[:, 0], r.t**4 / 4, rtol=1e-13)


# -- varied robots -----------------------------------------------------------------------------------------------------------


def test_varied_masses_equal_robots_built_with_those_masses():
    """Against robots built with those masses; a welded link is varied alone, not its whole body."""

    def made(a, b):
        b_ = ts.Builder("arm").link("base")
        b_.link("upper", mass=2 * a, com=(0.2, 0.1, 0), inertia=tuple(a * x for x in (0.02, 0.03, 0.01)))
        b_.link("fore", mass=1.0, com=(0.1, 0, 0.3), inertia=(0.02, 0.03, 0.01))
        b_.link("tool", mass=0.4 * b, com=(0, 0.2, 0.1), inertia=tuple(b * x for x in (0.002, 0.003, 0.004)))
        b_.joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0))
        b_.joint("elbow", "revolute", "upper", "fore", axis=(0, 0.6, 0.8), xyz=(0.4, 0, 0))
        b_.joint("weld", "fixed", "fore", "tool", xyz=(0.1, 0.2, 0.3), rpy=(0.3, -0.5, 1.0))
        return b_.build()

    factors = np.array([[1.0, 1.0], [0.5, 3.0], [2.0, 0.0]])
    q0, v0 = states(made(1, 1), 3)
    vary = {"mass": {"upper": per_robot(factors[:, 0]), "tool": per_robot(factors[:, 1])}}
    r = rollout(made(1, 1), q0, v0, dt=DT, steps=20, vary=vary)
    for k, (a, b) in enumerate(factors):
        own = rollout(made(a, b), q0[k], v0[k], dt=DT, steps=20)
        np.testing.assert_allclose(r.q[k], own.q, rtol=0, atol=1e-12)


def test_damping_armature_and_friction_can_vary_per_robot(arm):
    q0, v0 = states(arm, 3)
    first, second = arm.joints
    d, J = np.array([0.0, 0.5, 2.0]), np.array([0.1, 0.0, 3.0])
    vary = {"damping": {second: per_robot(d)}, "armature": {first: per_robot(J)}}
    with pytest.raises(ArgumentError, match=r"joint 'joint2' has no damping; robot.with_damping\(True\) has that of all"):
        rollout(arm, q0, v0, dt=DT, steps=15, vary=vary)
    r = rollout(arm.with_damping(True), q0, v0, dt=DT, steps=15, vary=vary)
    for k in range(3):
        q, v = q0[k], v0[k]
        for _ in range(15):  # (M + J) a = −h − D v
            M = arm.mass_matrix(q) + np.diag([J[k], 0])
            v = v + np.linalg.solve(M, -arm.bias_force(q, v) - np.array([0, d[k]]) * v) * DT
            q = q + v * DT
        np.testing.assert_allclose(r.q[k, -1], q, rtol=0, atol=1e-12)
    law = StaticViscous(0.3, 0.2).smooth(1e-3)
    rough = arm.with_friction({first: law})
    r = rollout(rough, q0, v0, dt=DT, steps=15, vary={"friction": {first: per_robot([0.0, 1.0, 2.0])}})
    for k, factor in enumerate((0.0, 1.0, 2.0)):
        own = arm.with_friction({first: StaticViscous(0.3 * factor, 0.2 * factor).smooth(1e-3)})
        q, v = by_hand(own, q0[k], v0[k], lambda k, q, v: np.zeros(2), DT, steps=15)
        np.testing.assert_allclose(r.q[k], q, rtol=0, atol=1e-12)


def test_rollout_with_new_values_is_not_compiled_again(arm, monkeypatch):
    """Counts compilations: a closure with other values is compiled again, an equal closure is not."""
    made = []
    built = build.build
    monkeypatch.setattr("torsor.compile.recorded.build.build", lambda *a: made.append(1) or built(*a))
    monkeypatch.setattr("torsor.kernels.kernels.Scan", lambda *a, **k: made.append("scan") or Scan(*a, **k))
    robot = ts.robots.two_link()
    link = robot.links[-1]

    def law_of(bias):
        return lambda q, v, kp: [bias - kp * q[0], -v[1]]

    def run(mass, kp, bias, **options):
        q0 = np.random.default_rng(0).normal(size=(4, 2))
        return rollout(robot, q0, np.zeros(2), controller=law_of(bias), parameters={"kp": kp},
                       vary={"mass": {link: mass}}, **{"dt": DT, "steps": 5} | options)  # fmt: skip

    first = run(1.5, 2.0, 0.0)
    count = len(made)
    assert count == 2  # one scan, one library
    assert not np.array_equal(run(per_robot(np.linspace(1, 2, 4)), per_robot(np.ones(4)), 0.0).q, first.q)
    run(0.7, 1.0, 0.0, dt=0.02, steps=9)
    run(0.7, 1.0, 0.0, record="last")
    assert len(made) == count
    biased = run(1.5, 2.0, 4.0)
    assert len(made) == count + 2
    assert not np.array_equal(biased.q, first.q)


def test_rollout_reads_global_values_again_unless_record_once(arm):
    """Except with record_once, which records the controller only once."""
    gain = [1.0]

    def law(q):
        return [-gain[0] * q[0], 0]

    start = np.ones(2), np.zeros(2)
    first = rollout(arm, *start, dt=DT, steps=2, controller=law)
    gain[0] = 50.0
    second = rollout(arm, *start, dt=DT, steps=2, controller=law)
    assert not np.array_equal(first.q, second.q)
    promised = record_once(law)
    assert np.array_equal(rollout(arm, *start, dt=DT, steps=2, controller=promised).q, second.q)
    gain[0] = 1.0
    assert np.array_equal(rollout(arm, *start, dt=DT, steps=2, controller=promised).q, second.q)


class Counter:
    """A controller with internal state."""

    def __init__(self):
        self.k = 0

    def __call__(self, q):
        self.k += 1
        return [self.k * q[0], 0]


_rng = np.random.default_rng(0)
CHANGING = {
    "NumPy's global generator": lambda q: [q[0] + np.random.normal(), 0],
    "a generator": lambda q: [q[0] + _rng.normal(), 0],
    "Python's": lambda q: [q[0] * random.random(), 0],
    "a clock": lambda q, v: [q[0], time.perf_counter_ns() * v[0]],
    "a counter": Counter(),
    "promised": record_once(lambda q: [q[0] + _rng.normal(), 0]),
}


@pytest.mark.parametrize("kind", CHANGING)
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_controller_that_records_differently_a_second_time_is_refused(arm, kind, integrator):
    with pytest.raises(ArgumentError, match=r"recorded a second time: it reads random numbers.*per_robot_and_step"):
        rollout(arm, np.zeros((3, 2)), np.zeros(2), dt=DT, steps=2, controller=CHANGING[kind], integrator=integrator)


def test_noise_per_robot_and_step_is_a_parameter(arm):
    """Against a Python loop: every robot and step has its own row."""
    N, T = 4, 6
    noise, (q0, v0) = np.random.default_rng(3).normal(size=(N, T, 2)), states(arm, N)
    r = rollout(arm, q0, v0, dt=DT, controller=lambda q, v, noise: -5 * q - v + noise, steps=T,
                parameters={"noise": per_robot_and_step(noise)})  # fmt: skip
    q, _ = by_hand(arm, q0, v0, lambda k, q, v: -5 * q - v + noise[:, k], DT, steps=T)
    np.testing.assert_allclose(r.q, q, rtol=0, atol=1e-12)


# -- errors ------------------------------------------------------------------------------------------------------------------


def test_rollout_refuses_robots_with_symbols():
    sympy = pytest.importorskip("sympy")
    b = (
        ts.Builder("symbolic")
        .link("base")
        .link("arm", mass=sympy.Symbol("m", positive=True), com=(0.1, 0, 0), inertia=(1, 1, 1))
    )
    robot = b.joint("hinge", "revolute", "base", "arm", axis=(0, 0, 1)).build()
    with pytest.raises(ArgumentError, match="has symbols"):
        rollout(robot, [0.0], [0.0], dt=DT, steps=1)


@pytest.mark.parametrize(("options", "words"), [
    ({"dt": 0}, "dt must be a positive"),
    ({"dt": math.nan}, "dt must be a positive"),
    ({"steps": 0}, "steps must be"),
    ({"steps": None}, "steps must be"),
    ({"record": 4}, "divides 10"),
    ({"record": "some"}, "record must be"),
    ({"controls": np.zeros((10, 3))}, r"controls has shape \(10, 3\)"),
    ({"controls": np.zeros((9, 2))}, r"controls has shape \(9, 2\), expected .* 10"),
    ({"controls": np.full((10, 2), np.nan)}, r"controls\[0, 0\] is nan"),
    ({"controller": lambda q: q, "parameters": 3.0}, "parameters must be a dict"),
    ({"integrator": 3}, "integrator"),
    ({"controller": 3.0}, "must be a function"),
    ({"controller": lambda q, gain: q}, "'gain'.*parameters="),
    ({"controller": lambda q: q, "parameters": {"kp": 1.0}}, "not an argument of controller"),
    ({"controller": lambda q, u: u}, "no controls are given"),
    ({"controller": lambda q: q, "controls": np.zeros((10, 2))}, "no argument u"),
    ({"controller": lambda *x: x}, "found by name"),
    ({"controller": lambda q: None}, "must return a list of 2"),
    ({"controller": lambda q: [q[0]]}, "returns 1 numbers; the robot has 2"),
    ({"controller": lambda q: [q, q]}, "returns ScalarVector as joint force 0"),
    ({"controller": lambda q: [0, math.inf]}, "returns inf"),
    ({"controller": lambda q: np.sin(q)}, "cannot be recorded.*torsor.scalar"),
    ({"controller": lambda q: [np.sin(q[0]), 0]}, "cannot be recorded.*torsor.scalar"),
    ({"controller": lambda q: [math.sin(q[0]), 0]}, "cannot be recorded.*torsor.scalar"),
    ({"controller": lambda q: [1 if q[0] > 0 else 0, 0]}, "cannot be recorded.*where"),
    ({"controller": lambda q, k: q, "parameters": {"k": "high"}}, r"parameters\['k'\] must be a number"),
    ({"vary": {"mass": {"nothing": 1.0}}}, "no link named 'nothing'"),
    ({"vary": {"weight": {}}}, "no property that may vary"),
    ({"vary": {"mass": 1.0}}, "must be a dict"),
    ({"vary": {"mass": {"link2": [1.0, 2.0]}}}, "per_robot"),
    ({"vary": {"mass": {"link2": -1.0}}}, "negative"),
    ({"vary": {"friction": {"joint1": 1.0}}}, "no friction law"),
    ({"vary": {"mass": {"link2": per_step(np.ones(10))}}}, "step to step"),
    ({"integrator": "magic"}, "no fixed-step integrator"),
])  # fmt: skip
def test_rollout_refuses_invalid_arguments(arm, options, words):
    with pytest.raises((ArgumentError, UnknownName), match=words):
        rollout(arm, np.zeros(2), np.zeros(2), **{"dt": DT, "steps": 10} | options)


def test_rollout_refuses_batches_that_do_not_match(arm):
    with pytest.raises(ArgumentError, match=r"vary\['mass'\]\['link2'\]: \(4,\)"):
        rollout(arm, np.zeros((3, 2)), np.zeros(2), dt=DT, steps=1, vary={"mass": {"link2": per_robot(np.ones(4))}})


def test_rollout_error_names_robot_step_and_joint_of_a_state_that_is_not_finite(arm):
    """Only one joint of one robot diverges: the message gives robot, step and joint."""

    def run(q0, k, steps=4000, record="all"):
        law, parameters = lambda v, k: [0, k * v[1]], {"k": k}
        return rollout(arm, q0, np.ones(2), dt=DT, steps=steps, controller=law, parameters=parameters, record=record)

    with pytest.raises(NotFinite, match=r"robot 2 of .* joint 'joint2'") as error:
        run(np.zeros((4, 2)), per_robot([0.0, 0.0, 900.0, 0.0]), record="last")
    with pytest.raises(NotFinite, match="not finite after step") as alone:
        run(np.zeros(2), 900.0)
    last = error.value.step
    assert (error.value.state, alone.value.state, alone.value.step) == ((2,), (), last)
    assert np.isfinite(run(np.zeros(2), 900.0, steps=last).q).all()


def test_rollout_error_names_a_joint_without_mass():
    b = ts.Builder("ghost").link("base").link("nothing")
    robot = b.joint("idle", "revolute", "base", "nothing", axis=(0, 0, 1)).build()
    with pytest.raises(SingularError, match="idle"):
        rollout(robot, [0.0], [0.0], dt=DT, steps=3)


def test_rollout_error_names_a_zero_quaternion(flyer):
    q0 = flyer.neutral()
    q0[3:7] = 0
    with pytest.raises(ArgumentError, match="quaternion is zero"):
        rollout(flyer, q0, np.zeros(flyer.nv), dt=DT, steps=3)


# -- scans with every= -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [(), (5,)])
def test_scan_every_selects_rows_and_must_divide_the_steps(batch):
    step = record(lambda x, y: {"next": [x[0] + y[0], x[1] * 0.5]}, [Argument("x", (2,)), Argument("y", ())])
    s = Scan(step, carry={"x": "next"})
    x, y = np.ones((*batch, 2)), np.arange(12.0)
    whole = s(x, y)
    for every in (1, 3, 12):
        assert np.array_equal(s(x, y, every=every), whole[..., every - 1 :: every, :])
    slow = Scan(step, carry={"x": "next"})
    slow._libraries = {"one": None, "batch": None}
    assert np.array_equal(slow(x, y, every=4), whole[..., 3::4, :])
    with pytest.raises(ArgumentError, match=r"must divide the number of steps \(12\)"):
        s(x, y, every=5)
    with pytest.raises(ArgumentError, match="runs backwards"):
        Scan(step, carry={"x": "next"}, reverse=True)(x, y, every=2)
