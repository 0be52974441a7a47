"""An inertia in another frame: turned (MR 8.26), moved (Steiner, 8.27), both (8.42); summed; along its principal axes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.scalar import Scalar
from torsor.spatial import Inertia, Mat, Transform, Vec, arguments
from torsor.spatial.arguments import VectorLike
from torsor.spatial.rigid import reading as read
from torsor.spatial.rigid.basis import canonical_axes
from torsor.support.text import numbers


def rotate_inertia(inertia: Any, R: ArrayLike) -> np.ndarray:
    """I_c = R_bcᵀ I_b R_bc (3×3) [kg·m²]: the inertia in a frame {c} with axes R_bc in {b}, at the same origin (MR 8.26).

    ``inertia`` is 3×3, six numbers (ixx, ixy, ixz, iyy, iyz, izz) or three (the diagonal).

    >>> rotate_inertia([1, 2, 3], [[0, -1, 0], [1, 0, 0], [0, 0, 1]]).diagonal()
    array([2., 1., 3.])
    """
    axes = _floats(read.mat(read.rotation(read.single_array(R, (3, 3), "R"), "R")))
    return numbers(arguments.rotational_inertia(inertia, "inertia").rotated(axes.T).rows)


def steiner(inertia: Any, mass: Scalar, q: VectorLike) -> np.ndarray:
    """I_q = I_b + m(qᵀq 1 − q qᵀ) (3×3) [kg·m²]: from the centre of mass to a point q [m], axes kept (MR 8.27).

    ``inertia`` as in :func:`rotate_inertia`, about the centre of mass.  Works over any scalar.

    >>> steiner([1, 2, 3], mass=2, q=(0, 0, 1)).diagonal()
    array([3., 4., 3.])
    """
    I = arguments.rotational_inertia(inertia, "inertia")
    return numbers(Inertia.of(arguments.scalar(mass, "mass"), arguments.vector(q, "q"), I).I.rows)


def parallel_axis(inertia: Scalar, mass: Scalar, distance: Scalar) -> Scalar:
    """I_d = I_cm + m d² [kg·m²]: about an axis d [m] away from, and parallel to, one through the centre of mass (MR 8.28).

    >>> parallel_axis(1.0, mass=2.0, distance=3.0)
    19.0
    """
    d = arguments.scalar(distance, "distance")
    I: Scalar = arguments.scalar(inertia, "inertia") + arguments.scalar(mass, "mass") * d * d
    return I


def transform_inertia(
    inertia: Inertia, pose: ArrayLike | None = None, *, xyz: VectorLike = (0, 0, 0), rpy: VectorLike = (0, 0, 0)
) -> Inertia:
    """G_a = [Ad_T_ba]ᵀ G_b [Ad_T_ba], Steiner's theorem for frames: a part with frame {b}, seen from {a} (MR 8.42).

    Where {b} is in {a}: ``pose`` T_ab (4×4) with T_ba = T_ab⁻¹, or ``xyz`` [m] and fixed-axis ``rpy`` [rad], as in URDF.
    ``xyz`` and ``rpy`` may be of any scalar.

    >>> from torsor.spatial.shapes import sphere
    >>> transform_inertia(sphere(1).inertia(mass=5), xyz=(0, 0, 2)).I.xx  # 2/5 m r² + m d²
    22.0
    """
    read.any_inertia(inertia)
    if pose is None:
        return arguments.pose(xyz, rpy, "transform_inertia").T @ inertia
    if any(np.any(np.asarray(x) != 0) for x in (xyz, rpy)):
        raise ArgumentError("give either pose or xyz and rpy, not both")
    R, p = read.pose(read.single_array(pose, (4, 4), "pose"), "pose")
    return Transform.of_pose(_floats(R), Vec(*map(float, p))).T @ inertia


def sum_inertias(parts: Iterable[Inertia]) -> Inertia:
    """G = Σ G_i: one body of several, all in one frame, where :func:`transform_inertia` puts them (MR §8.2.1, SLIDES).

    >>> from torsor.spatial.shapes import sphere
    >>> ball = sphere(0.1).inertia(mass=1.0)
    >>> sum_inertias([transform_inertia(ball, xyz=(1, 0, 0)), transform_inertia(ball, xyz=(3, 0, 0))]).com.x
    2.0
    """
    inertias = [read.any_inertia(part, f"parts[{i}]") for i, part in enumerate(parts)]
    if not inertias:
        raise ArgumentError("parts: at least one inertia expected")
    return sum(inertias, start=Inertia.zero())


class Principal(NamedTuple):
    """Result of :func:`principal_axes`.

    ``moments`` (3,) [kg·m²], smallest first; ``axes`` (3, 3), one column per axis in the body's frame, right-handed;
    ``com`` (3,) [m], where the axes intersect.
    """

    moments: np.ndarray
    axes: np.ndarray
    com: np.ndarray

    @property
    def pose(self) -> np.ndarray:
        """T_bp (4×4): the frame at the centre of mass, along the principal axes, in the body's frame {b}."""
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = self.axes, self.com
        return T


def principal_axes(inertia: Inertia) -> Principal:
    """I_c v_i = λ_i v_i: principal moments and axes about the centre of mass (MR §8.2.1, SLIDES).

    Axes of equal moments are not unique; those nearest to x, y, z are given.  The largest entry of the first two is positive.

    >>> from torsor.spatial.shapes import box
    >>> principal_axes(box(2, 3, 4).inertia(mass=12)).moments
    array([13., 20., 25.])
    """
    I = read.numeric_inertia(inertia)
    moments, axes = np.linalg.eigh(np.array(I.about_com.rows, dtype=float))
    axes = canonical_axes(moments, axes)
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    return Principal(moments, axes, np.array(I.com, dtype=float))


def _floats(R: Mat) -> Mat:
    return Mat(*(Vec(*map(float, row)) for row in R))
