"""One batch of equal small problems: a function of scalars becomes a kernel over the bodies, compiled once for any number.

Rows of numbers represent the objects of :mod:`torsor.spatial` and :mod:`torsor.algorithms.joining`; symmetric 6×6 matrices are
21 numbers, their upper triangles row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torsor.algorithms.joining import OpenJoint, Segment
from torsor.algorithms.relative import RelativeMotion
from torsor.compile import Argument, Kernel
from torsor.kernels.functions import function_kernel
from torsor.spatial import Acceleration, Inertia, Mat, Subspace, Sym, Transform, Vec
from torsor.spatial.matrix import Matrix, Vector
from torsor.spatial.motion import Motion
from torsor.spatial.vector import flat

#: numbers of a relative motion (X, v, A), an acceleration (ω, α, a), a body (J, P), a held body (Z, G, b), a segment
RELATIVE, ACCELERATION, BODY, HELD, SEGMENT = 24, 9, 27, 63, 90

Row = list[Any]


def stage(name: str, function: Callable[..., dict[str, Any]], sizes: dict[str, int]) -> Kernel:
    """The kernel of a function of rows; ``sizes`` names its arguments."""
    return function_kernel(name, function, [Argument(k, (n,)) for k, n in sizes.items()])


def matrix(x: Row) -> Mat:
    """3×3 by rows."""
    return Mat(Vec(*x[:3]), Vec(*x[3:6]), Vec(*x[6:]))


def transform(E: Row, r: Row) -> Transform:
    return Transform(matrix(E), Vec(*r))


def subspace(S: Row) -> Subspace:
    return Subspace([Motion.of(S[k : k + 6]) for k in range(0, len(S), 6)])


def joint(E: Row, r: Row, S: Row, m: Row, tau: Row) -> OpenJoint:
    return OpenJoint(transform(E, r), subspace(S), m, tau)


def joint_sizes(d: int) -> dict[str, int]:
    """The arguments that make a joint of d degrees of freedom."""
    return {"E": 9, "r": 3, "S": 6 * d, "m": d, "tau": d}


def inertia(mass: Row, h: Row, I: Row) -> Inertia:
    return Inertia(mass[0], Vec(*h), Sym(*I))


def acceleration(x: Row) -> Acceleration:
    return Acceleration(Vec(*x[:3]), Vec(*x[3:6]), Vec(*x[6:]))


def relative_motion(x: Row) -> RelativeMotion:
    return RelativeMotion(transform(x[:9], x[9:12]), Vec(*x[12:15]), acceleration(x[15:]))


def square_matrix(x: Row) -> Matrix:
    """6×6 by rows."""
    return Matrix(x[k : k + 6] for k in range(0, 36, 6))


def symmetric_matrix(x: Row) -> Matrix:
    """A symmetric 6×6 from its upper triangle."""
    start = [0, 6, 11, 15, 18, 20]
    return Matrix([x[start[min(i, j)] + abs(i - j)] for j in range(6)] for i in range(6))


def upper_triangle(A: Matrix) -> Row:
    return [A[i][j] for i in range(6) for j in range(i, 6)]


def body(x: Row) -> tuple[Matrix, Vector]:
    """(J, P)"""
    return symmetric_matrix(x[:21]), Vector(x[21:])


def segment(x: Row) -> Segment:
    return Segment(square_matrix(x), symmetric_matrix(x[36:57]), Vector(x[57:63]), symmetric_matrix(x[63:84]), Vector(x[84:]))


def numbers(*parts: Any) -> Row:
    """Everything in a row; for a :class:`Segment` and (J, P) see :func:`segment_row`."""
    return list(flat(*parts))


def segment_row(s: Segment) -> Row:
    return [*numbers(s.Y), *upper_triangle(s.Phi), *s.b, *body_row(s.K, s.c)]


def body_row(J: Matrix, P: Sequence[Any]) -> Row:
    return [*upper_triangle(J), *P]
