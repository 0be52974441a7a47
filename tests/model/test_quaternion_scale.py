"""R(k q) = R(q): quaternions are normalised at every scale that a double can hold, in every evaluation."""

import mpmath
import numpy as np
import pytest

import torsor as ts
from torsor import algorithms
from torsor.model.joints import Floating, Spherical

SCALES = [1e155, 1e160, 1e300, -1e200, 1e-154, 1e-158, 1e-170, 1e-300]
RNG = np.random.default_rng(5)


def robot_with(kind):
    body = ts.Builder(kind).link("base").link("body", 1.3, com=(0.1, -0.2, 0.3), inertia=(0.2, 0.25, 0.3))
    b = body.link("tip", 0.4, com=(0.1, 0, 0))
    b.joint("q", kind, "base", "body").joint("hinge", "revolute", "body", "tip", axis=(0, 1, 0), xyz=(0.2, 0, 0))
    return b.build()


ROBOTS = {kind: robot_with(kind) for kind in ("spherical", "floating")}
BASE = ts.robots.two_link().with_base("floating")


def rotation(q):
    """Rotation matrix of a quaternion, with fifty digits."""
    with mpmath.workdps(50):
        x, y, z, w = (mpmath.mpf(float(a)) for a in q)
        n = x * x + y * y + z * z + w * w
        rows = [
            [1 - 2 * (y * y + z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n],
            [2 * (x * y + w * z) / n, 1 - 2 * (x * x + z * z) / n, 2 * (y * z - w * x) / n],
            [2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, 1 - 2 * (x * x + y * y) / n],
        ]
        return np.array([[float(a) for a in row] for row in rows])


def scale_quaternion(kind, q, k):
    start = 0 if kind == "spherical" else 3
    out = q.copy()
    out[start : start + 4] *= k
    return out, out[start : start + 4]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", ROBOTS)
def test_pose_of_a_scaled_quaternion_is_its_rotation(kind, scale):
    robot = ROBOTS[kind]
    q, xyzw = scale_quaternion(kind, robot.random_configuration(RNG), scale)
    expected = rotation(xyzw)
    np.testing.assert_allclose(robot.pose(q, "body")[:3, :3], expected, atol=1e-15)
    np.testing.assert_allclose(robot.pose(np.array([q, robot.neutral(), q]), "body")[2, :3, :3], expected, atol=1e-15)
    over_floats = np.array(algorithms.pose(robot.model, q.tolist(), "body"), dtype=float)
    np.testing.assert_allclose(over_floats[:3, :3], expected, atol=1e-15)
    np.testing.assert_allclose(ts.rigid.from_quaternion(xyzw), expected, atol=1e-15)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", ROBOTS)
def test_dynamics_do_not_depend_on_the_scale_of_a_quaternion(kind, scale):
    robot = ROBOTS[kind]
    q, q1 = robot.random_configuration(RNG, 2)
    v, a = RNG.normal(size=(2, robot.nv))
    big, _ = scale_quaternion(kind, q, scale)
    calls = {
        "inverse": lambda q: robot.inverse_dynamics(q, v, a),
        "forward": lambda q: robot.forward_dynamics(q, v, a),
        "M": robot.mass_matrix,
        "difference": lambda q: robot.difference(q, q1),
        "integrate": lambda q: robot.pose(robot.integrate(q, v, 0.1), "tip"),
        "large": lambda q: ts.large.LargeTree.of(robot).forward_dynamics(q, v, a),
    }
    for name, call in calls.items():
        np.testing.assert_allclose(call(big), call(q), rtol=1e-11, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("scale", [1e155, 1e-158])
def test_simulation_and_rollout_start_from_a_scaled_quaternion(scale):
    robot = ROBOTS["spherical"]
    q, v = robot.random_configuration(1), RNG.normal(size=robot.nv)
    big, _ = scale_quaternion("spherical", q, scale)
    options = {"dt": 0.01}
    end = robot.simulate(q, v, 0.03, **options)
    np.testing.assert_allclose(robot.simulate(big, v, 0.03, **options).q[-1], end.q[-1], atol=1e-13)
    one, other = (robot.rollout(np.array([x, x]), v, steps=3, **options).q for x in (q, big))
    np.testing.assert_allclose(one, other, atol=1e-13)


def test_unit_quaternions_are_unchanged_bit_for_bit():
    from torsor.scalar import ray

    for q in RNG.normal(size=(20, 4)) * 10.0 ** RNG.integers(-30, 30, size=(20, 1)):
        assert ray(*q.tolist()) == tuple(q.tolist())


def test_float32_kernel_normalises_quaternions_beyond_its_squares():
    robot = ROBOTS["spherical"]
    kernel = robot.kernel("pose:body", dtype=np.float32)
    q = robot.random_configuration(3)
    for k in (1e25, 1e-25):
        big, _ = scale_quaternion("spherical", q, k)
        np.testing.assert_allclose(kernel(big.astype(np.float32)), robot.pose(q, "body"), atol=1e-6)


@pytest.mark.parametrize("kind", [Spherical(), Floating()])
def test_zero_quaternion_is_still_refused_and_a_tiny_one_is_not(kind):
    q = kind.neutral()
    q[-1] = 5e-324
    assert kind.fault(q) == ""
    q[-1] = 0.0
    assert "zero" in kind.fault(q)
    robot = ROBOTS[kind.name]
    with pytest.raises(ts.ArgumentError, match="quaternion is zero"):
        robot.pose([*q, 0.0], "body")


def test_floating_base_accepts_a_scaled_quaternion():
    q = BASE.random_configuration(2)
    big = q.copy()
    big[3:7] *= 1e155
    np.testing.assert_allclose(BASE.gravity_force(big), BASE.gravity_force(q), atol=1e-12)
