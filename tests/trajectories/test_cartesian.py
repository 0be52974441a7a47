"""Lines and arcs of a frame: on the curve everywhere by Pinocchio, derivatives by differences, errors that say where."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from tests.trajectories.test_splines import richardson
from torsor.compat import to_pinocchio
from torsor.errors import ArgumentError
from torsor.spatial.rigid import exp3, exp6, log3, log6

TOLERANCE = 1e-6
ARMS = {
    "panda": (ts.robots.panda, "panda_hand_tcp", [0.1, -0.8, 0.2, -2.2, 0.1, 1.6, 0.7, 0.0]),
    "puma560": (ts.robots.puma560, "link6", [0.3, -0.5, 0.3, 0.3, 0.6, 0.1]),
}


def start_and_goal(name: str):
    make, frame, q0 = ARMS[name]
    robot = make()
    T = robot.pose(q0, frame)
    goal = T.copy()
    goal[:3, 3] += [-0.05, 0.12, -0.05]
    goal[:3, :3] = T[:3, :3] @ exp3([0.3, -0.4, 0.2])
    return robot, frame, np.array(q0), T, goal


def placements(robot, frame: str, q: np.ndarray) -> np.ndarray:
    """Poses by Pinocchio."""
    import pinocchio as pin

    model = to_pinocchio(robot)
    data, number, out = model.createData(), model.getFrameId(frame), []
    for row in q:
        pin.framesForwardKinematics(model, data, row)
        out.append(data.oMf[number].homogeneous)
    return np.array(out)


def deviation(T: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(log6(np.linalg.solve(expected, T))).max())


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("kind", ["straight", "screw"])
def test_frame_stays_on_the_line_everywhere_and_rates_are_derivatives(name, kind):
    robot, frame, q0, T, goal = start_and_goal(name)
    path = ts.trajectories.cartesian_line(robot, q0, goal, frame, kind=kind, tolerance=TOLERANCE)
    end = path.breaks[-1]
    s = np.linspace(0, end, 301)
    q, first, _ = path(s)
    assert np.array_equal(q[0], q0)
    share = (s / end)[:, None]
    if kind == "screw":
        expected = T @ exp6(share * log6(np.linalg.solve(T, goal)))
    else:
        expected = np.tile(T, (301, 1, 1))
        expected[:, :3, 3] += share * (goal - T)[:3, 3]
        expected[:, :3, :3] = T[:3, :3] @ exp3(share * log3(T[:3, :3].T @ goal[:3, :3]))
        assert_close(end, np.linalg.norm((goal - T)[:3, 3]))
    assert deviation(placements(robot, frame, q), expected) <= TOLERANCE
    J = robot.jacobian(q, frame, "body")
    V = np.einsum("nij,nj->ni", J, first)
    # θ′ is that of the interpolating polynomials: off by the tolerance per length of a step, some 1e-2 m
    assert_close(first, np.einsum("nij,nj->ni", np.linalg.pinv(J), V), 1e-3)
    assert_close(np.linalg.norm(V[:, 3:], axis=1), np.ones(301), 1e-3)
    for x in (0.31 * end, 0.77 * end):
        here, d, dd = (y[0] for y in path(np.array([x])))
        way = richardson(lambda z, here=here: robot.difference(here, path(np.array([z]))[0][0]), x, 1e-4)
        # differences of 1e-15 over 2.5e-5 m
        assert_close(way, d, 1e-8)
        assert_close(richardson(lambda z: path(np.array([z]))[1][0], x, 1e-4), dd, 1e-7)


def test_rates_at_knots_are_those_of_the_exact_path():
    robot, frame, q0, T, goal = start_and_goal("puma560")
    path = ts.trajectories.cartesian_line(robot, q0, goal, frame, kind="screw")
    V = log6(np.linalg.solve(T, goal)) / path.breaks[-1]
    q, first, second = path(path.breaks)
    J = robot.jacobian(q, frame, "body")
    # knots meet the line to 1e-9, and J⁻¹ of this arm is some tens
    assert_close(np.einsum("nij,nj->ni", J, first), np.tile(V, (len(q), 1)), 1e-10)
    rate = robot.jacobian_rate(q, first, frame, "body")
    rest = np.einsum("nij,nj->ni", rate, first) + np.einsum("nij,nj->ni", J, second)
    assert_close(rest, np.zeros_like(rest), 1e-8, scale=np.abs(second).max())  # V′ = 0 along a screw


def test_arc_passes_through_its_three_points_on_a_circle():
    robot, frame, q0, T, goal = start_and_goal("panda")
    via = T[:3, 3] + [0.0, 0.12, 0.05]
    path = ts.trajectories.cartesian_arc(robot, q0, via, goal, frame, tolerance=TOLERANCE)
    p = placements(robot, frame, path(np.linspace(0, path.breaks[-1], 401))[0])[:, :3, 3]
    assert_close(p[-1], goal[:3, 3], 2 * TOLERANCE)
    a, b, c = T[:3, 3], via, goal[:3, 3]
    sides = np.linalg.norm(b - a), np.linalg.norm(c - b), np.linalg.norm(a - c)
    radius = np.prod(sides) / (2 * np.linalg.norm(np.cross(b - a, c - a)))
    # the chord of an arc of length l is 2 r sin(l/2r): all points on one circle at constant speed
    chord = 2 * radius * np.sin(np.linspace(0, path.breaks[-1], 401) / (2 * radius))
    assert np.abs(np.linalg.norm(p - a, axis=1) - chord).max() <= 2 * TOLERANCE
    assert np.linalg.norm(p - via, axis=1).min() < path.breaks[-1] / 400


def test_speed_along_a_line_is_that_of_the_frame():
    robot, frame, q0, _, goal = start_and_goal("panda")
    path = ts.trajectories.cartesian_line(robot, q0, goal, frame)
    scaling = ts.trajectories.time_scaling("s-curve", path.breaks[-1], velocity=0.2, acceleration=1.0, jerk=10.0)
    m = ts.trajectories.Trajectory(path, scaling).sample(0.001)
    speed = np.linalg.norm(robot.twist(m.q, m.v, frame)[:, 3:], axis=1)
    assert_close(speed.max(), 0.2, 1e-4)


def test_part_that_cannot_be_reached_is_named_with_its_distance():
    robot, frame, q0, T, goal = start_and_goal("puma560")
    goal = T.copy()
    goal[2, 3] += 1.0
    with pytest.raises(ArgumentError, match=r"was not found on the path from s = 0\.\d+ to 1 of 1: closest by up to \d+ mm"):
        ts.trajectories.cartesian_line(robot, q0, goal, frame)


def test_limit_on_the_way_is_an_error_though_another_branch_goes_on():
    made = ts.Builder("planar").link("base")
    for k, x in enumerate((0.0, 1.0, 1.0)):
        kind = {"type": "continuous"} if k else {"type": "revolute", "lower": -0.2, "upper": 3.0}
        made.link(f"link{k}", mass=1.0, inertia=(1.0, 1.0, 1.0))
        made.joint(f"joint{k}", parent=f"link{k - 1}" if k else "base", child=f"link{k}", xyz=(x, 0, 0), axis=(0, 0, 1), **kind)
    arm = made.build()
    q0, q1 = np.array([0.3, 1.5, -1.8]), np.array([-0.8, 1.5, -0.7])
    with pytest.raises(ArgumentError, match=r"can be followed to s = 0\.\d+ of 1\.\d+, and no further.* joint0 at its limit"):
        ts.trajectories.cartesian_line(arm, q0, arm.pose(q1, "link2"), "link2")


def test_jump_at_a_singularity_is_an_error_that_says_where():
    made = ts.Builder("wrist").link("base")
    for k, axis in enumerate(((0, 0, 1), (0, 1, 0), (0, 0, 1))):
        made.link(f"link{k}", mass=1.0, inertia=(1.0, 1.0, 1.0))
        made.joint(f"joint{k}", "continuous", f"link{k - 1}" if k else "base", f"link{k}", axis=axis)
    wrist = made.build()
    q0 = np.array([0.0, 0.6, 0.0])
    # the tool's axis passes the axis of the first joint closely, so that this joint turns by half a turn there
    near, nearer = (wrist.pose([np.pi - x, 0.6, x - np.pi], "link2") for x in (1e-3, 1e-5))
    path = ts.trajectories.cartesian_line(wrist, q0, near, "link2")
    assert_close(wrist.difference(path(path.breaks[-1:])[0][0], [np.pi - 1e-3, 0.6, 1e-3 - np.pi]), np.zeros(3), 1e-6, floor=1)
    with pytest.raises(ArgumentError, match=r"can be followed to s = 0\.(59|6)\d* of 1\.2, where the joints would jump by \d"):
        ts.trajectories.cartesian_line(wrist, q0, nearer, "link2")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"goal": np.eye(3)}, "goal"),
        ({"goal": 2 * np.eye(4)}, "goal"),
        ({"goal": np.full((4, 4), np.nan)}, "goal"),
        ({"q0": [9.0, 0, 0, -1.5, 0, 1.5, 0, 0]}, "q0 is outside the joint limits"),
        ({"kind": "curved"}, 'must be "straight" or "screw"'),
        ({"tolerance": 0.0}, "tolerance must be a number"),
    ],
)
def test_cartesian_line_refuses_wrong_arguments(change, words):
    robot, frame, q0, T, goal = start_and_goal("panda")
    given = {"q0": q0, "goal": goal} | change
    with pytest.raises(ArgumentError, match=words):
        ts.trajectories.cartesian_line(robot, frame=frame, **given)


def test_lines_without_length_and_arcs_without_circle_are_refused():
    robot, frame, q0, T, goal = start_and_goal("panda")
    with pytest.raises(ArgumentError, match="at the goal already"):
        ts.trajectories.cartesian_line(robot, q0, T, frame)
    with pytest.raises(ArgumentError, match="there is no circle"):
        ts.trajectories.cartesian_arc(robot, q0, (T[:3, 3] + goal[:3, 3]) / 2, goal, frame)
    with pytest.raises(ts.UnknownName):
        ts.trajectories.cartesian_line(robot, q0, goal, "hand")
