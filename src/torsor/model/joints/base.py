"""What a joint is: F&O's general joint model, with d ≥ 1 degrees of freedom and a motion subspace that may move."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from torsor.spatial import Mat, Motion, Subspace, Transform, Vec
from torsor.spatial.vector import IDENTITY

Scalars = Sequence[Any]


class JointType(ABC):
    """How one body may move against another.

    The joint frame is fixed in the parent; the body frame coincides with it at the neutral configuration.  Every method
    works over any scalar: no branch on a value, no arrays.  To define a joint of your own, give ``nq``, ``nv``,
    ``transform`` and ``subspace``, plus ``subspace_rate`` if the subspace moves in the body, plus ``integrate``,
    ``difference`` and ``neutral`` if its coordinates are not simply added.
    """

    name: ClassVar[str]
    nq: ClassVar[int]
    nv: ClassVar[int]
    #: names of the coordinates, as shown to people
    coordinates: ClassVar[tuple[str, ...]]

    @abstractmethod
    def transform(self, q: Scalars) -> Transform:
        """X_J(q): from the joint frame to the body frame."""

    @abstractmethod
    def subspace(self, q: Scalars) -> Subspace:
        """S(q): the twists of unit joint rates, in the body frame."""

    def subspace_rate(self, q: Scalars, v: Scalars) -> Subspace:
        """Ṡ(q, v), the rate of S as seen in the body: zero where S is constant there."""
        return Subspace([Motion.zero()] * self.nv)

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """c = Ṡ v, the acceleration of a joint moving at constant v, less what the body's own motion adds."""
        return self.subspace_rate(q, v) @ v

    def integrate(self, q: Scalars, step: Scalars) -> list[Any]:
        """Where a motion with constant joint velocity ``step`` leads in unit time."""
        return [a + b for a, b in zip(q, step, strict=True)]

    def difference(self, q0: Scalars, q1: Scalars) -> list[Any]:
        """The step with integrate(q0, step) = q1."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def neutral(self) -> list[float]:
        return [0.0] * self.nq

    def random(self, rng: Any, lower: Sequence[float], upper: Sequence[float]) -> list[float]:
        """Uniform within the limits; where a coordinate has none, within [−π, π]."""
        return [float(rng.uniform(max(a, -_PI), min(b, _PI))) if a <= _PI and b >= -_PI else float(rng.uniform(a, b))
                for a, b in zip(lower, upper, strict=True)]  # fmt: skip

    def fault(self, q: Sequence[float]) -> str:
        """Why these numbers are no configuration of this joint; empty if they are one."""
        return ""

    def aligned(self) -> tuple[Mat, JointType]:
        """(R, joint): the same joint seen from axes R in which its own axis is a coordinate axis."""
        return IDENTITY, self


_PI = 3.141592653589793


def axis_alignment(axis: Vec) -> Mat:
    """Axes R with R ẑ = axis, turned as little as possible; for a coordinate axis, no turn at all."""
    if any(isinstance(a, int) and abs(a) == 1 for a in axis):
        return IDENTITY
    x, y, z = axis
    if z < 0:  # the short way is to −ẑ: keep clear of the pole there
        k = 1 / (1 - z)
        return Mat(Vec(1 - x * x * k, x * y * k, x), Vec(-x * y * k, y * y * k - 1, y), Vec(x, -y, z))
    k = 1 / (1 + z)
    return Mat(Vec(1 - x * x * k, -x * y * k, x), Vec(-x * y * k, 1 - y * y * k, y), Vec(-x, -y, z))


def local_axis(axis: Vec) -> Vec:
    """The axis as seen from :func:`axis_alignment`."""
    return axis if axis_alignment(axis) is IDENTITY else Vec(0, 0, 1)
