"""Conversion of user input (vectors, rotations, inertias) to torsor's types, with checks.

Numbers become floats (0 and ±1 integers, which cost no operations later); other scalars (SymPy symbols, ...) pass unchanged.
A wrong shape, NaN or infinity raises ModelError with the text ``what``, for example ``"link 'arm': com"``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from torsor.errors import ModelError
from torsor.scalar import Scalar, Scalars, tidy
from torsor.spatial import Inertia, Sym, Transform, Vec, from_rpy

if TYPE_CHECKING:
    import numpy as np

#: three scalars: a list, a tuple or an array
VectorLike: TypeAlias = "Scalars | np.ndarray"
#: a 3×3 matrix, six numbers (ixx, ixy, ixz, iyy, iyz, izz), three of a diagonal, or None for a point mass
InertiaLike: TypeAlias = "VectorLike | Sequence[Scalars] | None"


def is_number(x: Any) -> bool:
    """Whether x is a Python or NumPy number: something with a value that can be checked."""
    return isinstance(x, (int, float)) or (type(x).__module__ == "numpy" and getattr(x, "ndim", 1) == 0)


def scalar(x: Any, what: str, snap: float = 0.0) -> Any:
    """One scalar.  Numbers are checked to be finite; ``snap`` is how close to 0 or ±1 counts as that.

    >>> scalar(1, "mass"), scalar(0.5, "mass")
    (1, 0.5)
    """
    if is_number(x):
        try:
            value = float(x)
        except (TypeError, ValueError):
            raise ModelError(f"{what} must be a number, not {x!r}") from None
        except OverflowError:
            raise ModelError(f"{what} is a whole number too large for a double") from None
        if not math.isfinite(value):
            raise ModelError(f"{what} must be finite, not {x!r}")
        return tidy(value, snap)
    # a scalar divides, and is one: no string, None, list, array or matrix (CasADi's scalars are 1×1)
    shape = tuple(getattr(x, "shape", ()))
    foreign = type(x) is complex or type(x).__module__.startswith("numpy")
    if not hasattr(x, "__truediv__") or foreign or shape not in ((), (1, 1)):
        raise ModelError(f"{what} must be a number, not {x!r}")
    return x


def as_nested_lists(x: Any) -> Any:
    """NumPy arrays and SymPy matrices as nested lists; other values unchanged."""
    return x.tolist() if hasattr(x, "tolist") else x


def as_list(x: Any, n: int, what: str) -> list[Scalar]:
    """x as a list of n entries."""
    x = as_nested_lists(x)
    if isinstance(x, (str, bytes)) or not hasattr(x, "__iter__"):
        raise ModelError(f"{what} must be {n} numbers, not {x!r}")
    items = list(x)
    if len(items) != n:
        raise ModelError(f"{what} must be {n} numbers, {len(items)} given: {x!r}")
    return items


def vector(x: Any, what: str, snap: float = 0.0) -> Vec:
    """Three scalars, as a vector."""
    return Vec(*(scalar(a, what, snap) for a in as_list(x, 3, what)))


def axis(x: Any, what: str) -> Vec:
    """A unit vector along x.  One of numbers is normalised; one with symbols must be of unit length already.

    >>> axis((0, 0, -3.0), "axis")
    Vec(x=0, y=0, z=-1)
    """
    a = vector(x, what)
    if not all(is_number(c) for c in a):
        return a
    size = max(map(abs, a))
    if size == 0:
        raise ModelError(f"{what} is zero; an axis needs a direction")
    a = Vec(*(c / size for c in a))  # first to size one: no overflow, no underflow
    norm = math.hypot(*a)
    return Vec(*(tidy(c / norm) for c in a))


def pose(xyz: Any, rpy: Any, what: str) -> Transform:
    """The transform to a frame at xyz [m], turned by fixed-axis roll, pitch and yaw [rad]."""
    return Transform.of_pose(from_rpy(*vector(rpy, f"{what}: rpy")), vector(xyz, f"{what}: xyz"))


def rotational_inertia(I: Any, what: str) -> Sym:
    """A rotational inertia [kg·m²] from a 3×3 matrix, from (ixx, ixy, ixz, iyy, iyz, izz) or from its diagonal."""
    if I is None:
        return Sym.zero()
    I = as_nested_lists(I)
    shapes = "a 3×3 matrix, six numbers (ixx, ixy, ixz, iyy, iyz, izz) or three (the diagonal)"
    if not hasattr(I, "__iter__") or isinstance(I, (str, bytes)) or len(list(I)) not in (3, 6):
        raise ModelError(f"{what} must be {shapes}, not {I!r}")
    items = [as_nested_lists(row) for row in I]
    if not any(isinstance(row, (list, tuple)) for row in items):
        six = items if len(items) == 6 else [items[0], 0, 0, items[1], 0, items[2]]
        return Sym(*(scalar(x, what) for x in six))
    if len(items) != 3:
        raise ModelError(f"{what} must be {shapes}, not {I!r}")
    rows = [vector(row, what) for row in items]
    size = max([abs(x) for row in rows for x in row if is_number(x)], default=0)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        a, b = rows[i][j], rows[j][i]
        if is_number(a) and is_number(b) and abs(a - b) > 1e-9 * size:
            raise ModelError(f"{what} is not symmetric: its entries ({i}, {j}) and ({j}, {i}) are {a} and {b}")
    return Sym.of(rows)


def mass_properties(mass: Any, com: Any, I: Any, rpy: Any, what: str) -> Inertia:
    """Inertia about a frame, of a body with its mass [kg], centre [m] and inertia about the centre, in axes turned by rpy."""
    m = scalar(mass, f"{what}: mass")
    if is_number(m) and m < 0:
        raise ModelError(f"{what}: mass {m} kg is negative")
    R = from_rpy(*vector(rpy, f"{what}: rpy"))
    about_com = rotational_inertia(I, f"{what}: inertia")
    return Inertia.of(m, vector(com, f"{what}: com"), about_com.rotated(R))


def per_coordinate(x: Any, n: int, what: str, number: bool = True) -> tuple[Scalar, ...]:
    """A number, or one per coordinate; or None.  Infinity is allowed (no limit), NaN is not."""
    if x is None:
        return ()
    x = as_nested_lists(x)
    items = list(x) if isinstance(x, (list, tuple)) else [x]
    if len(items) != n:
        raise ModelError(f"{what} needs {n} number{'s' if n != 1 else ''}, {len(items)} given: {x!r}")
    out = []
    for item in items:
        if is_number(item) and math.isinf(item):
            out.append(float(item))
        else:
            value = scalar(item, what)
            if number and not is_number(value):
                raise ModelError(f"{what} must be a number, not {item!r}")
            out.append(value)
    return tuple(out)
