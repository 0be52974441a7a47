"""Points of frames and relative frames as inputs and words of kernels: batches, names, fused kernels, errors."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor import rigid
from torsor.errors import ArgumentError, SingularError, UnknownName

RNG = np.random.default_rng(0)
STATES = {"pose": 1, "jacobian": 1, "jacobian_derivative": 1, "analytic_jacobian": 1, "jacobian_rate": 2, "twist": 2,
          "acceleration": 3}  # fmt: skip


@pytest.fixture(scope="module")
def robot():
    return ts.robots.ur5()


@pytest.fixture(scope="module")
def state(robot):
    return robot.random_configuration(RNG, 4), RNG.normal(size=(4, 6)), RNG.normal(size=(4, 6))


@pytest.mark.parametrize("name", STATES)
def test_points_are_inputs_of_one_kernel_one_or_one_for_each_state(robot, state, name):
    given, points = state[: STATES[name]], RNG.normal(size=(4, 3))
    method = getattr(robot, name)
    many = method(*given, "tool0", at=points)
    kernels = len(robot.kernels._kernels)
    for k in range(4):
        one = method(*(x[k] for x in given), "tool0", at=points[k])
        assert one.tobytes() == many[k].tobytes()
        listed = method(*(x[k].tolist() for x in given), "tool0", at=tuple(points[k].tolist()))
        assert listed.tobytes() == one.tobytes()
    shared = method(*given, "tool0", at=points[0])
    assert shared[0].tobytes() == many[0].tobytes()
    out = np.empty_like(many)
    assert method(*given, "tool0", at=points, out=out) is out
    assert out.tobytes() == many.tobytes()
    assert_close(method(*given, "tool0", at=[0.0, 0.0, 0.0]), method(*given, "tool0"), floor=1)
    assert len(robot.kernels._kernels) <= kernels + 1, "a point needs a kernel of its own"


def test_point_equals_a_frame_that_is_there(state):
    """A frame of the model 0.1 m along z of tool0."""
    b = ts.robots.ur5()
    added = b.attach(ts.Builder("pin").link("pin").build(), at="tool0", xyz=(0, 0, 0.1), prefix="the_")
    q, v, a = state
    point = {"at": [0.0, 0.0, 0.1]}
    for word in ("world", "body", "space"):
        assert_close(b.jacobian(q, "tool0", word, **point), added.jacobian(q, "the_pin", word), floor=1)
        assert_close(b.acceleration(q, v, a, "tool0", word, **point), added.acceleration(q, v, a, "the_pin", word), floor=1)


@pytest.mark.parametrize("word", ["world", "body", "space"])
def test_names_of_kernels_have_the_reference_and_the_kind(robot, state, word):
    q, v, a = state
    reference = "forearm_link"
    J = robot.kernel(f"jacobian:tool0:{word}:{reference}")
    assert (J(q) == robot.jacobian(q, "tool0", word, relative_to=reference)).all()
    assert J.operations < robot.kernel(f"jacobian:tool0:{word}").operations  # joints before the elbow do not count
    A = robot.kernel(f"acceleration:tool0:{word}:classical:{reference}")
    expected = robot.acceleration(q, v, a, "tool0", word, kind="classical", relative_to=reference)
    assert (A(q, v, a) == expected).all()
    assert not robot.jacobian(q, "tool0", word, relative_to=reference)[:, :, :3].any()


def test_rotors_do_not_change_relative_motion(robot, state):
    """A welded joint has no rate that its rotor could follow."""
    geared = robot.with_rotors({j: {"mass": 0.1, "inertia": (1e-4, 1e-4, 1e-4), "ratio": 50.0} for j in robot.joints})
    for reference in (None, "forearm_link"):
        expected = robot.acceleration(*state, "tool0", relative_to=reference)
        assert_close(geared.acceleration(*state, "tool0", relative_to=reference), expected)


def test_world_as_reference_costs_no_operation(robot):
    for name, words in (("jacobian", ("tool0", "world")), ("jacobian_rate", ("tool0", "body")), ("pose", ("tool0",))):
        assert robot.program((name, *words, "world")).operations == robot.program((name, *words)).operations


def test_method_and_named_kernel_are_one_kernel(robot, state):
    kernel = robot.kernel("twist:tool0:body")
    before = len(robot.kernels._kernels)
    robot.twist(*state[:2], "tool0", "body")
    assert len(robot.kernels._kernels) == before
    assert kernel is robot.kernel("twist:tool0:body")


def test_relative_poses_of_all_frames(robot, state):
    q = state[0]
    every = robot.poses(q, relative_to="forearm_link")
    assert every.shape == (4, len(robot.frames), 4, 4)
    for k, frame in enumerate(robot.frames):
        assert_close(every[:, k], robot.pose(q, frame, relative_to="forearm_link"))
    some = robot.poses(q, ["tool0", "world"], relative_to="forearm_link")
    assert_close(some[:, 0], rigid.inverse_pose(robot.pose(q, "forearm_link")) @ robot.pose(q, "tool0"))
    assert_close(some[:, 1], rigid.inverse_pose(robot.pose(q, "forearm_link")))


def test_optional_inputs_in_fused_kernels(robot, state):
    q, _, _ = state
    fused = robot.kernel("jacobian:tool0", "mass_matrix", "pose:tool0:forearm_link", extra=["at"])
    assert [a.name for a in fused.inputs] == ["q", "at"]
    J, M, T = fused(q, [0.1, 0.2, 0.3])
    assert_close(J, robot.jacobian(q, "tool0", at=[0.1, 0.2, 0.3]))
    assert_close(M, robot.mass_matrix(q))
    assert_close(T, robot.pose(q, "tool0", relative_to="forearm_link", at=[0.1, 0.2, 0.3]))
    moving = robot.kernel("inverse_dynamics", extra=["base_velocity"])
    V, x = np.arange(6.0), np.zeros(6)
    assert_close(moving(q, x, x, V), robot.inverse_dynamics(q, x, x, base_velocity=V))


@pytest.mark.parametrize("word", ["world", "body", "space"])
def test_jacobian_derivative_equals_the_derivative_of_the_recorded_jacobian(word):
    """By the compiler's forward mode along v, of a floating robot; and the pose by a point is R."""
    robot = ts.robots.quadruped()
    q, at = robot.random_configuration(np.random.default_rng(1)), [0.1, 0.2, 0.3]
    slope = robot.derivative(("jacobian", "HR_FOOT", word, "FL_FOOT"), by="q", extra=["at"])
    assert_close(slope(q, at), robot.jacobian_derivative(q, "HR_FOOT", word, relative_to="FL_FOOT", at=at), floor=1)
    by_point = robot.derivative("pose:HR_FOOT", by="at", extra=["at"])
    assert_close(by_point(q, at)[:3, 3], robot.pose(q, "HR_FOOT")[:3, :3])


@pytest.mark.parametrize("extra", [["at"], ["q"], ["speed"], [3], [["at"]], "at"])
def test_inputs_that_no_quantity_takes_are_refused(robot, extra):
    with pytest.raises(ArgumentError, match="is not an optional input of mass_matrix"):
        robot.kernel("mass_matrix", extra=extra)


@pytest.mark.parametrize("reference", ["moon", "", 3, ["tool0"], {"tool0": 1}, b"tool0"])
def test_unknown_reference_frames_are_named(robot, state, reference):
    for call in (
        lambda: robot.jacobian(state[0], "tool0", relative_to=reference),
        lambda: robot.pose(state[0], "tool0", relative_to=reference),
        lambda: robot.poses(state[0], relative_to=reference),
        lambda: robot.kernel(("jacobian", "tool0", "world", reference)),
    ):
        with pytest.raises((UnknownName, ArgumentError), match=r"frame or link named|a tuple of strings"):
            call()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"kind": "angular"}, "kind must be one of classical, spatial, not 'angular'"),
        ({"kind": 3}, "kind must be one of classical, spatial, not 3"),
        ({"expressed_in": None}, "expressed_in must be one of body, space, world, not None"),
    ],
)
def test_unknown_kinds_of_acceleration_are_named(robot, state, words, message):
    with pytest.raises(UnknownName, match=message):
        robot.acceleration(*state, "tool0", **words)


@pytest.mark.parametrize("rotation", ["euler", None, 3, ["rpy"]])
def test_unknown_coordinates_of_rotations_are_named(robot, state, rotation):
    with pytest.raises(UnknownName, match="rotation must be one of quaternion, rotation_vector, rpy"):
        robot.analytic_jacobian(state[0], "tool0", rotation)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ([1, 2], r"at has shape \(2,\), expected"),
        ([], r"at has shape \(0,\), expected"),
        ([0, 0, np.nan], r"at\[2\] is nan"),
        ([0, np.inf, 0], r"at\[1\] is inf"),
        ("tool0", "at"),
        (np.zeros((3, 3)), "the batch axes do not match"),
        ([1.7e308] * 3, r"not finite|overflow"),
    ],
)
def test_invalid_points_are_named(robot, state, at, message):
    with pytest.raises(ts.TorsorError, match=message):
        robot.jacobian(state[0], "tool0", at=at)


def test_gimbal_lock_is_an_error_in_words():
    """A ball in a socket, at a pitch of 90°: one state, one of a batch, and close to it a number."""
    ball = ts.Builder("ball").link("base").link("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    robot = ball.joint("socket", "spherical", "base", "bob").build()
    locked, free = (rigid.to_quaternion(rigid.from_rpy([0.3, pitch, 0.2])) for pitch in (np.pi / 2, 0.4))
    for q in (locked, np.stack([free, locked])):
        with pytest.raises(SingularError, match="gimbal lock: at a pitch of ±90°"):
            robot.analytic_jacobian(q, "bob")
        assert np.isfinite(robot.analytic_jacobian(q, "bob", "quaternion")).all()
    near = rigid.to_quaternion(rigid.from_rpy([0.3, np.pi / 2 - 1e-6, 0.2]))
    assert 1e5 < np.abs(robot.analytic_jacobian(near, "bob")).max() < 1e7
