"""First-order states x of terms: bristles, currents, temperatures and memories in steps, rollouts, gradients, simulations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts
from tests.tolerance import assert_close
from torsor.actuators import PID, Drive, Gearbox, Lag, Latency, Motor, PositionServo, Thermal
from torsor.errors import ArgumentError
from torsor.model.friction import LuGre, Stribeck
from torsor.model.terms.term import Effort, States, Term

ARM = ts.robots.two_link()
DT, T = 1e-3, 20
LUGRE = LuGre(Stribeck(1.5, 1.0, 0.4, v_stribeck=0.1), stiffness=300.0, damping=2.0)
WINDING = Motor(
    torque_constant=0.05, resistance=1.0, inductance=0.003, max_voltage=40, max_current=30,
    thermal=Thermal(resistance=4, capacitance=5, max_temperature=125),
)  # fmt: skip
Q, V, U = np.array([0.3, 0.5]), np.array([0.4, -0.2]), np.array([0.5, 8.0])


def everything() -> ts.Robot:
    """Bristles and a delayed, lagging PID at one joint, a winding that warms at the other."""
    robot = ARM.with_friction({"joint1": LUGRE}).with_actuators({"joint1": [Latency(0.002), Lag(0.01), PID(100.0, 20.0, 5.0)]})
    return robot.with_drives({"joint2": Drive(WINDING, Gearbox(20))}, "voltage")


@pytest.fixture(scope="module")
def robot():
    return everything()


# -- one motion in every method ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "midpoint"])
def test_rollout_equals_simulate(robot, integrator):
    """The kernel and the loop over time advance the same terms: to rounding, x included."""
    moved = robot.rollout(Q, V, U, dt=DT, steps=T, integrator=integrator)
    run = robot.simulate(Q, V, T * DT, U, dt=DT, integrator=integrator)
    assert_close(moved.q, run.q[1:], 1e-13)
    assert_close(moved.v, run.v[1:], 1e-12)
    assert_close(moved.x[:, 0], run.states["z"][1:, 0], 1e-12)
    assert_close(moved.x[:, -2:], np.hstack([run.states["current"], run.states["temperature"]])[1:], 1e-12)
    assert_close(moved.tau[:-1], run.tau[1:-1], 1e-11)


def test_step_is_one_step_of_a_rollout():
    robot = ARM.with_friction({"joint1": LUGRE}).with_drives({"joint2": Drive(WINDING, Gearbox(20))}, "voltage")
    x = np.array([1e-3, 2.0, 30.0])
    q, v, after = robot.step(Q, V, U, DT, "rk4", x=x)
    moved = robot.rollout(Q, V, U, dt=DT, steps=1, x=x, integrator="rk4")
    assert_close(q, moved.q[0], 1e-15)
    assert_close(v, moved.v[0], 1e-15)
    assert_close(after, moved.x[0], 1e-15)


def test_rollout_continues_from_its_x(robot):
    whole = robot.rollout(Q, V, U, dt=DT, steps=T)
    half = robot.rollout(Q, V, U, dt=DT, steps=8)
    rest = robot.rollout(half.q[-1], half.v[-1], U, dt=DT, steps=T - 8, x=half.x[-1])
    np.testing.assert_array_equal(rest.q, whole.q[8:])
    np.testing.assert_array_equal(rest.x, whole.x[8:])


def test_gradient_by_state_commands_and_x(robot):
    """Against central differences, in random directions."""
    rng = np.random.default_rng(3)
    w, x = rng.normal(size=(3, T, 2)), np.array([1e-3, 0.1, 0.2, 0.3, 0.4, 1.0, 40.0])
    wx = rng.normal(size=(T, len(x))) * 1e-2
    run = robot.rollout(Q, V, U, dt=DT, steps=T, x=x, integrator="rk4", differentiable=True)
    found = run.gradient(q=w[0], v=w[1], x=wx)
    dq, dv, du, dx = rng.normal(size=2), rng.normal(size=2), rng.normal(size=2), rng.normal(size=len(x)) * 1e-2

    def loss(h):
        moved = robot.rollout(Q + h * dq, V + h * dv, U + h * du, dt=DT, steps=T, x=x + h * dx, integrator="rk4")
        return np.sum(w[0] * moved.q) + np.sum(w[1] * moved.v) + np.sum(wx * moved.x)

    h = 1e-4
    slope = (8 * (loss(h) - loss(-h)) - (loss(2 * h) - loss(-2 * h))) / (12 * h)
    assert found.q0 @ dq + found.v0 @ dv + found.controls @ du + found.x @ dx == pytest.approx(slope, rel=1e-8)


def test_gradient_by_gains_of_an_actuator():
    servo = ARM.with_actuators({"joint1": [PositionServo(40.0, 3.0), Lag(0.05)]})

    def end(kp, **more):
        vary = {"actuators": {"joint1": [PositionServo(kp, 3.0), Lag(0.05)]}}
        return servo.rollout(Q, V, U, dt=0.01, steps=T, vary=vary, **more)

    w = np.zeros((T, 2))
    w[-1] = 1.0
    by = end(40.0, differentiable=True).gradient(q=w).vary["actuators"]["joint1"]
    h = 1e-3
    assert by[0] == pytest.approx((end(40 + h).q[-1].sum() - end(40 - h).q[-1].sum()) / (2 * h), rel=1e-7)


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_adaptive_steps_integrate_the_rates(method):
    """Against SciPy on one joint's equation with its bristle: J v̇ = τ − φ, ż = v − σ₀|v|z/g(v)."""
    wheel = ts.Builder("wheel").link("g").link("w", mass=1, inertia=(1, 1, 0.5)).joint("j", "continuous", "g", "w").build()
    run = wheel.with_friction({"j": LUGRE}).simulate(
        [0.0], [0.2], 0.3, [2.0], integrator=ts.Adaptive(method, tolerance=1e-9), x=[1e-3]
    )

    def rate(t, y):
        v, z = y
        return [(2.0 - LUGRE.force(z, v)) / 0.5, LUGRE.state_rate(z, v)]

    exact = solve_ivp(rate, (0, 0.3), [0.2, 1e-3], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    assert_close([run.v[-1, 0], run.states["z"][-1, 0]], exact, 1e-7)


def test_varied_friction_scales_the_force_of_bristles():
    robot, more = ARM.with_friction({"joint1": LUGRE}), {"dt": DT, "steps": 5, "integrator": "rk4"}
    twice = LuGre(Stribeck(3.0, 2.0, 0.8, v_stribeck=0.1), stiffness=600.0, damping=4.0)
    varied = robot.rollout(Q, V, U, vary={"friction": {"joint1": 2.0}}, **more)
    assert_close(varied.q, ARM.with_friction({"joint1": twice}).rollout(Q, V, U, **more).q, 1e-13)


# -- instant methods ---------------------------------------------------------------------------------------------------------


def test_instant_methods_take_x_or_are_at_rest():
    robot, x = ARM.with_friction({"joint1": LUGRE}), np.array([[2e-3], [-1e-3]])
    tau = robot.inverse_dynamics(Q, V, np.zeros(2), x=x)
    bare = ARM.inverse_dynamics(Q, V, np.zeros(2))
    expected = [[LUGRE.force(float(z), V[0]), 0.0] for z in x[:, 0]]
    assert_close(tau - bare, expected, 1e-13)
    assert_close(robot.inverse_dynamics(Q, V, np.zeros(2)) - bare, [LUGRE.steady(V[0]), 0.0], 1e-13)
    assert_close(robot.forward_dynamics(Q, V, tau, x=x), np.zeros((2, 2)), 1e-13)
    rest = LUGRE.steady_state(V[0])
    assert_close(robot.forward_dynamics(Q, V, U, x=[rest]), robot.forward_dynamics(Q, V, U), 1e-13)


def test_joint_forces_are_what_arrives(robot):
    moved = robot.rollout(Q, V, U, dt=DT, steps=3)
    still = ARM.with_actuators({"joint1": Lag(0.01)}).with_drives({"joint2": Drive(WINDING, Gearbox(20))}, "voltage")
    assert_close(still.joint_forces(U, Q, V, x=[7.0, 3.0, 25.0]), [7.0, 20 * 0.05 * 3.0], 1e-14)
    assert moved.tau.shape == (3, 2)
    assert_close(ARM.joint_forces(U, Q, V), U)


def test_drives_with_different_commands_act_side_by_side():
    limited = Drive(Motor(torque_constant=0.05, resistance=1.0, max_voltage=2.0), Gearbox(10))
    both = ARM.with_drives({"joint1": limited}).with_drives(
        {"joint2": Drive(Motor(torque_constant=0.05, resistance=1.0))}, "voltage"
    )
    tau = both.joint_forces([100.0, 6.0], Q, [0.0, 2.0])
    assert_close(tau, [10 * 0.05 * 2.0, 0.05 * (6.0 - 0.05 * 2.0)], 1e-14)


# -- editing and errors ------------------------------------------------------------------------------------------------------


def test_terms_with_states_follow_edits(robot):
    assert robot.state_names == everything().state_names
    assert robot == everything()
    renamed = robot.rename({"joint1": "hip"})
    assert "hip z" in renamed.state_names
    locked = robot.lock({"joint2": 0.0})
    assert all(name.startswith("joint1") for name in locked.state_names)
    assert robot.without_terms("actuator", "drive").state_names == ("joint1 z",)
    assert np.array_equal(robot.without_terms("drive").mass_matrix(Q), ARM.mass_matrix(Q))


def test_wrong_x_is_refused(robot):
    rubbing = ARM.with_friction({"joint1": LUGRE})
    with pytest.raises(ArgumentError, match="has first-order states, joint1 z: give x="):
        rubbing.step(Q, V, U, DT)
    with pytest.raises(ArgumentError, match="has no first-order states: omit x="):
        ARM.step(Q, V, U, DT, x=[0.0])
    with pytest.raises(ArgumentError, match=r"x has shape \(2,\)"):
        rubbing.rollout(Q, V, U, dt=DT, steps=2, x=[0.0, 0.0])
    with pytest.raises(ArgumentError, match=r"x\[0\] is nan|not finite"):
        rubbing.rollout(Q, V, U, dt=DT, steps=2, x=[np.nan])
    with pytest.raises(ArgumentError, match="its delay is a number of steps"):
        ARM.with_actuators({"joint1": Latency(0.01)}).step(Q, V, U, DT)
    with pytest.raises(ArgumentError, match="with_actuators"):
        ARM.rollout(Q, V, U, dt=DT, steps=2, actuators={"joint1": Lag(0.1)})


@dataclass(frozen=True)
class Relaxing(Term):
    """A force that relaxes: ẋ = (v − x)/T, f = −k x; of one's own, with a rate alone."""

    joint: str
    k: float
    T: float
    kind = "relaxing"
    places = ("joint",)

    @property
    def name(self):
        return f"{self.joint} relaxing"

    def states(self, model):
        return States((f"{self.joint} r",), (0.0,))

    def force(self, at):
        i = at.body_of(self.joint)
        return Effort({i: [-self.k * (at.x_of(self) or at.vs[i])[0]]})  # at rest x = v

    def rate(self, at):
        return [(at.vs[at.body_of(self.joint)][0] - at.x_of(self)[0]) / self.T]


def test_term_of_ones_own_needs_a_rate_alone():
    """Rolled out by its default rule, of order 2; against SciPy."""
    wheel = ts.Builder("wheel").link("g").link("w", mass=1, inertia=(1, 1, 0.5)).joint("j", "continuous", "g", "w").build()
    robot, errors = wheel.with_terms(Relaxing("j", 2.0, 0.1)), []
    exact = solve_ivp(
        lambda t, y: [-2.0 * y[1] / 0.5, (y[0] - y[1]) / 0.1], (0, 0.4), [1.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-12
    ).y[:, -1]
    for steps in (20, 40, 80):
        moved = robot.rollout([0.0], [1.0], dt=0.4 / steps, steps=steps, integrator="rk4")
        errors.append(np.abs([moved.v[-1, 0], moved.x[-1, 0]] - exact).max())
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.15)
