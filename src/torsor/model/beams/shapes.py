"""Assumed shapes of a beam clamped at its root: functions of ξ = x/L on [0, 1], each with its derivatives.

``polynomial``  ξ² P_k^(0,4)(2ξ − 1) for bending, ξ P_k^(0,2)(2ξ − 1) for torsion, P Jacobi's polynomials.  They take any
                moment and force at the far end, a cubic being among them: best where a beam carries something, as links do.
``cantilever``  the vibrations of a uniform clamped–free beam, cosh βξ − cos βξ − σ (sinh βξ − sin βξ), and of a clamped–free
                shaft: best where the far end is free.

Both are orthonormal: ∫ φ_j φ_k dξ = δ_jk, so the modal masses of a uniform beam are its mass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np


class Shape(NamedTuple):
    """φ and its first and second derivative by ξ, at one ξ."""

    value: float
    slope: float
    curvature: float


#: the k-th shape, k = 0, 1, ..., at ξ
ShapeFunction = Callable[[int, float], Shape]


class Family(NamedTuple):
    """Shapes for bending and for torsion, and the number of Gauss points that integrate products of n of them."""

    bending: ShapeFunction
    torsion: ShapeFunction
    points: Callable[[int], int]


def _jacobi(power: int, k: int, xi: float) -> Shape:
    """√(2k + 2p + 1) ξ^p P_k^(0,2p)(2ξ − 1), in exact fractions: its coefficients alternate and grow."""
    c = {power + s: (-1) ** (k - s) * math.comb(k, s) * math.comb(k + 2 * power + s, k) for s in range(k + 1)}
    x, scale = Fraction(xi), math.sqrt(2 * k + 2 * power + 1)
    value = sum(a * x**n for n, a in c.items())
    slope = sum(a * n * x ** (n - 1) for n, a in c.items() if n)
    curvature = sum(a * n * (n - 1) * x ** (n - 2) for n, a in c.items() if n > 1)
    return Shape(*(scale * float(y) for y in (value, slope, curvature)))


def cantilever_root(k: int) -> float:
    """β_k, the k-th root of cos β cosh β = −1, k = 0, 1, ...: 1.875, 4.694, 7.855, ...

    >>> round(cantilever_root(0), 6)
    1.875104
    """
    b = (k + 0.5) * math.pi + (0.3 if k == 0 else 0.0)
    for _ in range(20):  # Newton; a handful is enough
        b -= (math.cos(b) + 1 / math.cosh(b)) / (-math.sin(b) - math.tanh(b) / math.cosh(b))
    return b


def _cantilever(k: int, xi: float) -> Shape:
    """cosh βξ − cos βξ − σ (sinh βξ − sin βξ), with e^βξ and e^−βξ apart, so that no large numbers cancel."""
    b = cantilever_root(k)
    below = math.sin(b) + math.sinh(b)
    s = (math.cos(b) + math.cosh(b)) / below
    grows = (math.sin(b) - math.cos(b) - math.exp(-b)) / below / 2 * math.exp(b * xi)  # (1 − σ)/2 e^βξ
    fades = (1 + s) / 2 * math.exp(-b * xi)
    sin, cos = math.sin(b * xi), math.cos(b * xi)
    value = grows + fades - cos + s * sin
    return Shape(value, b * (grows - fades + sin + s * cos), b * b * (grows + fades + cos - s * sin))


def _shaft(k: int, xi: float) -> Shape:
    """√2 sin((k + ½) π ξ): torsion of a shaft clamped at its root."""
    b, r = (k + 0.5) * math.pi, math.sqrt(2)
    return Shape(r * math.sin(b * xi), r * b * math.cos(b * xi), -r * b * b * math.sin(b * xi))


FAMILIES = {
    "polynomial": Family(lambda k, xi: _jacobi(2, k, xi), lambda k, xi: _jacobi(1, k, xi), lambda n: n + 3),
    "cantilever": Family(_cantilever, _shaft, lambda n: 2 * n + 6),
}


def gauss(n: int) -> tuple[list[float], list[float]]:
    """Points and weights of Gauss and Legendre on [0, 1]: exact for polynomials of degree 2n − 1."""
    x, w = np.polynomial.legendre.leggauss(n)
    return [(1 + float(a)) / 2 for a in x], [float(a) / 2 for a in w]
