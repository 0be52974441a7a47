"""JointType: F&O's general joint model, with d ≥ 1 degrees of freedom and a motion subspace that may depend on q."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from torsor.errors import ModelError
from torsor.scalar import Dual, Scalar, Scalars, rate, where
from torsor.spatial import Force, Mat, Motion, Subspace, Transform, Vec
from torsor.spatial import arguments as read
from torsor.spatial.vector import AXES, IDENTITY, ZERO

#: fields of a joint type that hold the direction of an axis
AXIS_FIELDS = ("axis", "second_axis", "normal")
#: allowed deviation of an axis' length from 1: files have six digits or more
UNIT = 1e-6


class JointType(ABC):
    """The relative motion that a joint allows between two bodies.

    The joint frame is fixed in the parent; the body frame coincides with it at the neutral configuration.  Every method
    works over any scalar: no branch on a value, no arrays.  For a custom joint, define ``name``, ``nq``,
    ``nv``, ``transform`` and ``subspace``, plus ``subspace_rate`` if the subspace moves in the body, plus ``integrate``,
    ``difference`` and ``neutral`` if its coordinates are not simply added (and ``quaternion`` if they are one), plus
    ``complement`` and ``coordinates`` if it is to close a kinematic loop.
    """

    name: ClassVar[str]
    nq: ClassVar[int]
    nv: ClassVar[int]
    #: entries of q that are angles: a whole turn more is the same configuration
    angles: ClassVar[tuple[int, ...]] = ()
    #: entries of q that are a quaternion
    quaternion: ClassVar[slice] = slice(0, 0)
    #: names of the entries of q and v, if not the joint's name with a number
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Axes (``AXIS_FIELDS``) are unit vectors: one given as a tuple, list or array is normalised."""
        for f in fields(self):  # type: ignore[arg-type]  # each joint is a dataclass
            if f.name in AXIS_FIELDS and f.type in (Vec, "Vec"):
                object.__setattr__(self, f.name, _unit(getattr(self, f.name), f"{type(self).__name__}: {f.name}"))

    @property
    def quaternions(self) -> tuple[slice, ...]:
        """Entries of q that are quaternions; joints in a row may have several."""
        return (self.quaternion,) if self.quaternion.stop else ()

    @abstractmethod
    def transform(self, q: Scalars) -> Transform:
        """X_J(q): from the joint frame to the body frame."""

    @abstractmethod
    def subspace(self, q: Scalars) -> Subspace:
        """S(q): the twists of unit joint rates, in the body frame."""

    def subspace_rate(self, q: Scalars, v: Scalars) -> Subspace:
        """Ṡ(q, v), the rate of S as seen in the body: zero where S is constant there."""
        return Subspace([Motion.zero()] * self.nv)

    def twist(self, S: Subspace, v: Scalars) -> Motion:
        """V_J = S v, the joint's own twist, in the body frame; a joint that moves along a given path has another."""
        return S @ v

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """c = Ṡ v, the apparent acceleration of a joint at constant v, in the body frame."""
        return self.subspace_rate(q, v) @ v

    def complement(self, q: Scalars) -> tuple[Force, ...]:
        """T(q): the 6 − d wrenches, in the body frame, that do no work on S: TᵀS = 0 (F&O's constraint forces).

        With S they span the six dimensions.  The rows are orthonormal (moments in N·m, forces in N), those of a joint
        about a coordinate axis integers.
        """
        raise ModelError(self._no_loop("complement"))

    def coordinates(self, X: Transform) -> list[Scalar]:
        """q with transform(q) nearest to X, from the joint frame to the body frame; exactly q where X = transform(q).

        Rotations and translations are treated separately.  Angles come back in (−π, π], quaternions with w ≥ 0.
        """
        raise ModelError(self._no_loop("coordinates"))

    @property
    def closes_loops(self) -> bool:
        """Whether this joint may close a loop: it defines ``complement`` and ``coordinates``."""
        return type(self).complement is not JointType.complement and type(self).coordinates is not JointType.coordinates

    def _no_loop(self, method: str) -> str:
        return (
            f"a joint of type {self.name!r} cannot close a loop: {type(self).__name__} does not define {method}; "
            "a loop joint needs complement(q) and coordinates(X)"
        )

    def integrate(self, q: Scalars, step: Scalars) -> list[Scalar]:
        """The configuration after unit time at constant joint velocity ``step``."""
        return [a + b for a, b in zip(q, step, strict=True)]

    def turning(self, v: Scalars) -> list[Scalar]:
        """v̇ of a motion whose velocity is constant in axes that do not turn: 0, unless v has components in the body's axes."""
        return [0] * self.nv

    def carry(self, q: Scalars, step: Scalars, v: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """The configuration after a step at constant velocity in axes that do not turn, and there the components of v."""
        return self.integrate(q, step), list(v)

    def difference(self, q0: Scalars, q1: Scalars) -> list[Scalar]:
        """The step with integrate(q0, step) = q1."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def tangent(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """q̇ = N(q) v, the rate of the coordinates as they are given at joint velocity v; by :meth:`integrate`."""
        return [rate(x) for x in self.integrate(q, [Dual(0, x) for x in v])]

    def bracket(self, v: Scalars) -> list[list[Scalar]]:
        """−ad_v (nv × nv): δ̇ = −v × δ of q(t) ⊕ δ(t) at constant velocity v; zero where coordinates are simply added."""
        if type(self).integrate is not JointType.integrate:
            raise ModelError(f"joint type {self.name!r} defines integrate but not bracket(v), which this result needs")
        return [[0] * self.nv for _ in range(self.nv)]

    def neutral(self) -> list[float]:
        """The coordinates of no motion: zeros, unless the joint has a quaternion."""
        return [0.0] * self.nq

    def random(self, rng: Any, lower: Sequence[float], upper: Sequence[float], shape: tuple[int, ...] = ()) -> list[Any]:
        """Coordinates drawn uniformly within the limits, arrays of the shape given; without limits, within [−π, π]."""
        return [rng.uniform(*bounds(a, b), size=shape) for a, b in zip(lower, upper, strict=True)]

    def fault(self, q: Sequence[float]) -> str:
        """The reason why these numbers are not a valid configuration of this joint; empty if they are valid."""
        zero = any(all(x == 0 for x in q[part]) for part in self.quaternions)
        return "its quaternion is zero, which is not a rotation; the identity is (0, 0, 0, 1)" if zero else ""

    def align_axis(self) -> tuple[Mat, JointType]:
        """(R, joint): the same joint seen from axes R in which its own axis is a coordinate axis."""
        return IDENTITY, self


@dataclass(frozen=True)
class SingleAxis(JointType):
    """A joint that moves about or along one unit axis, and in no other way."""

    axis: Vec

    def align_axis(self) -> tuple[Mat, JointType]:
        R = axis_alignment(self.axis)
        return R, self if R is IDENTITY else replace(self, axis=Vec(0, 0, 1))


def _unit(given: Any, what: str) -> Vec:
    """A unit vector; a Vec keeps its bits and must be of unit length already, where it consists of numbers."""
    if not isinstance(given, Vec):
        return read.axis(given, what)
    if all(isinstance(x, (int, float)) for x in given) and not abs(math.hypot(*given) - 1) <= UNIT:
        raise ModelError(f"{what} must be a unit vector, not {tuple(given)}; a plain tuple is normalised")
    return given


def bounds(low: float, high: float, reach: float = math.pi) -> tuple[float, float]:
    """The limits, cut to ±reach; if they are beyond that, the limits themselves, with a width of 2 reach if one is infinite.

    >>> bounds(-1.0, math.inf, 2.0), bounds(5.0, 50.0, 2.0), bounds(5.0, math.inf, 2.0)
    ((-1.0, 2.0), (5.0, 50.0), (5.0, 9.0))
    """
    low, high = low + 0.0, high + 0.0  # NumPy draws no number between 0.0 and -0.0
    cut = max(low, -reach), min(high, reach)
    if cut[0] <= cut[1]:
        return cut
    return (low if math.isfinite(low) else high - 2 * reach), (high if math.isfinite(high) else low + 2 * reach)


def axis_alignment(axis: Vec) -> Mat:
    """Axes R with R ẑ = axis, with the smallest rotation; for a coordinate axis, no rotation."""
    if any(isinstance(a, int) and abs(a) == 1 for a in axis):
        return IDENTITY
    x, y, z = axis
    s = where(z < 0, -1, 1)  # below, the short way is to −ẑ: keep clear of the pole there
    k = 1 / (1 + s * z)
    return Mat(Vec(1 - x * x * k, -s * x * y * k, x), Vec(-x * y * k, s * (1 - y * y * k), y), Vec(-s * x, -y, z))


def axes_about(axis: Vec) -> tuple[Vec, Vec, Vec]:
    """(x, y, axis): two axes across a third, right-handed; for a coordinate axis the next ones, in cyclic order."""
    for i, a in enumerate(axis):
        if isinstance(a, int) and abs(a) == 1:
            return AXES[(i + 1) % 3] * a, AXES[(i + 2) % 3], axis
    R = axis_alignment(axis).T
    return R.x, R.y, axis


def moments(*axes: Vec) -> tuple[Force, ...]:
    """Pure moments about these axes."""
    return tuple(Force(a, ZERO) for a in axes)


def forces(*axes: Vec) -> tuple[Force, ...]:
    """Pure forces along these axes."""
    return tuple(Force(ZERO, a) for a in axes)
