"""robot.simulate: control, stops, friction and constraints, each against a closed form or an independent method."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from tests.trees import random_tree
from torsor.actuators import Drive, Gearbox, Motor
from torsor.cli.starting import start_of
from torsor.errors import ArgumentError, ClosureError, SingularError, UnknownName
from torsor.flexible import SeriesSpring, Spring
from torsor.model import friction
from torsor.scalar import sin
from torsor.simulate import simulate
from torsor.simulate.controllers import SampledController
from torsor.simulate.events import Event
from torsor.simulate.result import SimulationStopped
from torsor.simulate.time_loop import grid

G = 9.81


def slider(lower=None, upper=None, mass=2.0, axis=(1, 0, 0), **joint) -> ts.Robot:
    """One body on a rail."""
    limits = {k: x for k, x in (("lower", lower), ("upper", upper)) if x is not None}
    build = ts.Builder("slider").link("ground").link("body", mass=mass)
    return build.joint("rail", "prismatic", "ground", "body", axis=axis, **limits, **joint).build()


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()


# -- control ---------------------------------------------------------------------------------------------------


def test_control_as_array_rows_function_or_sampled_controller_gives_the_same_motion(arm):
    tau = np.array([3.0, -1.0])
    ways = [
        tau,
        np.tile(tau, (50, 1)),
        np.tile(tau, (500, 1)),
        lambda t, q, v: tau,
        SampledController(lambda t, q, v: tau, 125),
    ]
    runs = [simulate(arm, [0.1, 0.2], [0, 0], 0.5, way) for way in ways]
    for run in runs[1:]:
        np.testing.assert_allclose(run.q[-1], runs[0].q[-1], atol=1e-13)
        np.testing.assert_array_equal(run.tau[-1], tau)


def test_control_rows_are_each_held_for_an_equal_time():
    """F = 2, −2, 0 N on 2 kg for a second each: a = ±1, x = ½, 1, 1."""
    run = simulate(slider(), [0.0], [0.0], 3.0, [[2.0], [-2.0], [0.0]], dt=0.01)
    np.testing.assert_allclose(run.q[[100, 200, 300], 0], [0.5, 1.0, 1.0], atol=1e-12)


def test_sampled_controller_is_exact_off_the_grid_of_dt():
    """An integrating controller at 3 Hz with samples off the grid of dt, exact: v⁺ = v + u T/m, x⁺ = x + v T + u T²/2m."""
    law = SampledController(lambda t, q, v, total: (-2 * q - v - total, total + q), 3, np.zeros(1))
    run = simulate(slider(), [1.0], [0.0], 2.0, law, dt=0.01)
    x, v, total, T = 1.0, 0.0, 0.0, 1 / 3
    for _ in range(6):
        u = -2 * x - v - total
        total, x, v = total + x, x + v * T + u * T * T / 4, v + u * T / 2
    np.testing.assert_allclose([run.q[-1, 0], run.v[-1, 0]], [x, v], atol=1e-12)
    other = simulate(slider(), [1.0], [0.0], 2.0, law, integrator=ts.Adaptive("dop853", tolerance=1e-12))
    np.testing.assert_allclose(other.q[-1, 0], x, atol=1e-9)


def test_sampled_controller_state_is_reset_for_each_simulation(arm):
    law = SampledController(lambda t, q, v, k: (np.array([k, 0.0]), k + 1), 100, 0)
    first, second = (simulate(arm, [0, 0], [0, 0], 0.1, law) for _ in range(2))
    np.testing.assert_array_equal(first.q, second.q)


def test_time_grid_includes_controller_samples_and_the_end():
    times, widths, ticks, _ = grid(1.0, 0.3, 0.25, 1)
    np.testing.assert_allclose(times, [0, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9, 1.0])
    np.testing.assert_allclose(np.cumsum(widths), times[1:])
    assert [times[k] for k in sorted(ticks)] == [0, 0.25, 0.5, 0.75]


def test_time_dependent_wrench_gives_the_closed_form_motion():
    """F = cos t on 2 kg: x = (1 − cos t)/2."""
    push = {"body": lambda t, q, v: [0, 0, 0, np.cos(t), 0, 0]}
    run = simulate(slider(), [0.0], [0.0], 2.0, wrenches=push, dt=1e-2)
    np.testing.assert_allclose(run.q[:, 0], (1 - np.cos(run.t)) / 2, atol=1e-10)
    assert run.audit().worst < 1e-9
    steady = simulate(slider(), [0.0], [0.0], 1.0, wrenches={"body": [0, 0, 0, 4.0, 0, 0]})
    assert steady.q[-1, 0] == pytest.approx(1.0, abs=1e-12)


def test_drive_limits_torque_to_the_motor():
    """The available torque is zero at no-load speed: with a too large command a geared motor ends at w₀/G."""
    wheel = ts.Builder("wheel").link("g").link("w", mass=1, inertia=(1, 1, 0.01)).joint("j", "continuous", "g", "w").build()
    drive = Drive(Motor(torque_constant=0.05, resistance=0.5, max_voltage=24.0), Gearbox(10))
    run = simulate(wheel.with_drives({"j": drive}), [0.0], [0.0], 5.0, [1e6], dt=2e-3)
    assert run.v[-1, 0] == pytest.approx(drive.no_load_speed, rel=1e-6)
    assert run.tau[0, 0] == pytest.approx(drive.peak_torque)
    assert run.audit().relative < 1e-6


# -- events and stops --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_events_are_located_at_their_exact_times(integrator):
    """A body thrown up at 5 m/s: at the top at 5/g, back at 10/g."""
    thrown = slider(axis=(0, 0, 1))
    events = [
        Event(lambda t, q, v: v[0], name="top"),
        Event(lambda t, q, v: q[0], direction=-1, terminal=True, name="back"),
        Event(lambda t, q, v: q[0], direction=1, name="never"),
    ]
    run = simulate(thrown, [0.0], [5.0], 3.0, events=events, integrator=integrator)
    assert [e.name for e in run.events] == ["top", "back"]
    np.testing.assert_allclose([e.t for e in run.events], [5 / G, 10 / G], atol=2e-10)
    assert run.t[-1] == run.events[-1].t
    np.testing.assert_allclose(run.v[-1], [-5.0], atol=1e-8)


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dop853"])
def test_bounces_at_a_hard_stop_have_closed_form_times_and_energies(integrator):
    """A ball dropped from 1 m, e = 0.8: impacts at T(1 + 2e + 2e² + ...), T = √(2/g), energy e² each time."""
    e, T = 0.8, np.sqrt(2 / G)
    run = simulate(slider(0.0, 10.0, axis=(0, 0, 1)).with_stops(e), [1.0], [0.0], 3.0, integrator=integrator, dt=5e-3)
    times = [T * (1 + 2 * sum(e**j for j in range(1, k + 1))) for k in range(6)]
    np.testing.assert_allclose([x.t for x in run.events], times, atol=2e-9)
    assert {x.name for x in run.events} == {"rail: lower stop"}
    audit = run.audit()
    assert audit.impacts == pytest.approx(2 * G * (1 - e**12), rel=1e-8)
    assert audit.worst < 1e-7
    assert run.q.min() >= 0


def test_bouncing_comes_to_rest_and_leaves_again():
    """e = ½: the bounces end at 3T; then q is constant bit for bit until the body is lifted."""
    T = np.sqrt(2 / G)
    lift = lambda t, q, v: np.array([0.0 if t < 2 else 2 * G + 4.0])  # noqa: E731
    run = simulate(slider(0.0, 10.0, axis=(0, 0, 1)).with_stops(0.5), [1.0], [0.0], 3.0, lift)
    assert run.events[-1].t == pytest.approx(3 * T, abs=1e-5)
    lying = (run.t > 1.5) & (run.t < 1.999)
    assert (run.q[lying] == 0).all()
    assert (run.v[lying] == 0).all()
    assert run.q[-1, 0] == pytest.approx(1.0, abs=1e-3)  # 2 m/s² for a second


def test_impact_impulse_acts_only_at_the_joint_with_the_stop():
    """At the impact of one joint, M (v⁺ − v⁻) is nonzero only at that joint."""
    rod = {"inertia": (0, 0.02, 0.02)}
    robot = (
        ts.Builder("elbow").link("base").link("a", mass=1, com=(0.5, 0, 0), **rod).link("b", mass=1, com=(0.5, 0, 0), **rod)
        .joint("shoulder", "continuous", "base", "a")
        .joint("elbow", "revolute", "a", "b", xyz=(1, 0, 0), lower=-0.5, upper=0.5)
        .build(gravity=(0, 0, 0))
    )  # fmt: skip
    run = simulate(robot.with_stops({"elbow": 0.6}), [0.0, 0.0], [0.0, 1.0], 2.0)
    k = int(np.flatnonzero(np.diff(run.t) == 0)[0])
    impulse = robot.mass_matrix(run.q[k]) @ (run.v[k + 1] - run.v[k])
    assert run.v[k + 1, 1] == pytest.approx(-0.6 * run.v[k, 1])
    assert abs(impulse[0]) < 1e-12 < abs(impulse[1])


def test_two_integrators_find_the_same_impacts_at_several_stops():
    """A falling Panda that rests on several stops at a time: two integrators find the same impacts, about 40."""
    panda = ts.robots.panda()
    joints = [panda.joint(n) for n in panda.joints if n != "panda_finger_joint2"]
    q = np.array([np.clip(0.0, float(np.ravel(j.lower)[0]), float(np.ravel(j.upper)[0])) for j in joints])
    runs = [simulate(panda.with_stops(0.2), q, np.full(8, 0.1), 1.0, integrator=x) for x in ("rk4", "dop853")]
    names, times = [[e.name for e in r.events] for r in runs], [[e.t for e in r.events] for r in runs]
    assert names[0] == names[1]
    assert len(names[0]) > 20
    np.testing.assert_allclose(times[0], times[1], atol=1e-5)
    for run in runs:
        assert run.audit().worst < 1e-5
        for joint, column in zip(joints, run.q.T, strict=True):
            assert float(np.ravel(joint.lower)[0]) - 1e-9 <= column.min()
            assert column.max() <= float(np.ravel(joint.upper)[0]) + 1e-9


def test_simulate_refuses_a_start_outside_the_limits():
    with pytest.raises(ArgumentError, match="beyond its limit"):
        simulate(slider(0.0, 1.0).with_stops(0.5), [-0.5], [0.0], 1.0)


# -- friction ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "dop853"])
def test_dry_friction_stops_the_body_and_keeps_it_at_rest(integrator):
    """2 kg at 2 m/s against 3 N: rest after 4/3 s and 4/3 m, then q is constant bit for bit."""
    block = slider().with_friction({"rail": friction.Coulomb(3.0)})
    run = simulate(block, [0.0], [2.0], 2.0, integrator=integrator, dt=1e-2)
    assert run.v[-1, 0] == 0.0
    assert run.q[-1, 0] == pytest.approx(4 / 3, abs=1e-2 if integrator == "semi_implicit" else 1e-9)
    rest = run.t > 1.4
    assert (run.v[rest] == 0).all()
    assert np.ptp(run.q[rest]) == 0


def test_static_friction_breaks_away_at_its_level():
    """A force of 2t N against 4 N static, 2 N kinetic friction: at rest until t = 2, then m a = 2t − 2."""
    block = slider().with_friction({"rail": friction.StaticKinetic(4.0, 2.0)})
    run = simulate(block, [0.0], [0.0], 3.0, lambda t, q, v: np.array([2 * t]), dt=1e-2)
    still = run.t < 1.99
    assert (run.q[still] == 0).all()
    assert run.v[-1, 0] == pytest.approx((9 - 6 - (4 - 4)) / 2, abs=1e-9)  # ∫(2t − 2)/2 from 2 to 3


def test_pendulum_with_dry_friction_loses_the_same_angle_each_swing():
    """Small oscillations about the lowest point: the amplitude decreases by 2 τ/(m g l) per half period."""
    swing = (
        ts.Builder("p").link("g").link("b", mass=1, com=(0, 0, -1)).joint("j", "continuous", "g", "b", axis=(0, 1, 0)).build()
    ).with_friction({"j": friction.Coulomb(0.02)})
    turns = Event(lambda t, q, v: v[0], name="turn")
    run = simulate(swing, [0.05], [0.0], 8.0, events=turns, dt=1e-2)
    ends = [abs(e.q[0]) for e in run.events][:4]
    np.testing.assert_allclose(np.diff([0.05, *ends]), -2 * 0.02 / G, rtol=2e-3)  # sin θ for θ: 0.05²/6


def test_viscous_friction_law_equals_a_viscous_controller(arm):
    law = {"joint1": friction.Viscous(0.4), "joint2": friction.Viscous(0.7)}
    by_law = simulate(arm.with_friction(law), [0.3, 0.1], [0, 0], 1.0)
    by_hand = simulate(arm, [0.3, 0.1], [0, 0], 1.0, lambda t, q, v: -np.array([0.4, 0.7]) * v)
    np.testing.assert_allclose(by_law.q, by_hand.q, atol=1e-12)
    assert by_law.audit().worst < 1e-8


# -- loops and constraints -------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["rk4", ts.Adaptive("dop853", tolerance=1e-10)], ids=["rk4", "dop853"])
def test_four_bar_keeps_loop_and_energy(integrator):
    linkage = ts.mechanisms.four_bar()
    q = linkage.neutral()
    v = linkage.constrained().project_velocity(q, np.ones(3))
    run = simulate(linkage, q, v, 0.5, integrator=integrator, dt=2e-3)
    assert np.abs(run.residual).max() < 1e-14
    assert run.audit().worst < 1e-7


def test_closure_error_is_smaller_with_baumgarte_and_rounding_with_projection():
    """The closure error drifts without stabilization, is smaller with Baumgarte, and is rounding error with projection."""
    linkage = ts.mechanisms.four_bar()
    q = linkage.neutral()
    v = linkage.constrained().project_velocity(q, 3 * np.ones(3))
    drift, held, projected = (
        np.abs(simulate(linkage.with_constraints(stabilization=way), q, v, 3.0, dt=5e-3).residual).max()
        for way in (None, (50, 50), "projection")
    )
    assert projected < 1e-14 < held < drift / 2


def test_constraint_keeps_the_tip_on_a_wall_without_work(arm):
    """The arm of MR Example 8.5 slides down a vertical wall with its tip; the wall does no work."""
    wall = ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0))
    q = arm.constrained(wall).project(np.array([-np.pi / 3, 2 * np.pi / 3]))
    run = simulate(arm.with_constraints(wall), q, [0, 0], 0.3)
    tip = arm.pose(run.q, "tip")[:, :3, 3]
    np.testing.assert_allclose(tip[:, 0], 1, atol=1e-12)
    assert np.ptp(tip[:, 1]) > 0.05
    assert run.audit().worst < 1e-8


def test_constraint_that_moves_does_work(arm):
    """The tip follows x = 1 m, y = 0.3 sin 2t: the work of the constraint is the change of energy."""
    carried = ts.constraints.prescribed(
        ts.constraints.point_on_plane("tip", normal=(0, 1, 0), through=(0, 0, 0)), lambda t: [0.3 * sin(2 * t)]
    )
    held = arm.constrained(carried)
    q = held.project(np.array([-0.6, 1.2]), time=0.0)
    v = held.project_velocity(q, np.zeros(2), time=0.0)
    run = simulate(arm.with_constraints(carried), q, v, 1.0, dt=2e-3)
    np.testing.assert_allclose(arm.pose(run.q, "tip")[:, 1, 3], 0.3 * np.sin(2 * run.t), atol=1e-12)
    audit = run.audit()
    assert np.ptp(audit.work) > 1
    assert audit.worst < 1e-6


def test_simulate_refuses_a_start_that_violates_the_loops():
    linkage = ts.mechanisms.four_bar()
    with pytest.raises(ClosureError, match="initial q violates constraint"):
        simulate(linkage, linkage.neutral() + 0.3, np.zeros(3), 1.0)
    with pytest.raises(ArgumentError, match="initial v violates constraint"):
        simulate(linkage, linkage.neutral(), [1.0, 0.0, 0.0], 1.0)


# -- springs ---------------------------------------------------------------------------------------------------


def test_elastic_joint_vibrates_at_its_frequency():
    """Only a rotor B and a link J with a spring K between them: ω² = K (1/B + 1/J)."""
    J, B, K = 0.5, 0.2, 300.0
    wheel = ts.Builder("w").link("g").link("w", mass=1, inertia=(1, 1, J)).joint("j", "continuous", "g", "w").build()
    w = np.sqrt(K * (1 / B + 1 / J))
    run = simulate(wheel.with_springs({"j": SeriesSpring(K, rotor_inertia=B)}), [0.01, 0.0], [0.0, 0.0], 1.0)
    mean = J * 0.01 / (J + B)
    np.testing.assert_allclose(run.q[:, 0], mean + (0.01 - mean) * np.cos(w * run.t), rtol=0, atol=1e-8)  # (w dt)⁵/120 a step
    np.testing.assert_allclose(run.q[:, 1], mean - mean * np.cos(w * run.t), rtol=0, atol=2e-8)
    assert run.audit().worst < 1e-8


def test_very_stiff_springs_give_the_rigid_motion_with_armature(arm):
    """For K → ∞ the motion is that of the rigid robot with the rotor inertias as armature."""
    tau = [2.0, 1.0]
    elastic = arm.with_springs(SeriesSpring(3e5, 200.0, rotor_inertia=0.3))
    soft = simulate(elastic, *elastic.state([0.1, 0.2])[:2], 0.3, [0, 0, *tau], dt=2e-4)
    joints = tuple(replace(j, armature=(0.3,)) for j in arm.description.joints)
    stiff = simulate(ts.Robot(replace(arm.description, joints=joints)), [0.1, 0.2], [0, 0], 0.3, tau)
    np.testing.assert_allclose(soft.q[-1, :2], stiff.q[-1], atol=2e-4)


# -- every joint type --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.night) for seed in (0, 3))])
def test_energy_of_random_trees_equals_work_and_losses(seed):
    """Trees with every joint type and mimic joints: work of forces, wrenches and damping equals the change of energy."""
    robot = ts.Robot(random_tree(seed, bodies=4))
    q, v, tau = robot.random_configuration(seed), np.full(robot.nv, 0.5), np.linspace(-1, 1, robot.nv)
    push = {robot.links[-1]: [0.1, -0.2, 0.3, 1.0, 0.5, -1.0]}
    sharp = ts.Adaptive("dop853", tolerance=1e-11)
    run = simulate(robot.with_damping(True), q, v, 0.2, tau, wrenches=push, integrator=sharp, record=1)
    audit = run.audit()
    assert audit.worst < 1e-6 * max(1.0, np.ptp(audit.work))


# -- errors ------------------------------------------------------------------------------------------------------


def test_not_finite_state_stops_with_time_step_joint_and_partial_result(arm):
    with pytest.raises(SimulationStopped, match=r"t = 0.499 s, step 499, joint 'joint2'") as caught:
        simulate(arm, [0, 0], [0, 0], 1.0, lambda t, q, v: np.array([0.0, np.nan if t >= 0.4999 else 0.0]))
    assert (caught.value.step, caught.value.joint) == (499, "joint2")
    assert caught.value.time == pytest.approx(0.499)  # the last stage of this step is at t = 0.5
    assert len(caught.value.result.t) == 500
    assert np.isfinite(caught.value.result.q).all()


def test_overflow_in_a_compiled_run_keeps_the_partial_result(arm):
    with pytest.raises(SimulationStopped, match="not finite") as caught:
        simulate(arm, [0, 0], [10, 20], 20.0, integrator="euler", dt=5e-2)
    assert len(caught.value.result.t) == caught.value.step + 1
    assert caught.value.joint in arm.joints


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"duration": -1.0}, "duration must be a positive"),
        ({"dt": 0.0}, "dt must be a positive"),
        ({"control": np.zeros(3)}, r"control has shape \(3,\)"),
        ({"control": lambda t, q, v: [0.0]}, r"returned \[0.0\] \(list\); it must return joint forces"),
        ({"wrenches": {"tip": [0, 0]}}, r"shape \(6,\)"),
        ({"record": 0}, "record must be"),
        ({"limits": 1.5}, r"no argument .limits. any more: robot.with_stops"),
        ({"motors": ([0.0], [0.0])}, "robot.state"),
        ({"springs": Spring(100.0)}, r"robot.with_springs\(\{joint: SeriesSpring"),
        ({"damping": True}, r"simulate has no argument 'damping' any more: robot.with_damping\(True\)"),
    ],
)
def test_simulate_rejects_invalid_arguments(arm, words, message):
    words = {"duration": 0.1, **words}
    robot = ts.Robot(arm.description)
    with pytest.raises(ArgumentError, match=message):
        simulate(robot, [0, 0], [0, 0], words.pop("duration"), words.pop("control", None), **words)


def test_simulate_error_of_unknown_integrator_or_joint_lists_valid_names(arm):
    with pytest.raises(UnknownName, match="dop853"):
        simulate(arm, [0, 0], [0, 0], 1.0, integrator="ode45")
    with pytest.raises(UnknownName, match="joint2"):
        simulate(arm.with_stops({"elbow": 0.1}), [0, 0], [0, 0], 1.0)


@pytest.mark.parametrize("restitution", [0.0, 0.7])
def test_joint_whose_limits_coincide_stays_at_rest(restitution):
    """lower = upper, as some exporters write for fixed joints: the robot moves as if the joint were welded."""
    both = {"lower": 0.3, "upper": 0.3}
    arm = (
        ts.Builder("arm").link("base").link("upper", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
        .link("fore", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
        .joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0))
        .joint("elbow", "revolute", "upper", "fore", xyz=(1, 0, 0), axis=(0, 1, 0), **both)
        .build()
    )  # fmt: skip
    result = arm.with_stops(restitution).simulate([0.0, 0.3], [0.0, 0.0], 0.5)
    welded = arm.lock({"elbow": 0.3}).simulate([0.0], [0.0], 0.5)
    np.testing.assert_allclose(result.q[:, 1], 0.3, atol=0)
    np.testing.assert_allclose(result.q[-1, 0], welded.q[-1, 0], rtol=1e-9)
    assert len(result.events) <= 2


def test_too_many_steps_are_refused():
    with pytest.raises(ts.ArgumentError, match=r"1e\+15 steps"):
        ts.robots.two_link().simulate([0, 0], [0, 0], 1e6, dt=1e-9)


def test_simulate_error_names_a_massless_joint_that_hits_its_stop():
    build = ts.Builder("light").link("base").link("arm", mass=1.0, com=(1, 0, 0)).link("flag")
    build.joint("swing", "revolute", "base", "arm", axis=(0, 0, 1))
    build.joint("wave", "revolute", "arm", "flag", axis=(0, 0, 1), lower=-1.0, upper=1.0)
    with pytest.raises(SingularError, match="'wave'"):
        build.build().with_stops(0.0).simulate([0.0, 1.0], [0.0, 2.0], 0.1)


@pytest.mark.night
def test_joints_that_bounce_off_their_stops_in_turn_come_to_rest():
    """iCub, limp: from 4.7168 s torso and shoulder hit their stops in turn, 5e-11 s apart, each 1e-12 rad off its stop."""
    pinocchio = pytest.importorskip("pinocchio")
    robots = Path(pinocchio.__file__).parents[4] / "share" / "example-robot-data" / "robots"
    robot = ts.load(robots / "icub_description" / "robots" / "icub_reduced.urdf")
    start, asked = start_of(robot, None, None, 0, "none", False), []

    def limp(t, q, v):
        asked.append(t)
        assert len(asked) < 200_000, f"does not get on from {t} s"
        return np.zeros(robot.nv)

    assert robot.with_stops(0.0).simulate(start.q, start.v, 5.0, limp, dt=2e-3).t[-1] == 5.0
