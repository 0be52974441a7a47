"""Whether a rigid body has inertia in every direction of a joint, up to the rounding errors of its constants."""

from __future__ import annotations

from collections.abc import Sequence

from torsor.scalar import Scalar, Scalars
from torsor.spatial.inertia import Inertia
from torsor.spatial.motion import Motion
from torsor.spatial.vector import flat

#: moments of inertia below this share of their sum are rounding errors of the rotations and shifts that led to them
ROUNDING = 64 * 2.0**-52


def lacks_inertia(I: Inertia, S: Sequence[Motion], drive: Scalars, spread: Scalar = 0, rotated: bool = False) -> bool:
    """Whether D = SᵀIS + drive is singular: a pivot is of the size of rounding errors.  False unless all are numbers.

    Pivots are compared with the trace of the inertia, plus ``spread`` [kg·m²], for rotations, and with the mass [kg] for
    translations: a rotation of the axes leaves errors of that size, and terms as large as ``spread`` have cancelled.  Along a
    principal axis there are none, and any moment but zero is accepted, unless the axes are known to be ``rotated``.
    """
    if not all(isinstance(x, (int, float)) for x in flat(I, *S, *drive, spread)):
        return False
    F = [I @ s for s in S]
    D = [[s.dot(f) for f in F] for s in S]
    trace, size = I.I.xx + I.I.yy + I.I.zz + spread, []
    for k, s in enumerate(S):
        D[k][k] = D[k][k] + drive[k]
        principal = not rotated and all(f == 0 for f, u in zip([*F[k].m, *F[k].f], [*s.w, *s.v], strict=True) if u == 0)
        size.append(abs(D[k][k]) if principal else s.w.dot(s.w) * trace + s.v.dot(s.v) * I.m + drive[k])
    return vanishes(D, size)


def vanishes(D: Sequence[Scalars], size: Scalars) -> bool:
    """Whether a pivot of a symmetric matrix of numbers is a rounding error, compared with a size for each row.

    Pivots are taken in the order of their sizes, so that none grows from the rounding errors of an earlier one.
    """
    A, left = [list(row) for row in D], list(range(len(D)))
    while left:
        k = max(left, key=lambda i: abs(A[i][i]) / size[i] if size[i] else 0.0)
        if abs(A[k][k]) <= ROUNDING * size[k]:
            return True
        left.remove(k)
        for i in left:
            for j in left:
                A[i][j] = A[i][j] - A[i][k] * A[k][j] / A[k][k]
    return False
