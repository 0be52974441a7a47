"""Angle and quaternion read off a rotation matrix, over any scalar."""

from __future__ import annotations

from torsor.scalar import Scalar, atan2, where
from torsor.spatial.rotation import Quaternion
from torsor.spatial.vector import Mat, Vec


def angle_about(axis: Vec, R: Mat) -> Scalar:
    """θ of the rotation about a unit axis that is nearest to R [rad], in (−π, π].

    Nearest means the largest tr(Rᵀ Rot(a, θ)) = (tr R − aᵀR a) cos θ + a·w sin θ + const, with [w] = R − Rᵀ.

    >>> from torsor.spatial import about
    >>> angle_about(Vec(0, 0, 1), about(Vec(0, 0, 1), 0.5))
    0.5
    """
    w = Vec(R.z.y - R.y.z, R.x.z - R.z.x, R.y.x - R.x.y)
    return atan2(axis.dot(w), R.x.x + R.y.y + R.z.z - axis.dot(R @ axis))


def quaternion_of(R: Mat) -> Quaternion:
    """The unit quaternion of a rotation, with w ≥ 0, to rounding at every angle.

    K = 4 q qᵀ is linear in R.  Each of its rows is q, times 4 q_k: the row with the largest diagonal entry (at least 1) is
    the one without cancellation (Shepperd 1978; MR appendix B.3).

    >>> quaternion_of(Mat(Vec(1, 0, 0), Vec(0, -1, 0), Vec(0, 0, -1)))  # a half turn about x
    Quaternion(x=1.0, y=0.0, z=0.0, w=0.0)
    """
    (a, b, c), (d, e, f), (g, h, i) = R
    K = (
        (1 + a - e - i, b + d, c + g, h - f),
        (b + d, 1 - a + e - i, f + h, c - g),
        (c + g, f + h, 1 - a - e + i, d - b),
        (h - f, c - g, d - b, 1 + a + e + i),
    )
    (_, best) = _larger(_larger((K[0][0], K[0]), (K[1][1], K[1])), _larger((K[2][2], K[2]), (K[3][3], K[3])))
    q = Quaternion(*best).normalized
    sign = where(q.w < 0, -1.0, 1.0)
    return Quaternion(*(x * sign for x in q))


Ranked = tuple[Scalar, tuple[Scalar, ...]]


def _larger(a: Ranked, b: Ranked) -> Ranked:
    """The row with the larger diagonal entry."""
    less = a[0] < b[0]
    return where(less, b[0], a[0]), tuple(where(less, y, x) for x, y in zip(a[1], b[1], strict=True))
