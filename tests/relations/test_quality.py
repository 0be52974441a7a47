"""Manipulability, velocity and force ellipsoids against NumPy's SVD and roboticstoolbox's formulas; payload by adding it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import torsor as ts
from tests.relations.test_trees import Case, seeds
from tests.tolerance import assert_close
from torsor.algorithms.manipulability import MEASURES
from torsor.algorithms.task_space import TWIST, row_names
from torsor.spatial.singular_values import SWEEPS, singular_values, volume

PLANE = ("vx", "vy")


def matrix(rng: np.random.Generator, k: int, n: int) -> np.ndarray:
    """k rows of n ≥ k numbers: any singular values, some equal, some 1e-12 of others, some zero."""
    U, V = np.linalg.qr(rng.normal(size=(k, k)))[0], np.linalg.qr(rng.normal(size=(n, n)))[0][:k]
    sigma = 10.0 ** rng.uniform(-12 * rng.integers(0, 2), 0, size=k)
    sigma[0] = rng.choice([0.0, sigma[-1], sigma[0]])
    return (U * sigma) @ V


@given(seed=seeds)
@settings(max_examples=60)
def test_singular_values_and_volume_equal_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, max(SWEEPS) + 1))
    A = matrix(rng, k, k + int(rng.integers(0, 4))) if seed % 4 else rng.integers(-1, 2, size=(k, k)).astype(float)
    sigma = np.linalg.svd(A, compute_uv=False)
    assert_close(sorted(map(float, singular_values(A.tolist()))), sorted(sigma), 1e-14, scale=sigma[0])
    size = np.prod(np.linalg.norm(A, axis=1))
    assert_close(volume(A.tolist()), np.prod(sigma), 1e-13, scale=size, floor=1)  # a row may be zero, where sigma is rounded


def svd_of(J: np.ndarray) -> np.ndarray:
    """The singular values of k rows, zeros included."""
    sigma = np.linalg.svd(J, compute_uv=False)
    return np.pad(sigma, (0, len(J) - len(sigma)))


@given(seed=seeds)
@settings(max_examples=10)
def test_manipulability_equals_the_singular_values(seed):
    """On trees with every joint type and couplings, for rows of each kind."""
    c = Case(seed, bodies=4)
    M = c.at("crba", None, False)
    for rows in ("all", "linear", "angular", PLANE):
        J = c.at("jacobian", None, False, frame=c.frame)[[TWIST.index(x) for x in row_names(rows)]]
        sigma, weighted = svd_of(J), svd_of(np.linalg.solve(np.linalg.cholesky(M), J.T).T)
        options = {"frame": c.frame, "rows": rows}
        assert_close(c.at("manipulability", None, False, **options), np.prod(sigma), scale=max(1, sigma[0] ** len(sigma)))
        if sigma[0] > 0:
            found = c.at("manipulability", None, False, measure="inverse_condition", **options)
            assert_close(found, sigma[-1] / sigma[0], floor=1)
            found = c.at("manipulability", None, False, measure="smallest_singular_value", **options)
            assert_close(found, sigma[-1], scale=max(1, sigma[0]))
            found = c.at("manipulability", None, False, measure="asada", **options)
            assert_close(found, (weighted[-1] / weighted[0]) ** 2, condition=max(1, 1e-2 * np.linalg.cond(M)), floor=1)


def test_asada_measure_is_that_of_roboticstoolbox_for_a_square_jacobian():
    """min λ / max λ of J⁻ᵀ M J⁻¹, as roboticstoolbox computes it."""
    robot = ts.robots.puma560()
    q = robot.random_configuration(0, 4)
    tip = robot.frames[-1]
    inverse = np.linalg.inv(robot.jacobian(q, tip))
    values = np.linalg.eigvalsh(np.swapaxes(inverse, -1, -2) @ robot.mass_matrix(q) @ inverse)
    condition = np.linalg.cond(inverse).max() ** 2
    assert_close(robot.manipulability(q, tip, "asada"), values[:, 0] / values[:, -1], 1e-14, condition)


def test_manipulability_of_two_links_is_the_sine_of_the_elbow():
    """l₁ l₂ |sin q₂| (Yoshikawa 1985); zero for a stretched arm, and for more rows than joints."""
    arm = ts.robots.two_link()
    q = np.array([[0.3, angle] for angle in (-2.0, 0.0, 0.5, np.pi / 2)])
    assert_close(arm.manipulability(q, "tip", rows=PLANE), np.abs(np.sin(q[:, 1])), 1e-14, floor=1)
    for measure in MEASURES:
        assert arm.manipulability([0.3, 0.0], "tip", measure, PLANE) == pytest.approx(0, abs=1e-15)
        assert (arm.manipulability(q, "tip", measure) == 0).all()  # six rows
        assert (arm.manipulability(q, "tip", measure, ("wx", "wy")) == 0).all()  # rows that are zero everywhere
        assert (arm.manipulability(q, "base", measure, PLANE) == 0).all()


def test_manipulability_refuses_unknown_words():
    arm = ts.robots.ur5()
    with pytest.raises(
        ts.UnknownName, match="measure must be one of asada, inverse_condition, smallest_singular_value, yoshikawa, not"
    ):
        arm.manipulability(np.zeros(6), "tool0", "volume")
    with pytest.raises(ts.UnknownName, match="row of a twist"):
        arm.manipulability(np.zeros(6), "tool0", rows="lateral")
    with pytest.raises(ts.ArgumentError, match="different rows of a twist"):
        arm.manipulability(np.zeros(6), "tool0", rows=[])
    with pytest.raises(ts.UnknownName, match="no frame or link named 'hand'"):
        arm.manipulability(np.zeros(6), "hand")
    out = np.empty(3)
    assert arm.manipulability(np.ones((3, 6)), "tool0", out=out) is out
    assert arm.kernel("manipulability:tool0:asada:linear")(np.ones(6)) == arm.manipulability(
        np.ones(6), "tool0", "asada", "linear"
    )


@pytest.mark.parametrize("measure", list(MEASURES))
def test_gradient_of_manipulability_equals_differences(measure):
    """Along v, so that it holds for a floating base too."""
    robot, h = ts.robots.quadruped(), 1e-6
    q, name = robot.random_configuration(1), ("manipulability", "HR_FOOT", measure, ("vx", "vz"))
    gradient, value = robot.derivative(name, by="q")(q), robot.kernel(name)
    steps = h * np.eye(robot.nv)
    expected = (value(robot.integrate(q, steps)) - value(robot.integrate(q, -steps))) / (2 * h)
    assert_close(gradient, expected, 1e-8, floor=1)  # what differences are good for


def test_velocity_and_force_ellipsoids_are_images_of_the_unit_ball():
    arm, q = ts.robots.ur5(), np.array([0.3, -1.0, 1.2, 0.4, 0.8, 0.1])
    J = arm.jacobian(q, "tool0")[3:]
    velocity, force = arm.velocity_ellipsoid(q, "tool0"), arm.force_ellipsoid(q, "tool0")
    assert_close(velocity.matrix @ velocity.matrix, J @ J.T)
    assert_close(force.matrix @ velocity.matrix, np.eye(3))
    assert_close(velocity.lengths.prod(), arm.manipulability(q, "tool0", rows="linear"))
    assert_close(velocity.lengths[-1] / velocity.lengths[0], arm.manipulability(q, "tool0", "inverse_condition", "linear"))
    for k in range(3):
        assert_close(np.linalg.norm(J.T @ force.axes[:, k]) * force.lengths[k], 1.0)
    assert (velocity.what, force.what, force.inverse.what) == ("velocity", "force", "velocity")


def test_force_ellipsoid_of_a_stretched_arm_is_infinite_along_it():
    arm = ts.robots.two_link()
    force = arm.force_ellipsoid([0.0, 0.0], "tip", PLANE)
    assert np.isinf(force.lengths[0])
    assert "'tip' cannot move along (1.000, 0.000) in (vx, vy): no velocity, any force" in force.report
    assert_close(arm.velocity_ellipsoid([0.0, 0.0], "tip", PLANE).lengths, [np.sqrt(5), 0.0])


# -- payload -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "frame"), [("ur5", "tool0"), ("panda", "panda_hand")])
def test_payload_at_capacity_brings_one_joint_to_its_limit(name, frame):
    robot = getattr(ts.robots, name)()
    q = robot.random_configuration(0, 5)
    capacity = robot.payload_capacity(q, frame)
    limits = np.concatenate([robot.joint(j).effort_limit for j in robot.joints if robot.joint(j).mimic is None])
    for one, mass in zip(q, capacity, strict=True):
        used = np.abs(robot.with_payload(frame, mass=float(mass)).gravity_force(one)) / limits
        assert used.max() == pytest.approx(1.0, abs=1e-12)


def arm_with_limits(*limits: float) -> ts.Robot:
    """Two links of 1 m in the plane of x and z, 1 kg at the end of each, and a tip."""
    made = ts.Builder("limited").link("base")
    for k, limit in enumerate(limits, start=1):
        parent = "base" if k == 1 else f"link{k - 1}"
        made = made.link(f"link{k}", mass=1.0, com=(1, 0, 0))
        made = made.joint(
            f"joint{k}", "revolute", parent, f"link{k}", axis=(0, 1, 0), xyz=(0 if k == 1 else 1, 0, 0), effort_limit=limit
        )
    return made.frame("tip", f"link{len(limits)}", xyz=(1, 0, 0)).build()


def test_payload_capacity_of_two_links_in_closed_form():
    """Stretched: joint 1 carries 9.81 (3 + 2 m), joint 2 9.81 (1 + m)."""
    arm = arm_with_limits(100.0, 60.0)
    expected = min((100 / 9.81 - 3) / 2, 60 / 9.81 - 1)
    assert arm.payload_capacity([0.0, 0.0], "tip") == pytest.approx(expected, rel=1e-14)
    weak = arm_with_limits(29.43 / 2, 60.0)
    assert weak.payload_capacity([0.0, 0.0], "tip") == 0  # not even the arm
    upright = arm.payload_capacity([-np.pi / 2, 0.0], "tip")
    assert upright > 1e15  # the load is on the bearings, but for the rounding of π
    assert arm_with_limits(100.0, np.inf).payload_capacity([0.0, 0.0], "tip") == pytest.approx((100 / 9.81 - 3) / 2, rel=1e-14)


def test_payload_that_balances_does_not_lift_a_limit():
    """Link 2 behind the axis: a load at its end unloads joint 1, whose own weight is above its limit: still 0."""
    arm = arm_with_limits(5.0, 60.0)
    assert arm.payload_capacity([0.0, np.pi], "tip") == 0


def test_payload_capacity_needs_an_effort_limit():
    arm = arm_with_limits(100.0, 60.0)
    for robot, frame in ((ts.robots.two_link(), "tip"), (arm, "base")):
        with pytest.raises(ts.ModelError, match="that has an effort limit carries a load at"):
            robot.payload_capacity([0.0, 0.0], frame)
    assert arm.payload_capacity([0.0, 0.0], "link1") == np.inf  # on the axis of joint 1


@pytest.mark.parametrize(("name", "frame"), [("two_link", "tip"), ("panda", "panda_hand")])
def test_payload_capacity_needs_gravity(name, frame):
    robot = getattr(ts.robots, name)().with_gravity((0, 0, 0))
    with pytest.raises(ts.ModelError, match=f"a payload capacity needs gravity, and robot '{name}' has none"):
        robot.payload_capacity(robot.neutral(), frame)
