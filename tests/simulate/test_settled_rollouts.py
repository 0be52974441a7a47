"""Rollouts of robots with loops: the step settled on the rows, its order, checks, errors and gradients."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.constraints.mechanisms import four_bar
from torsor import constraints
from torsor.algorithms.steps import ORDERS
from torsor.compile.scan import NotFinite
from torsor.errors import ArgumentError, ClosureError, SingularError
from torsor.scalar import sin
from torsor.simulate import per_robot

TAU = np.array([1.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def bars():
    return four_bar()


@pytest.fixture(scope="module")
def start(bars):
    q = bars.assemble([1.0, 0.5, 1.5])
    return q, bars.constrained().project_velocity(q, [2.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def end(bars, start):
    """The state after 0.2 s, by an integrator of order eight on the closed linkage."""
    run = bars.simulate(*start, 0.2, lambda t, q, v: TAU, integrator=ts.Adaptive("dop853", tolerance=1e-12), dt=0.2)
    return run.q[-1], run.v[-1]


@pytest.mark.parametrize("integrator", ORDERS)
def test_settled_rollout_keeps_the_order_of_the_integrator(bars, start, end, integrator):
    errors = []
    for steps in (50, 100):
        run = bars.rollout(*start, TAU, dt=0.2 / steps, steps=steps, integrator=integrator, record="last")
        errors.append(max(np.abs(run.q[-1] - end[0]).max(), np.abs(run.v[-1] - end[1]).max()))
        assert run.residual[0] < 1e-12
        assert np.abs(bars.constrained().residual(run.q[-1])).max() < 1e-12
        assert np.abs(bars.constrained().slip(run.q[-1], run.v[-1])).max() < 2e-6
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[integrator], abs=0.25)


def test_settled_step_of_a_four_bar_has_few_operations():
    """TERMS.md §12: 702 with semi-implicit Euler, 1422 with rk4, without checks; these have them."""
    robot = ts.mechanisms.four_bar()
    q = robot.assemble()
    counts = {}
    for integrator in ("semi_implicit", "rk4"):
        run = robot.rollout(q, np.zeros(3), dt=1e-3, steps=1, integrator=integrator, differentiable=True)
        counts[integrator] = run.adjoint.forward.operations
    assert counts["semi_implicit"] < 560
    assert counts["rk4"] < 1510


def test_settled_rollout_of_a_batch_equals_one_robot(bars, start):
    q, v = start
    many = bars.rollout(np.tile(q, (3, 1)), v * np.array([[0.5], [1.0], [1.5]]), TAU, dt=1e-3, steps=20)
    for k in range(3):
        one = bars.rollout(q, v * (0.5 + 0.5 * k), TAU, dt=1e-3, steps=20)
        assert np.array_equal(many.q[k], one.q)
        assert np.array_equal(many.residual[k], one.residual)


def test_settled_rollout_in_single_precision_stays_closed(bars, start, end):
    run = bars.rollout(*start, TAU, dt=1e-3, steps=200, integrator="rk4", dtype="float32", record="last")
    assert np.abs(run.q[-1] - end[0]).max() < 1e-4
    assert run.residual[0] < 1e-5


def test_settled_rollout_sensors_read_the_acceleration_under_the_rows(bars, start):
    run = bars.rollout(*start, TAU, dt=1e-3, steps=3, sensors={"imu": ts.Sensor("accelerometer", "coupler")})
    q, v = run.q[1], run.v[1]
    a = bars.constrained().forward_dynamics(q, v, TAU).a
    tree = bars.without_loops()
    moved = [tree.jacobian(bars.integrate(q, v, h), "coupler")[3:] @ (v + h * a) for h in (-1e-5, 1e-5)]
    rise = (moved[1] - moved[0]) / 2e-5 - np.array(bars.gravity)
    seen = tree.pose(q, "coupler")[:3, :3].T @ rise
    assert np.abs(run.sensors["imu"][1] - seen).max() < 1e-7


# -- errors ------------------------------------------------------------------------------------------------------------


def test_rollout_from_an_open_loop_names_the_row(bars, start):
    q, v = start
    with pytest.raises(ClosureError, match=r"initial q violates constraint 'C: v.' by 0\..*robot\.assemble"):
        bars.rollout(q + 0.1, v, dt=1e-3, steps=1)
    with pytest.raises(ArgumentError, match=r"initial v of state \[1\] violates constraint 'C: v.' .*project_velocity"):
        bars.rollout(np.stack([q, q]), np.stack([v, v + 1]), dt=1e-3, steps=1)


def test_rollout_with_steps_too_long_names_robot_step_and_row(bars, start):
    q, v = start
    with pytest.raises(NotFinite, match=r"robot 1 of .*, step 0 .*'C: v.' is violated by .*more than 1e-06; use a smaller dt"):
        bars.rollout(np.stack([q, q]), np.stack([v, 10 * v]), dt=2e-2, steps=5)
    masked = bars.rollout(np.stack([q, q]), np.stack([v, 10 * v]), dt=2e-2, steps=5, on_failure="mask")
    assert [(f.robot, f.step) for f in masked.failed] == [(1, 0)]
    assert np.isfinite(masked.q[0]).all()
    assert np.isnan(masked.q[1]).all()
    assert np.isnan(masked.residual).tolist() == [[False] * 3, [True] * 3]


def test_rollout_from_a_singular_position_is_refused():
    flat = four_bar(1.0, 2.0, 1.0, 2.0)
    with pytest.raises(NotFinite, match=r"step 0 .*nearly dependent, a singular position; robot\.simulate"):
        flat.rollout(np.zeros(3), np.zeros(3), dt=1e-3, steps=5)


# -- gradients ---------------------------------------------------------------------------------------------------------


def test_settled_rollout_gradient_equals_differences_at_each_record_spacing(bars, start):
    rng, T, dt = np.random.default_rng(0), 6, 1e-2
    u, du = TAU + rng.normal(size=(T, 3)), rng.normal(size=(T, 3))
    mass = {"mass": {"coupler": per_robot([1.1])}}
    for record in ("all", "last"):
        given = {"dt": dt, "record": record, "vary": mass}
        run = bars.rollout(start[0][None], start[1], u, differentiable=True, **given)
        w = rng.normal(size=run.v.shape)

        def loss(s, m=1.1, given=given, w=w):
            vary = {"mass": {"coupler": per_robot([m])}}
            return float((w * bars.rollout(start[0][None], start[1], u + s * du, **given | {"vary": vary}).v).sum())

        found = run.gradient(v=w)
        h = 1e-5
        assert np.sum(found.controls * du) == pytest.approx((loss(h) - loss(-h)) / (2 * h), rel=1e-7)
        by_mass = (loss(0, 1.1 + h) - loss(0, 1.1 - h)) / (2 * h)
        assert found.vary["mass"]["coupler"][0] == pytest.approx(by_mass, rel=1e-6)


# -- single steps, and other ways to stay on the rows ------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_step_under_rows_equals_one_step_of_a_rollout(bars, start, integrator):
    q, v = bars.step(*start, TAU, 1e-3, integrator)
    run = bars.rollout(*start, TAU, dt=1e-3, steps=1, integrator=integrator)
    assert np.array_equal(q, run.q[0])
    assert np.array_equal(v, run.v[0])
    A, B = bars.linearize(*start, TAU, dt=1e-3)
    assert A.shape == (6, 6)
    h = 1e-5
    moved = [bars.step(*start, TAU + s * h * np.eye(3), 1e-3) for s in (1, -1)]
    assert np.abs(B[3:] - ((moved[0].v - moved[1].v) / (2 * h)).T).max() < 1e-9


def test_step_from_an_open_loop_names_the_row(bars, start):
    q, v = start
    with pytest.raises(ClosureError, match=r"q violates constraint 'C: v.' .*robot\.assemble\(q\)"):
        bars.step(q + 0.1, v, TAU, 1e-3)
    with pytest.raises(SingularError, match=r"state \[1\] of the batch: a step of dt = 0.05 s .*smaller dt"):
        bars.step(np.stack([q, q]), np.stack([v, 10 * v]), TAU, 0.05)


def test_stabilization_by_velocity_keeps_closure_errors_of_second_order(bars, start, end):
    robot = bars.with_constraints(stabilization="velocity")
    assert "velocity" in robot.terms["stabilization"]
    found = []
    for steps in (100, 200):
        run = robot.rollout(*start, TAU, dt=0.2 / steps, steps=steps)
        error = max(np.abs(run.q[-1] - end[0]).max(), np.abs(run.v[-1] - end[1]).max())
        found.append((run.residual[0], error))
    (gap, error), (finer_gap, finer_error) = found
    assert gap < 1e-4
    assert np.log2(gap / finer_gap) == pytest.approx(2, abs=0.2)
    assert np.log2(error / finer_error) == pytest.approx(1, abs=0.2)
    with pytest.raises(ArgumentError, match="'velocity' is for euler and semi_implicit; 'rk4' needs 'projection'"):
        robot.rollout(*start, TAU, dt=1e-3, steps=1, integrator="rk4")


def test_stabilization_of_baumgarte_and_none_leave_larger_closure_errors(bars, start):
    gaps = {}
    for way in ("projection", (20.0, 20.0), None):
        robot = bars.with_constraints(stabilization="velocity").with_constraints(stabilization=way)
        gaps[way] = robot.rollout(*start, TAU, dt=1e-3, steps=200).residual[0]
    assert gaps["projection"] < 1e-12 < gaps[20.0, 20.0] < gaps[None]
    with pytest.raises(ArgumentError, match="stabilization must be 'projection', 'velocity'"):
        bars.with_constraints(stabilization="baumgarte")


# -- rows that are not loops -------------------------------------------------------------------------------------------


def test_rollout_with_a_driven_row_follows_it_at_the_end_of_each_step():
    plane = constraints.point_on_plane("tip", (1, 0, 0), through=(1.0, 0, 0))
    arm = ts.robots.two_link().with_constraints(constraints.prescribed(plane, lambda t: [0.1 * sin(3 * t)]))
    held = arm.constrained()
    q = held.assemble([0.5, 1.0], time=0.0)
    v = held.project_velocity(q, [0.3, 0.2], time=0.0)
    end = arm.simulate(q, v, 0.1, integrator=ts.Adaptive("dop853", tolerance=1e-12), dt=0.1)
    errors = []
    for steps in (20, 40):
        run = arm.rollout(q, v, dt=0.1 / steps, steps=steps, integrator="rk4")
        assert np.abs(arm.pose(run.q, "tip")[:, 0, 3] - 1 - 0.1 * np.sin(3 * run.t)).max() < 1e-12
        errors.append(np.abs(run.v[-1] - end.v[-1]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)


def test_rollout_of_a_rolling_ball_does_not_slip():
    built = ts.Builder("ball").link("ground").link("ball", mass=2.0, inertia=(0.01, 0.02, 0.03), com=(0.01, 0, 0))
    ball = built.joint("free", "floating", "ground", "ball").build().with_constraints(constraints.rolling("ball", 0.1))
    held = ball.constrained()
    q = held.assemble(ball.neutral())
    v = held.project_velocity(q, [1.0, 2.0, 3.0, 0.2, 0.1, 0.0])
    run = ball.rollout(q, v, dt=1e-3, steps=100, integrator="rk4")
    assert np.abs(held.slip(run.q, run.v)).max() < 1e-12
    energy = ball.kinetic_energy(run.q, run.v) + ball.potential_energy(run.q)
    assert np.ptp(energy) < 1e-9
