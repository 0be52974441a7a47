"""Arrays in, torsor's types inside, arrays out.

The leading axes of an array become the scalar: ``Vec(w[..., 0], w[..., 1], w[..., 2])``.  So the spatial algebra, which
works over any scalar, also computes batches, and there is no second version for arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.scalar import Scalars, is_constant
from torsor.spatial import Force, Inertia, Mat, Motion, Vec
from torsor.spatial.vector import ZERO, flat
from torsor.support.user_arrays import as_array

#: allowed deviation of a rotation from RᵀR = 1: the error of six printed digits (the same as in io.screws)
ROTATION_TOLERANCE = 1e-6
#: angle [rad] at which doubles are a tenth of a radian apart
LARGEST_ANGLE = 1e15


def array(x: ArrayLike, shape: tuple[int, ...], what: str, symbols: bool = False) -> np.ndarray:
    """x as floats, its last axes of that shape; leading axes are a batch.  With ``symbols``, other scalars are kept."""
    wanted = f"an array of floats of shape (..., {', '.join(map(str, shape))})"
    try:
        a = as_array(what, x)
        if a.dtype.kind not in "fiubO":  # strings that look like numbers, and complex ones, are not taken for floats
            raise TypeError
        kept = symbols and a.dtype.kind == "O" and all(hasattr(s, "__truediv__") for s in a.flat)
        a = a if kept and not all(map(is_constant, a.flat)) else a.astype(float)
    except (TypeError, ValueError):
        raise ArgumentError(f"{what}: {wanted} expected, not {type(x).__name__} {x!r}") from None
    if shape and a.shape[-len(shape) :] != shape:
        raise ArgumentError(f"{what}: {wanted} expected; its shape is {a.shape}")
    values = a if a.dtype.kind != "O" else np.array([s for s in a.flat if is_constant(s)])
    if not np.isfinite(values).all():
        raise ArgumentError(f"{what}: finite numbers expected, not {values[~np.isfinite(values)][0]}")
    return a


def numbers(x: ArrayLike, what: str) -> np.ndarray:
    """x as floats, one number per entry of a batch."""
    return array(x, (), what)


def single_array(x: ArrayLike, shape: tuple[int, ...], what: str) -> np.ndarray:
    """x as finite floats of exactly that shape: no batch, no NaN."""
    a = array(x, shape, what)
    if a.shape != shape:
        raise ArgumentError(f"{what}: an array of floats of shape {shape} expected; its shape is {a.shape}")
    return a


def vec(x: ArrayLike, what: str, symbols: bool = False) -> Vec:
    a = array(x, (3,), what, symbols)
    return Vec(*(a[..., i] for i in range(3)))


def rotation_vector(w: Vec, what: str) -> Vec:
    """A rotation vector [rad], refused where it is so large that a double has no digits left within a turn."""
    size = float(np.abs(stack(w)).max(initial=0))
    if size > LARGEST_ANGLE:
        raise ArgumentError(
            f"{what}: a rotation by {size:.3g} rad is lost in rounding; at most {LARGEST_ANGLE:.0e} rad allowed"
        )
    return w


def motion(x: ArrayLike, what: str, symbols: bool = False) -> Motion:
    a = array(x, (6,), what, symbols)
    return Motion.of([a[..., i] for i in range(6)])


def force(x: ArrayLike, what: str, symbols: bool = False) -> Force:
    a = array(x, (6,), what, symbols)
    return Force.of([a[..., i] for i in range(6)])


def rotation(x: ArrayLike, what: str) -> np.ndarray:
    """Rotation matrices, checked."""
    R = array(x, (3, 3), what)
    off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3))
    if not (off < ROTATION_TOLERANCE).all():
        raise ArgumentError(f"{what} is not a rotation: RᵀR differs from the identity by {off.max():.2g}")
    if not (np.linalg.det(R) > 0).all():
        raise ArgumentError(f"{what} is a reflection, not a rotation: its determinant must be 1, not −1")
    return R


def pose(x: ArrayLike, what: str) -> tuple[Mat, Vec]:
    """(R, p) of 4×4 poses T = [[R, p], [0, 1]], checked."""
    T = array(x, (4, 4), what)
    rotation(T[..., :3, :3], f"{what}[:3, :3]")
    if np.abs(T[..., 3, :] - [0, 0, 0, 1]).max(initial=0) > 1e-9:
        raise ArgumentError(f"{what} must be a pose [[R, p], [0, 1]]: its last row must be (0, 0, 0, 1)")
    return mat(T[..., :3, :3]), Vec(*(T[..., i, 3] for i in range(3)))


def mat(a: np.ndarray) -> Mat:
    return Mat(*(Vec(*(a[..., i, j] for j in range(3))) for i in range(3)))


def stack(parts: Scalars) -> np.ndarray:
    """One row: (..., n) of scalars, each an array of the batch or a number, or a symbol."""
    row = np.stack(np.broadcast_arrays(*map(np.asarray, parts)), axis=-1)
    return row if row.dtype.kind == "O" else row.astype(float) + 0.0  # avoid printing −0


def matrix(rows: Sequence[Scalars]) -> np.ndarray:
    """(..., n, m) of rows of scalars."""
    n = len(rows)
    row = stack([x for line in rows for x in line])
    return row.reshape(*row.shape[:-1], n, -1)


def pose_matrix(R: Mat, p: Vec) -> np.ndarray:
    """[[R, p], [0, 1]] (..., 4, 4)."""
    return matrix([*((*row, x) for row, x in zip(R, p, strict=True)), (0, 0, 0, 1)])


def blocks(A: Mat, B: Mat) -> np.ndarray:
    """[[A, 0], [B, A]] (..., 6, 6), the form that [ad_V], [Ad_T] and the Jacobians of SE(3) share."""
    return matrix([*((*a, *ZERO) for a in A), *((*b, *a) for b, a in zip(B, A, strict=True))])


def any_inertia(x: Any, what: str = "inertia") -> Inertia:
    """An Inertia, of any scalar."""
    if not isinstance(x, Inertia):
        raise ArgumentError(f"{what}: a torsor Inertia expected, not {type(x).__name__}; from_matrix(G) makes one of a 6×6")
    return x


def numeric_inertia(x: Any, what: str = "inertia") -> Inertia:
    """An Inertia of numbers, finite ones."""
    inertia = any_inertia(x, what)
    if not all(is_constant(x) for x in flat(inertia)):
        raise ArgumentError(f"{what}: an inertia of numbers expected; this one has symbols")
    if not np.isfinite(np.array(list(flat(inertia)), dtype=float)).all():
        raise ArgumentError(f"{what}: finite numbers expected, not {inertia}")
    return inertia
