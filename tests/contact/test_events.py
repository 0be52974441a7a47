"""Motion between located events of contact, by adaptive steps, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError, Unsupported
from torsor.simulate import Event, SimulationStopped
from torsor.simulate.quantities import QUANTITIES

from . import bodies
from .test_rocking import rod, sliding, tilted_block

G = bodies.G
EXACT = ts.Adaptive("dop853", tolerance=1e-11)


def names(run) -> list[str]:
    return [x.name for x in run.events]


def times(run, name: str) -> np.ndarray:
    return np.array([x.t for x in run.events if x.name == name])


@pytest.mark.parametrize("make", [bodies.ball, bodies.box])
def test_rates_of_gaps_and_velocities_are_their_derivatives(make):
    """φ̇ = u_n and u̇ = J a + J̇ v, along q̇ = v at a = 0."""
    robot, rng = make(friction=0.5), np.random.default_rng(0)
    motion = robot.kernels.of(QUANTITIES)("contact motion")
    q, v = robot.random_configuration(rng), rng.normal(size=6)
    (ahead, J1, *_), (behind, J0, *_) = (motion(robot.integrate(q, v, s), v) for s in (1e-5, -1e-5))
    gap, J, drift, _ = motion(q, v)
    np.testing.assert_allclose((ahead - behind) / 2e-5, (J @ v)[2::3], atol=1e-8)
    np.testing.assert_allclose((J1 - J0) @ v / 2e-5, drift, atol=1e-8)
    np.testing.assert_allclose(gap, robot.contact_gap(q), atol=1e-15)


# -- impacts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("e", [0.5, 0.8, 1.0])
def test_ball_bounces_at_the_times_and_to_the_heights_of_its_restitution(e):
    """t_n = t₁ + 2 t₁ (e + e² + ... + eⁿ), peaks e²ⁿ h; e = 1 keeps the energy."""
    ball = bodies.ball(friction=0.3, restitution=e)
    run = ball.simulate(bodies.at_height(ball, 1.1), np.zeros(6), 2.2, integrator="dop853")
    t1 = np.sqrt(2 / G)
    hits = times(run, "ball: touch-down")
    n = np.arange(len(hits))
    expected = t1 * (1 + 2 * (n if e == 1 else e * (1 - e**n) / (1 - e)))
    np.testing.assert_allclose(hits, expected, atol=1e-9)
    for x in (x for x in run.events[:3] if x.v[5]):
        np.testing.assert_allclose(x.v[5], np.sqrt(2 * G) * e ** (1 + run.events.index(x)), rtol=1e-9)
    energy = bodies.energy(ball, run)
    assert np.diff(energy).max() < 1e-12
    assert run.contact_gap.min() > -1e-14
    if e == 1:
        assert np.ptp(energy) < 1e-11


@pytest.mark.parametrize("e", [0.2, 0.5, 0.9])
def test_infinitely_many_bounces_end_at_rest_after_a_finite_time(e):
    """t₁ (1 + e)/(1 − e), after finitely many events: bounces shorter than 1e-7 s are dropped."""
    ball = bodies.ball(friction=0.3, restitution=e)
    end = np.sqrt(2 * 0.1 / G) * (1 + e) / (1 - e)
    run = ball.simulate(bodies.at_height(ball, 0.2), np.zeros(6), 1.2 * end, integrator="dop853", record=100)
    last = run.events[-1]
    assert abs(last.t - end) < 3e-7 / (1 - e)
    assert not last.v.any()
    assert abs(run.q[-1, 2] - 0.1) < 1e-14
    np.testing.assert_allclose(run.contact_forces[-1, 0], [0, 0, G], atol=1e-12)


def test_corners_that_strike_together_are_one_impact():
    box = bodies.box(friction=0.5, restitution=0.5)
    run = box.simulate(bodies.at_height(box, 0.3), np.zeros(6), 0.45, integrator="dop853")
    hits = run.events[:4]
    assert len({x.t for x in hits}) == 1
    assert len({x.name for x in hits}) == 4
    np.testing.assert_allclose(hits[0].v, [0, 0, 0, 0, 0, 0.5 * np.sqrt(2 * G * 0.2)], atol=1e-8)
    assert abs(run.q[:, :2]).max() < 1e-12


def test_stack_that_bounces_between_its_own_balls_comes_to_rest():
    """Its lower contacts strike in turn, ever faster: a contact that parts is part of the impact of its neighbour."""
    stack, q = bodies.stack([1, 2, 3.0], friction=0.3, restitution=0.5)
    run = stack.simulate(q + np.array([0.1, 0.2, 0.4]), np.zeros(3), 1.0, integrator="dop853")
    assert len(run.events) < 100
    assert run.contact_gap.min() > -1e-14
    assert run.audit().worst < 1e-7
    assert abs(run.q[-1] - q).max() < 1e-14
    np.testing.assert_allclose(run.contact_forces[-1, :, 2], G * np.array([6, 5, 3]), rtol=1e-9)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_rocking_block_has_the_exact_quarter_period_and_loss(share):
    """½ θ̇² = p² (cos(α − θ₀) − cos(α − θ)), p² = 3g/4R; an impact leaves 1 − (3/2) sin²α of θ̇ (Housner 1963)."""
    from scipy.integrate import quad

    half_width, half_height = 0.0125, 0.5
    alpha, R = np.arctan(half_width / half_height), np.hypot(half_width, half_height)
    p, theta = np.sqrt(3 * G / (4 * R)), share * alpha

    def rate(s):  # dt/ds with θ = θ₀ − s²
        fall = 2 * np.sin(alpha - theta + s * s / 2) * np.sin(s * s / 2)
        return 2 * s / (p * np.sqrt(2 * fall)) if s else 2 / (p * np.sqrt(2 * np.sin(alpha - theta)))

    quarter, _ = quad(rate, 0, np.sqrt(theta), epsabs=1e-13, epsrel=1e-13)
    block, q = tilted_block(half_width, half_height, theta)
    run = block.simulate(q, np.zeros(6), 1.5 * quarter, integrator=EXACT)
    assert names(run) == ["block 1: touch-down", "block 2: touch-down", "block 3: lift-off", "block 4: lift-off"]
    hit = run.events[0]
    assert abs(hit.t - quarter) < 1e-9
    speed = -p * np.sqrt(2 * (np.cos(alpha - theta) - np.cos(alpha)))
    assert abs(run.v[run.t <= hit.t][-2, 1] - speed) < 1e-8
    assert abs(hit.v[1] / speed - (1 - 1.5 * np.sin(alpha) ** 2)) < 1e-8
    energy = bodies.energy(block, run)
    assert np.diff(energy).max() < 1e-12
    assert np.ptp(energy[run.t < hit.t]) < 1e-12


# -- friction ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [(1.0, 0.0), (0.6, 0.8)])
def test_box_slides_and_stops_at_the_place_and_time(way):
    """v²/2μg and v/μg; then it stays, bit for bit."""
    box, mu = bodies.box(friction=0.5), 0.5
    run = box.simulate(bodies.at_height(box, 0.1), np.array([0, 0, 0, *way, 0]), 1.0, integrator="dop853")
    assert abs(run.q[-1, :2] - np.array(way) / (2 * mu * G)).max() < 1e-12
    assert names(run) == [f"box {k}: stick" for k in (1, 3, 5, 7)]
    assert max(abs(x.t - 1 / (mu * G)) for x in run.events) < 1e-12
    assert abs(run.v[run.t > 0.21]).max() < 1e-14
    assert abs(run.contact_gap).min(axis=1).max() < 1e-14
    audit = run.audit()
    assert audit.dissipated[-1] == pytest.approx(0.5, abs=1e-12)
    assert audit.worst < 1e-12
    sliding = run.contact_forces[1, :, :2].sum(axis=0)
    np.testing.assert_allclose(sliding, -mu * G * np.array(way), atol=1e-9)


@pytest.mark.parametrize(("k", "share"), [(2 / 5, 5 / 7), (2 / 3, 3 / 5)])
def test_sliding_ball_begins_to_roll(k, share):
    ball = bodies.ball(k=k, friction=0.3)
    run = ball.simulate(bodies.at_height(ball, 0.1), np.array([0, 0, 0, 1.0, 0, 0]), 0.5, integrator=EXACT)
    assert names(run) == ["ball: stick"]
    assert abs(run.events[0].t - (1 - share) / (0.3 * G)) < 1e-10
    assert abs(bodies.world_velocity(run)[-1, 0] - share) < 1e-10
    assert abs(run.contact_gap).max() < 1e-14
    np.testing.assert_allclose(run.contact_forces[-1, 0], [0, 0, G], atol=1e-9)


def test_billiard_ball_with_side_spin_curves():
    """u = v + ω × (−r n) keeps its direction while it slips, u̇ = −(7/2) μ g e; it ends at v − (2/7) u."""
    ball, mu, r = bodies.ball(friction=0.2), 0.2, 0.1
    v, w = np.array([1.0, 0.2, 0.0]), np.array([6.0, 3.0, 4.0])
    u = v + np.cross(w, [0, 0, -r])
    run = ball.simulate(bodies.at_height(ball, r), np.concatenate([w, v]), 0.5, integrator=EXACT)
    assert names(run) == ["ball: stick"]
    end = np.linalg.norm(u) / (3.5 * mu * G)
    assert abs(run.events[0].t - end) < 1e-9
    np.testing.assert_allclose(bodies.world_velocity(run)[-1], v - 2 / 7 * u, atol=1e-9)
    e = u / np.linalg.norm(u)
    place = v * end - mu * G * e * end**2 / 2 + (v - 2 / 7 * u) * (0.5 - end)
    np.testing.assert_allclose(run.q[-1, :2], place[:2], atol=1e-9)


@pytest.mark.parametrize("steepness", [0.99, 1.01, 1.5])
def test_box_on_an_incline_rests_or_slides(steepness):
    mu = 0.5
    theta = np.arctan(steepness * mu)
    plane, q = bodies.incline(theta)
    box = bodies.box(friction=mu, surface=plane)
    run = box.simulate(q, np.zeros(6), 1.0, integrator=ts.Adaptive(tolerance=1e-10), record="last")
    speed = bodies.world_velocity(run)[-1] @ [-np.cos(theta), 0, -np.sin(theta)]
    expected = max(0.0, G * (np.sin(theta) - mu * np.cos(theta)))
    assert abs(speed - expected) < 1e-9
    if steepness < 1:
        assert np.linalg.norm(run.q[-1, :3] - q[:3]) < 1e-13


def test_box_that_is_pushed_up_an_incline_comes_back():
    mu, theta = 0.5, np.arctan(0.75)
    plane, q = bodies.incline(theta)
    box = bodies.box(friction=mu, surface=plane)
    down = np.array([-np.cos(theta), 0, -np.sin(theta)])
    v = np.concatenate([np.zeros(3), bodies.rotations(q).T @ -down])
    run = box.simulate(q, v, 1.0, integrator="dop853")
    turn = 1 / (G * (np.sin(theta) + mu * np.cos(theta)))
    assert {x.split(": ")[1] for x in names(run)} == {"reversal"}
    assert max(abs(x.t - turn) for x in run.events) < 1e-12
    speed = G * (np.sin(theta) - mu * np.cos(theta)) * (1 - turn)
    assert abs(bodies.world_velocity(run)[-1] @ down - speed) < 1e-10


def test_rod_on_two_points_spins_down():
    mu, L, omega = 0.3, 0.4, 5.0
    robot = bodies.body("rod", 1.0, [1e-3, L * L / 12, L * L / 12])
    ends = [ts.contacts.point("rod", (x, 0, 0)) for x in (-L / 2, L / 2)]
    robot = robot.with_contacts(ends, ts.contacts.plane(), friction=mu)
    run = robot.simulate(robot.neutral(), np.array([0, 0, omega, 0, 0, 0]), 0.4, integrator="dop853")
    assert names(run) == ["rod 1: stick", "rod 2: stick"]
    assert abs(run.events[0].t - omega * L / (6 * mu * G)) < 1e-12
    assert abs(run.q[:, :2]).max() < 1e-13


def test_force_that_grows_makes_a_box_slip_and_a_lifted_ball_leave():
    """F = t: slip from t = μ m g on, of redundant points to 1e-6; a pull of 10 t upwards lifts off at 10 t = m g."""
    box = bodies.box(friction=0.05)
    push = {"box": lambda t, q, v: np.array([0, 0.1 * t, 0, t, 0, 0])}  # at the height of the ground
    run = box.simulate(bodies.at_height(box, 0.1), np.zeros(6), 0.8, wrenches=push, integrator=ts.Adaptive(tolerance=1e-9))
    start = 0.05 * G
    assert {x.split(": ")[1] for x in names(run)} == {"slip"}
    assert max(abs(x.t - start) for x in run.events) < 2e-6
    assert abs(run.v[-1, 3] - (0.8 - start) ** 2 / 2) < 1e-6
    ball = bodies.ball(friction=0.5)
    pull = {"ball": lambda t, q, v: np.array([0, 0, 0, 0, 0, 10 * t])}
    run = ball.simulate(bodies.at_height(ball, 0.1), np.zeros(6), 1.2, wrenches=pull, integrator=EXACT)
    assert names(run) == ["ball: lift-off"]
    off = G / 10
    assert abs(run.events[0].t - off) < 1e-9
    assert abs(run.q[-1, 2] - 0.1 - 10 * (1.2 - off) ** 3 / 6) < 1e-11


# -- machines ----------------------------------------------------------------------------------------------------------


def test_hopping_leg_follows_its_closed_form():
    """m₁ ÿ = −m₁ g − k y in stance, y the compression; λ_n = m₂ g − k y, zero at lift-off."""
    m1, m2, k, rest, h = 2.0, 0.5, 800.0, 0.4, 0.1
    b = ts.Builder("hopper").link("rail").link("body", mass=m1).link("foot", mass=m2)
    b.joint("height", "prismatic", parent="rail", child="body", axis=(0, 0, 1))
    b.joint("leg", "prismatic", parent="body", child="foot", axis=(0, 0, -1))
    leg = b.build().with_contacts(ts.contacts.point("foot"), ts.contacts.plane(), friction=0.5)
    law = lambda t, q, v: np.array([0.0, k * (rest - q[1])])  # noqa: E731
    run = leg.simulate(np.array([rest + h, rest]), np.zeros(2), 0.5, law, integrator=EXACT)
    assert names(run)[:2] == ["foot: touch-down", "foot: lift-off"]
    down, off = run.events[:2]
    assert abs(down.t - np.sqrt(2 * h / G)) < 1e-10
    speed, w = np.sqrt(2 * G * h), np.sqrt(k / m1)
    np.testing.assert_allclose(down.v, [-speed, -speed], atol=1e-9)  # the foot has stopped
    sag, size = G / w**2, np.hypot(G / w**2, speed / w)
    phase = np.arctan2(speed / w, sag)  # y = −sag + size cos(w t + phase)
    until = (2 * np.pi - np.arccos((m2 * G / k + sag) / size) - phase) / w
    assert abs(off.t - down.t - until) < 1e-9
    y = -sag + sag * np.cos(w * until) - speed / w * np.sin(w * until)
    assert abs(off.q[0] - rest - y) < 1e-9


def test_stack_is_carried_ball_by_ball():
    stack, q = bodies.stack([1, 1000.0, 1], friction=0.5)
    run = stack.simulate(q + np.array([0, 0, 0.1]), np.zeros(3), 0.5, integrator="dop853")
    assert names(run) == ["ball2: touch-down"]
    np.testing.assert_allclose(run.contact_forces[-1, :, 2], G * np.array([1002, 1001, 1]), rtol=1e-9)
    assert abs(run.q[-1] - q).max() < 1e-12


def test_fixed_steps_approach_the_events_in_first_order():
    robot = rod(0.5)
    q, v = sliding(robot, 1.0, -3.0)
    exact = robot.simulate(q, v, 0.3, integrator=EXACT, record="last")
    ends = [robot.simulate(q, v, 0.3, dt=dt, record="last") for dt in (1e-3, 5e-4, 2.5e-4)]
    errors = [abs(run.q[-1] - exact.q[-1]).max() for run in ends]
    assert errors[-1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.05)


def test_forces_that_jump_between_samples_begin_and_end_a_slip():
    """5 N for 0.2 s on a box of 1 kg with μ = 0.3: v = (5 − μ g) 0.2, and μ g brakes it."""
    box, rows = bodies.box(friction=0.3), np.zeros((4, 6))
    rows[2, 3] = 5.0
    run = box.simulate(bodies.at_height(box, 0.1), np.zeros(6), 0.8, rows, integrator="dop853")
    assert [x.split(": ")[1] for x in names(run)] == ["slip"] * 4 + ["stick"] * 4
    assert run.events[0].t == 0.4
    end = 0.6 + (5 - 0.3 * G) * 0.2 / (0.3 * G)
    assert max(abs(x.t - end) for x in run.events[4:]) < 1e-10
    assert run.audit().worst < 1e-12


def test_ball_rolls_over_an_edge_and_leaves_and_a_point_stops_the_run_there():
    ball = bodies.ball(friction=0.3, surface=ts.contacts.box((1, 1, 1)))
    start = bodies.at_height(ball, 0.6), np.array([0, 0, 0, 2.0, 0, 0]), 0.5
    run = ball.simulate(*start, integrator="dop853")
    assert names(run) == ["ball: stick", "ball: lift-off"]
    assert abs(run.q[-1] - ball.simulate(*start, dt=1e-4).q[-1]).max() < 1e-3
    point = bodies.body("point", 1.0, [0.1] * 3)
    point = point.with_contacts(ts.contacts.point("point"), ts.contacts.box((1, 1, 1)), friction=0.1)
    with pytest.raises(SimulationStopped, match="moves over an edge of its surface"):
        point.simulate(bodies.at_height(point, 0.5), np.array([0, 0, 0, 2.5, 0, 0]), 0.4, integrator="dop853")


def test_quadruped_that_lands_agrees_with_short_fixed_steps():
    robot, q, _ = bodies.quadruped(height=0.02)
    law = lambda t, q, v: np.concatenate([np.zeros(6), 5 * (bodies.STANCE - q[7:]) - 0.1 * v[6:]])  # noqa: E731
    run = robot.simulate(q, np.zeros(18), 0.15, law, integrator="dop853", record="last")
    assert sorted(names(run)[:4]) == [f"{leg}_FOOT: touch-down" for leg in ("FL", "FR", "HL", "HR")]
    fixed = robot.simulate(q, np.zeros(18), 0.15, law, dt=2e-4, record="last")
    assert abs(fixed.q[-1] - run.q[-1]).max() < 1e-3


# -- results -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rk45", "radau", "lsoda"])
def test_other_methods_locate_the_same_events(method):
    ball = bodies.ball(friction=0.3, restitution=0.5)
    v = np.array([0, 0, 0, 0.5, 0, 0])
    reference = ball.simulate(bodies.at_height(ball, 0.3), v, 0.6, integrator=EXACT)
    run = ball.simulate(bodies.at_height(ball, 0.3), v, 0.6, integrator=ts.Adaptive(method, tolerance=1e-9))
    assert names(run) == names(reference)
    np.testing.assert_allclose([x.t for x in run.events], [x.t for x in reference.events], atol=1e-7)


def test_events_of_the_user_are_listed_in_order_beside_those_of_contacts():
    ball = bodies.ball(friction=0.3, restitution=0.5)
    start = bodies.at_height(ball, 0.6), np.zeros(6), 1.0
    low = Event(lambda t, q, v: q[2] - 0.2, name="low")
    run = ball.simulate(*start, integrator="dop853", events=low)
    assert names(run)[:4] == ["low", "ball: touch-down", "low", "low"]
    assert np.all(np.diff([x.t for x in run.events]) >= 0)
    ended = ball.simulate(*start, integrator="dop853", events=Event(low.function, name="low", terminal=True))
    assert names(ended) == ["low"]
    assert ended.t[-1] == ended.events[0].t


def test_records_have_forces_gaps_and_readings():
    ball = bodies.ball(mass=2.0, friction=0.5)
    imu = {"imu": ts.Sensor("accelerometer", "ball")}
    run = ball.simulate(bodies.at_height(ball, 0.2), np.zeros(6), 0.5, integrator="dop853", record=10, sensors=imu)
    hit = run.events[0].t
    flying, resting = run.t < hit, run.t > hit
    assert not run.contact_forces[flying].any()
    np.testing.assert_allclose(run.contact_forces[resting, 0], np.tile([0, 0, 2 * G], (resting.sum(), 1)), atol=1e-11)
    np.testing.assert_allclose(run.sensors["imu"][flying], 0, atol=1e-11)
    np.testing.assert_allclose(run.sensors["imu"][resting], np.tile([0, 0, G], (resting.sum(), 1)), atol=1e-11)
    assert run.states["residual"].max() < 1e-14
    assert run.contact_gap.shape == (len(run.t), 1)
    assert np.isin(np.arange(51), np.round(run.t / 0.01, 9)).all()


@pytest.mark.parametrize(("e", "seed"), [(0.0, 0), (0.0, 4), (0.4, 3), pytest.param(0.4, 1, marks=pytest.mark.night)])
def test_tossed_box_comes_to_rest_and_gains_no_energy(e, seed):
    """A box that tumbles, slides and bounces on its corners: forces within the cone, gaps at rounding, in every record."""
    box = bodies.box((0.2, 0.15, 0.1), friction=0.5, restitution=e)
    rng = np.random.default_rng(seed)
    q = bodies.at_height(box, 0.25)
    q[3:] = rng.normal(size=4)
    q[3:] /= np.linalg.norm(q[3:])
    run = box.simulate(q, rng.normal(size=6) * [5, 5, 5, 0.7, 0.7, 0.5], 1.0, integrator="dop853")
    assert np.diff(bodies.energy(box, run)).max() < 2e-7  # of the tolerance
    assert run.audit().worst < 1e-5
    assert run.contact_gap.min() > -1e-11
    force = run.contact_forces
    assert force[..., 2].min() >= 0
    assert (np.hypot(force[..., 0], force[..., 1]) - 0.5 * force[..., 2]).max() < 1e-9
    assert abs(run.v[-1]).max() < 1e-12


def test_interrupt_keeps_the_result_so_far():
    ball = bodies.ball(friction=0.3, restitution=0.5)

    def law(t, q, v):
        if t > 0.5:
            raise KeyboardInterrupt
        return np.zeros(6)

    with pytest.raises(KeyboardInterrupt) as stop:
        ball.simulate(bodies.at_height(ball, 0.6), np.zeros(6), 1.0, law, integrator="dop853")
    assert 0 < stop.value.result.t[-1] <= 0.5
    assert names(stop.value.result)[0] == "ball: touch-down"


# -- outcomes that are no motion ---------------------------------------------------------------------------------------


def test_start_below_the_ground_is_refused():
    ball = bodies.ball(friction=0.3)
    with pytest.raises(ArgumentError, match=r"'ball' starts 0.05 m inside its surface"):
        ball.simulate(bodies.at_height(ball, 0.05), np.zeros(6), 1.0, integrator="dop853")


def test_rod_in_the_paradox_of_painleve_is_refused():
    robot = rod(2.0)
    q, v = sliding(robot, 1.0, -3.0)
    with pytest.raises(ts.TorsorError, match="friction jams rod"):
        robot.simulate(q, v, 0.1, integrator="dop853")


@pytest.mark.parametrize("make", [
    lambda: bodies.ball(friction=0.3, stiffness=1e4),
    lambda: bodies.stack([1.0], friction=0.3)[0].with_stops({"rail0": 0.5}),
    lambda: bodies.ball(friction=0.3).with_base_motion(lambda t: ((0, 0, 0.1 * t), (0, 0, 0))),
])  # fmt: skip
def test_parts_beside_contacts_that_are_solved_in_steps_are_refused(make):
    robot = make()
    with pytest.raises(Unsupported, match="take fixed steps, integrator='semi_implicit'"):
        robot.simulate(robot.neutral(), np.zeros(robot.nv), 0.1, integrator="dop853")
