"""Finite motions from twists and back: the exponential and logarithm of SE(3), over any scalar."""

from __future__ import annotations

from torsor.scalar import Scalar, cos, sin, sqrt, where
from torsor.spatial.motion import Motion
from torsor.spatial.rotation import Quaternion
from torsor.spatial.vector import Vec

#: below this squared angle [rad²] the coefficients come from their series, to rounding
_SMALL = 0.01


def exp(V: Motion) -> tuple[Quaternion, Vec]:
    """exp [V] = (R, G(ω) v), the motion of a body after unit time at the constant body twist V (MR 3.88).

    G(ω) = 1 + (1 − cos θ)/θ² [ω] + (θ − sin θ)/θ³ [ω]².
    """
    square = V.w.dot(V.w)
    small = square < _SMALL
    safe = where(small, 1.0, square)
    angle = sqrt(safe)
    a = where(small, _series(square, 2), (1 - cos(angle)) / safe)
    b = where(small, _series(square, 3), (angle - sin(angle)) / (safe * angle))
    wv = V.w.cross(V.v)
    return Quaternion.exp(V.w), V.v + wv * a + V.w.cross(wv) * b


def log(R: Quaternion, p: Vec) -> Motion:
    """The body twist that reaches (R, p) in unit time, the shorter way round (MR 3.92).

    G⁻¹(ω) = 1 − ½[ω] + (1 − (θ/2) cot(θ/2))/θ² [ω]².
    """
    w = R.log
    square = w.dot(w)
    small = square < _SMALL
    half, cotangent = R.half_angle
    series = 1 / 12 + square * (1 / 720 + square * (1 / 30240 + square * (1 / 1209600)))
    k = where(small, series, (1 - half * cotangent) / where(small, 1.0, square))
    wp = w.cross(p)
    return Motion(w, p - wp * 0.5 + w.cross(wp) * k)


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
