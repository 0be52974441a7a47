"""Time-optimal motions against closed forms, phase planes and linear programs."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, linprog
from scipy.sparse import coo_array

import torsor as ts
from tests.tolerance import assert_close
from tests.trajectories.paths import Corner, Line, Spline, random_spline, slider
from torsor.mechanics.trajectories.limit_rows import PathLimits, as_bounds
from torsor.mechanics.trajectories.reachability import controllable, fastest, intervals
from torsor.trajectories import time_optimal

#: durations of bang-bang motions whose limits are relaxed by 1e-11 (RELAXED), at grids that contain the switch
EXACT = 1e-9


def kinds(trajectory):
    return [(x.kind, x.side) for x in trajectory.limiting if x.kind]


# -- closed forms -------------------------------------------------------------------------------------------------


def test_double_integrator_takes_two_square_roots_of_length_over_acceleration():
    fast = time_optimal(slider(mass=2.0, effort=8.0), Line(slider(), [3.0]))
    assert_close(fast.duration, 2 * np.sqrt(3.0 / 4.0), EXACT)
    assert kinds(fast) == [("effort", 1), ("effort", -1)]
    assert_close(fast.limiting[0].end, fast.duration / 2, EXACT)
    motion = fast.at([0.0, fast.duration / 4, fast.duration])
    assert_close(motion.q[:, 0], [0.0, 0.5 * 4 * (fast.duration / 4) ** 2, 3.0], EXACT)
    assert_close(motion.a[:, 0], [4.0, 4.0, -4.0], EXACT)


def test_velocity_limit_gives_a_trapezoid():
    v, a, length = 1.1, 4.0, 3.0
    fast = time_optimal(slider(velocity_limit=v), Line(slider(), [length]), tolerance=1e-5)
    assert_close(fast.duration, length / v + v / a, 1e-5)
    assert kinds(fast) == [("effort", 1), ("velocity", 1), ("effort", -1)]


def test_speeds_at_both_ends_shorten_the_motion():
    a, length, before, after = 4.0, 3.0, 1.5, 2.0
    peak = np.sqrt((before**2 + after**2) / 2 + a * length)
    line = Line(slider(), [2.0], end=length / 2)  # v = 2 ṡ
    fast = time_optimal(slider(), line, start=before / 2, end=after / 2, tolerance=1e-5)
    assert_close(fast.duration, (2 * peak - before - after) / a, 1e-5)
    assert_close(fast.at([0.0, fast.duration]).v[:, 0], [before, after], 1e-9)


def test_acceleration_limit_of_the_slowest_joint_counts():
    robot = ts.robots.two_link()
    limits = np.array([[-2.0, -9.0], [4.0, 9.0]])
    fast = time_optimal(robot, Line(robot, [1.0, -0.5]), effort_limit=np.inf, acceleration_limit=limits, tolerance=1e-4)
    up, down = 4.0, 2.0
    assert_close(fast.duration, np.sqrt(2 / up / (1 + up / down)) * (1 + up / down), 1e-4)


def test_rotation_of_a_spherical_joint_has_the_duration_of_its_angle():
    builder = ts.Builder("ball").link("base").link("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    robot = builder.joint("ball", "spherical", "base", "body").build()
    turn = np.array([0.4, -1.2, 0.6])
    fast = time_optimal(robot, Line(robot, turn), effort_limit=3.0)
    assert_close(fast.duration, 2 * np.sqrt(1.2 / 3.0), EXACT)
    assert_close(fast.at(fast.duration).q, robot.integrate(robot.neutral(), turn), 1e-9)


def test_path_with_a_corner_stops_there():
    robot = ts.robots.two_link()
    fast = time_optimal(robot, Corner(robot), effort_limit=np.inf, acceleration_limit=1.0)
    assert_close(fast.duration, 4.0, EXACT)
    assert_close(fast.at(2.0).v, [0.0, 0.0], 1e-4, floor=1.0)  # √x of x that is 0 but for rounding


def test_damped_slider_reaches_the_closed_form():
    mass, effort, d, length = 2.0, 8.0, 5.0, 3.0
    decay, most = d / mass, effort / d

    def left(t):  # of the path after accelerating for t and braking to rest
        v = most * (1 - np.exp(-decay * t))
        brake = np.log(1 + v / most) / decay
        return length - (most * t - v / decay) - ((most + v) * (1 - np.exp(-decay * brake)) / decay - most * brake)

    t = brentq(left, 0.1, 10.0, xtol=1e-12)
    expected = t + np.log(1 + (1 - np.exp(-decay * t))) / decay
    robot = slider(mass, effort).with_damping({"slide": d})
    fast = time_optimal(robot, Line(robot, [length]), tolerance=1e-4)
    assert_close(fast.duration, expected, 2e-4)  # tolerance=, and the same share until the forces of v are steady


def test_dry_friction_slows_the_start_and_helps_to_brake():
    robot = slider(2.0, 8.0).with_friction({"slide": ts.actuators.friction.Coulomb(2.0)})
    up, down = (8.0 - 2.0) / 2.0, (8.0 + 2.0) / 2.0
    fast = time_optimal(robot, Line(robot, [3.0]), tolerance=1e-4)
    assert_close(fast.duration, np.sqrt(2 * 3.0 / up / (1 + up / down)) * (1 + up / down), 1e-4)


@pytest.mark.parametrize("end", [1e-6, 1e6])
def test_duration_does_not_depend_on_the_parameter_of_the_path(end):
    robot = slider(velocity_limit=1.1)
    expected = time_optimal(robot, Line(robot, [3.0])).duration
    assert_close(time_optimal(robot, Line(robot, [3.0 / end], end=end)).duration, expected, EXACT)


def test_pendulum_under_torque_follows_the_limits_in_the_phase_plane():
    mass, length, effort, angle = 1.5, 0.8, 14.0, 2.5
    robot = ts.robots.pendulum(m=mass, L=length)
    weight, inertia = robot.gravity_force([[0.0], [0.3], [angle]])[:, 0], float(robot.mass_matrix([0.0])[0, 0])

    def rate(torque):  # of x = θ̇² by θ
        return lambda q, x: 2 * (torque - robot.gravity_force([q])[0]) / inertia

    def profile(torque, begin, end):
        return solve_ivp(rate(torque), (begin, end), [0.0], dense_output=True, rtol=1e-10, atol=1e-12).sol

    assert np.abs(weight).max() < effort
    up, down = profile(effort, 0, angle), profile(-effort, angle, 0)
    switch = brentq(lambda q: up(q)[0] - down(q)[0], 0.1, angle - 0.1, xtol=1e-12)

    def time(x, begin, end):  # with q = begin + (end − begin) r², which removes the singularity of 1/√x at rest
        nodes, weights = np.polynomial.legendre.leggauss(60)
        r, w = (nodes + 1) / 2, weights / 2
        return abs((w * 2 * r * (end - begin) / np.sqrt(x(begin + (end - begin) * r**2)[0])).sum())

    expected = time(up, 0, switch) + time(down, angle, switch)
    for tolerance in (1e-3, 1e-5):
        fast = time_optimal(robot, Line(robot, [angle]), effort_limit=effort, tolerance=tolerance)
        assert_close(fast.duration, expected, tolerance)
    assert_close(fast.limiting[0].end, time(up, 0, switch), 1e-4)


# -- robots -------------------------------------------------------------------------------------------------------


def test_motion_on_a_grid_solves_the_linear_program():
    """max Σ x over the rows of one grid, by HiGHS: no motion on this grid is above the fastest."""
    robot = ts.robots.ur5()
    path, effort = random_spline(robot, 2)
    limits_of = {"effort": effort, "velocity": robot.velocity_limit, "acceleration": np.full(6, np.inf)}
    limits = PathLimits(robot, path, {k: as_bounds(k, x, x) for k, x in limits_of.items()})
    s = np.linspace(0, 1, 101)
    rows = limits(s)
    rows = rows.over(rows.scale)
    cells = intervals(rows.take(slice(None, -1)), rows.take(slice(1, None)), np.diff(s), np.zeros(101, bool))
    x = fastest(cells, *controllable(cells, 0.0), 0.0)
    k = 1 / (2 * np.diff(s))[:, None]
    blocks, right = [], []
    for place, n in (("left", slice(None, -1)), ("right", slice(1, None))):
        r = rows.take(n)
        first, last = (r.b - k * r.a, k * r.a) if place == "left" else (-k * r.a, r.b + k * r.a)
        for sign, bound in ((1, r.upper - r.c), (-1, r.c - r.lower)):
            kept = np.isfinite(bound)
            i = np.broadcast_to(np.arange(100)[:, None], bound.shape)[kept]
            row = np.arange(kept.sum())
            values = np.concatenate([sign * first[kept], sign * last[kept]])
            blocks.append(coo_array((values, (np.tile(row, 2), np.concatenate([i, i + 1]))), shape=(kept.sum(), 101)).toarray())
            right.append(bound[kept])
    ends = [(0, 0)] + [(0, None)] * 99 + [(0, 0)]
    best = linprog(-np.ones(101), A_ub=np.vstack(blocks), b_ub=np.concatenate(right), bounds=ends, method="highs").x
    y, z = np.sqrt(x), np.sqrt(np.maximum(best, 0))
    # where a row changes the sign of m, the greedy step is not the largest of all (Pham & Pham 2018, section V)
    assert_close((1 / (y[1:] + y[:-1])).sum(), (1 / (z[1:] + z[:-1])).sum(), 1e-4)


@pytest.mark.parametrize(("name", "seed"), [("ur5", 0), ("panda", 0)])
def test_fast_arm_keeps_the_torque_limits_of_pinocchio_and_uses_them(name, seed):
    pinocchio = pytest.importorskip("pinocchio", reason="the pinocchio extra is not installed")
    robot = getattr(ts.robots, name)()
    path, effort = random_spline(robot, seed)
    fast = time_optimal(robot, path, effort_limit=effort, velocity_limit=2.0)
    model = ts.to_pinocchio(robot)
    data, motion = model.createData(), fast.at(np.linspace(0, fast.duration, 1001))
    tau = np.array([pinocchio.rnea(model, data, *row) for row in zip(motion.q, motion.v, motion.a, strict=True)])
    shares = np.concatenate([np.abs(tau) / effort, motion.v**2 / 4.0], axis=1).max(axis=1)
    assert 1 - 1e-3 < shares.max() < 1 + 1.1e-3  # tolerance=, of half the range
    assert (shares > 0.97).mean() > 0.98
    assert fast.excess <= 1e-3
    idle = sum(x.end - x.begin for x in fast.limiting if not x.kind)
    assert idle < 0.01 * fast.duration
    assert fast.limiting[0].begin == 0
    assert fast.limiting[-1].end == fast.duration


def test_smaller_limits_and_larger_tolerances_do_not_make_an_arm_faster():
    robot = ts.robots.ur5()
    path, effort = random_spline(robot, 1)
    cases = ((1, 1e-2), (1, 1e-3), (2, 1e-3))
    durations = [time_optimal(robot, path, effort_limit=k * effort, tolerance=t).duration for k, t in cases]
    assert durations[2] < durations[1] < durations[0] < 1.02 * durations[1]


def test_terms_that_depend_on_velocity_are_within_the_limits():
    robot = ts.robots.ur5().with_damping(dict.fromkeys(ts.robots.ur5().joints, 2.0))
    path, effort = random_spline(ts.robots.ur5(), 1)
    fast = time_optimal(robot, path, effort_limit=effort, velocity_limit=10.0)
    motion = fast.at(np.linspace(0, fast.duration, 501))
    shares = np.abs(robot.inverse_dynamics(motion.q, motion.v, motion.a) / effort).max(axis=1)
    assert 1 - 1e-3 < shares.max() < 1 + 1.1e-3
    assert (shares > 0.97).mean() > 0.97


def test_forces_at_the_drive_of_a_four_bar_are_within_the_limits():
    robot = ts.mechanisms.four_bar().with_actuated(["crank"])
    held, crank = robot.constrained(), robot.joint("crank").v_slice.start
    start = robot.assemble(robot.neutral())

    class Turn:
        """The crank turns by s."""

        breaks = np.array([0.0, 1.0])

        def __init__(self):
            self.robot = robot

        def __call__(self, s):
            fixed = np.eye(robot.nv)[[crank]]
            guess = np.tile(start, (len(s), 1))
            guess[:, crank] += s
            q = robot.assemble(guess, fixed=["crank"])
            A = np.concatenate([held.jacobian(q), np.broadcast_to(fixed, (len(s), 1, robot.nv))], axis=1)
            one = np.zeros((len(s), A.shape[1]))
            one[:, -1] = 1
            first = np.einsum("bnk,bk->bn", np.linalg.pinv(A), one)
            drift = np.einsum("bkn,bn->bk", held.jacobian_rate(q, first), first)
            second = -np.einsum("bnk,bk->bn", np.linalg.pinv(A), np.pad(drift, ((0, 0), (0, 1))))
            return q, first, second

    path = Turn()
    need = np.abs(robot.inverse_dynamics(path(np.linspace(0, 1, 50))[0], np.zeros(robot.nv), np.zeros(robot.nv))).max()
    limit = np.where(np.arange(robot.nv) == crank, 2 * need, np.inf)
    fast = time_optimal(robot, path, effort_limit=limit, tolerance=0.05)
    motion = fast.at(np.linspace(0, fast.duration, 101))
    tau = robot.inverse_dynamics(motion.q, motion.v, motion.a)[:, crank]
    assert 0.98 < np.abs(tau).max() / (2 * need) < 1.02
    assert np.abs(np.abs(tau) / (2 * need) - 1).mean() < 0.1


def test_own_limit_holds_the_tool_at_its_speed():
    robot = ts.robots.ur5()
    path, effort = random_spline(robot, 3)
    speed = 0.3

    def tool(s):
        q, first, _ = path(s)
        velocity = robot.twist(q, first, "tool0", "world")[:, 3:]
        return 0.0, (velocity**2).sum(axis=1), 0.0, -np.inf, speed**2  # |J θ′|² ṡ² ≤ v²

    fast = time_optimal(robot, path, effort_limit=2 * effort, limits={"tool speed": tool})
    motion = fast.at(np.linspace(0, fast.duration, 501))
    found = np.linalg.norm(robot.twist(motion.q, motion.v, "tool0", "world")[:, 3:], axis=1)
    assert 0.999 * speed < found.max() < 1.001 * speed
    assert "tool speed" in {x.kind for x in fast.limiting}


def test_two_threads_and_one_find_the_same_bits():
    robot = ts.robots.ur5()
    cases = [random_spline(robot, seed) for seed in (0, 1, 0, 1)]

    def work(case):
        return time_optimal(robot, case[0], effort_limit=case[1], tolerance=0.02).scaling.x

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(work, cases))
    assert all(np.array_equal(x, work(case)) for x, case in zip(together, cases, strict=True))


# -- errors -------------------------------------------------------------------------------------------------------


def test_weight_above_the_effort_limit_names_joint_place_and_excess():
    robot = ts.robots.two_link()  # 29.43 N·m at joint1 where it is stretched out
    with pytest.raises(ts.ArgumentError, match=r"at s = 0: at rest the effort of 'joint1' is 29\.\d+, 9\.\d+ beyond its limit"):
        time_optimal(robot, Line(robot, [0.1, 0.0]), effort_limit=20.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effort_limit": np.inf}, "nothing limits the motion"),
        ({"effort_limit": -1.0}, "must not be negative"),
        ({"effort_limit": np.nan}, "must not be negative, not nan"),
        ({"effort_limit": [1.0, 2.0, 3.0]}, r"must be a number, 1 numbers or \(2, 1\)"),
        ({"velocity_limit": [[1.0], [2.0]]}, "lower ≤ 0 ≤ upper"),
        ({"effort_limit": "strong"}, "must be an array of numbers"),
        ({"start": -1.0}, "start is the speed"),
        ({"end": np.nan}, "end is the speed"),
        ({"start": 100.0}, "start speed ds/dt = 100 is not from 0 to 2, "),
        ({"end": 3.0, "velocity_limit": 2.0}, "end speed ds/dt = 3 is above 1"),
        ({"tolerance": 0.0}, "tolerance must be from"),
        ({"velocity_limit": 0.0}, "can only rest at s = 0"),
        ({"limits": {"mine": lambda s: (1.0, 2.0)}}, "limit 'mine' must return a, b, c, lower, upper"),
        ({"limits": {"mine": lambda s: (np.nan, 0, 0, 0, 1)}}, "limit 'mine' at s = 0 is nan, 0, 0, 0, 1"),
        ({"limits": {"mine": lambda s: (1, 0, 0, 2, 1)}}, "lower ≤ upper"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(options, message):
    with pytest.raises(ts.ArgumentError, match=message):
        time_optimal(slider(), Line(slider(), [2.0]), **options)


@pytest.mark.parametrize(
    ("breaks", "values", "message"),
    [
        ([0.0], None, "must begin with 0 and rise"),
        ([0.0, np.nan], None, "must begin with 0 and rise"),
        ([0.0, np.inf], None, "must begin with 0 and rise"),
        ([1.0, 2.0], None, "must begin with 0 and rise"),
        ([0.0, 1.0], lambda s: np.full((len(s), 1), np.nan), "θ of the path is not finite at s"),
        ([0.0, 1.0], lambda s: np.zeros((len(s), 2)), r"must return θ of shape \(T, 1\)"),
    ],
)
def test_paths_that_are_not_curves_are_refused(breaks, values, message):
    class Odd(Line):
        def __call__(self, s):
            q, first, second = super().__call__(s)
            return (values(s) if values else q), first, second

    path = Odd(slider(), [1.0])
    path.breaks = np.array(breaks)
    with pytest.raises(ts.ArgumentError, match=message):
        time_optimal(slider(), path)


def test_path_without_breaks_is_refused():
    with pytest.raises(ts.ArgumentError, match=r"path must be a path .* with breaks .*, not function"):
        time_optimal(slider(), lambda s: s)


def test_robots_without_drives_are_refused_by_name():
    cart = ts.robots.cart_pole()
    with pytest.raises(ts.ArgumentError, match=r"joint .* has no drive"):
        time_optimal(cart.with_actuated(cart.joints[:1]), Line(cart, [1.0, 0.0]))
    walker = ts.robots.quadruped()
    with pytest.raises(ts.ArgumentError, match="floating base of robot"):
        time_optimal(walker, Line(walker, np.ones(walker.nv)))


def test_base_that_moves_in_time_is_refused():
    robot = slider().with_base_motion(lambda t: [0, 0, 0.5 * t * t])
    with pytest.raises(ts.Unsupported, match="time-optimal motion along a path"):
        time_optimal(robot, Line(slider(), [1.0]))


def test_limits_that_change_afterwards_do_not_change_the_result():
    limit, robot = np.array([4.0]), slider()
    fast = time_optimal(robot, Line(robot, [3.0]), effort_limit=limit)
    before = fast.duration
    limit[:] = 1.0
    assert fast.duration == before
    assert_close(time_optimal(robot, Spline(robot, [[0.0], [1.0], [2.0], [3.0]]), effort_limit=4.0).duration, before, 2e-3)


def test_a_tolerance_that_no_grid_meets_is_an_error_that_says_what_was_reached():
    robot = ts.robots.ur5()
    path, effort = random_spline(robot, 1)
    with pytest.raises(ts.ArgumentError, match=r"tolerance=1e-06 needs a grid of more than .* limits are kept"):
        time_optimal(robot, path, effort_limit=effort, tolerance=1e-6)
