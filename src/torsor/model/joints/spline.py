"""Cubic splines over any scalar: the functions of a joint, through measured points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor.errors import ArgumentError
from torsor.model import polynomials
from torsor.scalar import Scalar, where
from torsor.support.locks import cached_property

ENDS = ("natural", "not-a-knot")
#: start of a piece, and the coefficients of 1, (x − start), (x − start)², (x − start)³ on it
Piece = tuple[float, float, float, float, float]


@dataclass(frozen=True)
class Spline:
    """y(x), the cubic spline through points: piecewise cubic, with continuous first and second derivatives.

    ``x`` increases.  ``ends="natural"``: y″ = 0 at the two ends, straight lines beyond.  ``ends="not-a-knot"``: the first two
    pieces are one cubic, and so are the last two; they continue beyond the ends.  ``spline(x, 1)`` and ``spline(x, 2)`` are
    the derivatives.  x is a number, an array, or any scalar.

    >>> cam = Spline((0, 1, 2), (0, 1, 0))
    >>> cam(1.0), cam(1.0, 1), cam(3.0), cam(3.0, 1)
    (1.0, 0.0, -1.5, -1.5)
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    ends: str = "natural"

    def __post_init__(self) -> None:
        for name in ("x", "y"):
            try:
                row = np.array(getattr(self, name), float)
            except (TypeError, ValueError):
                raise ArgumentError(f"Spline: {name} must be numbers, not {getattr(self, name)!r}") from None
            if row.ndim != 1 or not np.isfinite(row).all():
                raise ArgumentError(f"Spline: {name} must be a row of finite numbers, not {getattr(self, name)!r}")
            object.__setattr__(self, name, tuple(row.tolist()))
        if self.ends not in ENDS:
            raise ArgumentError(f"Spline: ends must be one of {', '.join(ENDS)}, not {self.ends!r}")
        least = 2 if self.ends == "natural" else 4
        if len(self.x) < least:
            raise ArgumentError(f"Spline: ends={self.ends!r} needs at least {least} points, {len(self.x)} given")
        if len(self.x) != len(self.y):
            raise ArgumentError(f"Spline: {len(self.x)} values of x, but {len(self.y)} of y")
        if not (np.diff(self.x) > 0).all():
            raise ArgumentError(f"Spline: x must increase, not {self.x}")

    def __call__(self, x: Any, derivative: int = 0) -> Scalar:
        """y(x), or its first or second derivative."""
        if derivative not in (0, 1, 2):
            raise ArgumentError(f"Spline: derivative must be 0, 1 or 2, not {derivative!r}")
        here: tuple[Scalar, ...] = self._pieces[0]
        for piece in self._pieces[1:]:
            before = x < piece[0]
            here = tuple(where(before, a, b) for a, b in zip(here, piece, strict=True))
        start, *p = here
        for _ in range(derivative):
            p = [*polynomials.derivative(p)]
        return polynomials.evaluate(p, x - start)

    @cached_property
    def _pieces(self) -> tuple[Piece, ...]:
        """From the left; the first begins at −∞."""
        x, y = np.array(self.x), np.array(self.y)
        h, bend = np.diff(x), self._second_derivatives(x, y)
        slope = np.diff(y) / h - h * (2 * bend[:-1] + bend[1:]) / 6
        rows = np.column_stack([x[:-1], y[:-1], slope, bend[:-1] / 2, np.diff(bend) / h / 6])
        if self.ends == "natural":
            last = slope[-1] + h[-1] * bend[-2] / 2
            rows = np.vstack([[x[0], y[0], slope[0], 0, 0], rows, [x[-1], y[-1], last, 0, 0]])
        return tuple(tuple(row) for row in rows.tolist())

    def _second_derivatives(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """y″ at the points, from y′ continuous in each and the conditions at the ends."""
        n, h = len(x), np.diff(x)
        A, b = np.zeros((n, n)), np.zeros(n)
        for k in range(1, n - 1):
            A[k, k - 1 : k + 2] = h[k - 1], 2 * (h[k - 1] + h[k]), h[k]
            b[k] = 6 * ((y[k + 1] - y[k]) / h[k] - (y[k] - y[k - 1]) / h[k - 1])
        if self.ends == "natural":
            A[0, 0] = A[-1, -1] = 1
        else:  # y‴ is the same on both sides of the second point, and of the last but one
            A[0, :3] = h[1], -(h[0] + h[1]), h[0]
            A[-1, -3:] = h[-1], -(h[-2] + h[-1]), h[-2]
        return np.linalg.solve(A, b)
