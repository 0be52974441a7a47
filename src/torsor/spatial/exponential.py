"""Finite motions from twists and back: the exponential and logarithm of SO(3) and SE(3), and their Jacobians, over any scalar.

The left Jacobian is that of a perturbation in the fixed axes, exp(w + δ) = exp(J δ) exp(w), and for a motion with ẇ the spatial
velocity is ω_s = J ẇ.  The right one, in the body's axes, is the left one of −w.
"""

from __future__ import annotations

from collections.abc import Callable

from torsor.scalar import Dual, Scalar, cos, rate, sin, sqrt, value, where
from torsor.spatial.motion import Motion
from torsor.spatial.rotation import Quaternion
from torsor.spatial.vector import IDENTITY, Mat, Vec

#: below this squared angle [rad²] the coefficients come from their series, to rounding
_SMALL = 0.01


def exp(V: Motion) -> tuple[Quaternion, Vec]:
    """exp [V] = (R, G(ω) v), the motion of a body after unit time at the constant body twist V (MR 3.88).

    G(ω) = 1 + (1 − cos θ)/θ² [ω] + (θ − sin θ)/θ³ [ω]², the left Jacobian.
    """
    a, b = _exp_coefficients(V.w.dot(V.w))
    wv = V.w.cross(V.v)
    return Quaternion.exp(V.w), V.v + wv * a + V.w.cross(wv) * b


def log(R: Quaternion, p: Vec) -> Motion:
    """The body twist that reaches (R, p) in unit time, the shorter way round (MR 3.92).

    G⁻¹(ω) = 1 − ½[ω] + (1 − (θ/2) cot(θ/2))/θ² [ω]².
    """
    w = R.log
    k = _log_coefficient(w.dot(w), *R.half_angle)
    wp = w.cross(p)
    return Motion(w, p - wp * 0.5 + w.cross(wp) * k)


def left_jacobian(w: Vec) -> Mat:
    """J(w) = 1 + (1 − cos θ)/θ² [w] + (θ − sin θ)/θ³ [w]², with exp(w + δ) = exp(J δ) exp(w) to first order (MR 3.88's G).

    >>> left_jacobian(Vec(0.0, 0.0, 0.0)).x
    Vec(x=1.0, y=0.0, z=0.0)
    """
    a, b = _exp_coefficients(w.dot(w))
    return _quadratic(w, a, b)


def left_jacobian_inverse(w: Vec) -> Mat:
    """J(w)⁻¹ = 1 − ½[w] + (1 − (θ/2) cot(θ/2))/θ² [w]², |w| < 2π, with log(exp(δ) R) = log R + J⁻¹δ (MR 3.92's G⁻¹)."""
    square = w.dot(w)
    half = sqrt(where(square < _SMALL, 1.0, square)) * 0.5
    return _quadratic(w, -0.5, _log_coefficient(square, half, cos(half) / sin(half)))


def of_twist(function: Callable[[Vec], Mat], V: Motion) -> tuple[Mat, Mat]:
    """(J, Q), of [[J, 0], [Q, J]]: the 6×6 of SE(3) for a twist V; the 3×3 of SO(3), ``function``, at the dual vector ω + ε v.

    [ad_V] = [[[ω], 0], [[v], [ω]]] multiplies as the dual matrix [ω] + ε[v] does, and so does every power series of it (the
    principle of transference): Q is the rate of J where ω changes with v.
    """
    M = function(Vec(*map(Dual, V.w, V.v)))
    return Mat(*(Vec(*map(value, row)) for row in M)), Mat(*(Vec(*map(rate, row)) for row in M))


def slerp(a: Quaternion, b: Quaternion, s: Scalar) -> Quaternion:
    """a exp(s log(a⁻¹ b)): from a (s = 0) to b (s = 1) at constant velocity, the shorter way round; unit quaternions."""
    return a @ Quaternion.exp((a.conjugate @ b).log * s)


def screw(a: tuple[Quaternion, Vec], b: tuple[Quaternion, Vec], s: Scalar) -> tuple[Quaternion, Vec]:
    """T_a exp(s log(T_a⁻¹ T_b)): from one pose to another at a constant body twist, along a screw (MR §9.2.1)."""
    (Ra, pa), (Rb, pb) = a, b
    turned = Ra.matrix
    R, p = exp(log(Ra.conjugate @ Rb, turned.T @ (pb - pa)) * s)
    return Ra @ R, pa + turned @ p


def _quadratic(w: Vec, a: Scalar, b: Scalar) -> Mat:
    """1 + a [w] + b [w]²."""
    W = w.skew()
    return Mat(*(one + row * a + square * b for one, row, square in zip(IDENTITY, W, W @ W, strict=True)))


def _exp_coefficients(square: Scalar) -> tuple[Scalar, Scalar]:
    """(1 − cos θ)/θ² and (θ − sin θ)/θ³, from θ²."""
    small = square < _SMALL
    safe = where(small, 1.0, square)
    angle = sqrt(safe)
    a = where(small, _series(square, 2), (1 - cos(angle)) / safe)
    return a, where(small, _series(square, 3), (angle - sin(angle)) / (safe * angle))


def _log_coefficient(square: Scalar, half: Scalar, cotangent: Scalar) -> Scalar:
    """(1 − (θ/2) cot(θ/2))/θ², from θ², θ/2 and cot(θ/2); of a small angle, from θ² alone."""
    small = square < _SMALL
    series = 1 / 12 + square * (1 / 720 + square * (1 / 30240 + square * (1 / 1209600)))
    return where(small, series, (1 - half * cotangent) / where(small, 1.0, square))


def _series(square: Scalar, n: int) -> Scalar:
    """1/n! − x/(n+2)! + x²/(n+4)! − ... with x = θ²."""
    coefficients = [1.0]
    for k in range(5):
        coefficients.append(-coefficients[-1] / ((n + 2 * k + 1) * (n + 2 * k + 2)))
    first = {2: 0.5, 3: 1 / 6}[n]
    total: Scalar = 0
    for c in reversed(coefficients):
        total = total * square + c * first
    return total
