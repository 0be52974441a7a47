"""Layout: a mechanism defined in its zero position, in world coordinates; and the points where two bars meet."""

from __future__ import annotations

from math import cos, hypot, sin, sqrt
from typing import TYPE_CHECKING, Any

from torsor.errors import ModelError
from torsor.robot.builder import Builder
from torsor.scalar import Scalars
from torsor.spatial import Vec

if TYPE_CHECKING:
    from torsor.robot import Robot

ORIGIN = Vec(0, 0, 0)


class Layout:
    """Links, joints and loops in one closed position: at q = 0 every link frame is parallel to the world frame.

    So points and axes are in world coordinates, no joint needs a rotation, and the neutral configuration closes the loops.
    The ground is a link of that name, at the origin.
    """

    def __init__(self, name: str) -> None:
        self._builder = Builder(name).link("ground")
        self._origin = {"ground": ORIGIN}

    def body(self, name: str, origin: Vec, mass: float = 0.0, com: Vec | None = None, inertia: Scalars | None = None) -> Layout:
        """A link whose frame is at ``origin``, where its joint to the parent will be; ``com`` is in the world frame, too."""
        self._origin[name] = origin
        self._builder.link(name, mass=mass, com=(origin if com is None else com) - origin, inertia=inertia)
        return self

    def rod(self, name: str, start: Vec, end: Vec, mass: float) -> Layout:
        """A uniform thin rod from its joint to another point: I = m/12 (l² 1 − l lᵀ)."""
        length = end - start
        x, y, z = length
        k = mass / 12
        inertia = (k * (y * y + z * z), -k * x * y, -k * x * z, k * (x * x + z * z), -k * y * z, k * (x * x + y * y))
        return self.body(name, start, mass, (start + end) * 0.5, inertia)

    def joint(self, name: str, type: str, parent: str, child: str, **geometry: Any) -> Layout:
        """A joint of the tree, at the child's origin, its axes in world axes."""
        self._builder.joint(name, type, parent, child, xyz=self._origin[child] - self._origin[parent], **geometry)
        return self

    def bar(self, name: str, parent: str, start: Vec, end: Vec, mass: float, **geometry: Any) -> Layout:
        """A uniform rod on a continuous joint of the same name at its start, by default about ẑ."""
        return self.rod(name, start, end, mass).joint(name, "continuous", parent, name, **geometry)

    def loop(self, name: str, type: str, parent: str, child: str, at: Vec, **geometry: Any) -> Layout:
        """A joint that closes a loop at a point."""
        here, there = (at - self._origin[link] for link in (parent, child))
        self._builder.loop(name, type, parent, child, xyz=here, child_xyz=there, **geometry)
        return self

    def frame(self, name: str, link: str, at: Vec) -> Layout:
        """A named point of a link."""
        self._builder.frame(name, link, xyz=at - self._origin[link])
        return self

    def build(self, gravity: Vec) -> Robot:
        """The robot."""
        return self._builder.build(gravity=gravity)


def vector_at_angle(length: float, angle: float) -> Vec:
    """The vector of a length [m] at an angle [rad] from x̂, in the plane of x̂ and ŷ."""
    return Vec(length * cos(angle), length * sin(angle), 0)


def circle_intersection(a: Vec, radius_a: float, b: Vec, radius_b: float, what: str) -> Vec:
    """The point where two bars in the plane meet, one from a, one from b: the intersection of two circles left of a → b."""
    dx, dy = b.x - a.x, b.y - a.y
    d = hypot(dx, dy)
    if not abs(radius_a - radius_b) <= d <= radius_a + radius_b or d == 0:
        raise ModelError(f"{what}: bars of {radius_a:g} m and {radius_b:g} m from points {d:g} m apart do not meet")
    along = (d * d + radius_a**2 - radius_b**2) / (2 * d)
    across = sqrt(max(radius_a**2 - along**2, 0.0))
    return Vec(a.x + (along * dx - across * dy) / d, a.y + (along * dy + across * dx) / d, 0)


def require_positive(what: str, **sizes: float) -> None:
    """Refuse a length or a mass that is not positive."""
    for label, size in sizes.items():
        if not size > 0:
            raise ModelError(f"{what}: {label} must be above zero, not {size!r}")
