"""Bodies of uniform density (MR Fig. 8.5): volume, centre of mass and inertia, over any scalar.

A symmetry axis is z.  The frame is at the centre of mass, except for the cone, whose frame is at the centre of its base.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

from torsor.errors import ArgumentError
from torsor.scalar import Scalar, Scalars, acos
from torsor.spatial.inertia import Inertia
from torsor.spatial.vector import ZERO, Sym, Vec


class Solid(NamedTuple):
    """Geometric properties of a shape, independent of its mass.

    ``volume`` [m³]; ``com`` centre of mass [m]; ``gyration`` rotational inertia about it for each kilogram, I_c/m [m²].

    >>> plate = box(0.3, 0.2, 0)
    >>> plate.volume, plate.inertia(mass=12).I.zz
    (0.0, 0.13)
    """

    volume: Scalar
    com: Vec
    gyration: Sym

    def inertia(self, *, mass: Scalar | None = None, density: Scalar | None = None) -> Inertia:
        """G = [[I_o, [h]], [−[h], m 1]] about the shape's frame, with its mass [kg] or its density [kg/m³] (MR 8.24, 8.42).

        >>> round(sphere(0.1).inertia(density=7500).m, 3)
        31.416
        """
        if (mass is None) == (density is None):
            raise ArgumentError("a body needs mass [kg] or density [kg/m³], and not both")
        if mass is not None:
            m = _size(mass, "mass")
        else:
            if isinstance(self.volume, Real) and self.volume == 0:
                raise ArgumentError("density: this shape has no volume; give its mass [kg] instead")
            m = self.volume * _size(density, "density")
        about_com = Sym(*(k * m if not _whole_zero(k) else 0 for k in self.gyration))
        # a centre at the origin is structural: its zeros stay integers and cost no operations later
        return Inertia(m, ZERO, about_com) if all(map(_whole_zero, self.com)) else Inertia.of(m, self.com, about_com)


def box(x: Scalar, y: Scalar, z: Scalar) -> Solid:
    """V = x y z; I_xx/m = (y² + z²)/12 and so on: a box with edges x, y, z [m] along the axes, frame at its centre.

    MR Fig. 8.5 (ℓ, w, h), Exercise 8.1a; SLIDES, "Inertia Matrix".

    >>> box(2, 3, 4).inertia(mass=12).I
    Sym(xx=25.0, xy=0, xz=0, yy=20.0, yz=0, zz=13.0)
    """
    x, y, z = _size(x, "x"), _size(y, "y"), _size(z, "z")
    return Solid(x * y * z, ZERO, _diagonal((y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12))


def cylinder(radius: Scalar, height: Scalar) -> Solid:
    """V = π r² h; I_xx/m = I_yy/m = (3r² + h²)/12, I_zz/m = r²/2: a cylinder about z [m], frame at its centre.

    MR Fig. 8.5, Exercise 8.1b; SLIDES, "Inertia Matrix".

    >>> cylinder(2, 6).inertia(mass=12).I
    Sym(xx=48.0, xy=0, xz=0, yy=48.0, yz=0, zz=24.0)
    """
    r, h = _size(radius, "radius"), _size(height, "height")
    across = (3 * r * r + h * h) / 12
    return Solid(_pi(r) * r * r * h, ZERO, _diagonal(across, across, r * r / 2))


def ellipsoid(a: Scalar, b: Scalar, c: Scalar) -> Solid:
    """V = 4π a b c/3; I_xx/m = (b² + c²)/5 and so on: half axes a, b, c [m] along x, y, z, frame at its centre.

    MR Fig. 8.5, Exercise 8.1c; SLIDES, "Inertia Matrix".

    >>> ellipsoid(1, 2, 3).inertia(mass=5).I
    Sym(xx=13.0, xy=0, xz=0, yy=10.0, yz=0, zz=5.0)
    """
    a, b, c = _size(a, "a"), _size(b, "b"), _size(c, "c")
    return Solid(4 * _pi(a) * a * b * c / 3, ZERO, _diagonal((b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5))


def sphere(radius: Scalar) -> Solid:
    """V = 4π r³/3; I/m = 2r²/5: a ball of that radius [m], frame at its centre (MR Fig. 8.5 with a = b = c).

    >>> sphere(5).inertia(mass=0.5).I.xx
    5.0
    """
    radius = _size(radius, "radius")
    return ellipsoid(radius, radius, radius)


def cone(radius: Scalar, height: Scalar) -> Solid:
    """V = π r² h/3; c = (0, 0, h/4); about c, I_xx/m = I_yy/m = 3(4r² + h²)/80, I_zz/m = 3r²/10.

    The frame is at the centre of the base, the tip at z = +height [m]; by MR 8.24.

    >>> cone(1, 4).com, cone(1, 4).inertia(mass=10).about_com.zz
    (Vec(x=0, y=0, z=1.0), 3.0)
    """
    r, h = _size(radius, "radius"), _size(height, "height")
    across = 3 * (4 * r * r + h * h) / 80
    return Solid(_pi(r) * r * r * h / 3, Vec(0, 0, h / 4), _diagonal(across, across, 3 * r * r / 10))


def capsule(radius: Scalar, length: Scalar) -> Solid:
    """V = π r² (ℓ + 4r/3): a cylinder of that length [m] about z with half a ball at each end, frame at its centre.

    ``length`` is that of the cylinder: the whole capsule is ℓ + 2r long.  The two halves of the ball, of mass fraction
    s = 4r/(3ℓ + 4r), have their inertia from MR 8.27: I_xx/m = (1 − s)(3r² + ℓ²)/12 + s(2r²/5 + 3ℓr/8 + ℓ²/4).

    >>> capsule(5, 0).inertia(mass=0.5).I.xx  # a ball
    5.0
    """
    r, l = _size(radius, "radius"), _size(length, "length")
    if isinstance(r, Real) and r == 0:
        raise ArgumentError("radius of a capsule must be above zero; for a line, use rod(length)")
    s = 4 * r / (3 * l + 4 * r)
    across = (1 - s) * (3 * r * r + l * l) / 12 + s * (2 * r * r / 5 + 3 * l * r / 8 + l * l / 4)
    along = (1 - s) * r * r / 2 + s * 2 * r * r / 5
    return Solid(_pi(r) * r * r * (l + 4 * r / 3), ZERO, _diagonal(across, across, along))


def rod(length: Scalar) -> Solid:
    """I_xx/m = I_yy/m = ℓ²/12, I_zz = 0: a line of that length [m] along z, frame at its centre.  It has no volume.

    The limit of MR Fig. 8.5's cylinder for r → 0.

    >>> rod(6).inertia(mass=2).I
    Sym(xx=6.0, xy=0, xz=0, yy=6.0, yz=0, zz=0)
    """
    l = _size(length, "length")
    return Solid(0, ZERO, _diagonal(l * l / 12, l * l / 12, 0))


def from_points(masses: Scalars, points: Sequence[Scalars]) -> Inertia:
    """m = Σ m_i, h = Σ m_i r_i, I_o = −Σ m_i [r_i]²: point masses [kg] at r_i [m], about the points' frame (MR §8.2.1, 8.23).

    >>> from_points([1, 1], [(1, 0, 0), (-1, 0, 0)]).I
    Sym(xx=0, xy=0, xz=0, yy=2, yz=0, zz=2)
    """
    masses, points = list(masses), list(points)
    if not masses or len(masses) != len(points):
        raise ArgumentError(f"points: as many as masses, and at least one; {len(points)} points, {len(masses)} masses given")
    total = Inertia.zero()
    for i, (mass, point) in enumerate(zip(masses, points, strict=True)):
        if isinstance(point, (str, bytes)) or not hasattr(point, "__iter__") or len(list(point)) != 3:
            raise ArgumentError(f"points[{i}]: three coordinates (x, y, z) expected, not {point!r}")
        r = Vec(*(_finite(a, f"points[{i}]") for a in point))
        total = total + Inertia.of(_size(mass, f"masses[{i}]"), r, Sym.zero())
    return total


def _diagonal(xx: Scalar, yy: Scalar, zz: Scalar) -> Sym:
    return Sym(xx, 0, 0, yy, 0, zz)


def _whole_zero(x: Scalar) -> bool:
    return isinstance(x, int) and x == 0


def _pi(x: Scalar) -> Scalar:
    """π from the library of x: exact over SymPy, with all its digits over mpmath."""
    return acos(x * 0 - 1)


def _finite(x: Any, what: str) -> Any:
    """A scalar; a number must be finite.  Arrays are not accepted: call once per body."""
    if not hasattr(x, "__truediv__") or tuple(getattr(x, "shape", ())) not in ((), (1, 1)):
        raise ArgumentError(f"{what}: one number expected, not {x!r}")
    if isinstance(x, Real) and not math.isfinite(x):
        raise ArgumentError(f"{what}: a finite number expected, not {x!r}")
    return x


def _size(x: Any, what: str) -> Any:
    """A scalar that, if it is a number, is not negative."""
    x = _finite(x, what)
    if isinstance(x, Real) and x < 0:
        raise ArgumentError(f"{what} must not be negative: it is {x!r}")
    return x
