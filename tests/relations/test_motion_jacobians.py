"""Jacobians of exp and log, rpy and interpolation: against 50 digits, by differences, and over other scalars."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy

from tests.tolerance import assert_close
from torsor import rigid
from torsor.compile import Argument, interpret, record
from torsor.errors import ArgumentError, SingularError, UnknownName
from torsor.scalar import Dual, rate
from torsor.spatial import Motion, Quaternion, Vec
from torsor.spatial.exponential import exp, left_jacobian, left_jacobian_inverse, of_twist, screw, slerp
from torsor.spatial.rotation_rates import rpy_jacobian, rpy_rates

#: both sides of where the series begin, corners at 0 and π, and beyond
ANGLES = [0.0, 1e-300, 1e-15, 1e-9, 1e-5, 1e-3, 0.03, 0.0999, 0.1001, 0.5, 2.0, np.pi - 1e-4, np.pi - 1e-12, np.pi]
BEYOND = [4.0, 6.0, 20.0]


def twist(angle: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    w, v = rng.normal(size=3), rng.normal(size=3)
    return np.concatenate([w * (angle / np.linalg.norm(w)), v])


def exact_left_jacobian(V: np.ndarray) -> mpmath.matrix:
    """Σ [ad_V]ⁿ/(n + 1)!, with 60 digits to begin with."""
    A = mpmath.matrix(rigid.ad(V).tolist())
    total = term = mpmath.eye(6)
    for n in range(1, 200):
        term = term * A / (n + 1)
        total = total + term
    return total


def floats(M: mpmath.matrix) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in M.tolist()])


@pytest.mark.parametrize("angle", ANGLES + BEYOND)
def test_jacobians_of_the_exponential_have_all_digits(angle):
    V = twist(angle)
    with mpmath.workdps(60):
        exact = floats(exact_left_jacobian(V))
    assert_close(rigid.exp6_jacobian(V, "left"), exact, 2e-14)
    assert_close(rigid.exp3_jacobian(V[:3], "left"), exact[:3, :3], 1e-14)
    assert_close(rigid.exp6_jacobian(-V, "right"), exact, 2e-14)
    assert_close(rigid.exp3_jacobian(-V[:3]), exact[:3, :3], 1e-14)


@pytest.mark.parametrize("angle", ANGLES)
def test_jacobians_of_the_logarithm_are_inverses_with_all_digits(angle):
    V = twist(angle, 1)
    with mpmath.workdps(60):
        exact = floats(exact_left_jacobian(V) ** -1)
    T = rigid.exp6(V)
    both_ways = [exact]
    if angle == np.pi:  # log may return the opposite rotation vector: then it is the inverse there
        W = rigid.log6(T)
        with mpmath.workdps(60):
            both_ways = [floats(exact_left_jacobian(W) ** -1)]
    assert_close(rigid.log6_jacobian(T, "left"), both_ways[0], 1e-14)
    assert_close(rigid.log3_jacobian(T[:3, :3], "left"), both_ways[0][:3, :3], 1e-14)
    R = rigid.exp6(rigid.log6(T))
    assert_close(R, T, 1e-14)
    assert_close(rigid.log6_jacobian(T) @ rigid.exp6_jacobian(rigid.log6(T)), np.eye(6), 1e-13)
    assert_close(rigid.adjoint(T) @ rigid.exp6_jacobian(V), rigid.exp6_jacobian(V, "left"), 1e-13)


@pytest.mark.parametrize("angle", [1e-4, 0.2, 2.0, 3.0])
def test_jacobians_are_perturbations_on_their_side(angle):
    V, step = twist(angle, 2), 1e-6
    T, J, left = rigid.exp6(V), rigid.exp6_jacobian(V), rigid.exp6_jacobian(V, "left")
    for k, e in enumerate(np.eye(6) * step):
        later, earlier = rigid.exp6(V + e), rigid.exp6(V - e)
        right_step = rigid.log6(rigid.inverse_pose(earlier) @ later) / (2 * step)
        assert_close(right_step, J[:, k], 1e-8, floor=1)
        assert_close(rigid.log6(later @ rigid.inverse_pose(earlier)) / (2 * step), left[:, k], 1e-8, floor=1)
        moved = (rigid.log6(T @ rigid.exp6(e)) - rigid.log6(T @ rigid.exp6(-e))) / (2 * step)
        assert_close(moved, rigid.log6_jacobian(T)[:, k], 1e-8, floor=1)


def test_a_rotation_by_pi_has_one_of_two_logarithms():
    w = np.array([0.0, 0.6, 0.8]) * np.pi
    R = rigid.exp3(w)
    found = rigid.log3(R)
    assert_close(np.abs(found), np.abs(w), 1e-14)
    assert_close(rigid.exp3(found), R, 1e-14)


# -- other scalars ----------------------------------------------------------------------------------------------------


def test_jacobians_are_recorded_without_branches():
    """One program for all angles: kernels of it agree with arrays on both sides of every series."""

    def function(V):
        J, Q = of_twist(left_jacobian, Motion.of(V))
        K, P = of_twist(left_jacobian_inverse, Motion.of(V))
        return {"y": [*J, *Q, *K, *P]}

    program = record(function, [Argument("V", (6,))])
    V = np.stack([twist(angle, 3) for angle in ANGLES])
    found = interpret(program, [V])[0]
    for rows, start, block in ((rigid.exp6_jacobian(V, "left"), 0, 0), (rigid.exp6_jacobian(V, "left"), 3, 3)):
        assert_close(found[:, start : start + 3], rows[:, block : block + 3, :3], 1e-13)
    inverse = np.stack([np.linalg.inv(rigid.exp6_jacobian(x, "left")) for x in V])
    assert_close(found[:, 6:9], inverse[:, :3, :3], 1e-13)
    assert_close(found[:, 9:12], inverse[:, 3:, :3], 1e-13)


@pytest.mark.parametrize("angle", [1e-5, 0.05, 1.0, 3.0])
def test_duals_carry_the_left_jacobian(angle):
    """d exp(w(t))/dt = [J ẇ] exp(w), by duals through the exponential itself; and duals through the Jacobian."""
    w, dw = twist(angle, 4)[:3], np.array([0.3, -0.2, 0.5])
    R = Quaternion.exp(Vec(*map(Dual, w.tolist(), dw.tolist()))).matrix
    change = np.array([[float(rate(x)) for x in row] for row in R]) @ rigid.exp3(w).T
    assert_close(rigid.unskew(change - change.T) / 2, rigid.exp3_jacobian(w, "left") @ dw, 1e-13)
    step = 1e-6
    J = left_jacobian(Vec(*map(Dual, w.tolist(), dw.tolist())))
    ahead, behind = (rigid.exp3_jacobian(w + s * dw, "left") for s in (step, -step))
    assert_close([[float(rate(x)) for x in row] for row in J], (ahead - behind) / (2 * step), 1e-8, floor=1)


def test_symbols_give_closed_forms():
    t = sympy.symbols("t", positive=True)
    J = left_jacobian(Vec(0, 0, t))
    value = np.array([[float(sympy.sympify(x).subs(t, 1.25)) for x in row] for row in J])
    assert_close(value, rigid.exp3_jacobian([0, 0, 1.25], "left"))
    r, p, y = sympy.symbols("r p y")
    product = sympy.Matrix(rpy_jacobian(r, p, y)).subs({r: 0.3, p: 0.4, y: 0.5})
    assert_close(np.array(product, float), rigid.rpy_jacobian([0.3, 0.4, 0.5]))


def test_fifty_digits_of_the_jacobian():
    with mpmath.workdps(50):
        V = Motion.of([mpmath.mpf(x) for x in twist(1.0, 5)])
        J, Q = of_twist(left_jacobian, V)
        exact = exact_left_jacobian(twist(1.0, 5))
        errors = [abs(J[i][j] - exact[i, j]) + abs(Q[i][j] - exact[i + 3, j]) for i in range(3) for j in range(3)]
        assert max(errors) < 1e-47


# -- roll, pitch, yaw -------------------------------------------------------------------------------------------------


def test_rpy_and_their_jacobian_by_differences_and_batches():
    rng = np.random.default_rng(6)
    angles, rates, step = rng.uniform(-1.5, 1.5, size=(7, 3)), rng.normal(size=(7, 3)), 1e-6
    assert_close(rigid.to_rpy(rigid.from_rpy(angles)), angles, 1e-13)
    R = rigid.from_rpy(angles)
    change = (rigid.from_rpy(angles + step * rates) - rigid.from_rpy(angles - step * rates)) / (2 * step)
    omega = change @ np.swapaxes(R, -1, -2)
    expected = np.stack([omega[:, 2, 1], omega[:, 0, 2], omega[:, 1, 0]], axis=-1)
    B = rigid.rpy_jacobian(angles)
    assert_close(np.einsum("nij,nj->ni", B, rates), expected, 1e-8)
    for word in ("world", "body"):
        inverse = rigid.rpy_jacobian_inverse(angles, word)
        assert_close(inverse @ rigid.rpy_jacobian(angles, word), np.broadcast_to(np.eye(3), (7, 3, 3)), 1e-12)
        ahead, behind = (rigid.rpy_jacobian(angles + s * rates, word) for s in (step, -step))
        assert_close(rigid.rpy_jacobian_rate(angles, rates, word), (ahead - behind) / (2 * step), 1e-8)
    assert_close(np.swapaxes(R, -1, -2) @ B, rigid.rpy_jacobian(angles, "body"))


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_gimbal_lock_is_an_error_in_words_and_rotations_are_still_given_back(pitch):
    angles = [0.3, pitch, -0.4]
    assert_close(rigid.from_rpy(rigid.to_rpy(rigid.from_rpy(angles))), rigid.from_rpy(angles), 1e-15)
    assert abs(np.linalg.det(rigid.rpy_jacobian(angles))) < 1e-15
    with pytest.raises(SingularError, match="gimbal lock: at a pitch of ±90°"):
        rigid.rpy_jacobian_inverse(angles)
    with pytest.raises(SingularError, match=r"rpy\[1\]: gimbal lock"):
        rigid.rpy_jacobian_inverse([[0, 0, 0], angles])
    with pytest.raises(SingularError, match="gimbal lock"):
        rpy_rates(Vec(0.0, 0.0, -1.0))


# -- interpolation ----------------------------------------------------------------------------------------------------


def test_interpolation_starts_ends_and_keeps_its_speed():
    rng = np.random.default_rng(7)
    T0, T1 = rigid.exp6(rng.normal(size=6)), rigid.exp6(rng.normal(size=6))
    s = np.linspace(0, 1, 11)
    path = rigid.interpolate_pose(T0, T1, s)
    assert_close(path[0], T0, 1e-14)
    assert_close(path[-1], T1, 1e-14)
    steps = rigid.log6(rigid.inverse_pose(path[:-1]) @ path[1:])
    assert_close(steps, np.broadcast_to(steps[0], steps.shape), 1e-12)
    turned = rigid.slerp(T0[:3, :3], T1[:3, :3], s)
    assert_close(turned, path[:, :3, :3], 1e-14)
    each = rigid.slerp(np.stack([T0[:3, :3]] * 11), np.stack([T1[:3, :3]] * 11), s)
    assert_close(each, turned, 1e-15)
    assert rigid.slerp(T0[:3, :3], T1[:3, :3], 0.3).shape == (3, 3)


def test_interpolation_over_quaternions_of_numbers():
    a, b = Quaternion(0.0, 0.0, 0.0, 1.0), Quaternion.exp(Vec(0.0, 0.0, 0.8))
    assert_close([*slerp(a, b, 0.25)], [*Quaternion.exp(Vec(0.0, 0.0, 0.2))])
    R, p = screw((a, Vec(0.0, 0.0, 0.0)), exp(Motion.of([0.0, 0.0, 0.8, 0.1, 0.0, 0.3])), 0.5)
    half, there = exp(Motion.of([0.0, 0.0, 0.4, 0.05, 0.0, 0.15]))
    assert_close([*R, *p], [*half, *there])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rigid.exp3_jacobian([0, 0, np.nan]), "w: finite numbers expected, not nan"),
        (lambda: rigid.exp6_jacobian([0, 0, np.inf, 0, 0, 0]), "V: finite numbers expected, not inf"),
        (lambda: rigid.exp3([1e200, 0, 0]), r"w: a rotation by 1e\+200 rad is lost in rounding"),
        (lambda: rigid.exp6([1e200, 0, 0, 0, 0, 0]), r"V: a rotation by 1e\+200 rad"),
        (lambda: rigid.exp3_jacobian([[0, 0, 0], [1e200, 0, 0]]), r"w: a rotation by 1e\+200 rad"),
        (lambda: rigid.exp6_jacobian([1e200, 0, 0, 0, 0, 0]), r"V: a rotation by 1e\+200 rad"),
        (lambda: rigid.exp3_jacobian([0, 0]), r"w: an array of floats of shape \(..., 3\) expected"),
        (lambda: rigid.exp3_jacobian([]), r"shape is \(0,\)"),
        (lambda: rigid.log3_jacobian(np.ones((3, 3))), "R is not a rotation"),
        (lambda: rigid.log6_jacobian(np.zeros((4, 4))), "is not a rotation"),
        (lambda: rigid.slerp(np.eye(3), np.eye(3), np.nan), "s: finite numbers expected"),
        (lambda: rigid.slerp(np.eye(3), np.eye(3), "half"), "s: an array of floats"),
        (lambda: rigid.from_rpy(["a", "b", "c"]), "rpy: an array of floats"),
    ],
)
def test_invalid_arguments_of_rigid_motions_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: rigid.exp3_jacobian([0, 0, 0], "up"),
        lambda: rigid.log6_jacobian(np.eye(4), None),
        lambda: rigid.rpy_jacobian([0, 0, 0], "space"),
        lambda: rigid.rpy_jacobian_inverse([0, 0, 0], 3),
    ],
)
def test_unknown_sides_and_axes_are_unknown_names(call):
    with pytest.raises(UnknownName, match="must be one of"):
        call()
